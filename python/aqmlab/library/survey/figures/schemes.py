"""Table 1, Figure 2, and the six disciplines over the number of edge nodes."""

from __future__ import annotations

from collections.abc import Iterator

import polars

from aqmlab.library.survey import measures
from aqmlab.library.survey.figures.drop_tail import EDGES
from aqmlab.library.survey.measures import HOSTS
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.papers.run.sketch import mean_curve
from aqmlab.results.summary import Summary

BIN = 0.5
"""Bin width of Fig. 2 (s)."""
TIME = Axis("Simulation time (s)", 0, 20)
LOSS = Axis("Loss rate", 0, 0.6)


def figure_2(evidence: Evidence) -> Iterator[Curve]:
    """Draw utilisation, delay and loss over time."""
    runs = evidence["schemes"]
    sent = sum((polars.col(f"{name}.throughput").mean() for name in ("ftp", "udp")), polars.lit(0.0))
    lost = polars.col("ftp.drops").sum() / polars.col("ftp.arrivals").sum()
    every = polars.col("drops").sum() / polars.col("arrivals").sum()
    wait = 1e3 * polars.col("ftp.delay").mean()
    panels = {"a": sent / measures.RATE, "b": wait, "c": lost, "c, all": every}
    beyond = (polars.col("classes.ftp.delay_mean") - polars.col("classes.ftp.queue_delay_mean")) * 1e3
    for panel, value in panels.items():
        for label in runs.labels:
            columns = measures.over_time(runs, label, BIN, value)
            times = [BIN * (index + 0.5) for index in range(min(len(one) for one in columns.values()))]
            yield mean_curve(panel, label, times, map(Summary.of, zip(*columns.values(), strict=False)))
            if panel == "b":
                on_the_way = runs.each(beyond, label)
                whole = [[one + on_the_way[seed] for one in column] for seed, column in columns.items()]
                yield mean_curve("b, end to end", label, times, map(Summary.of, zip(*whole, strict=False)))


def table_schemes(evidence: Evidence) -> polars.DataFrame:
    """List the results of each discipline over the 20 s."""
    runs = evidence["schemes"]
    columns = {
        "utilisation": polars.col("utilisation"),
        "wait (ms)": measures.WAIT * 1e3,
        "end to end (ms)": polars.col("delay_mean") * 1e3,
        "backlog (kB)": measures.BACKLOG / 1e3,
        "lost of TCP %": 100 * measures.LOST,
        "lost of all %": 100 * measures.LOST_OF_ALL,
        "lost of bytes %": 100 * measures.LOST_BYTES,
        "marked of TCP %": 100 * polars.col("classes.ftp.mark_ratio"),
        "time-outs": polars.col("timeouts"),
    }
    rows = []
    for label in runs.labels:
        row: dict[str, str | float | None] = {"scheme": label}
        for name, value in columns.items():
            summary = Summary.of(list(runs.each(value, label).values()))
            row |= {name: summary.mean, f"{name} ±": summary.ci95}
        rows.append(row)
    return polars.DataFrame(rows)


DEFINITIONS = {
    "DropTail": ("control", "none", "global", "acts on a full buffer alone"),
    "RED": ("avoidance", "global", "global", "two thresholds on an average"),
    "BLUE": ("avoidance", "none", "global", "one probability"),
    "REM": ("avoidance", "none", "global", "a price; b* is a target"),
    "PI": ("avoidance", "none", "global", "one probability; Q_ref is a target"),
    "JoBS": ("avoidance", "global", "per connection", "B_lim; each flow's window"),
}
"""Congestion measure, thresholds and state of each scheme, by definition."""


def table_1(evidence: Evidence) -> polars.DataFrame:
    """Classify the schemes, with evidence from the runs."""
    runs = evidence["schemes"]
    early = polars.col("drops_early") + polars.col("marks")
    rows = []
    for label, (congestion, thresholds, state, why) in DEFINITIONS.items():
        rows.append(
            {
                "scheme": label,
                "dots (paper)": {"DropTail": "6 with RED's", "RED": "6 with drop tail's"}.get(label, "3"),
                "congestion": congestion,
                "thresholds": thresholds,
                "state": state,
                "early (packets)": Summary.of(list(runs.each(early, label).values())).mean,
                "why": why,
            }
        )
    return polars.DataFrame(rows)


def figure_load(evidence: Evidence) -> Iterator[Curve]:
    """Draw the six disciplines over the number of nodes."""
    runs = evidence["load"]
    panels = {"a": ("utilisation", 1.0), "b": ("queue_delay_mean", 1e3), "c": ("classes.ftp.loss_ratio", 1.0)}
    for panel, (metric, scale) in panels.items():
        for label in runs.labels:
            yield runs.curve(panel, metric, label, HOSTS, scale=scale)


TABLE_1 = Table(
    name="table1",
    title="Classification of the schemes, by their definitions",
    rows=table_1,
    needs=["schemes"],
    caption="The printed table has dots in seven columns. Our copy's text keeps the dots and loses where they "
    "were: 18 of them, three a row for BLUE, REM, PI and JoBS, and six in the rows of drop tail and RED "
    "together. That is one for each of congestion, thresholds and state, as here. Control: it acts when the "
    "buffer is full; avoidance: before. A threshold is a length of the queue at which a packet begins to be "
    "treated otherwise; a target that enters an equation is none. BLUE rises by overflows alone, and could "
    "stand under control. "
    "Early: what a run drops or marks while there is room.",
)

FIGURE_2 = Figure(
    name="fig2",
    title="Link utilisation, average delay and loss rate at the core router",
    needs=["schemes"],
    panels=[
        Panel("a", "Link utilisation", TIME, Axis("Link utilisation", 0, 1.2)),
        Panel("b", "Average delay, core queue", TIME, Axis("Average delay (ms)", 0, 80)),
        Panel("c", "Loss rate, TCP's packets", TIME, LOSS),
        Panel("b, end to end", "Average delay", TIME, Axis("Average delay (ms)", 0, 80)),
        Panel("c, all", "Loss rate, all packets", TIME, LOSS),
    ],
    curves=figure_2,
    across=3,
    caption="Means of 0.5 s. The paper says that it monitors the delay at the core router, where 100 000 bytes "
    "take 17.8 ms at most; its axis to 80 ms suits the path from sender to receiver. Losses are drawn as TCP "
    "suffers them, for which the 12 % of drop tail hold, and of all packets.",
)

SCHEMES = Table(
    name="schemes",
    title="The six over 20 s",
    rows=table_schemes,
    needs=["schemes"],
    beyond=True,
    caption="Backlog: mean wait times the rate. UDP cannot be marked: what would mark it drops it.",
)

LOAD = Figure(
    name="load",
    title="The six over the number of edge nodes",
    needs=["load"],
    panels=[
        Panel("a", "Link utilisation", EDGES, Axis("Link utilisation", 0.7, 1.0)),
        Panel("b", "Wait at the core", EDGES, Axis("Mean wait (ms)", 0, 18)),
        Panel("c", "Loss rate, TCP's packets", EDGES, Axis("Loss rate", 0, 0.2)),
    ],
    curves=figure_load,
    across=3,
    beyond=True,
)
