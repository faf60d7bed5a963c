"""The figure, Prague's share over the buffer, and the table of what a switch from CUBIC to Prague brings."""

from collections.abc import Iterator

import polars

from aqmlab_papers import Axis, Curve, Evidence, Panel, figure, table
from aqmlab_papers.l4s_tests.measures import SHARE
from aqmlab_papers.partial_l4s.experiments import ALL
from aqmlab_papers.partial_l4s.measures import BUFFERS, PUBLISHED, SENDERS, WAIT, middle, repeated, share
from aqmlab_papers.run.sketch import cells, mean_curve

LETTERS = dict(zip(ALL, "abcdefgh", strict=True))
PANELS = [
    Panel(letter, queue, Axis("Buffer (BDP)", log=True), Axis("Prague's share", 0, 1))
    for queue, letter in LETTERS.items()
]


@figure(
    PANELS,
    needs=["buffers", "dualpi2"],
    caption="Lines are ours, with the 95 % interval over our seeds; dashed lines are the published means of ten runs. "
    "DualPI2 has one buffer, of 10,000 packets.",
    across=4,
)
def shares(evidence: Evidence) -> Iterator[Curve]:
    """Prague's share of what both flows get, beside one flow of CUBIC or BBR."""
    for queue, letter in LETTERS.items():
        for second in SENDERS:
            found = [one for one in repeated(evidence, "prague", queue) if one.second == second]
            bdps = [one.bdp for one in found]
            if queue == "DualPI2":
                found, bdps = found * len(BUFFERS), list(BUFFERS)
            yield mean_curve(letter, second, bdps, [share(evidence, one).summary for one in found])
            yield Curve(letter, second, bdps, [one.share for one in found], style="dashed")


@table(
    needs=["buffers", "dualpi2", "instead"],
    caption="Shares at a buffer of 2 BDP, and Prague's mean time in the queue (ms).",
    digits=3,
    beyond=True,
)
def switch(evidence: Evidence) -> polars.DataFrame:
    """The share of a flow of CUBIC, and of Prague in its place."""
    rows = []
    for one in PUBLISHED:
        if one.first != "prague" or one.bdp not in (0, 2):
            continue
        own = {first: middle(evidence, SHARE, first, one.second, one.queue) for first in ("cubic", "prague")}
        rows.append(
            {
                "queue and other flow": f"{one.queue}, {one.second}",
                **cells("CUBIC", own["cubic"]),
                "Prague (paper)": one.share,
                **cells("Prague", own["prague"]),
                "wait of Prague": middle(evidence, WAIT, "prague", one.second, one.queue).mean,
            }
        )
    return polars.DataFrame(rows)


ITEMS = (shares, switch)
