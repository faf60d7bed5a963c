"""Figures and tables that the paper does not print: of what it says in words, and ours."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import polars

from aqmlab_papers import At, Axis, Curve, Panel, Runs, Table, figure, table
from aqmlab_papers.impact import measures as m
from aqmlab_papers.impact.figures.goodput import GOODPUT, UDP
from aqmlab_papers.impact.figures.loss_runs import LEAST
from aqmlab_papers.impact.theory import FLOWS, LOAD, MODELLED, modelled
from aqmlab_papers.run.sketch import mean_curve

JAIN: m.Quantity = {"metric": "classes.tcp.jain", "unit": "", "name": "fairness of TCP"}


def listed(
    name: str,
    experiment: str,
    title: str,
    quantities: Callable[[Runs], Sequence[m.Quantity]],
    *,
    points: Mapping[str, At] | None = None,
    caption: str = "",
) -> Table:
    """Return a table of quantities with their intervals, with a row for each discipline at each point."""

    def rows(runs: Runs) -> polars.DataFrame:
        found: list[dict[str, str | float | None]] = []
        places: Mapping[str, At | None] = points or {"": None}
        for place, at in places.items():
            for label in runs.labels:
                row: dict[str, str | float | None] = {"discipline": f"{place}{', ' * bool(place)}{label}"}
                for quantity in quantities(runs):
                    values = runs.per_seed(**quantity, label=label, at=at)
                    unit = f" ({quantity['unit']})" if quantity["unit"] else ""
                    head = f"{quantity['name']}{unit}"
                    row |= {head: values.mean, f"{head} ±": values.summary.ci95}
                found.append(row)
        return polars.DataFrame(found, infer_schema_length=None)

    return Table(name=name, title=title, rows=rows, needs=[experiment], caption=caption, beyond=True)


def of_class(metric: str, unit: str, name: str) -> m.Quantity:
    """Return a metric as a quantity."""
    return {"metric": metric, "unit": unit, "name": name}


def _simulated(runs: Runs) -> list[m.Quantity]:
    return [m.tcp_goodput(runs), m.UDP_LOSS, m.tcp_loss(runs), m.DELAY, m.SWING, m.HIT]


@figure(
    [Panel("", "Goodput", Axis("Sources", 16, 256, log=True), Axis(GOODPUT, 8.6, 9.5))],
    caption="Thresholds in packets; max_p is 10 % where it is not given. Section III says that they matter little.",
    across=1,
    beyond=True,
)
def presets(presets: Runs) -> Iterator[Curve]:
    """TCP goodput with RED at other thresholds, experiments 1 to 5."""
    sources = [256.0, 128.0, 64.0, 32.0, 16.0]
    for label in presets.labels:
        found = [presets.per_seed(**m.tcp_goodput(presets), label=label, at=at).summary for at in m.TCP_ONLY.values()]
        yield mean_curve("", label, sources, found)


@figure(
    [
        Panel("left", "Mean queue", Axis("Greedy TCP sources", 50, 2000, log=True), Axis("Queue (packets)", 0, 100)),
        Panel("right", "Loss", Axis("Greedy TCP sources", 50, 2000, log=True), Axis("Loss (%)", 0, 40)),
    ],
    caption="max_th is 90 packets. Section I argues it without a figure.",
    beyond=True,
)
def flows(flows: Runs) -> Iterator[Curve]:
    """RED with thousands of flows."""
    for panel, metric, scale in (("left", "queue_mean", 1.0), ("right", "loss_ratio", 100.0)):
        for label in flows.labels:
            yield flows.curve(panel, metric, label, "traffic.tcp.count", scale=scale)


ALONE = listed(
    "alone",
    "tcp",
    "Experiments 1 to 5: TCP alone",
    lambda runs: [m.tcp_goodput(runs), m.LOSS, m.DELAY, m.BUSY, m.in_vain()],
    points=m.TCP_ONLY,
)
LEVELS = listed(
    "levels",
    "mixed",
    "Experiments 6 to 8 on the testbed's copy",
    lambda runs: [m.tcp_goodput(runs), m.UDP_LOSS, m.tcp_loss(runs), m.LOSS, m.DELAY, m.load(runs), m.in_vain()],
    points=m.MIXED,
    caption="Printed are 7 to 8.4 Mbit/s of TCP and 29 to 38 % of UDP's loss.",
)
VOICE = listed(
    "voice",
    "voice",
    "Telephone calls and TCP-friendly sources in experiment 6",
    lambda runs: [*map(m.loss_of, m.CALLS), m.UDP_LOSS, m.tcp_loss(runs)],
)
METRICS = listed(
    "metrics",
    "simulation",
    "All metrics in simulation",
    lambda runs: [
        *_simulated(runs),
        m.in_vain(),
        of_class("classes.udp.delay_mean", "ms", "delay of UDP, end to end"),
        of_class("classes.udp.jitter", "ms", "jitter of UDP"),
        JAIN,
    ],
    points=m.GREEDY,
    caption="With the metric that the paper names as missing: Jain's index of the TCP flows' goodputs.",
)
EQUAL = listed(
    "equal", "equal", "Round trips of 165 to 175 ms", _simulated, caption="Compare with Exp7 of the table of metrics."
)
SHORT = listed(
    "short",
    "short",
    "RED, with and without its average and its edge, beside tail drop with a buffer of max_th",
    _simulated,
)
CORNERS = listed(
    "corners",
    "corners",
    "The design space at one place: 400 greedy sources, independent drops",
    lambda runs: [*_simulated(runs), of_class("links.bottleneck.loss_burst_mean", "packets", "mean run of losses")],
)
BURSTS = listed(
    "bursts",
    "bursts",
    "Smooth and bursty UDP of the same rate",
    lambda runs: [m.UDP_LOSS, of_class("classes.bursty.loss_ratio", "%", "loss of bursty UDP"), m.LOSS],
    caption="A packet every 80 ms on average, or ten every 800 ms.",
)
LINKS = listed(
    "links",
    "links",
    "Goodput of links of different round trips",
    lambda runs: [
        of_class("goodput", "Mbit/s", "all"),
        *(of_class(f"classes.rtt{trip}.goodput", "Mbit/s", f"{trip} ms") for trip in (10, 74, 136, 200)),
        of_class("jain", "", "Jain's index"),
    ],
    caption="Four groups of 16 greedy flows; each flow draws its round trip within a tenth of its group's.",
)
ISOLATION = listed(
    "isolation",
    "isolation",
    "A flow of 5 Mbit/s that does not slow down, beside 50 TCP flows",
    lambda runs: [of_class("classes.udp.goodput", "Mbit/s", "its goodput"), m.UDP_LOSS, m.tcp_goodput(runs), JAIN],
    caption="Its fair share is 0.19 Mbit/s.",
)


@figure(
    [
        Panel("left", "Queue", Axis("Time (s)", m.FAILS - 2, m.RETURNS + 3), Axis("Queue (packets)", 0, 200)),
        Panel("right", "Drops since then", Axis("Time (s)", m.FAILS - 2, m.RETURNS + 3), Axis("Drops (packets)", 0)),
    ],
    caption=f"545 web clients use some 60 % of the link before {m.FAILS} s. The paper argues it without a figure.",
    beyond=True,
)
def failure(double: Runs) -> Iterator[Curve]:
    """A link failure that doubles the load for 5 s."""
    at = {"traffic.web.count": double.points("traffic.web.count")[-1]}
    for panel, quantity in (("left", "queue.mean"), ("right", "drops")):
        for label in double.labels:
            whole = double.over_time(panel, label, quantity=quantity, at=at)
            t, y = np.asarray(whole.x, dtype=float), np.asarray(whole.y)
            shown = (t >= m.FAILS - 2) & (t < m.RETURNS + 3)
            yield Curve(panel, label, t[shown], y[shown] if panel == "left" else np.cumsum(y[shown]), run=whole.run)


@figure(
    [Panel("", "200 greedy sources", Axis("Buffer (packets)", 50, 400, log=True), Axis("Saved (%)", 0, 100))],
    caption="GRED-I's max_th is the buffer.",
    across=1,
    beyond=True,
)
def buffer(buffer: Runs) -> Iterator[Curve]:
    """Share of tail drop's delay that GRED-I saves."""
    found = []
    for size in m.BUFFERS:
        one, other = (buffer.per_seed(**m.DELAY, label=m.of_buffer(label, size)) for label in (m.HERO, m.TD))
        found.append((100 * (1 - one / other)).summary)
    yield mean_curve("", m.HERO, [float(size) for size in m.BUFFERS], found)
    yield Curve("", "200 packets (paper)", [200.0], [50.0], style="printed")


