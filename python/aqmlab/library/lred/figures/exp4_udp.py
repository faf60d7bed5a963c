"""Figures 9 and 10, experiment 4: UDP flows."""

from __future__ import annotations

from collections.abc import Sequence

from aqmlab.library.lred.figures.queues import Column, queues_over_time
from aqmlab.library.lred.measures import LINK, UDP_FLOWS, UDP_RATE
from aqmlab.papers import At, Axis, Figure, Panel
from aqmlab.papers.run.sketch import over

DENSITY = Axis("UDP traffic density", 0.1, 0.9)
SHOWN: Sequence[tuple[str, float]] = (("a", 0.5), ("b", 0.9))


def _at(density: float) -> At:
    return {UDP_RATE: density * LINK / UDP_FLOWS}


FIGURE_9 = Figure(
    name="fig9",
    title="Experiment 4: goodput, queue, deviation and loss over the density of UDP",
    needs=["exp4"],
    panels=[
        Panel("a", "Goodput", DENSITY, Axis("Goodput (Mbit/s)")),
        Panel("b", "Average queue length", DENSITY, Axis("Average queue length (packets)", 0, 200)),
        Panel("c", "Average queue deviation", DENSITY, Axis("Average queue deviation (packets)", 0)),
        Panel("d", "Packet loss ratio", DENSITY, Axis("Packet loss ratio")),
    ],
    curves=over(
        "exp4",
        UDP_RATE,
        {"a": ("goodput", 1e-6), "b": "queue_mean", "c": "queue_mad", "d": "loss_ratio"},
        x_scale=UDP_FLOWS / LINK,
    ),
    caption="From 20 s to 200 s, of TCP and UDP together. On for half of the time, UDP takes half its density of "
    "the link.",
)

FIGURE_10 = queues_over_time(
    "fig10",
    "Experiment 4: queue length over time",
    [Column(letter, f"UDP density {density:g}", "exp4-time", _at(density)) for letter, density in SHOWN],
)
