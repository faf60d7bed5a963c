"""Figures over a parameter: figures 5, 7, 9, 11, 13, and ours."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from aqmlab.theory import pi, rem
from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, figure
from aqmlab_papers.lred.claims.background import fluid_loss, root_loss
from aqmlab_papers.lred.claims.exp1_response import whole
from aqmlab_papers.lred.claims.future import modelled_loss
from aqmlab_papers.lred.measures import ARRIVALS, BUFFER, COUNT, HURST, PERIOD, TARGET, UDP_RATE, WEIGHT
from aqmlab_papers.lred.theory import FREQUENCY, PI_GAINS, response_bound
from aqmlab_papers.run.sketch import bars, over
from aqmlab_papers.theory import lred

_METRICS: Mapping[str, tuple[str, float, str]] = {
    "goodput": ("goodput", 1e-6, "Goodput (Mbit/s)"),
    "queue": ("queue_mean", 1.0, "Average queue length (packets)"),
    "deviation": ("queue_mad", 1.0, "Average queue deviation (packets)"),
    "loss": ("loss_ratio", 100.0, "Packet loss ratio (%)"),
    "response": ("response_time", 1.0, "Response time (s)"),
    "empty": ("queue_empty", 100.0, "Time with an empty queue (%)"),
    "delay": ("queue_delay_mean", 1e3, "Mean wait (ms)"),
    "use": ("utilisation", 100.0, "Utilisation (%)"),
    "together": ("loss_synchronisation", 1.0, "Share of flows hit together"),
    "marks": ("mark_ratio", 100.0, "Mark ratio (%)"),
    "jain": ("jain", 1.0, "Jain's index"),
}
_FOUR = ("goodput", "queue", "deviation", "loss")
_FLOWS = Axis("Number of flows", 0, 1000)
_RATE = Axis("Arrival rate of short flows (1/s)", 10, 100)


def _over(
    name: str,
    title: str,
    experiment: str,
    path: str,
    x: Axis,
    shown: Sequence[str] = _FOUR,
    caption: str = "",
    *,
    beyond: bool = False,
    x_scale: float = 1.0,
    labels: Sequence[str] | None = None,
    fill: float | None = None,
) -> Figure:
    """Return a figure with a panel for each metric over a parameter."""
    letters = dict(zip("abcdefgh", shown, strict=False))
    return Figure(
        name=name,
        title=title,
        panels=[
            Panel(letter, _METRICS[metric][2].rpartition(" (")[0] or _METRICS[metric][2], x, Axis(_METRICS[metric][2]))
            for letter, metric in letters.items()
        ],
        curves=over(
            experiment,
            path,
            {letter: _METRICS[metric][:2] for letter, metric in letters.items()},
            x_scale=x_scale,
            labels=labels,
            fill=fill,
        ),
        caption=caption,
        beyond=beyond,
    )


@figure(
    [Panel("", "Response time", Axis("Packet loss ratio", 0, 0.25), Axis("Response time (s)", 0, 400))],
    caption="A point for 100, 200, ... 1000 flows. A queue that never settled stands at the end of its run, 400 s for "
    "PI and 200 s for the others. The paper has no bound for LRED; ours is the time that its estimate takes to come "
    "back from a start that loses half of all packets, chance left out.",
)
def fig5(exp1: Runs, exp1_pistar: Runs) -> Iterator[Curve]:
    """Experiment 1: response time over the loss ratio."""
    runs = exp1 | exp1_pistar
    for label in ("LRED", "PI", "PI*", "REM"):
        yield runs.curve("", "response_time", label, "loss_ratio", fill=whole(runs, label), style="points")
    losses = np.linspace(0.02, 0.2, 25)
    yield Curve("", "PI, bound (34)", losses, pi.response_bound(losses, *PI_GAINS, FREQUENCY), style="dashed")
    yield Curve("", "REM, bound (40)", losses, rem.response_bound(losses), style="dashed")
    counts = exp1.points(COUNT)
    places = [exp1.per_seed("loss_ratio", "LRED", {COUNT: count}, unit="").mean for count in counts]
    bounds = [response_bound("PI*", loss, count) for loss, count in zip(places, counts, strict=True)]
    yield Curve("", "PI*, bound (34)", places, bounds, style="dashed")
    yield Curve("", "LRED, bad start (ours)", losses, [lred.cold_start(loss) for loss in losses], style="dashed")


FIGURE_7 = _over(
    "fig7", "Experiment 3: four measures over the target", "exp3", TARGET, Axis("Target q0 (packets)", 0, 160)
)
FIGURE_9 = _over(
    "fig9",
    "Experiment 4: four measures over the density of UDP",
    "exp4",
    UDP_RATE,
    Axis("UDP traffic density", 0.1, 0.9),
    caption="From 20 s to 200 s, of TCP and UDP together. UDP has this share of the link from 50 s to 150 s.",
    x_scale=1 / 200e3,
)
FIGURE_9_PEAK = _over(
    "fig9-peak",
    "Experiment 4: four measures by the other reading of the density",
    "exp4-peak",
    UDP_RATE,
    Axis("UDP traffic density while on", 0.1, 0.9),
    caption="UDP has half of this share of the link on average.",
    beyond=True,
    x_scale=1 / 100e3,
)
FIGURE_11 = _over("fig11", "Experiment 5: four measures over the rate of short flows", "exp5", ARRIVALS, _RATE)
FIGURE_13 = _over(
    "fig13",
    "Experiment 5: LRED and AVQ",
    "exp5-avq",
    ARRIVALS,
    _RATE,
    labels=["LRED q0 = 10", "LRED q0 = 20", "AVQ 0.01", "AVQ 0.05", "AVQ 0.1", "AVQ 0.15"],
    caption="AVQ as in ns-2, by alpha, from a virtual capacity of the link's rate; the claims have its other forms.",
)


_QUEUE = Axis("Average queue length (packets)", 0, 200)


@figure(
    [
        Panel("a", "20 s to 200 s", _QUEUE, Axis("Goodput (Mbit/s)")),
        Panel("b", "300 s to 500 s", _QUEUE, Axis("Goodput (Mbit/s)")),
    ],
    beyond=True,
)
def tradeoff(exp3: Runs, exp3_settled: Runs) -> Iterator[Curve]:
    """Experiment 3: goodput over the queue that it costs."""
    for panel, runs in (("a", exp3), ("b", exp3_settled)):
        for label in ("PI", "PI*", "REM", "LRED"):  # LRED on top
            yield runs.curve(panel, "goodput", label, "queue_mean", scale=1e-6)


LAWS = _over(
    "laws",
    "LRED beside alternatives that its authors rejected",
    "laws",
    COUNT,
    _FLOWS,
    (*_FOUR, "response", "empty"),
    "Linear: p = L + a (q - q0); proportional: p = L + b L (q - q0); all with LRED's gain at 400 flows. LRED is drawn "
    "last, over the others.",
    beyond=True,
    labels=["linear", "proportional", "L alone", "queue alone", "LRED"],
    fill=200.0,
)
RELATED = _over(
    "related",
    "The disciplines of section 2",
    "related",
    COUNT,
    _FLOWS,
    ("queue", "deviation", "use", "loss"),
    beyond=True,
)
BUFFERS = _over(
    "buffers",
    "Buffers, 100 flows",
    "buffers",
    BUFFER,
    Axis("Buffer (packets)", 0, 800),
    ("delay", "loss", "use", "together"),
    beyond=True,
)


@figure([Panel("a", "Response time", Axis("Buffer (packets)", 150, 400), Axis("Response time (s)"))], beyond=True)
def buffer_response(small_buffers: Runs) -> Iterator[Curve]:
    """Response times over the buffer, 400 flows."""
    for label in small_buffers.labels:
        yield small_buffers.curve("a", "response_time", label, BUFFER, fill=whole(small_buffers, label))


@figure(
    [
        Panel("a", "Its period", Axis("m_t (s)", 0.1, 10, log=True), Axis("Response time (s)")),
        Panel("b", "Its weight", Axis("m_w", 0, 1), Axis("Response time (s)")),
    ],
    beyond=True,
)
def period(period: Runs, weight: Runs) -> Iterator[Curve]:
    """LRED's measurement: response times."""
    for panel, runs, path in (("a", period, PERIOD), ("b", weight, WEIGHT)):
        for count in runs.points(COUNT):
            yield runs.curve(
                panel, "response_time", "LRED", path, at={COUNT: count}, fill=runs.duration, name=f"{count:g} flows"
            )


