"""The simulated figures and tables of the RED+Tail paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.redtail.readings import (
    ALONE_BAND,
    ARED,
    BAND,
    BESIDE_BAND,
    CLASSES,
    COLUMNS,
    DELAY,
    DYNAMIC,
    FIXED,
    FREE,
    HERO,
    RATE_BYTES,
    SHORT,
    TABLE_3,
    TABLE_4,
    Printed,
    of,
    per_seed,
)
from aqmlab.papers import Axis, Curve, Evidence, Figure, Item, Panel, Runs, Table
from aqmlab.papers.run.sketch import Curves
from aqmlab.results.summary import Summary
from aqmlab.theory import redtail

if TYPE_CHECKING:
    import polars

TIME = Axis("Time (s)", 0, 500)
BIN = 2.0
"""Averaging time of counts, delays and rates in figures (s)."""
WEB_RUN = 500.0
DYNAMIC_RUN = 400.0


def _band(panel: str, end: float = WEB_RUN) -> Iterator[Curve]:
    for name, value in zip(("min_th", "max_th"), BAND, strict=True):
        yield Curve(panel, name, [0.0, end], [value, value], style="dashed")


def _wanted(panel: str, band: tuple[float, float], end: float) -> Iterator[Curve]:
    for name, value in zip(("P_L", "P_U"), band, strict=True):
        yield Curve(panel, name, [0.0, end], [value, value], style="dashed")


def _step(runs: Runs, label: str) -> float:
    t = runs.series(label)["t"]
    return float(t[1] - t[0])


def queue_of_ared(evidence: Evidence) -> Iterator[Curve]:
    """Draw Adaptive RED's queue, for Fig. 1."""
    yield evidence["time"].over_time("", ARED, name="Queue")
    yield from _band("")


def two_queues(evidence: Evidence) -> Iterator[Curve]:
    """Draw RED+Tail's queues, for Fig. 4."""
    runs = evidence["time"]
    yield runs.over_time("a", HERO, quantity="lane.short.queue.mean", name="Queue")
    yield runs.over_time("b", HERO, quantity="lane.long.queue.mean", name="Queue")
    yield from _band("b")


def by_class(quantity: str, labels: tuple[str, ...], scale: float = 1.0, per_bin: bool = False) -> Curves:
    """Return curves of a quantity of FTP, WEB and CBR over time: one panel each, one curve per discipline.

    ``quantity`` is ``delay``, ``drops``, …, of an entry's series; ``per_bin`` converts counts per bin to counts per
    second.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence["time"]
        for name, entry in CLASSES.items():
            for label in labels:
                factor = scale / _step(runs, label) if per_bin else scale
                yield runs.over_time(LETTERS[name], label, quantity=f"{entry}.{quantity}", bin=BIN, scale=factor)

    return curves


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


def delivery(evidence: Evidence) -> Iterator[Curve]:
    """Draw delivery times of small files over their size, for Fig. 9."""
    metric, path = of("file", "completion_time_mean"), "traffic.file.size"
    runs = evidence["files"]
    for label in runs.labels:
        yield runs.curve("", metric, label, path, x_scale=1e-3)
    alone = evidence["alone"]
    yield alone.curve("", metric, alone.labels[0], path, x_scale=1e-3, style="dashed")


def flows_come_and_go(evidence: Evidence) -> Iterator[Curve]:
    """Draw queues, and the rate of a connection, with fixed and moving thresholds, for Fig. 10."""
    runs = evidence["dynamic"]
    for panel, label in (("a", FIXED), ("b", DYNAMIC)):
        yield runs.over_time(panel, label, name="Queue")
        yield runs.over_time("c", label, quantity="ftp.throughput", bin=BIN, scale=1 / 20 / 8000)
    yield from _band("a", DYNAMIC_RUN)


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


def delays_over_maxth1(evidence: Evidence) -> Iterator[Curve]:
    """Draw mean delays and their spread over max_th1, for Fig. 16."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    for name in ("CBR", "WEB", "FTP"):
        for panel, metric in (("a", DELAY), ("b", "queue_delay_p50"), ("c", "queue_delay_p95")):
            yield runs.curve(panel, of(name, metric), HERO, path, x_scale=1e-3, name=name)
    yield runs.curve("a", SHORT + DELAY, HERO, path, x_scale=1e-3, name="All in the short queue")
    points = runs.points(path)
    bound = [float(redtail.delay_bound(one, RATE_BYTES)) for one in points]
    yield Curve("a", "max_th1 / C", [one / 1000 for one in points], bound, style="dashed")


