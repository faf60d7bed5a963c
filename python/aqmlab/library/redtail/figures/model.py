"""Figures 17 to 21: the model of the long queue."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab.library.redtail.theory import (
    BUFFER,
    FIXED_LOSS,
    FLOWS,
    MOVING,
    Steady,
    chain,
    interchanged,
    model,
    steady,
    wander,
)
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.theory import redtail

_QUEUE = Axis("Queue length (packets)", 0, BUFFER)
_TIME = Axis("Time (s)", 0, 400)


def figure_17(_: Evidence) -> Iterator[Curve]:
    """Draw the queue and a flow's throughput by the model."""
    for flows in FLOWS:
        at, queue, rate = wander(flows, 1.0, 400.0)
        yield Curve("upper", f"N = {flows}", at, queue)
        yield Curve("lower", f"N = {flows}", at, rate)


def figure_18(_: Evidence) -> Iterator[Curve]:
    """Draw the map from slot to slot for both numbers of flows."""
    q = np.linspace(0, BUFFER, 201)
    for flows in FLOWS:
        yield Curve("", f"f, N = {flows}", q, model(flows).f(q))
    yield Curve("", "q", q, q, style="dashed")
    for flows in FLOWS:
        queue_model = model(flows)
        yield Curve("", f"equilibrium, N = {flows}", [queue_model.q_e], [queue_model.q_e], style="points")


def figure_19(_: Evidence) -> Iterator[Curve]:
    """Draw the map for several slots."""
    q = np.linspace(0, BUFFER, 201)
    for slots in (0.5, 1.0, 2.0):
        yield Curve("", f"S = {slots:g} RTT", q, model(40, slots).f(q))
    yield Curve("", "q", q, q, style="dashed")


def figure_20(_: Evidence) -> Iterator[Curve]:
    """Draw the queue with slots of one and of two round trips."""
    for panel, slots in (("upper", 1.0), ("lower", 2.0)):
        at, queue, _rate = wander(40, slots, 400.0)
        yield Curve(panel, "Queue", at, queue)


def _histogram(panel: str, seen: list[Steady]) -> Curve:
    queue = np.concatenate([one.queue for one in seen])
    edges = np.linspace(queue.min(), queue.max(), 41)
    density, _ = np.histogram(queue, edges, density=True)
    return Curve(panel, "Packet engine", (edges[1:] + edges[:-1]) / 2, density, style="steps")


PLACES = {20: ("upper", slice(60, 281)), 40: ("lower", slice(150, 601))}
"""Panel of Fig. 21 by the number of flows, and its range of queues."""


def figure_21(evidence: Evidence) -> Iterator[Curve]:
    """Draw the queue's distribution by the engine, the chain and the Gaussian."""
    for flows, (panel, shown) in PLACES.items():
        q = np.arange(BUFFER + 1.0)[shown]
        yield _histogram(panel, steady(evidence, MOVING, flows))
        yield Curve(panel, "Markov chain (17)", q, chain(flows).probability[shown])
        first = steady(evidence, MOVING, flows)[0]
        ours = first.slots.chain(first.sigma, BUFFER).probability[shown]
        yield Curve(panel, "Markov chain, measured loss and deviation", q, ours)
        yield Curve(panel, "Markov chain (17), deviations interchanged", q, interchanged(flows).probability[shown])
        density = model(flows).density(q, redtail.paper_sigma(flows))
        yield Curve(panel, "Gaussian (21)", q, density, style="dashed")


def figure_fixed(evidence: Evidence) -> Iterator[Curve]:
    """Draw the distributions with the same loss probability for every packet, for the measured deviation."""
    for flows, (panel, shown) in PLACES.items():
        q = np.arange(BUFFER + 1.0)[shown]
        seen = steady(evidence, FIXED_LOSS, flows)
        yield _histogram(panel, seen)
        # the runs differ by a few hundredths
        chains = [one.slots.chain(one.sigma, BUFFER).probability[shown] for one in seen]
        yield Curve(panel, "Markov chain (17)", q, np.mean(chains, axis=0))
        densities = [one.slots.density(q, one.sigma) for one in seen]
        yield Curve(panel, "Gaussian (21)", q, np.mean(densities, axis=0), style="dashed")


FIGURE_17 = Figure(
    name="fig17",
    title="Queue length and throughput of a connection by the model (5), S = RTT",
    panels=[
        Panel("upper", "Queue", _TIME, _QUEUE),
        Panel("lower", "Throughput of a connection", _TIME, Axis("Throughput (packets/s)", -40, 100)),
    ],
    curves=figure_17,
    caption="P = 0.014, and the deviations of a flow's rate as printed: 77021 and 128490 bit/s. "
    "The latter is so large that the rate of one of 40 flows is often negative.",
)

FIGURE_18 = Figure(
    name="fig18",
    title="The map f for 20 and 40 connections, S = RTT",
    panels=[Panel("", "f", Axis("q (packets)", 0, BUFFER), Axis("f(q) (packets)", 0))],
    curves=figure_18,
)

FIGURE_19 = Figure(
    name="fig19",
    title="The map f for several slots, N = 40",
    panels=[Panel("", "f", Axis("q (packets)", 0, BUFFER), Axis("f(q) (packets)", 0))],
    curves=figure_19,
)

FIGURE_20 = Figure(
    name="fig20",
    title="Queue length with N = 40, S = RTT and 2 RTT",
    panels=[Panel("upper", "S = RTT", _TIME, _QUEUE), Panel("lower", "S = 2 RTT", _TIME, _QUEUE)],
    curves=figure_20,
)

FIGURE_21 = Figure(
    name="fig21",
    title="Steady-state queue length distributions, S = RTT",
    panels=[
        Panel("upper", "N = 20", Axis("Queue length (packets)", 60, 280), Axis("Density")),
        Panel("lower", "N = 40", Axis("Queue length (packets)", 150, 600), Axis("Density")),
    ],
    curves=figure_21,
    needs=["steady"],
    caption="The paper's chain and Gaussian: for P = 0.014 and the printed deviations of a flow's rate; and the "
    "chain with these two interchanged. Measured: what the engine's first run has, with thresholds that move.",
)

FIGURE_21_FIXED = Figure(
    name="fig21-fixed",
    title="The same where losses are as the model has them",
    panels=[
        Panel("upper", "N = 20", Axis("Queue length (packets)", 60, 280), Axis("Density")),
        Panel("lower", "N = 40", Axis("Queue length (packets)", 150, 600), Axis("Density")),
    ],
    curves=figure_fixed,
    needs=["steady"],
    caption="Every packet is lost with probability 0.014; the deviation of a flow's rate is the measured one.",
    beyond=True,
)