MARKS = _over(
    "marks",
    "Marks instead of drops",
    "marks",
    COUNT,
    Axis("Number of flows", 0, 800),
    ("loss", "goodput", "queue", "response", "marks", "jain"),
    beyond=True,
    fill=100.0,
)


_H, _WHICH = Axis("Hurst parameter", 0.5, 0.9), Axis("Discipline")


@figure(
    [
        Panel("a", "Average queue length, noise", _H, Axis("Queue (packets)", 0, 200)),
        Panel("b", "Average queue deviation, noise", _H, Axis("Deviation (packets)", 0)),
        Panel("c", "Average queue length, trace", _WHICH, Axis("Queue (packets)", 0, 200)),
        Panel("d", "Average queue deviation, trace", _WHICH, Axis("Deviation (packets)", 0)),
    ],
    beyond=True,
)
def noise(fgn: Runs, trace: Runs) -> Iterator[Curve]:
    """Fractional Gaussian noise, and a recorded trace."""
    for panel, metric in (("a", "queue_mean"), ("b", "queue_mad")):
        for label in fgn.labels:
            yield fgn.curve(panel, metric, label, HURST)
    for panel, metric in (("c", "queue_mean"), ("d", "queue_mad")):
        yield bars(panel, "trace", trace.labels, [trace.per_seed(metric, label).summary for label in trace.labels])


