"""The figure, our shares over the published ones, and the table of all rows."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Evidence, Panel, figure, table
from aqmlab_papers.l4s_tests.measures import FIRST, SAME, SECOND, at, repeated, shared
from aqmlab_papers.run.sketch import cells, mean_curve

EXPERIMENTS = ("fairness-10", "fairness-50", "rfc3168")
PRINTED, OURS = "First flow's share, published", "First flow's share, ours"


def _panel(letter: str, title: str, low: float) -> Panel:
    return Panel(letter, title, Axis(PRINTED, low, 1), Axis(OURS, low, 1))


@figure(
    [_panel("a", "10 Mbit/s", 0), _panel("b", "50 Mbit/s", 0), _panel("c", "50 Mbit/s, shared queues", 0.8)],
    needs=EXPERIMENTS,
    caption="A point is a row of the tables, with the 95 % interval over our seeds. Between the dashed lines the "
    f"shares differ by at most {SAME.value:g}. FQ-CoDel stands for CodelAF (cnq_codel_af).",
    across=3,
    beyond=True,
)
def shares(evidence: Evidence) -> Iterator[Curve]:
    """The first flow's share of what both get."""
    for letter, name in zip("abc", EXPERIMENTS, strict=True):
        rows = [row for row in repeated(evidence) if row.experiment == name]
        for qdisc in dict.fromkeys(row.qdisc.removesuffix("(200)").removesuffix("(1000)") for row in rows):
            chosen = [row for row in rows if row.qdisc.startswith(qdisc)]
            summaries = [shared(evidence, row).summary for row in chosen]
            yield mean_curve(letter, qdisc, [row.share for row in chosen], summaries, style="points")
        for sign in (-1, 1):
            yield Curve(letter, "± 0.08", [0, 1], [sign * SAME.value, 1 + sign * SAME.value], style="dashed")


@table(needs=EXPERIMENTS, caption="Goodput in Mbit/s. FQ-CoDel stands for CodelAF (cnq_codel_af).", digits=3)
def rows(evidence: Evidence) -> polars.DataFrame:
    """The rows of both tables, and ours."""
    return polars.DataFrame(
        [
            {
                "flows": row.name,
                **{
                    key: value
                    for number, goodput, flow in zip((1, 2), row.goodputs, (FIRST, SECOND), strict=True)
                    for key, value in {
                        f"goodput {number} (paper)": goodput,
                        f"goodput {number}": 1e-6
                        * evidence[row.experiment].per_seed(flow, row.label, at(row.flows)).mean,
                    }.items()
                },
                "share (paper)": row.share,
                **cells("share", shared(evidence, row)),
            }
            for row in repeated(evidence)
        ]
    )


ITEMS = (shares, rows)
