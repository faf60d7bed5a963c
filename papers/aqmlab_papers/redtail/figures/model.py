"""Figures 17 to 21: the model of the long queue."""

from collections.abc import Iterator

import numpy as np

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.redtail.theory import (
    BUFFER,
    FIXED_LOSS,
    FLOWS,
    MOVING,
    Steady,
    chain,
    interchanged,
    loaded,
    model,
    small_buffer,
    steadies,
    wander,
)
from aqmlab_papers.theory import redtail

_QUEUE = Axis("Queue length (packets)", 0, BUFFER)
_TIME = Axis("Time (s)", 0, 400)


def _equilibrium(name: str, queue: float) -> Curve:
    return Curve("", name, [queue], [queue], style="points")


PLACES = {20: ("upper", slice(60, 281)), 40: ("lower", slice(150, 601))}
"""Panel of Fig. 21 by the number of flows, and its range of queues."""


def _engine(panel: str, seen: list[Steady], shown: slice) -> Curve:
    """Draw the engine's distribution, with bins of four packets."""
    share = np.mean([one.histogram for one in seen], axis=0)[shown]
    whole = len(share) // 4 * 4
    return Curve(
        panel,
        "Packet engine",
        shown.start + 1.5 + 4.0 * np.arange(whole // 4),
        share[:whole].reshape(-1, 4).mean(axis=1),
        style="steps",
    )


@figure(
    [
        Panel("upper", "Queue", _TIME, _QUEUE),
        Panel("lower", "Throughput of a connection", _TIME, Axis("Throughput (packets/s)", -40, 100)),
    ],
    caption="P = 0.014, and the deviations of a flow's rate as printed: 77021 and 128490 bit/s. "
    "The latter is so large that the rate of one of 40 flows is often negative.",
)
def fig17() -> Iterator[Curve]:
    """Queue length and throughput of a connection by the model (5), S = RTT."""
    for flows in FLOWS:
        at, queue, rate = wander(flows, 1.0, 400.0)
        yield Curve("upper", f"N = {flows}", at, queue)
        yield Curve("lower", f"N = {flows}", at, rate)


@figure([Panel("", "f", Axis("q (packets)", 0, BUFFER), Axis("f(q) (packets)", 0))])
def fig18() -> Iterator[Curve]:
    """The map f for 20 and 40 connections, S = RTT."""
    q = np.linspace(0, BUFFER, 201)
    for flows in FLOWS:
        yield Curve("", f"f, N = {flows}", q, model(flows).f(q))
    yield Curve("", "q", q, q, style="dashed")
    for flows in FLOWS:
        yield _equilibrium(f"q_e, N = {flows}", model(flows).q_e)


@figure(
    [Panel("", "f", Axis("q (packets)", 0, BUFFER), Axis("f(q) (packets)", 0, BUFFER))],
    caption="The dot is q_e = 366 packets, the same for every S. From a short queue f goes far above the axis, to "
    "3157 packets at S = RTT.",
)
def fig19() -> Iterator[Curve]:
    """The map f for several slots, N = 40."""
    q = np.linspace(0, BUFFER, 201)
    for slots in (0.5, 1.0, 2.0):
        yield Curve("", f"S = {slots:g} RTT", q, model(40, slots).f(q))
    yield Curve("", "q", q, q, style="dashed")
    yield _equilibrium("q_e", model(40).q_e)


@figure([Panel("upper", "S = RTT", _TIME, _QUEUE), Panel("lower", "S = 2 RTT", _TIME, _QUEUE)])
def fig20() -> Iterator[Curve]:
    """Queue length with N = 40, S = RTT and 2 RTT."""
    for panel, slots in (("upper", 1.0), ("lower", 2.0)):
        at, queue, _rate = wander(40, slots, 400.0)
        yield Curve(panel, "Queue", at, queue)


@figure(
    [
        Panel("upper", "N = 20", Axis("Queue length (packets)", 60, 280), Axis("Density")),
        Panel("lower", "N = 40", Axis("Queue length (packets)", 150, 600), Axis("Density")),
    ],
    caption="The paper's chain and Gaussian: for P = 0.014 and the printed deviations of a flow's rate; and the "
    "chain with these two interchanged. Measured: what the engine's first run has, with thresholds that move.",
)
def fig21(steady: Runs) -> Iterator[Curve]:
    """Steady-state queue length distributions, S = RTT."""
    for flows, (panel, shown) in PLACES.items():
        q, seen = np.arange(BUFFER + 1.0)[shown], list(steadies(steady, MOVING, flows).values())
        yield _engine(panel, seen, shown)
        yield Curve(panel, "Markov chain (17)", q, chain(flows).probability[shown])
        ours = seen[0].slots.chain(seen[0].sigma, BUFFER).probability[shown]
        yield Curve(panel, "Markov chain, measured loss and deviation", q, ours)
        yield Curve(panel, "Markov chain (17), deviations interchanged", q, interchanged(flows).probability[shown])
        yield Curve(panel, "Gaussian (21)", q, model(flows).density(q, redtail.paper_sigma(flows)), style="dashed")


@figure(
    [
        Panel("upper", "N = 20", Axis("Queue length (packets)", 60, 280), Axis("Density")),
        Panel("lower", "N = 40", Axis("Queue length (packets)", 150, 600), Axis("Density")),
    ],
    caption="Every packet is lost with probability 0.014; the deviation of a flow's rate is the measured one.",
    beyond=True,
)
def fig21_fixed(steady: Runs) -> Iterator[Curve]:
    """The same where losses are as the model has them."""
    for flows, (panel, shown) in PLACES.items():
        q, seen = np.arange(BUFFER + 1.0)[shown], list(steadies(steady, FIXED_LOSS, flows).values())
        yield _engine(panel, seen, shown)
        # the runs differ by a few hundredths
        chains = [one.slots.chain(one.sigma, BUFFER).probability[shown] for one in seen]
        yield Curve(panel, "Markov chain (17)", q, np.mean(chains, axis=0))
        yield Curve(
            panel,
            "Gaussian (21)",
            q,
            np.mean([one.slots.density(q, one.sigma) for one in seen], axis=0),
            style="dashed",
        )


@figure(
    [Panel("", "40 connections", Axis("q (packets)", 0, 120), Axis("f(q) (packets)", -20, 120))],
    caption="Where windows hardly more than fill the wire f falls below 0, and [0, B0] is not mapped into itself.",
    across=1,
    beyond=True,
)
def eq12() -> Iterator[Curve]:
    """The map f near full load, S at 0.99 of the limit (10)."""
    q = np.linspace(0, 120, 301)
    for load in (0.8, 0.9, 0.95):
        queue_model = loaded(load, 0.99)
        yield Curve("", f"f, d C/(N W) = {load:g}", q, queue_model.f(q))
    yield Curve("", "q", [0.0, 120.0], [0.0, 120.0], style="dashed")


@figure(
    [Panel("", "N = 40, S = 2 RTT, 600 packets", Axis("Queue length (packets)", 0, 600), Axis("Probability", 0, 0.02))],
    caption="The mass at B, 0.18, is above the axis; that at 0 is 36 times the probability beside it.",
    across=1,
    beyond=True,
)
def masses() -> Iterator[Curve]:
    """Distribution of a queue that reaches both ends of its buffer."""
    found = small_buffer()
    yield Curve("", "Markov chain (17)", found.q, found.probability)
