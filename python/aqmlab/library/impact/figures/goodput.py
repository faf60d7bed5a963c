"""Figures 4, 5, 8 and 10: goodput of TCP and loss of UDP; the table of all metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from aqmlab.library.impact.measures import (
    GREDS,
    GREEDY,
    HERO,
    POINTS,
    RED,
    TD,
    Measure,
    delay,
    present,
    swing,
    tcp_goodput,
    tcp_loss,
    udp_loss,
)
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.papers.run.seeds import mean
from aqmlab.papers.run.sketch import Curves, bars
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import polars

MEASURES: dict[str, Measure] = {"left": tcp_goodput, "right": udp_loss}
"""The measures on the axes of the printed charts."""
GOODPUT = "TCP goodput (Mbit/s)"
UDP = "UDP loss probability (%)"


def goodput_and_loss(experiment: str, labels: Sequence[str], loss: bool = True) -> Curves:
    """Return the curves of TCP goodput in each experiment, with UDP's loss if ``loss``.

    ``experiment`` is ``tcp``, ``mixed`` or ``simulation``. Panels are ``left`` and ``right``, or one alone.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        points = present(runs, POINTS[experiment])
        for panel, measure in MEASURES.items() if loss else (("", tcp_goodput),):
            for label in labels:
                summaries = [Summary.of(measure(runs, label, at)) for at in points.values()]
                yield bars(panel, label, list(points), summaries)

    return curves


def metrics(evidence: Evidence) -> polars.DataFrame:
    """List goodput, loss, delay and oscillation of each discipline in simulation with 200 sources."""
    import polars

    runs = evidence["simulation"]
    at = GREEDY["Exp7"]
    columns: dict[str, Measure] = {
        "TCP goodput (Mbit/s)": tcp_goodput,
        "UDP loss (%)": udp_loss,
        "TCP loss (%)": tcp_loss,
        "delay (ms)": delay,
        "queue, s.d. (packets)": swing,
        "fairness of TCP": lambda runs, label, at: runs.values("classes.tcp.jain", label, at),
    }
    rows: list[dict[str, str | float | None]] = []
    for label in (TD, RED, *GREDS, HERO):
        row: dict[str, str | float | None] = {"discipline": label}
        for name, measure in columns.items():
            values = measure(runs, label, at)
            row |= {name: mean(values), f"{name} ±": Summary.of(values).ci95}
        rows.append(row)
    return polars.DataFrame(rows)


FIGURE_4 = Figure(
    name="fig4",
    title="Aggregate goodput with RED and tail drop, experiments 1 to 5",
    needs=["tcp"],
    panels=[Panel("", "Goodput", Axis("Experiment"), Axis("Throughput (Mbit/s)", 9.0, 9.6))],
    curves=goodput_and_loss("tcp", (TD, RED), loss=False),
    caption="The printed axis begins at 9.15. Most that there can be is 9.6: 40 of 1000 bytes are headers.",
    across=1,
)

FIGURE_5 = Figure(
    name="fig5",
    title="TCP goodput and UDP loss with RED and tail drop, experiments 6 to 8",
    needs=["mixed"],
    panels=[
        Panel("left", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 7, 8.6)),
        Panel("right", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 38)),
    ],
    curves=goodput_and_loss("mixed", (RED, TD)),
    caption="One chart with two axes in print, left and right: 7 to 8.4 Mbit/s, and 29 to 38 %. The testbed's "
    "level of loss is that of its own traffic and is not reached here: compare differences.",
)

FIGURE_8 = Figure(
    name="fig8",
    title="TCP goodput and UDP loss with tail drop, RED and gentle RED, experiments 6 to 8",
    needs=["mixed"],
    panels=[
        Panel("left", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 7, 8.6)),
        Panel("right", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 38)),
    ],
    curves=goodput_and_loss("mixed", (TD, RED, *GREDS)),
    caption="Printed is the testbed's GRED: sharp RED from 0 at 30 packets to 1 at 130. Beside it true gentle RED.",
)

FIGURE_10 = Figure(
    name="fig10",
    title="TCP goodput and UDP loss with tail drop, RED, GRED and GRED-I, simulation",
    needs=["simulation"],
    panels=[
        Panel("left", "TCP goodput", Axis("Experiment"), Axis(GOODPUT, 8, 9.4)),
        Panel("right", "UDP loss", Axis("Experiment"), Axis(UDP, 0, 30)),
    ],
    curves=goodput_and_loss("simulation", (TD, RED, *GREDS, HERO)),
    caption="The paper does not state which GRED it simulated: both are here.",
)

METRICS = Table(
    name="metrics",
    title="All metrics in simulation, 200 greedy TCP sources",
    needs=["simulation"],
    rows=metrics,
    caption="With the metric that the paper names as missing: Jain's index of the TCP flows' goodputs.",
    beyond=True,
)
