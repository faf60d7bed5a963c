"""Figures 6, 9 and 11: queues, and losses in a row; the table of runs, and the effect of a flow's rate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.impact.measures import (
    APPROXIMATED,
    GREDS,
    GREEDY,
    HERO,
    LONGEST,
    MIXED,
    PACKET_TIME,
    RED,
    TD,
    Array,
    at_least,
    counted,
    present_splits,
)
from aqmlab.library.impact.theory import FLOWS, LOAD, MODELLED, modelled
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.papers.run.sketch import Curves

if TYPE_CHECKING:
    import polars

WINDOW = (100.0, 115.0)
"""The 15 s of the queue that are drawn (s)."""
AXIS_END = 1e-9
"""Lower limit of bands on a logarithmic axis."""
TIME = Axis("Time (s)", *WINDOW)
DELAY = Axis("Queueing delay (s)", 0, 0.2)
LENGTH = Axis("Consecutive losses n (packets)", 1, LONGEST)
CHANCE = Axis("P(at least n)", 1e-6, 1, log=True)

MODEL = (
    f"Dashed is the open-loop model: Poisson arrivals at {LOAD} times what the link serves (the load is lost in "
    "print), buffer 200. Bands are of Poisson counts, and of the model's simulation."
)


def delays(evidence: Evidence, labels: Sequence[str]) -> Iterator[Curve]:
    """Draw the queueing delay over 15 s."""
    for label in labels:
        whole = evidence["queue"].over_time("left", label, scale=PACKET_TIME)
        t, wait = np.asarray(whole.x, dtype=float), np.asarray(whole.y)
        shown = (t >= WINDOW[0]) & (t < WINDOW[1])
        yield Curve("left", label, t[shown], wait[shown])


def _lengths(panel: str, label: str, probability: Array, style: str, error: Array | None = None) -> Curve:
    """Draw P(run >= n), with its standard error if it has one."""
    n = np.arange(1.0, LONGEST + 1)
    probability = np.where(probability > 0, probability, np.nan)
    if error is None or not error.any():
        return Curve(panel, label, n, probability, style=style)
    low, high = np.maximum(probability - 1.96 * error, AXIS_END), probability + 1.96 * error
    return Curve(panel, label, n, probability, low, high, style)


def _counts(panel: str, label: str, counts: Array) -> Curve:
    """Draw P(run >= n) of counted runs, with the standard error of Poisson counts."""
    probability = at_least(counts)
    return _lengths(panel, label, probability, "line", np.sqrt(probability / counts.sum()))


def runs_of_a_flow(evidence: Evidence) -> Iterator[Curve]:
    """Draw figure 6: the queue, and the loss runs of a UDP flow at 400 sources, with the model's."""
    yield from delays(evidence, (TD, RED))
    for label in (RED, TD):
        yield _counts("right", label, counted(evidence["mixed"], label, MIXED["Exp6"]))
    for label in (RED, TD):
        yield _lengths("right", f"{label}, model", *_styled(label, FLOWS, evidence.quick))


def _styled(label: str, flows: float, quick: bool) -> tuple[Array, str, Array]:
    probability, error = modelled(label, flows, quick)
    return probability, "dashed", error


def runs_of_all(shown: Sequence[str]) -> Curves:
    """Return the curves of figure 9 or 11 for tail drop and the disciplines ``shown``.

    Panels ``left`` and ``right`` are the queue and the loss runs over all flows, with the model's.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        yield from delays(evidence, (*shown, TD))
        for label in (*shown, TD):
            counts = counted(evidence["simulation"], label, GREEDY["Exp6"], "bottleneck")
            yield _counts("right", label, counts)
        for label in (*shown, TD):
            if label in MODELLED:
                yield _lengths("right", f"{label}, model", *_styled(label, 1, evidence.quick))

    return curves


def split(evidence: Evidence) -> Iterator[Curve]:
    """Draw how often a UDP flow loses more than 5 packets in a row, over the number of UDP flows."""
    runs = evidence["split"]
    for label in runs.labels:
        points = present_splits(runs)
        counts = [counted(runs, label, at) for at in points.values()]
        share = np.array([at_least(count)[5] for count in counts])
        half = 1.96 * np.sqrt(share / [count.sum() for count in counts])
        yield Curve(
            "", label, [float(flows) for flows in points], share, np.maximum(share - half, AXIS_END), share + half
        )


def run_lengths(evidence: Evidence) -> polars.DataFrame:
    """List the frequency of loss runs, of a UDP flow and of all flows, simulated and by the model."""
    import polars

    rows = []

    def row(name: str, flow: Array, every: Array) -> None:
        lengths = (2, 6, 15)
        shares = {f"flow, >= {n}": float(np.nan_to_num(flow[n - 1])) for n in lengths}
        shares |= {f"all, >= {n}": float(np.nan_to_num(every[n - 1])) for n in lengths}
        rows.append({"runs of losses": name} | shares)

    for experiment, title, points in (("mixed", "testbed's traffic, Exp6", MIXED), ("simulation", "Exp6", GREEDY)):
        runs = evidence[experiment]
        for label in runs.labels:
            flow, every = (counted(runs, label, points["Exp6"], owner) for owner in ("udp", "bottleneck"))
            row(f"{label}, {title}", at_least(flow), at_least(every))
    for label in (RED, TD, APPROXIMATED, HERO):
        row(f"{label}, model", *(modelled(label, flows, evidence.quick)[0] for flows in (FLOWS, 1)))
    return polars.DataFrame(rows)


FIGURE_6 = Figure(
    name="fig6",
    title="Queueing delay and consecutive losses with RED and tail drop",
    needs=["queue", "mixed"],
    panels=[
        Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
        Panel("right", "Losses in a row of a UDP flow, 400 sources", LENGTH, CHANCE),
    ],
    curves=runs_of_a_flow,
    caption=f"{MODEL} It deals packets out to {FLOWS} flows at random; the simulated flow is one of ten, "
    "and has a packet every 40 to 120 ms.",
)

FIGURE_9 = Figure(
    name="fig9",
    title="The queue and consecutive losses with gentle RED",
    needs=["queue", "simulation"],
    panels=[
        Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
        Panel("right", "Losses in a row of all, 400 greedy sources", LENGTH, CHANCE),
    ],
    curves=runs_of_all(GREDS),
    caption=MODEL,
)

FIGURE_11 = Figure(
    name="fig11",
    title="The queue and consecutive losses with GRED-I",
    needs=["queue", "simulation"],
    panels=[
        Panel("left", "Queueing delay, 200 greedy sources", TIME, DELAY),
        Panel("right", "Losses in a row of all, 400 greedy sources", LENGTH, CHANCE),
    ],
    curves=runs_of_all((HERO,)),
    caption=MODEL,
)

RUNS = Table(
    name="runs",
    title="Losses in a row, 400 sources: of a UDP flow, and of all packets whatever their flow",
    needs=["mixed", "simulation"],
    rows=run_lengths,
    caption=f"P(run >= n); the model has the load {LOAD}, and a flow has one packet in {FLOWS}.",
    digits=2,
    beyond=True,
)

SPLIT = Figure(
    name="split",
    title="How often a UDP flow loses more than 5 packets in a row, by how many flows UDP is split into",
    needs=["split"],
    panels=[
        Panel(
            "",
            "400 sources",
            Axis("UDP flows of 1 Mbit/s in all", 1, 40, log=True),
            Axis("P(> 5)", 1e-6, 1, log=True),
        )
    ],
    curves=split,
    caption="The paper does not state their number; where a point is missing, no run was so long. Bands are of "
    "Poisson counts.",
    across=1,
    beyond=True,
)
