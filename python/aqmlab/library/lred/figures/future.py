"""Figures on future work: marks instead of drops, fractional Gaussian noise, priorities."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.lred.measures import CLASSES, FLOWS, HURST
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.papers.run.sketch import bars, over

_PANELS: dict[str, tuple[str, float]] = {
    "a": ("loss_ratio", 100.0),
    "b": ("goodput", 1e-6),
    "c": ("queue_mean", 1.0),
    "d": ("response_time", 1.0),
    "e": ("mark_ratio", 100.0),
    "f": ("jain", 1.0),
}


def _over_flows(evidence: Evidence) -> Iterator[Curve]:
    """Draw all metrics over the number of flows; a queue that never settles counts with the whole run."""
    runs = evidence["marks"]
    for panel, (metric, scale) in _PANELS.items():
        fill = runs.duration if metric == "response_time" else None
        for label in runs.labels:
            yield runs.curve(panel, metric, label, FLOWS, fill=fill, scale=scale)


def _of_classes(evidence: Evidence) -> Iterator[Curve]:
    """Draw loss ratio and throughput of each class, a bar for each set of weights."""
    runs = evidence["priorities"]
    for panel, metric, scale in (("a", "loss_ratio", 100.0), ("b", "throughput", 1e-6)):
        for label in runs.labels:
            summaries = [runs.mean(f"classes.{one}.{metric}", label, scale=scale) for one in CLASSES]
            yield bars(panel, label, CLASSES, summaries)
    for panel, metric, scale in (("c", "queue_mean", 1.0), ("d", "loss_ratio", 100.0)):
        yield bars(panel, "all", runs.labels, [runs.mean(metric, label, scale=scale) for label in runs.labels])


_FLOWS = Axis("Number of flows", 0, 800)
_H = Axis("Hurst parameter", 0.5, 0.9)
_WHICH, _SPLIT = Axis("Class"), Axis("Weights")

MARKS_FIGURE = Figure(
    name="marks",
    title="Marks instead of drops",
    panels=[
        Panel("a", "Packet loss ratio", _FLOWS, Axis("Packet loss ratio (%)", 0)),
        Panel("b", "Goodput", _FLOWS, Axis("Goodput (Mbit/s)")),
        Panel("c", "Average queue length", _FLOWS, Axis("Average queue length (packets)", 0, 200)),
        Panel("d", "Response time", _FLOWS, Axis("Response time (s)", 0, 100)),
        Panel("e", "Marks", _FLOWS, Axis("Packets marked (%)", 0, 100)),
        Panel("f", "Fairness", _FLOWS, Axis("Jain's index of the flows' goodput", 0, 1)),
    ],
    curves=_over_flows,
    needs=["marks"],
    caption="Experiment 1 for 100 s, q0 = 100. A queue that never settles has the run's length as its response time.",
    beyond=True,
)

NOISE_FIGURE = Figure(
    name="fgn",
    title="Fractional Gaussian noise beside 100 long flows",
    panels=[
        Panel("a", "Goodput", _H, Axis("Goodput (Mbit/s)")),
        Panel("b", "Average queue length", _H, Axis("Average queue length (packets)", 0, 200)),
        Panel("c", "Average queue deviation", _H, Axis("Average queue deviation (packets)", 0)),
        Panel("d", "Packet loss ratio", _H, Axis("Packet loss ratio", 0)),
    ],
    curves=over("fgn", HURST, {"a": ("goodput", 1e-6), "b": "queue_mean", "c": "queue_mad", "d": "loss_ratio"}),
    needs=["fgn"],
    caption="UDP of 3 Mbit/s on average, whose rate has a standard deviation of half of it in 100 ms.",
    beyond=True,
)

PRIORITIES_FIGURE = Figure(
    name="priorities",
    title="LRED with priorities: three classes of 40 long flows, by their weights",
    panels=[
        Panel("a", "Loss ratio of each class", _WHICH, Axis("Packet loss ratio (%)", 0)),
        Panel("b", "Throughput of each class", _WHICH, Axis("Throughput (Mbit/s)", 0)),
        Panel("c", "Average queue length", _SPLIT, Axis("Average queue length (packets)", 0, 200)),
        Panel("d", "Loss ratio of all", _SPLIT, Axis("Packet loss ratio (%)", 0)),
    ],
    curves=_of_classes,
    needs=["priorities"],
    beyond=True,
)
