"""Figures 6, 9 and 11: queues, and losses in a row."""

from collections.abc import Iterator, Sequence

import numpy as np

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.theory import FLOWS, LOAD, modelled

WINDOW = (100.0, 115.0)
"""The 15 s of the queue that are drawn (s)."""
LEAST = 1e-9
"""Lower limit of bands on a logarithmic axis."""
QUEUE = Panel(
    "left", "Queueing delay, 200 greedy sources", Axis("Time (s)", *WINDOW), Axis("Queueing delay (s)", 0, 0.2)
)
LENGTH, CHANCE = Axis("Consecutive losses n (packets)", 1, m.LONGEST), Axis("P(at least n)", 1e-6, 1, log=True)
OF_ALL = Panel("right", "Losses in a row of all, 400 greedy sources", LENGTH, CHANCE)
MODEL = (
    f"Dashed is the open-loop model: Poisson arrivals at {LOAD} times what the link serves, buffer {m.BUFFER}. Bands "
    "are of the scatter between seeds, and of the model's simulation."
)


def delays(queue: Runs, labels: Sequence[str]) -> Iterator[Curve]:
    """Draw the queueing delay over 15 s."""
    for label in labels:
        whole = queue.over_time("left", label, scale=m.PACKET_TIME, bin=0.1)
        t, wait = np.asarray(whole.x, dtype=float), np.asarray(whole.y)
        shown = (t >= WINDOW[0]) & (t < WINDOW[1])
        yield Curve("left", label, t[shown], wait[shown], run=whole.run)


def _lengths(label: str, probability: m.Array, error: m.Array, style: str) -> Curve:
    """Draw P(run >= n), with twice its standard error if it has one."""
    n, probability = np.arange(1.0, m.LONGEST + 1), np.where(probability > 0, probability, np.nan)
    if not np.nansum(error):
        return Curve("right", label, n, probability, style=style)
    return Curve(
        "right", label, n, probability, np.maximum(probability - 2 * error, LEAST), probability + 2 * error, style
    )


def counted(label: str, counts: m.Array) -> Curve:
    """Draw P(run >= n) of counted runs, with the scatter between seeds."""
    seeds = len(counts)
    tails = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1][:, : m.LONGEST] / counts.sum(axis=1, keepdims=True)
    error = tails.std(axis=0, ddof=1) / np.sqrt(seeds) if seeds > 1 else np.zeros(m.LONGEST)
    return _lengths(label, m.at_least(counts), error, "line")


def predicted(label: str, flows: float) -> Curve:
    """Draw P(run >= n) of the model."""
    return _lengths(f"{label}, model", *modelled(label, flows), "dashed")


def udp_runs(mixed: Runs, labels: Sequence[str]) -> Iterator[Curve]:
    """Draw the loss runs of a UDP flow at 400 sources, with the model's."""
    for label in labels:
        yield counted(label, m.by_length(mixed, label, m.MIXED["Exp6"]))
    for label in labels:
        yield predicted(label, FLOWS)


def _of_all(queue: Runs, corners: Runs, shown: Sequence[str]) -> Iterator[Curve]:
    """Draw the queue, and the loss runs over all flows, with the model's."""
    yield from delays(queue, shown)
    for label in shown:
        yield counted(label, m.by_length(corners, label, None, "bottleneck"))
    for label in shown:
        yield predicted(label, 1)


@figure(
    [QUEUE, Panel("right", "Losses in a row of a UDP flow, 400 sources", LENGTH, CHANCE)],
    caption=f"{MODEL} It deals packets out to {FLOWS} flows at random; the simulated flow is one of ten, "
    "and has a packet every 40 to 120 ms.",
)
def fig6(queue: Runs, mixed: Runs) -> Iterator[Curve]:
    """Queueing delay and consecutive losses with RED and tail drop."""
    yield from delays(queue, (m.TD, m.RED))
    yield from udp_runs(mixed, (m.RED, m.TD))


@figure([QUEUE, OF_ALL], caption=f"{MODEL} Right with independent drops, as in the model.")
def fig9(queue: Runs, corners: Runs) -> Iterator[Curve]:
    """The queue and consecutive losses with gentle RED."""
    return _of_all(queue, corners, (*m.GREDS, m.TD))


@figure(
    [QUEUE, OF_ALL],
    caption=f"{MODEL} Right with independent drops, as in the model. Grey: half of tail drop's mean delay.",
)
def fig11(queue: Runs, corners: Runs) -> Iterator[Curve]:
    """The queue and consecutive losses with GRED-I."""
    yield from _of_all(queue, corners, (m.HERO, m.TD))
    half = queue.per_seed("queue_delay_mean", m.TD, unit="s").mean / 2
    yield Curve("left", "GRED-I, mean (paper)", list(WINDOW), [half, half], style="printed")
