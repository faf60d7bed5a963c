"""The figures: shares of hosts, flows that share a queue, what the filter brings; and the rows that were measured."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Panel, Runs, figure, table
from aqmlab_papers.cake.experiments import DELAY
from aqmlab_papers.cake.measures import (
    FILTERS,
    FLOWS,
    PUBLISHED,
    WAYS,
    expected,
    goodput,
    share,
    together,
)
from aqmlab_papers.run.sketch import bars, cells, mean_curve


@figure(
    [
        Panel("a", "One flow beside two", Axis("Its share, measured", 0.25, 0.55), Axis("Its share, ours", 0.25, 0.55)),
        Panel("b", "Many flows", Axis("Flows", 0, 1000), Axis("Without a queue of their own (%)", 0, 40)),
    ],
    caption="(a) A point is a row of cake-flowiso, a flow mode, with the 95 % interval over our seeds. (b) Dashed: "
    "what a hash that is even leaves without a queue, with one place to go to and with eight.",
    beyond=True,
)
def shares(sources: Runs, destinations: Runs, collisions: Runs) -> Iterator[Curve]:
    """Shares of hosts by flow mode, and flows that share a queue."""
    for two, runs in (("sources", sources), ("destinations", destinations)):
        rows = [row for row in PUBLISHED if row.two == two]
        summaries = [share(runs, row.mode).summary for row in rows]
        yield mean_curve("a", f"two {two}", [row.share for row in rows], summaries, style="points")
    yield Curve("a", "equal", [0.25, 0.55], [0.25, 0.55], style="dashed")
    counts = collisions.points("traffic.flows.count")
    for label, ways in (("CAKE", WAYS), ("FQ-CoDel", 1)):
        summaries = [together(collisions, label, count).summary for count in counts]
        yield mean_curve("b", label, counts, summaries)
        yield Curve("b", f"{label}, expected", FLOWS, [expected(count, ways) for count in FLOWS], style="dashed")


PLACES = ("30/1, 0 ms", "30/1, 50 ms", "1000/20, 100 ms")


@figure(
    [
        Panel("a", "Downloads", Axis("Mbit/s down/up, round trip"), Axis("Goodput over that without a filter", 0)),
        Panel("b", "Uploads", Axis("Mbit/s down/up, round trip"), Axis("Goodput over that without a filter", 0)),
    ],
    caption="Four flows each way; the filter is at the uplink. Points: Täht's numbers of 2017.",
    beyond=True,
)
def filtered(filter: Runs, gigabit: Runs) -> Iterator[Curve]:
    """What downloads and uploads get with the filter for acknowledgements."""
    points = [(filter, {DELAY: 0.0}), (filter, {DELAY: 0.025}), (gigabit, None)]
    for panel, way, printed in (("a", "down", 791 / 410), ("b", "up", 1.5)):
        for label in FILTERS[1:]:
            ratios = [
                runs.per_seed(goodput(way), label, at) / runs.per_seed(goodput(way), "off", at).mean
                for runs, at in points
            ]
            yield bars(panel, label, PLACES, [ratio.summary for ratio in ratios])
        yield Curve(panel, "on", PLACES[2:], [printed], style="points")


@table(caption="Goodput in Mbit/s of cake-flowiso's flows (Linux 5.10), each row one run of ten seconds.", digits=3)
def rows(sources: Runs, destinations: Runs, three_sources: Runs) -> polars.DataFrame:
    """Shares of 50 Mbit/s by flow mode."""
    runs = {"sources": sources, "destinations": destinations}
    found = []
    for row in PUBLISHED:
        goodputs = [runs[row.two].per_seed(goodput(name), row.mode) * 1e-6 for name in ("one", "two")]
        found.append(
            {
                "flow mode": row.name,
                "one (paper)": row.goodputs[0],
                "one": goodputs[0].mean,
                "two (paper)": row.goodputs[1],
                "two": goodputs[1].mean,
                "share (paper)": row.share,
                **cells("share", share(runs[row.two], row.mode)),
            }
        )
    return polars.DataFrame(found)


ITEMS = (shares, filtered, rows)
