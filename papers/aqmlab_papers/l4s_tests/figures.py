"""The figure, our shares over the published ones, and the table of all rows."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Evidence, Panel, figure, table
from aqmlab_papers.l4s_tests.measures import FIRST, SAME, SECOND, at, repeated, shared
from aqmlab_papers.run.sketch import cells, mean_curve

STAND_IN = "FQ-CoDel stands for CodelAF (cnq_codel_af)."


def _panel(letter: str, title: str, least: float) -> Panel:
    return Panel(
        letter, title, Axis("First flow's share, published", least, 1), Axis("First flow's share, ours", least, 1)
    )


PANELS = {
    "fairness-10": _panel("a", "10 Mbit/s", 0),
    "fairness-50": _panel("b", "50 Mbit/s", 0),
    "rfc3168": _panel("c", "50 Mbit/s, shared queues", 0.9),
}


@figure(
    list(PANELS.values()),
    needs=list(PANELS),
    caption="A point is a row of the tables, with the 95 % interval over our seeds. Between the dashed lines the "
    f"shares differ by at most {SAME.value:g}. {STAND_IN}",
    across=3,
    beyond=True,
)
def shares(evidence: Evidence) -> Iterator[Curve]:
    """The first flow's share of what both get."""
    for name, panel in PANELS.items():
        rows = [row for row in repeated(evidence) if row.experiment == name]
        for queue in dict.fromkeys(row.queue for row in rows):
            chosen = [row for row in rows if row.queue == queue]
            summaries = [shared(evidence, row).summary for row in chosen]
            yield mean_curve(panel.letter, queue, [row.share for row in chosen], summaries, style="points")
        near, far = [panel.x.low or 0, 1 - SAME.value], [(panel.x.low or 0) + SAME.value, 1]
        yield Curve(panel.letter, f"± {SAME.value:g}", near, far, style="dashed")
        yield Curve(panel.letter, f"± {SAME.value:g}", far, near, style="dashed")


@table(needs=list(PANELS), caption=f"Goodput in Mbit/s. {STAND_IN}", digits=3)
def rows(evidence: Evidence) -> polars.DataFrame:
    """The rows of both tables, and ours."""
    found = []
    for row in repeated(evidence):
        own = [evidence[row.experiment].per_seed(flow, row.label, at(row.flows)) * 1e-6 for flow in (FIRST, SECOND)]
        found.append(
            {
                "flows": row.name,
                "first (paper)": row.goodputs[0],
                "first": own[0].mean,
                "second (paper)": row.goodputs[1],
                "second": own[1].mean,
                "share (paper)": row.share,
                **cells("share", shared(evidence, row)),
            }
        )
    return polars.DataFrame(found)


ITEMS = (shares, rows)