_CLASS = Axis("Class")


@figure(
    [
        Panel("a", "Goodput of each class", _CLASS, Axis("Goodput (Mbit/s)", 0)),
        Panel("b", "Loss ratio of each class", _CLASS, Axis("Packet loss ratio (%)", 0)),
    ],
    beyond=True,
)
def sizes(sizes: Runs) -> Iterator[Curve]:
    """Fifty flows with packets of 250 bytes beside fifty of 1000."""
    for label in sizes.labels:
        for panel, metric in (("a", "goodput"), ("b", "loss_ratio")):
            means = [sizes.per_seed(f"classes.{one}.{metric}", label).summary for one in ("small", "large")]
            yield bars(panel, label, ("250 bytes", "1000 bytes"), means)


@figure(
    [
        Panel("a", "Loss ratio of each class", _CLASS, Axis("Packet loss ratio (%)", 0)),
        Panel("b", "Throughput of each class", _CLASS, Axis("Throughput (Mbit/s)", 0)),
    ],
    beyond=True,
)
def priorities(priorities: Runs) -> Iterator[Curve]:
    """LRED with priorities: three classes of 40 long flows, by their weights."""
    for label in priorities.labels:
        for panel, metric in (("a", "loss_ratio"), ("b", "throughput")):
            means = [
                priorities.per_seed(f"classes.{one}.{metric}", label).summary for one in ("first", "second", "third")
            ]
            yield bars(panel, label, ("first", "second", "third"), means)


@figure(
    [
        Panel("a", "Long flows alone", _FLOWS, Axis("Packet loss ratio (%)", 0, 60)),
        Panel("b", "Short flows beside a hundred long ones", _RATE, Axis("Packet loss ratio (%)", 0)),
    ],
    beyond=True,
)
def model(exp1: Runs, short_model: Runs) -> Iterator[Curve]:
    """Models of the loss ratio."""
    counts, rates = exp1.points(COUNT), short_model.points(ARRIVALS)
    yield exp1.curve("a", "loss_ratio", "LRED", COUNT, scale=100, name="measured")
    for name, loss in (("(6)", root_loss), ("with time-outs", fluid_loss)):
        yield Curve("a", name, counts, [loss(exp1, {COUNT: one}) for one in counts], style="dashed")
    yield short_model.curve("b", "loss_ratio", "LRED", ARRIVALS, scale=100, name="measured")
    yield Curve("b", "with short flows", rates, [100 * modelled_loss(rate) for rate in rates], style="dashed")