@figure(
    [
        Panel("left", "Delay", Axis("min_th (packets)", 0, 60), Axis("Mean delay (ms)", 0, 80)),
        Panel("right", "UDP loss", Axis("min_th (packets)", 0, 60), Axis(UDP, 0, 20)),
    ],
    caption="The probability p rises from 0 at min_th, which is 1, 30 or 60 packets, to 1 at 100, 150 or 200 packets.",
    beyond=True,
)
def line(line: Runs) -> Iterator[Curve]:
    """GRED-I's line."""
    for panel, quantity in (("left", m.DELAY), ("right", m.UDP_LOSS)):
        for top in line.points("aqm.max_th"):
            lows = line.points("aqm.min_th")
            found = [
                line.per_seed(**quantity, label=m.HERO, at={"aqm.min_th": low, "aqm.max_th": top}).summary
                for low in lows
            ]
            yield mean_curve(panel, f"p = 1 at {top:g} packets", lows, found)


@table(
    caption=f"P(run >= n); the model has the load {LOAD}, and a flow has one packet in {FLOWS}.", digits=2, beyond=True
)
def runs(mixed: Runs, simulation: Runs, corners: Runs) -> polars.DataFrame:
    """Losses in a row, 400 sources: of a UDP flow, and of all packets whatever their flow."""
    rows = []

    def row(name: str, flow: np.ndarray, every: np.ndarray) -> None:
        shares = {
            f"{what}, >= {n}": float(np.nan_to_num(found[n - 1]))
            for what, found in (("flow", flow), ("all", every))
            for n in (2, 6, 15)
        }
        rows.append({"runs of losses": name} | shares)

    settings = (
        (mixed, "testbed's traffic", m.MIXED["Exp6"]),
        (simulation, "ns-2's spacing", m.GREEDY["Exp6"]),
        (corners, "independent", None),
    )
    for runs, title, at in settings:
        for label in runs.labels:
            row(
                f"{label}, {title}",
                *(m.at_least(m.by_length(runs, label, at, owner)) for owner in ("udp", "bottleneck")),
            )
    for label in MODELLED:
        row(f"{label}, model", *(modelled(label, number)[0] for number in (FLOWS, 1)))
    return polars.DataFrame(rows)


@figure(
    [
        Panel(
            "", "400 sources", Axis("UDP flows of 1 Mbit/s in all", 1, 40, log=True), Axis("P(> 5)", 1e-4, 1, log=True)
        )
    ],
    caption="The paper does not state their number. Bands are of the scatter between seeds.",
    across=1,
    beyond=True,
)
def split(split: Runs) -> Iterator[Curve]:
    """How often a UDP flow loses more than 5 packets in a row, by how many flows UDP is split into."""
    numbers = split.points("traffic.udp.count")
    for label in split.labels:
        counts = [m.by_length(split, label, {"traffic.udp.count": number}) for number in numbers]
        shares = np.array([m.at_least(one)[5] for one in counts])
        each = [one[:, 5:].sum(axis=1) / one.sum(axis=1) for one in counts]
        half = [2 * float(np.std(one, ddof=1)) / np.sqrt(len(one)) if len(one) > 1 else 0.0 for one in each]
        yield Curve("", label, [float(n) for n in numbers], shares, np.maximum(shares - half, LEAST), shares + half)