def table(experiment: str, printed: Mapping[str, Printed]) -> Callable[[Evidence], polars.DataFrame]:
    """Return a table of losses, delays and rates, with the printed ones.

    ``printed`` has by discipline and traffic the printed values in the order of `COLUMNS`; disciplines that are not in
    it have no printed columns.
    """

    def rows(evidence: Evidence) -> polars.DataFrame:
        import polars

        runs = evidence[experiment]
        found = []
        for label in printed or runs.labels:
            for name in CLASSES:
                row: dict[str, str | float | None] = {"Policy": f"{label}: {name}"}
                for place, (column, (metric, scale)) in enumerate(COLUMNS.items()):
                    told = Summary.of(list(per_seed(runs, of(name, metric), label, scale=scale).values()))
                    if printed:
                        row[f"{column} (paper)"] = printed[label][name][place]
                    row[column] = told.mean
                    row[f"{column} ±"] = told.ci95
                found.append(row)
        return polars.DataFrame(found, infer_schema_length=None)

    return rows


def later_rows(evidence: Evidence) -> polars.DataFrame:
    """List later disciplines in the web scenario beside RED+Tail, with the time of a web object."""
    import polars

    runs = evidence["rivals"]
    found = table("rivals", {})(evidence)
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


LETTERS = dict(zip(CLASSES, "abc", strict=True))
LOSSES = [Axis("Losses (packets/s)", 0, high) for high in (20, 30, 5)]
START = "At the start slow start overshoots, and FTP loses more than the axis has."
AT_FIRST = "At the start the first 64 packets of each FTP are in the short queue."
PACKETS = Axis("Queue length (packets of 1000 B)", 0, 160)
BOTH = (ARED, HERO)
ONE_SEED = "One run. The paper's curves are of another random sequence: what counts is their level and swing."


def _three(*y: Axis) -> list[Panel]:
    return [Panel(letter, name, TIME, own) for (name, letter), own in zip(LETTERS.items(), y, strict=True)]


