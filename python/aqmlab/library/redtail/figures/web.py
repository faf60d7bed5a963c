"""Figures 1 and 4 to 8, and Table III: two queues beside web traffic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.redtail.figures.by_class import (
    AT_FIRST,
    BIN,
    ONE_SEED,
    PACKETS,
    TIME,
    class_table,
    delays_figure,
    losses_figure,
    threshold_lines,
)
from aqmlab.library.redtail.measures import ARED, CLASSES, HERO, PRINTED_TABLE_3, of, per_seed
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.papers.run.sketch import Curves
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import polars

BOTH = (ARED, HERO)


def queue_of_ared(evidence: Evidence) -> Iterator[Curve]:
    """Draw Adaptive RED's queue, for Fig. 1."""
    yield evidence["time"].over_time("", ARED, name="Queue")
    yield from threshold_lines("")


def two_queues(evidence: Evidence) -> Iterator[Curve]:
    """Draw RED+Tail's queues, for Fig. 4."""
    runs = evidence["time"]
    yield runs.over_time("a", HERO, quantity="lane.short.queue.mean", name="Queue")
    yield runs.over_time("b", HERO, quantity="lane.long.queue.mean", name="Queue")
    yield from threshold_lines("b")


def throughputs(label: str) -> Curves:
    """Return curves of the throughputs of all traffic entries and their sum over time."""

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence["time"]
        drawn = [
            runs.over_time("", label, quantity=f"{entry}.throughput", bin=BIN, scale=1 / 8000, name=name)
            for name, entry in CLASSES.items()
        ]
        yield from drawn
        total = np.sum([np.asarray(curve.y) for curve in drawn], axis=0)
        yield replace(drawn[0], name="All", y=total, style="dashed")

    return curves


def later_rows(evidence: Evidence) -> polars.DataFrame:
    """List later disciplines in the web scenario beside RED+Tail, with the time of a web object."""
    import polars

    runs = evidence["rivals"]
    found = class_table("rivals", {})(evidence)
    times = [
        Summary.of(list(per_seed(runs, of(name, "completion_time_mean"), label).values()))
        if name == "WEB"
        else Summary.of([])
        for label in runs.labels
        for name in CLASSES
    ]
    return found.with_columns(
        polars.Series("Web object (s)", [one.mean for one in times], polars.Float64),
        polars.Series("Web object (s) ±", [one.ci95 for one in times], polars.Float64),
    )


FIGURE_1 = Figure(
    name="fig1",
    title="Queue length of Adaptive RED: 10 FTP from the start, 800 web clients and CBR from 100 s",
    panels=[Panel("", "Adaptive RED", TIME, PACKETS)],
    curves=queue_of_ared,
    needs=["time"],
    caption=ONE_SEED,
    across=1,
)

FIGURE_4 = Figure(
    name="fig4",
    title="Queue lengths of RED+Tail",
    panels=[
        Panel("a", "Short flows (drop-tail)", TIME, PACKETS),
        Panel("b", "Long flows (Adaptive RED)", TIME, PACKETS),
    ],
    curves=two_queues,
    needs=["time"],
    caption=f"{AT_FIRST} {ONE_SEED}",
)

FIGURE_5 = losses_figure("fig5", "Packet losses of Adaptive RED and RED+Tail", BOTH)
FIGURE_6 = delays_figure("fig6", "Packet delays of Adaptive RED and RED+Tail", BOTH, 0.6)

FIGURE_7 = Figure(
    name="fig7",
    title="Throughputs with Adaptive RED",
    panels=[Panel("", ARED, TIME, Axis("Throughput (kB/s)", 0, 400))],
    curves=throughputs(ARED),
    needs=["time"],
    caption=f"Means over {BIN:.0f} s. {ONE_SEED}",
    across=1,
)

FIGURE_8 = Figure(
    name="fig8",
    title="Throughputs with RED+Tail",
    panels=[Panel("", HERO, TIME, Axis("Throughput (kB/s)", 0, 400))],
    curves=throughputs(HERO),
    needs=["time"],
    caption=f"Means over {BIN:.0f} s. {ONE_SEED}",
    across=1,
)

TABLE_3 = Table(
    name="table3",
    title="Table III: loss, delay and rate of RED+Tail, Adaptive RED and DropTail",
    rows=class_table("web", PRINTED_TABLE_3),
    needs=["web"],
    caption="From 100 to 500 s. Delay is the time in the router. What the web asks for in a run hangs on its few "
    "largest files (shape 1.3), so that for rates five runs make an interval that is rather too narrow; claims "
    "compare runs of one seed.",
)

TABLE_3_LATER = Table(
    name="table3-later",
    title="Table III with later disciplines",
    rows=later_rows,
    needs=["rivals"],
    caption="PIE, CoDel and DualPI2 with a target of max_th1/C = 80 ms; FQ-CoDel as RFC 8290 has it.",
    beyond=True,
)
