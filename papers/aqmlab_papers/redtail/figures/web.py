"""Figures 1 and 4 to 9, Tables II and III, and ours on the same experiments."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars

from aqmlab.scenario import Scenario
from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, Table, figure, table
from aqmlab_papers.redtail import measures as m
from aqmlab_papers.redtail.claims.classifier import counted_long, taken_for_long
from aqmlab_papers.redtail.figures.by_class import (
    AT_FIRST,
    BIN,
    ONE_SEED,
    PACKETS,
    TIME,
    Drawing,
    class_rows,
    delays_figure,
    listed,
    losses_figure,
    threshold_lines,
)
from aqmlab_papers.redtail.theory import PD
from aqmlab_papers.run.sketch import cells, over

BOTH = (m.ARED, m.HERO)
RATES = Axis("Throughput (kB/s)", 0, 400)


def throughputs(label: str) -> Drawing:
    """Return curves of the throughputs of all traffic entries and their sum over time."""

    def curves(time: Runs) -> Iterator[Curve]:
        drawn = [
            time.over_time("", label, quantity=f"{entry}.throughput", bin=BIN, scale=1 / 8000, name=name)
            for name, entry in m.CLASSES.items()
        ]
        yield from drawn
        total = np.sum([np.asarray(curve.y) for curve in drawn], axis=0)
        yield replace(drawn[0], name="All", y=total, style="dashed")

    return curves


@figure(
    [Panel("a", "Adaptive RED", TIME, PACKETS), Panel("b", "Its drop probability", TIME, Axis("p", 0, 0.15))],
    caption=f"p, before drops are spaced, is not in the paper's figure. {ONE_SEED}",
)
def fig1(time: Runs) -> Iterator[Curve]:
    """Queue length of Adaptive RED: 10 FTP from the start, 800 web clients and CBR from 100 s."""
    yield time.over_time("a", m.ARED, name="Queue")
    yield from threshold_lines("a")
    yield time.over_time("b", m.ARED, quantity="p.mean", name="p")


@figure(
    [Panel("a", "Short flows (drop-tail)", TIME, PACKETS), Panel("b", "Long flows (Adaptive RED)", TIME, PACKETS)],
    caption=f"{AT_FIRST} {ONE_SEED}",
)
def fig4(time: Runs) -> Iterator[Curve]:
    """Queue lengths of RED+Tail."""
    yield time.over_time("a", m.HERO, quantity="lane.short.queue.mean", name="Queue")
    yield time.over_time("b", m.HERO, quantity="lane.long.queue.mean", name="Queue")
    yield from threshold_lines("b")


FIGURE_5 = losses_figure("fig5", "Packet losses of Adaptive RED and RED+Tail", BOTH)
FIGURE_6 = delays_figure("fig6", "Packet delays of Adaptive RED and RED+Tail", BOTH, 0.6)
FIGURE_7, FIGURE_8 = (
    Figure(
        name=name,
        title=f"Throughputs with {label}",
        panels=[Panel("", label, TIME, RATES)],
        curves=throughputs(label),
        caption=f"Means over {BIN:.0f} s. {ONE_SEED}",
        across=1,
    )
    for name, label in (("fig7", m.ARED), ("fig8", m.HERO))
)


@figure(
    [Panel("", "", Axis("File size (kB)", 0, 220), Axis("Mean delivery time (s)", 0))],
    caption="From the first packet of the connection to the last acknowledgement; 128 ms there and back.",
    across=1,
)
def fig9(files: Runs, alone: Runs) -> Iterator[Curve]:
    """Delivery time of small web files."""
    for runs, style in ((files, "line"), (alone, "dashed")):
        for label in runs.labels:
            yield runs.curve("", m.of("file", "completion_time_mean"), label, m.SIZE, x_scale=1e-3, style=style)


@table(
    caption="Of RED+Tail; Adaptive RED has the buffer and the last four. What the paper does not state is listed "
    "among the choices."
)
def table2() -> polars.DataFrame:
    """Table II: the setting."""
    chosen = Scenario.load("redtail/files").resolved
    short, long = chosen["aqm"], chosen["aqm"]["long"]
    return polars.DataFrame(
        [
            {"parameter": name, "value (paper)": printed, "value": str(value)}
            for name, printed, value in (
                ("buffer", "160 KB, shared", chosen["dumbbell"]["buffer"]),
                ("min_th1", "2 KB", short["min_th1"]),
                ("max_th1", "30 KB", short["max_th1"]),
                ("min_th2", "20 KB", long["min_bytes"]),
                ("max_th2", "80 KB", long["max_bytes"]),
                ("alpha", "0.01", long["alpha"]),
                ("beta", "0.9", long["beta"]),
            )
        ]
    )


TABLE_III = Table(
    name="table3",
    title="Table III: loss, delay and rate of RED+Tail, Adaptive RED and DropTail",
    rows=lambda web: class_rows(web, m.TABLE_3),
    caption="From 100 to 500 s. Delay is the time in the router. What the web asks for in a run depends on its few "
    "largest files (shape 1.3), so that for rates five runs make an interval that is rather too narrow; claims "
    "compare runs of one seed.",
)
TABLE_3_LATER = Table(
    name="table3-later",
    title="Table III with later disciplines",
    rows=lambda rivals: class_rows(rivals),
    caption="PIE, CoDel and DualPI2 with a target of max_th1/C = 80 ms; FQ-CoDel as RFC 8290 has it.",
    beyond=True,
)


@figure(
    [
        Panel("a", "Long queue", Axis("N (packets)", 0, 1000), Axis("Standard deviation (packets)", 0)),
        Panel("b", "Delays", Axis("N (packets)", 0, 1000), Axis("Mean delay (ms)", 0)),
        Panel("c", "Loss of web", Axis("N (packets)", 0, 1000), Axis("Packet loss ratio (%)", 0)),
    ],
    caption=f"{m.HERO}: fixed thresholds; {m.DYNAMIC}: moving ones in its long queue.",
    across=3,
    beyond=True,
)
def over_n(n: Runs) -> Iterator[Curve]:
    """RED+Tail over N, after which a connection is long."""
    for label in n.labels:
        yield n.curve("a", m.LONG + "queue_std", label, m.N)
        for name in ("WEB", "CBR"):
            yield n.curve("b", m.of(name, m.DELAY), label, m.N, scale=1e3, name=f"{name}, {label}")
        yield n.curve("c", m.of("WEB", m.LOSS), label, m.N, scale=100)


OVER_C1MAX = Figure(
    name="over-c1max",
    title="RED+Tail over C1max",
    panels=[
        Panel("a", "Short queue", Axis("C1max / C", 0.5, 1), Axis("Mean delay (s)", 0)),
        Panel("b", "FTP", Axis("C1max / C", 0.5, 1), Axis("Time-outs in 400 s", 0)),
    ],
    curves=over("c1max", m.C1_MAX, {"a": m.SHORT + m.DELAY, "b": m.of("FTP", "timeouts")}),
    beyond=True,
)
OVER_T = Figure(
    name="over-t",
    title="RED+Tail over T, after whose silence a connection is new",
    panels=[
        Panel("a", "Web files", Axis("T (s)", 0, 200), Axis("Mean completion time (s)", 0)),
        Panel("b", "Loss of web", Axis("T (s)", 0, 200), Axis("Packet loss ratio", 0)),
    ],
    curves=over("silence", m.T, {"a": m.of("WEB", "completion_time_mean"), "b": m.of("WEB", m.LOSS)}),
    beyond=True,
)
SYNCHRONISATION = listed(
    "synchronisation",
    "FTP alone: loss events and queues",
    "ftp-alone",
    {
        "flows that lose in an event": "loss_synchronisation",
        "mean queue": "queue_mean",
        "utilisation": "utilisation",
    },
    {m.COUNT: "{:g} flows"},
    caption="From 20 to 300 s, without web and CBR. RED has the thresholds of Table II, max_p fixed; Adaptive RED "
    "begins with that max_p.",
)
RANDOM_LOSS = listed(
    "random-loss",
    "FTP and web over a link of 1 Gbit/s that loses at random",
    "random-loss",
    {f"throughput of {name}": m.of(name, m.RATE) for name in ("FTP", "WEB")},
    {PD: "loss of {:g}"},
)


@table(
    caption="Pairs that turn long, over the connections of the web. By the law: of file sizes and thoughts, T = 10 s.",
    beyond=True,
)
def alarms(n: Runs) -> polars.DataFrame:
    """Web connections that are taken for long ones."""
    rows = []
    for after in n.points(m.N):
        row: dict[str, str | float | None] = {"N": str(after)}
        row |= cells("counted (%)", counted_long(n, {m.N: after}))
        rows.append(row | {"by the law (%)": 100 * taken_for_long(after, 10.0)})
    return polars.DataFrame(rows)


CAUSES = listed(
    "causes",
    "RED+Tail with a split buffer, and with early drops in its short queue",
    "causes",
    {
        "loss of the short queue": m.SHORT + m.LOSS,
        "loss of web": m.of("WEB", m.LOSS),
        "loss of CBR": m.of("CBR", m.LOSS),
    },
    caption="Split: the short queue has 80 kB. Early drops: Adaptive RED as in the long queue.",
)
MIXED = listed(
    "mixed",
    "Flows of 16 and of 240 ms in one queue",
    "mixed",
    {
        "rate, 16 ms": m.of("near", m.RATE),
        "rate, 240 ms": m.of("far", m.RATE),
        "loss, 16 ms": m.of("near", m.LOSS),
        "loss, 240 ms": m.of("far", m.LOSS),
        "delay": m.DELAY,
    },
    caption="Ten flows each on 6 Mbit/s.",
)
QUEUES = listed(
    "queues",
    "Queues of short and of long round trips under deficit round robin, and one queue",
    "queues",
    {
        f"{name}, {entry}": m.of(entry, metric)
        for name, metric in (
            ("rate", m.RATE),
            ("Jain's index", "jain"),
            ("RTT bias", "rtt_bias"),
            ("loss", m.LOSS),
            ("delay", m.DELAY),
            ("round trip", "rtt_mean"),
        )
        for entry in ("near", "far")
    },
    caption="Ten flows each on 6 Mbit/s: near ones of 16 and 64 ms, far ones of 120 and 240 ms. Jain's index is of the "
    "ten flows, and so is the RTT bias, the slope of rates over round trips without a queue, in logarithms: -1 if they "
    "are inversely proportional. Each algorithm acts as if it had the whole link.",
)
VOICE = listed(
    "voice",
    "Voice and video in the place of CBR",
    "voice",
    {
        f"{name} of {owner}": m.of(owner, metric)
        for owner in ("voice", "video")
        for name, metric in (("jitter", "jitter"), ("delay", "delay_mean"), ("loss", m.LOSS))
    },
    caption="Two calls of 80 kbit/s, and ten frames of two packets a second.",
)
