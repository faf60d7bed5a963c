"""Figures 4, 5, 6 and 8: queues over time in the four cases."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.raqm.measures import FLOWS, at
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.papers.run.sketch import Curves

TIME = Axis("Time (s)", 0, 200)
QUEUE = Axis("Queue length (packets)", 0, 100)


def _over_time(experiment: str) -> Curves:
    """Draw the queue with 40 flows in panel a, with 400 in panel b."""

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        for panel, flows in zip("ab", runs.points(FLOWS), strict=True):
            for label in runs.labels:
                yield runs.over_time(panel, label, at=at(flows), bin=1.0)

    return curves


def _queues(name: str, number: int, title: str, caption: str) -> Figure:
    return Figure(
        name=name,
        title=f"Queue length in case {number} with {title}",
        panels=[
            Panel("a", "The number of long-lived TCP flows is 40", TIME, QUEUE),
            Panel("b", "The number of long-lived TCP flows is 400", TIME, QUEUE),
        ],
        curves=_over_time(f"case{number}"),
        needs=[f"case{number}"],
        caption=caption,
    )


SAMPLED = "The first seed; means of 1 s. The dips and peaks of the printed curves, of single packets, are within them."
FIGURE_4 = _queues("fig4", 1, "small RTT", SAMPLED)
FIGURE_5 = _queues("fig5", 2, "large RTT", SAMPLED)
FIGURE_6 = _queues("fig6", 3, "diverse RTT", SAMPLED)

FIGURE_8 = _queues(
    "fig8",
    4,
    "hybrid traffics",
    f"Short flows and UDP from 50 s to 150 s. The paper does not state the number of long flows. {SAMPLED}",
)
