"""Figures 15 and 16, experiment 6: two-way congestion."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.lred.figures.queues import LABELS
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel


def _two_way(evidence: Evidence, buffer: str) -> Iterator[Curve]:
    runs = evidence["exp6"]
    for label in runs.labels:
        at = {"dumbbell.buffer": float(buffer)}
        yield runs.over_time(f"a, {label}", label, at=at, link="bottleneck:reverse")
        yield runs.over_time(f"b, {label}", label, at=at)


def _two_way_figure(name: str, buffer: str) -> Figure:
    time, queue = Axis("Time (s)", 0, 100), Axis("Queue length (packets)", 0, float(buffer))
    return Figure(
        name=name,
        title=f"Experiment 6: queue lengths with congestion both ways, q0 = 100, Q = {buffer}",
        panels=[
            Panel(f"{letter}, {label}", title, time, queue)
            for label in LABELS
            for letter, title in (("a", "reverse direction, short flows"), ("b", "forward direction, long flows"))
        ],
        curves=lambda evidence: _two_way(evidence, buffer),
        needs=["exp6"],
        caption="Averages over 50 ms of the first seed.",
    )


FIGURE_15 = _two_way_figure("fig15", "200")
FIGURE_16 = _two_way_figure("fig16", "400")
