"""Figures on future work: several bottlenecks, and sub-aggregates."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.raqm.measures import CROSS_FLOWS, FLOOD, LINKS, SHARED, SHARES, cross_points, handicap, link_share
from aqmlab_papers.run.sketch import bars

_LINK, _QUEUE = Axis("Bottleneck"), Axis("Average queue length (packets)", 0, 100)
_AGGREGATE, _PART = Axis("Aggregate"), Axis("Part of the link", 0, 1)


@figure(
    [
        Panel("a", "Queues, 20 flows more at each", _LINK, _QUEUE),
        Panel("b", "Queues, 100 flows more at each", _LINK, _QUEUE),
        Panel(
            "c",
            "How the 20 long flows fare",
            Axis("Flows that cross only one"),
            Axis("Goodput, over three / over one", 0),
        ),
    ],
    caption="The last 100 s. All round trips are 100 ms beside the queues; q0 = 50. With shares the long flows have a "
    "rate of .3 C of their own at each bottleneck.",
    across=3,
    beyond=True,
)
def bottlenecks(bottlenecks: Runs, bottlenecks_shares: Runs) -> Iterator[Curve]:
    """Three bottlenecks in a row."""
    points = cross_points(bottlenecks)
    for panel, at in zip("ab", points, strict=True):
        for label in bottlenecks.labels:
            queues = [bottlenecks.per_seed(f"links.{link}.queue_mean", label, at).summary for link in LINKS]
            yield bars(panel, label, LINKS, queues)
    places = tuple(f"{at[CROSS_FLOWS]:g}" for at in points)
    for runs, labels in ((bottlenecks, bottlenecks.labels), (bottlenecks_shares, (SHARED,))):
        for label in labels:
            yield bars("c", label, places, [handicap(runs, label, at).summary for at in points])


@figure(
    [Panel("a", "Flood of 200 kbit/s", _AGGREGATE, _PART), Panel("b", "Flood of 8 Mbit/s", _AGGREGATE, _PART)],
    caption="The last 100 s. 20, 20 and 40 long flows; the third aggregate has the flood, UDP that reacts to nothing.",
    beyond=True,
)
def sub_aggregates(sub_aggregates: Runs) -> Iterator[Curve]:
    """RAQM with sub-aggregates: what each gets of the link."""
    runs = sub_aggregates
    for panel, rate in zip("ab", runs.points(FLOOD), strict=True):
        for label in runs.labels:
            parts = [link_share(runs, label, name, {FLOOD: rate}).summary for name in SHARES]
            yield bars(panel, label, tuple(SHARES), parts)
        yield Curve(panel, "share", tuple(SHARES), list(SHARES.values()), style="points")
