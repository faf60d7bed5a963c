"""Figure 7: the averaging weight; the surge of UDP."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab.library.impact.figures.goodput import GOODPUT, MEASURES, UDP
from aqmlab.library.impact.measures import RED, SURGE_BEGIN, SURGE_END
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.papers.run.sketch import mean_curve
from aqmlab.results.summary import Summary

WEIGHT = Axis("Averaging w", 0.001, 1, log=True)


def averaging(evidence: Evidence) -> Iterator[Curve]:
    """Draw goodput and loss over the averaging weight."""
    runs = evidence["averaging"]
    weights = runs.points("aqm.w_q")
    for panel, measure in MEASURES.items():
        summaries = [Summary.of(measure(runs, RED, {"aqm.w_q": w})) for w in weights]
        yield mean_curve(panel, RED, weights, summaries)


def surge(evidence: Evidence) -> Iterator[Curve]:
    """Draw queue and drops around a surge of UDP."""
    runs = evidence["surge"]
    for panel, quantity in (("left", "queue.mean"), ("right", "drops")):
        for label in runs.labels:
            whole = runs.over_time(panel, label, quantity=quantity)
            t, y = np.asarray(whole.x, dtype=float), np.asarray(whole.y)
            shown = (t >= SURGE_BEGIN - 2) & (t < SURGE_END + 4)
            yield Curve(panel, label, t[shown], y[shown])


FIGURE_7 = Figure(
    name="fig7",
    title="Impact of the averaging parameter on TCP goodput and UDP loss",
    needs=["averaging"],
    panels=[
        Panel("left", "TCP goodput", WEIGHT, Axis(GOODPUT, 8, 9)),
        Panel("right", "UDP loss", WEIGHT, Axis(UDP, 0, 20)),
    ],
    curves=averaging,
    caption="One chart with two axes in print, which have no numbers.",
)

SURGE = Figure(
    name="surge",
    title="A surge of UDP",
    needs=["surge"],
    panels=[
        Panel("left", "Queue", Axis("Time (s)", SURGE_BEGIN - 2, SURGE_END + 4), Axis("Queue (packets)", 0, 200)),
        Panel("right", "Drops", Axis("Time (s)", SURGE_BEGIN - 2, SURGE_END + 4), Axis("Drops (packets in 50 ms)", 0)),
    ],
    curves=surge,
    caption=f"UDP of 5 Mbit/s from {SURGE_BEGIN} to {SURGE_END} s. The paper argues it without a figure.",
    beyond=True,
)
