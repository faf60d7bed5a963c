"""Figures on future work: several bottlenecks, and sub-aggregates."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.raqm.measures import CROSS_FLOWS, FLOOD, LINKS, SHARES, cross_points, handicaps, link_shares
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.papers.run.sketch import bars
from aqmlab.results.summary import Summary


def _at_bottlenecks(evidence: Evidence) -> Iterator[Curve]:
    """Draw the three queues, and the handicap of long flows."""
    runs = evidence["bottlenecks"]
    points = cross_points(runs)
    for panel, at in zip("ab", points, strict=True):
        for label in runs.labels:
            summaries = [runs.mean(f"links.{link}.queue_mean", label, at) for link in LINKS]
            yield bars(panel, label, LINKS, summaries)
    places = tuple(f"{at[CROSS_FLOWS]:g}" for at in points)
    for label in runs.labels:
        yield bars("c", label, places, [Summary.of(handicaps(runs, label, at)) for at in points])


def _with_shares(evidence: Evidence) -> Iterator[Curve]:
    """Draw each aggregate's share of the link, at a small and at a large flood."""
    runs = evidence["sub-aggregates"]
    for panel, rate in zip("ab", runs.points(FLOOD), strict=True):
        for label in runs.labels:
            summaries = [Summary.of(link_shares(runs, label, name, {FLOOD: rate})) for name in SHARES]
            yield bars(panel, label, tuple(SHARES), summaries)
        yield Curve(panel, "share", tuple(SHARES), list(SHARES.values()), style="points")


_LINK, _QUEUE = Axis("Bottleneck"), Axis("Average queue length (packets)", 0, 100)
_AGGREGATE, _PART = Axis("Aggregate"), Axis("Part of the link", 0, 1)

BOTTLENECKS = Figure(
    name="bottlenecks",
    title="Three bottlenecks in a row",
    panels=[
        Panel("a", "Queues, 20 flows more at each", _LINK, _QUEUE),
        Panel("b", "Queues, 100 flows more at each", _LINK, _QUEUE),
        Panel(
            "c",
            "How the 20 long flows fare",
            Axis("Flows that cross only one"),
            Axis("Goodput, over three / over one", 0),
        ),
    ],
    curves=_at_bottlenecks,
    needs=["bottlenecks"],
    caption="The last 100 s. All round trips are 100 ms beside the queues; q0 = 50. NewReno with time-outs of at "
    "least 0.2 s, unlike the paper's cases.",
    beyond=True,
)

SUB_AGGREGATES = Figure(
    name="sub-aggregates",
    title="RAQM with sub-aggregates: what each gets of the link",
    panels=[
        Panel("a", "Flood of 200 kbit/s", _AGGREGATE, _PART),
        Panel("b", "Flood of 8 Mbit/s", _AGGREGATE, _PART),
    ],
    curves=_with_shares,
    needs=["sub-aggregates"],
    caption="The last 100 s. 20, 20 and 40 long flows; the third aggregate has the flood, UDP that reacts to "
    "nothing. NewReno with time-outs of at least 0.2 s, unlike the paper's cases.",
    beyond=True,
)
