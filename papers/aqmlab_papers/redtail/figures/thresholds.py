"""Figures 10 to 14, Table IV, and ours on moving thresholds."""

from collections.abc import Iterator
from dataclasses import replace

import polars

from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, Table, figure, table
from aqmlab_papers.redtail.figures.by_class import (
    AT_FIRST,
    BIN,
    ONE_SEED,
    PACKETS,
    TIME,
    class_rows,
    delays_figure,
    level_lines,
    listed,
    losses_figure,
    threshold_lines,
)
from aqmlab_papers.redtail.measures import (
    ALONE_BAND,
    ARRIVALS2,
    BESIDE_BAND,
    DELAY,
    DYNAMIC,
    FIXED,
    LOSS,
    MAX_TH1,
    OWN_WEIGHT,
    SETTLED,
    SHORT,
    TABLE_4,
    WEIGHTS,
    P,
    averaged,
    mean_over,
    share_in,
)
from aqmlab_papers.run.sketch import cells, over

RUN = 400.0
SECONDS = Axis("Time (s)", 0, RUN)
QUEUE = Axis("Queue length (packets)", 0, 600)
PAIR = (("a", FIXED), ("b", DYNAMIC))


@figure(
    [
        *(Panel(letter, label, SECONDS, QUEUE) for letter, label in PAIR),
        Panel("c", "Rate of a connection", SECONDS, Axis("Throughput (kB/s)", 0, 50)),
    ],
    caption=f"The rate is the mean of the 20 that stay, over {BIN:.0f} s. {ONE_SEED}",
    across=3,
)
def fig10(dynamic: Runs) -> Iterator[Curve]:
    """Fixed and moving thresholds: 20 FTP, and 20 more from 100 to 300 s."""
    for panel, label in PAIR:
        yield dynamic.over_time(panel, label, name="Queue")
        yield dynamic.over_time("c", label, quantity="ftp.throughput", bin=BIN, scale=1 / 20 / 8000)
    yield from threshold_lines("a", RUN)


@figure(
    [
        Panel("a", FIXED, SECONDS, Axis("Drop probability", 0, 0.3)),
        Panel("b", DYNAMIC, SECONDS, Axis("Drop probability", 0, 0.06)),
    ],
    caption=f"Before drops are spaced. Avg. P, of weight {WEIGHTS[-1]:g}, is what moves the thresholds. {ONE_SEED}",
)
def fig11(dynamic: Runs) -> Iterator[Curve]:
    """Drop probability with fixed and moving thresholds."""
    for panel, label in PAIR:
        yield dynamic.over_time(panel, label, quantity="p.mean", name="Inst. P")
    yield dynamic.over_time("b", DYNAMIC, quantity="mean_p.mean", name="Avg. P")
    for panel, value in (("a", 0.05), ("b", 0.014)):
        yield Curve(panel, "Mean (paper)", [0.0, RUN], [value, value], style="printed")
    yield from level_lines("b", dict(zip(("P_L", "P_U"), ALONE_BAND, strict=True)), RUN)


@figure(
    [
        Panel("a", "Short flows (drop-tail)", TIME, PACKETS),
        Panel("b", "Long flows (moving thresholds)", TIME, PACKETS),
        Panel("c", "Drop probability of the long queue", TIME, Axis("Drop probability", 0, 0.06)),
    ],
    caption=f"P before drops are spaced. {AT_FIRST} {ONE_SEED}",
    across=3,
)
def fig12(time: Runs) -> Iterator[Curve]:
    """RED+Tail with moving thresholds: queues and drop probability."""
    for panel, lane in (("a", "short"), ("b", "long")):
        yield time.over_time(panel, DYNAMIC, quantity=f"lane.{lane}.queue.mean", name="Queue")
    inst = time.over_time("c", DYNAMIC, quantity=P, name="Inst. P")
    yield inst
    series = time.series(DYNAMIC, seed=inst.run).rename(lambda name: name.removeprefix("bottleneck."))
    yield replace(inst, name="Avg. P", y=averaged(series, ARRIVALS2)["average"].to_numpy())
    yield from level_lines("c", dict(zip(("P_L", "P_U"), BESIDE_BAND, strict=True)), 500)


FIGURE_13 = losses_figure("fig13", "Packet losses of RED+Tail with moving thresholds", (DYNAMIC,))
FIGURE_14 = delays_figure("fig14", "Packet delays of RED+Tail with moving thresholds", (DYNAMIC,), 0.8)
TABLE_IV = Table(
    name="table4",
    title="Table IV: RED+Tail with moving thresholds",
    rows=lambda dynamic_web: class_rows(dynamic_web, {DYNAMIC: TABLE_4}),
    caption="From 100 to 500 s. The text has 0.988 % for FTP's loss.",
)


@figure(
    [Panel("", "20 FTP, and 20 more from 100 to 300 s", SECONDS, Axis("Pmax", 0, 0.25))],
    caption=ONE_SEED,
    across=1,
    beyond=True,
)
def slope(dynamic: Runs) -> Iterator[Curve]:
    """Pmax: the slope of the drop probability times max_th - min_th."""
    for label in (FIXED, DYNAMIC):
        yield dynamic.over_time("", label, quantity="max_p.mean")


GOODPUT = listed(
    "goodput",
    "What fixed and moving thresholds deliver",
    "dynamic",
    {
        "throughput": "throughput",
        "goodput": "goodput",
        "loss": LOSS,
        "sent again": "retransmits",
        "time-outs": "timeouts",
    },
    caption="The experiment of Fig. 10, from 20 to 400 s.",
)


@table(
    caption="Section V's experiment, from 20 to 400 s. The paper has a mean of 0.014 and no weight.",
    beyond=True,
)
def weights(weights: Runs) -> polars.DataFrame:
    """Moving thresholds over the weight of an arrival in the average drop probability P."""
    rows = []
    for weight in weights.points(OWN_WEIGHT):
        at = {OWN_WEIGHT: weight}
        row: dict[str, str | float | None] = {"weight": f"{weight:g}"}
        for head, found in (
            ("mean of P", weights.from_series(DYNAMIC, mean_over("mean_p.mean", SETTLED), at)),
            (
                "time that P is in its band (%)",
                weights.from_series(DYNAMIC, share_in("mean_p.mean", ALONE_BAND, SETTLED), at),
            ),
            ("loss (%)", weights.per_seed(LOSS, DYNAMIC, at)),
            ("delay (ms)", weights.per_seed(DELAY, DYNAMIC, at)),
        ):
            row |= cells(head, found)
        rows.append(row)
    return polars.DataFrame(rows)


TRADE_OFF = Figure(
    name="trade-off",
    title="Loss and delay over the band of P",
    panels=[
        Panel("a", "Loss", Axis("P_L; P_U is twice that", 0, 0.025), Axis("Packet loss ratio (%)", 0)),
        Panel("b", "Delay", Axis("P_L; P_U is twice that", 0, 0.025), Axis("Mean queueing delay (ms)", 0)),
    ],
    curves=over("bands", "aqm.p_l", {"a": (LOSS, 100), "b": (DELAY, 1e3)}),
    caption="20 FTP, and 20 more from 100 to 300 s.",
    beyond=True,
)
ROOM = listed(
    "room",
    "Moving thresholds with a larger buffer and a smaller max_th1",
    "room",
    {"delay of the short queue": SHORT + DELAY, "loss of the short queue": SHORT + LOSS},
    {"dumbbell.buffer": "{:g} B", MAX_TH1: "max_th1 {:g} B"},
)
