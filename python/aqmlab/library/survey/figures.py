"""The survey's figure and tables, and additional ones."""

from __future__ import annotations

from collections.abc import Iterator

import polars

from aqmlab.library.survey import measures, nodes, theory
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.results.summary import Summary

BIN = 0.5
"""Bin width of Fig. 2 (s)."""
TIME = Axis("Simulation time (s)", 0, 20)


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
            told = measures.over_time(runs, label, BIN, value)
            times = [BIN * (index + 0.5) for index in range(min(len(one) for one in told.values()))]
            yield measures.banded(panel, label, times, list(zip(*told.values(), strict=False)))
            if panel == "b":
                on_the_way = runs.each(beyond, label)
                whole = [[one + on_the_way[seed] for one in column] for seed, column in told.items()]
                yield measures.banded("b, end to end", label, times, list(zip(*whole, strict=False)))


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
            told = Summary.of(list(runs.each(value, label).values()))
            row |= {name: told.mean, f"{name} ±": told.ci95}
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
            yield runs.curve(panel, metric, label, nodes.HOSTS, scale=scale)


def figure_gains(evidence: Evidence) -> Iterator[Curve]:
    """Draw PI's loss and wait over its gain, with those of drop tail."""
    runs = evidence["gains"]
    beside = {"a": ("classes.ftp.loss_ratio", 1.0), "b": ("queue_delay_mean", 1e3)}
    ends = [runs.points("aqm.a")[0], runs.points("aqm.a")[-1]]
    for panel, (metric, scale) in beside.items():
        yield runs.curve(panel, metric, "PI", "aqm.a", scale=scale)
        level = evidence["schemes"].mean(metric, "DropTail", scale=scale).mean or 0.0
        yield Curve(panel, "DropTail", ends, [level, level], style="dashed")


EDGES = Axis("Edge nodes", 0, 160)
LOSS = Axis("Loss rate", 0, 0.6)


ITEMS: tuple[Figure | Table, ...] = (
    Table(
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
    ),
    Figure(
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
        "take 17.8 ms at most; its axis to 80 ms suits the way from sender to receiver. Losses are drawn as TCP "
        "suffers them, for which the 12 % of drop tail hold, and of all packets.",
    ),
    Table(
        name="schemes",
        title="The six over 20 s",
        rows=table_schemes,
        needs=["schemes"],
        beyond=True,
        caption="Backlog: mean wait times the rate. UDP cannot be marked: what would mark it drops it.",
    ),
    Figure(
        name="calibration",
        title="The loss of drop tail over the number of edge nodes",
        needs=list(nodes.PANELS),
        panels=[
            Panel("a", "Buffer of 100 000 bytes, time-out 1 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
            Panel("b", "The same, time-out 0.2 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
            Panel("c", "Buffer of 100 packets, time-out 1 s", EDGES, Axis("Loss of drop tail", 0, 0.4)),
        ],
        curves=nodes.curves,
        across=3,
        caption="What is a loss of 12 %? Of TCP's packets, some 70 nodes make it. Of all packets, no number does "
        "unless the buffer counts packets. Dashed: Padhye's model of TCP with what UDP leaves of the link.",
        beyond=True,
    ),
    Table(
        name="nodes",
        title="Edge nodes at which drop tail loses 12 %",
        rows=nodes.table,
        needs=list(nodes.PANELS),
        beyond=True,
        digits=3,
        caption="Between the numbers that were run on straight lines; empty where no number reaches 12 %.",
    ),
    Figure(
        name="gains",
        title="PI over its gains",
        needs=["gains", "schemes"],
        panels=[
            Panel("a", "Loss", Axis("Gain a (per packet)", log=True), Axis("Loss of TCP's packets", 0, 0.2)),
            Panel("b", "Wait", Axis("Gain a (per packet)", log=True), Axis("Mean wait (ms)", 0, 18)),
        ],
        curves=figure_gains,
        caption="a/b as printed, from the gains that PI's rule has for this link (left) to ten times the printed.",
        beyond=True,
    ),
    Figure(
        name="plant",
        title="PI's open loop on the plant (1)",
        panels=[
            Panel("a", "Gain", Axis("Frequency (rad/s)", 0.1, 30, log=True), Axis("Gain (dB)", -60, 60)),
            Panel("b", "Phase", Axis("Frequency (rad/s)", 0.1, 30, log=True), Axis("Phase (degrees)", -540, 0)),
        ],
        curves=theory.bode,
        caption="60 flows, 180 ms, 5625 packets/s. The survey prints the plant without its delay.",
        beyond=True,
    ),
    Figure(
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
    ),
)
