"""Figures 10 to 14, and Table IV: moving thresholds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from aqmlab.library.redtail.figures.by_class import (
    AT_FIRST,
    BIN,
    ONE_SEED,
    PACKETS,
    TIME,
    WEB_RUN,
    class_table,
    delays_figure,
    losses_figure,
    threshold_lines,
)
from aqmlab.library.redtail.measures import ALONE_BAND, BESIDE_BAND, DYNAMIC, FIXED, FREE, PRINTED_TABLE_4
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table

DYNAMIC_RUN = 400.0


def _wanted(panel: str, band: tuple[float, float], end: float) -> Iterator[Curve]:
    for name, value in zip(("P_L", "P_U"), band, strict=True):
        yield Curve(panel, name, [0.0, end], [value, value], style="dashed")


def flows_come_and_go(evidence: Evidence) -> Iterator[Curve]:
    """Draw queues, and the rate of a connection, with fixed and moving thresholds, for Fig. 10."""
    runs = evidence["dynamic"]
    for panel, label in (("a", FIXED), ("b", DYNAMIC)):
        yield runs.over_time(panel, label, name="Queue")
        yield runs.over_time("c", label, quantity="ftp.throughput", bin=BIN, scale=1 / 20 / 8000)
    yield from threshold_lines("a", DYNAMIC_RUN)


def drop_probability(evidence: Evidence) -> Iterator[Curve]:
    """Draw the drop probability and its average with fixed and moving thresholds, for Fig. 11."""
    runs = evidence["dynamic"]
    for panel, label in (("a", FIXED), ("b", DYNAMIC)):
        yield runs.over_time(panel, label, quantity="p.mean", name="Inst. P")
        yield _averaged(runs.over_time(panel, label, quantity="p.mean", name="Avg. P"), AVERAGE)
    yield from _wanted("b", ALONE_BAND, DYNAMIC_RUN)


AVERAGE = 2.0
"""Time constant of the drawn average of the drop probability (s): that of a weight of 0.002 at 250 packets/s."""


def _averaged(curve: Curve, constant: float) -> Curve:
    x, y = np.asarray(curve.x, float), np.asarray(curve.y, float)
    keep = float(np.exp(-(x[1] - x[0]) / constant))
    average, smooth = 0.0, np.empty_like(y)
    for place, value in enumerate(y):
        average = average if np.isnan(value) else keep * average + (1 - keep) * value
        smooth[place] = average
    return replace(curve, y=smooth)


def moving_beside_web(evidence: Evidence) -> Iterator[Curve]:
    """Draw both queues and the drop probability of RED+Tail with moving thresholds, for Fig. 12."""
    runs = evidence["time"]
    yield runs.over_time("a", DYNAMIC, quantity="lane.short.queue.mean", name="Queue")
    yield runs.over_time("b", DYNAMIC, quantity="lane.long.queue.mean", name="Queue")
    yield runs.over_time("c", DYNAMIC, quantity="p.mean", name="Inst. P")
    yield _averaged(runs.over_time("c", DYNAMIC, quantity="p.mean", name="Avg. P"), AVERAGE)
    yield from _wanted("c", BESIDE_BAND, WEB_RUN)


FIGURE_10 = Figure(
    name="fig10",
    title="Fixed and moving thresholds: 20 FTP, and 20 more from 100 to 300 s",
    panels=[
        Panel("a", FIXED, Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Queue length (packets)", 0, 600)),
        Panel("b", DYNAMIC, Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Queue length (packets)", 0, 600)),
        Panel("c", "Rate of a connection", Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Throughput (kB/s)", 0, 50)),
    ],
    curves=flows_come_and_go,
    needs=["dynamic"],
    caption=f"The rate is the mean of the 20 that stay, over {BIN:.0f} s. {ONE_SEED}",
    across=3,
)

FIGURE_11 = Figure(
    name="fig11",
    title="Drop probability with fixed and moving thresholds",
    panels=[
        Panel("a", FIXED, Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Drop probability", 0, 0.3)),
        Panel("b", DYNAMIC, Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Drop probability", 0, 0.06)),
    ],
    curves=drop_probability,
    needs=["dynamic"],
    caption=f"Before drops are spaced; the average is exponential, of {AVERAGE:.0f} s. {ONE_SEED}",
)

FIGURE_12 = Figure(
    name="fig12",
    title="RED+Tail with moving thresholds: queues and drop probability",
    panels=[
        Panel("a", "Short flows (drop-tail)", TIME, PACKETS),
        Panel("b", "Long flows (moving thresholds)", TIME, PACKETS),
        Panel("c", "Drop probability of the long queue", TIME, Axis("Drop probability", 0, 0.06)),
    ],
    curves=moving_beside_web,
    needs=["time"],
    caption=f"With our bound: max_th at most 0.8 of the buffer. P before drops are spaced. {AT_FIRST} {ONE_SEED}",
    across=3,
)

FIGURE_13 = losses_figure("fig13", "Packet losses of RED+Tail with moving thresholds", (DYNAMIC,))
FIGURE_14 = delays_figure("fig14", "Packet delays of RED+Tail with moving thresholds", (DYNAMIC,), 0.8)

TABLE_4 = Table(
    name="table4",
    title="Table IV: RED+Tail with moving thresholds",
    rows=class_table("dynamic-web", {DYNAMIC: PRINTED_TABLE_4, FREE: PRINTED_TABLE_4}),
    needs=["dynamic-web"],
    caption="From 100 to 500 s. The text has 0.988 % for FTP's loss. Dynamic thresholds: max_th of the long queue "
    "at most 0.8 of the buffer, a bound of ours, as in Figs. 12 to 14; no bound: as far as the buffer lets it.",
)
