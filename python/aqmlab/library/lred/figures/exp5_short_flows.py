"""Figures 11 to 14, experiment 5: short flows, AVQ, Pareto distributions."""

from __future__ import annotations

from aqmlab.library.lred.experiments import SHORT_FOUR
from aqmlab.library.lred.figures.queues import Column, queues_over_time
from aqmlab.library.lred.measures import ARRIVAL_RATE
from aqmlab.papers import Axis, Figure, Panel
from aqmlab.papers.run.sketch import over, over_time

_SLOW, _FAST = 30, 100
_LAMBDA = Axis("Arrival rate of short flows (1/s)", 10, 100)
_TIME = Axis("Time (s)", 0, 200)
_QUEUE = Axis("Queue length (packets)", 0, 200)


def _four_metrics(x: Axis) -> list[Panel]:
    return [
        Panel("a", "Goodput", x, Axis("Goodput (Mbit/s)")),
        Panel("b", "Average queue length", x, Axis("Average queue length (packets)", 0)),
        Panel("c", "Average queue deviation", x, Axis("Average queue deviation (packets)", 0)),
        Panel("d", "Packet loss ratio", x, Axis("Packet loss ratio", 0)),
    ]


_METRICS: dict[str, str | tuple[str, float]] = {
    "a": ("goodput", 1e-6),
    "b": "queue_mean",
    "c": "queue_mad",
    "d": "loss_ratio",
}

FIGURE_11 = Figure(
    name="fig11",
    title="Experiment 5: goodput, queue and loss over the arrival rate of short flows",
    panels=_four_metrics(_LAMBDA),
    curves=over("exp5", ARRIVAL_RATE, _METRICS),
    needs=["exp5"],
)

FIGURE_12 = queues_over_time(
    "fig12",
    "Experiment 5: queue lengths, lambda = 30 and 100 flows a second",
    [
        Column(letter, f"lambda = {rate}/s", "exp5-time", {ARRIVAL_RATE: float(rate)})
        for letter, rate in (("a", _SLOW), ("b", _FAST))
    ],
)

FIGURE_13 = Figure(
    name="fig13",
    title="Experiment 5: LRED and AVQ",
    panels=_four_metrics(_LAMBDA),
    curves=over("exp5-avq", ARRIVAL_RATE, _METRICS),
    needs=["exp5-avq"],
    caption="AVQ as in ns-2, with the ends of the range of alpha that the paper prints. In ns-2 its virtual "
    "capacity starts at 0.8 C; from C it starts at the link's rate.",
)

FIGURE_14 = Figure(
    name="fig14",
    title="Experiment 5: queue lengths where short flows follow Pareto's law, lambda = 100",
    panels=[Panel(label, label, _TIME, _QUEUE) for label in SHORT_FOUR],
    curves=over_time("exp5-pareto", {label: (label, {}) for label in SHORT_FOUR}),
    needs=["exp5-pareto"],
    caption="Averages over 100 ms of the first seed; shape 1.5, which the paper does not state.",
)
