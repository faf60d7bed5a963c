"""Figures 7 and 8, experiment 3: the target queue."""

from __future__ import annotations

from aqmlab.library.lred.figures.queues import Column, queues_over_time
from aqmlab.library.lred.measures import TARGET
from aqmlab.papers import Axis, Figure, Panel
from aqmlab.papers.run.sketch import over

AXIS = Axis("Expected queue length q0 (packets)", 20, 160)

FIGURE_7 = Figure(
    name="fig7",
    title="Experiment 3: goodput, queue, deviation and loss over the target",
    needs=["exp3"],
    panels=[
        Panel("a", "Goodput", AXIS, Axis("Goodput (Mbit/s)")),
        Panel("b", "Average queue length", AXIS, Axis("Average queue length (packets)", 0, 200)),
        Panel("c", "Average queue deviation", AXIS, Axis("Average queue deviation (packets)", 0)),
        Panel("d", "Packet loss ratio", AXIS, Axis("Packet loss ratio")),
    ],
    curves=over("exp3", TARGET, {"a": ("goodput", 1e-6), "b": "queue_mean", "c": "queue_mad", "d": "loss_ratio"}),
    caption="From 20 s to 200 s; bands are 95 % intervals.",
)

FIGURE_8 = queues_over_time(
    "fig8",
    "Experiment 3: queue length over time",
    [Column(letter, f"q0 = {q0}", "exp3-time", {TARGET: q0}) for letter, q0 in (("a", 20), ("b", 160))],
)