FIGURES: tuple[Item, ...] = (
    Figure(
        name="fig1",
        title="Queue length of Adaptive RED: 10 FTP from the start, 800 web clients and CBR from 100 s",
        panels=[Panel("", "Adaptive RED", TIME, PACKETS)],
        curves=queue_of_ared,
        needs=["time"],
        caption=ONE_SEED,
        across=1,
    ),
    Figure(
        name="fig4",
        title="Queue lengths of RED+Tail",
        panels=[
            Panel("a", "Short flows (drop-tail)", TIME, PACKETS),
            Panel("b", "Long flows (Adaptive RED)", TIME, PACKETS),
        ],
        curves=two_queues,
        needs=["time"],
        caption=f"{AT_FIRST} {ONE_SEED}",
    ),
    Figure(
        name="fig5",
        title="Packet losses of Adaptive RED and RED+Tail",
        panels=_three(*LOSSES),
        curves=by_class("drops", BOTH, per_bin=True),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s. {START} {ONE_SEED}",
        across=3,
    ),
    Figure(
        name="fig6",
        title="Packet delays of Adaptive RED and RED+Tail",
        panels=_three(*[Axis("Queueing delay (s)", 0, 0.6)] * 3),
        curves=by_class("delay", BOTH),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s of the time in the router. {ONE_SEED}",
        across=3,
    ),
    Figure(
        name="fig7",
        title="Throughputs with Adaptive RED",
        panels=[Panel("", ARED, TIME, Axis("Throughput (kB/s)", 0, 400))],
        curves=throughputs(ARED),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s. {ONE_SEED}",
        across=1,
    ),
    Figure(
        name="fig8",
        title="Throughputs with RED+Tail",
        panels=[Panel("", HERO, TIME, Axis("Throughput (kB/s)", 0, 400))],
        curves=throughputs(HERO),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s. {ONE_SEED}",
        across=1,
    ),
    Table(
        name="table3",
        title="Table III: loss, delay and rate of RED+Tail, Adaptive RED and DropTail",
        rows=table("web", TABLE_3),
        needs=["web"],
        caption="From 100 to 500 s. Delay is the time in the router. What the web asks for in a run hangs on its few "
        "largest files (shape 1.3), so that for rates five runs make an interval that is rather too narrow; claims "
        "compare runs of one seed.",
    ),
    Figure(
        name="fig9",
        title="Delivery time of small web files",
        panels=[Panel("", "", Axis("File size (kB)", 0, 220), Axis("Mean delivery time (s)", 0))],
        curves=delivery,
        needs=["files", "alone"],
        caption="From the first packet of the connection to the last acknowledgement; 128 ms there and back.",
        across=1,
    ),
    Figure(
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
    ),
    Figure(
        name="fig11",
        title="Drop probability with fixed and moving thresholds",
        panels=[
            Panel("a", FIXED, Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Drop probability", 0, 0.3)),
            Panel("b", DYNAMIC, Axis("Time (s)", 0, DYNAMIC_RUN), Axis("Drop probability", 0, 0.06)),
        ],
        curves=drop_probability,
        needs=["dynamic"],
        caption=f"Before drops are spaced; the average is exponential, of {AVERAGE:.0f} s. {ONE_SEED}",
    ),
    Figure(
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
    ),
    Figure(
        name="fig13",
        title="Packet losses of RED+Tail with moving thresholds",
        panels=_three(*LOSSES),
        curves=by_class("drops", (DYNAMIC,), per_bin=True),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s. {START} {ONE_SEED}",
        across=3,
    ),
    Figure(
        name="fig14",
        title="Packet delays of RED+Tail with moving thresholds",
        panels=_three(*[Axis("Queueing delay (s)", 0, 0.8)] * 3),
        curves=by_class("delay", (DYNAMIC,)),
        needs=["time"],
        caption=f"Means over {BIN:.0f} s of the time in the router. {ONE_SEED}",
        across=3,
    ),
    Table(
        name="table4",
        title="Table IV: RED+Tail with moving thresholds",
        rows=table("dynamic-web", {DYNAMIC: TABLE_4, FREE: TABLE_4}),
        needs=["dynamic-web"],
        caption="From 100 to 500 s. The text says 0.988 % for FTP's loss. Dynamic thresholds: max_th of the long queue "
        "at most 0.8 of the buffer, a bound of ours, as in Figs. 12 to 14; no bound: as far as the buffer lets it.",
    ),
    Figure(
        name="fig16",
        title="Delays over max_th1",
        panels=[
            Panel(letter, title, Axis("max_th1 (kB)", 0, 90), Axis("Queueing delay (s)", 0, high))
            for letter, title, high in (("a", "Means", 0.4), ("b", "Medians", 0.4), ("c", "95th percentiles", 0.6))
        ],
        curves=delays_over_maxth1,
        needs=["maxth1"],
        caption="WEB: all packets of the web, those of large files in the long queue too.",
        across=3,
    ),
)

BEYOND: tuple[Item, ...] = (
    Table(
        name="table3-later",
        title="Table III with later disciplines",
        rows=later_rows,
        needs=["rivals"],
        caption="PIE, CoDel and DualPI2 with a target of max_th1/C = 80 ms; FQ-CoDel as RFC 8290 has it.",
        beyond=True,
    ),
)
