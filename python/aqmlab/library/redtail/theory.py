"""Derivations and trials of the RED+Tail paper outside its simulations: small files (Fig. 2, Table I), section VI."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab.papers import Axis, Choice, Curve, Evidence, Experiment, Figure, Panel, Runs, Table
from aqmlab.results.summary import Summary
from aqmlab.theory import redtail, tcp
from aqmlab.theory.redtail.markov import Stationary
from aqmlab.theory.redtail.slots import Slots, rate_deviation
from aqmlab.theory.tcp import transfers
from aqmlab.theory.tcp.transfer_trials import times

Array = NDArray[np.float64]

RTT, PACKET_TIME = 0.128, 8e3 / 3e6
"""Round trip and transmission time of a packet in Table I (s)."""
REQUEST = RTT / 2
"""Time that a request adds to the packet engine's transfers (s)."""
SIZES = (30, 60, 90, 120, 150, 180, 210)
"""File sizes (kB)."""
PRINTED = {
    (30, 0.0): (0.88, 0.0006),
    (30, 0.02): (1.60, 1.88),
    (30, 0.04): (2.74, 4.27),
    (30, 0.08): (5.88, 7.79),
    (90, 0.0): (1.18, 0.0008),
    (90, 0.02): (2.79, 2.39),
    (90, 0.04): (4.81, 3.91),
    (90, 0.08): (9.24, 6.30),
    (150, 0.0): (1.34, 0.0008),
    (150, 0.02): (3.51, 1.90),
    (150, 0.04): (6.51, 4.60),
    (150, 0.08): (13.38, 8.87),
}
"""Table I: mean and standard deviation of the delay (s), by kB and drop probability."""
PD = "dumbbell.loss"
ALONE = "no AQM"

CAPACITY, DELAY, LOSS, BUFFER = 750.0, 0.064, 0.014, 800
"""Section VI: capacity (packets/s), round trip without the queue (s), drop probability, buffer (packets)."""
FLOWS = (20, 40)
PROBES = ("probe1", "probe2", "probe3", "probe4")
MOVING, FIXED = "Dynamic thresholds", "Fixed loss"
COUNT = "traffic.ftp.count"
WARMUP = 50.0
"""Warm-up of the scenario `steady` (s)."""

EXPERIMENTS = (
    Experiment(
        name="table1",
        title="Small files of 30 to 210 kB over a link that drops with a fixed probability",
        scenario="redtail/table1",
        aqms={ALONE: "droptail"},
        vary={PD: [0.0, 0.02, 0.04, 0.06, 0.08]},
        quick={PD: [0.0, 0.02, 0.04, 0.08]},
        rivals={},
    ),
    Experiment(
        name="steady",
        title="20 and 40 FTP all along: moving thresholds, and a fixed loss",
        scenario="redtail/steady",
        aqms={MOVING: {}, FIXED: {"aqm": "droptail", PD: LOSS}},
        vary={COUNT: [count - len(PROBES) for count in FLOWS]},
        series=True,
        rivals={},
    ),
)


def model(flows: int, slots: float | None = None, loss: float = LOSS) -> Slots:
    """Return the paper's model of the long queue, with the windows of the square-root law.

    ``slots`` is the slot in round-trip times at the equilibrium, 1 by default.
    """
    window = float(tcp.window(loss))
    slot = None if slots is None else slots * flows * window / CAPACITY
    return Slots(C=CAPACITY, d=DELAY, N=flows, W=window, S=slot)


@cache
def chain(flows: int, slots: float | None = None) -> Stationary:
    """Return the queue's distribution by the paper's model, with the printed deviation of a flow's rate.

    ``slots`` as in `model`.
    """
    return model(flows, slots).chain(redtail.paper_sigma(flows), BUFFER)


@cache
def interchanged(flows: int) -> Stationary:
    """Return the queue's distribution with the deviation that is printed for the other number of flows."""
    return model(flows).chain(redtail.paper_sigma(sum(FLOWS) - flows), BUFFER)


class Steady:
    """The steady state of a run of the experiment ``steady``. ``label`` is moving thresholds or a fixed loss."""

    def __init__(self, runs: Runs, label: str, flows: int, seed: int) -> None:
        at = {COUNT: flows - len(PROBES)}
        frame = runs.series(label, at, seed)
        frame = frame.filter(polars.col("t") >= WARMUP)
        self.queue: Array = frame["bottleneck.queue.mean"].to_numpy()
        row = runs.of(label, {**at, "seed": seed})
        self.loss = LOSS if label == FIXED else float(row["loss_ratio"][0])
        rtt = float(self.queue.mean()) / CAPACITY + DELAY
        arrivals = np.array([frame[f"bottleneck.{name}.arrivals"].to_numpy() for name in PROBES])
        self.sigma = rate_deviation(arrivals, float(frame["t"][1] - frame["t"][0]), rtt)
        """Standard deviation of a flow's rate from round trip to round trip (packets/s)."""
        self.slots = Slots(C=CAPACITY, d=DELAY, N=flows, W=float(tcp.window(self.loss)), S=rtt)


def steady(evidence: Evidence, label: str, flows: int) -> list[Steady]:
    """Return the steady state of every seed, in their order, from the experiment ``steady``."""
    return _steady(evidence["steady"], label, flows)


@lru_cache(maxsize=8)
def _steady(runs: Runs, label: str, flows: int) -> list[Steady]:
    return [Steady(runs, label, flows, seed) for seed in sorted(runs.of(label)["seed"].unique().to_list())]


@cache
def tried(kilobytes: int, p: float, n: int) -> Array:
    """Return the durations (s) of transfers simulated packet by packet; five groups of ``n``, shape (5, n)."""
    many = n if p else 2  # without loss all are equal
    return np.array([times(kilobytes, p, RTT, PACKET_TIME, many, seed) for seed in range(1, 6)])


def trials_each(evidence: Evidence) -> int:
    """Return the number of transfers to simulate per group: five groups have the paper's accuracy, or half of it."""
    return 60 if evidence.quick else 150


def delivery(runs: Runs, kilobytes: int, p: float) -> list[float]:
    """Return the mean delivery time of each run (s), with half a round trip for the request, in the order of seeds."""
    found = runs.values(f"classes.{kilobytes}kB.completion_time_mean", ALONE, {PD: p})
    return [one + REQUEST for one in found if one is not None]


def figure_2(evidence: Evidence) -> Iterator[Curve]:
    """Draw the delivery time over the drop probability."""
    runs = evidence["table1"]
    points = runs.points(PD)
    for size in SIZES:
        told = [Summary.of(delivery(runs, size, p)) for p in points]
        means = [one.mean or 0.0 for one in told]
        half = [one.ci95 for one in told]
        band = None if None in half else [one or 0.0 for one in half]
        low = band and [mean - one for mean, one in zip(means, band, strict=True)]
        high = band and [mean + one for mean, one in zip(means, band, strict=True)]
        yield Curve("", f"{size} KB", points, means, low, high)
    means = [mean for mean, _ in PRINTED.values()]
    yield Curve("", "Table I: 30, 90, 150 KB", [p for _, p in PRINTED], means, style="points")


def table_1(evidence: Evidence) -> polars.DataFrame:
    """List delays of small files: printed, from the packet engine, from trials, by formula."""
    runs = evidence["table1"]
    rows = []
    for (size, p), (mean, sd) in PRINTED.items():
        engine = Summary.of(delivery(runs, size, p))
        trials = tried(size, p, trials_each(evidence))
        formula = (
            float(transfers.cardwell(size, p, RTT, Ts=6.0, round_trips=1.0).total)
            if p
            else float(transfers.loss_free(size, RTT, PACKET_TIME))
        )
        rows.append(
            {
                "file, drop probability": f"{size} KB, {p:g}",
                "mean s (paper)": mean,
                "mean s": engine.mean,
                "mean s ±": engine.ci95,
                "trials: mean s": float(trials.mean()),
                "formula: mean s": formula,
                "sd s (paper)": sd,
                "trials: sd s": float(trials.std(ddof=1)),
            }
        )
    return polars.DataFrame(rows)


def wander(flows: int, slots: float, seconds: float, seed: int = 1) -> tuple[Array, Array, Array]:
    """Simulate the model (5) with the noise of every flow, starting at the equilibrium.

    Return times (s), the queue (packets) and the rate of the first flow (packets/s), one value per slot. ``slots`` is
    the slot in round-trip times.
    """
    own = model(flows, slots)
    noise = np.random.default_rng(seed).normal(0, redtail.paper_sigma(flows), (int(seconds / own.slot), flows))
    queue: Array = np.empty(len(noise))
    rate: Array = np.empty(len(noise))
    q = own.q_e
    for step, errors in enumerate(noise):
        queue[step], rate[step] = q, own.W / (DELAY + q / CAPACITY) + errors[0]
        q = min(BUFFER, max(0.0, float(own.f(q)) + own.slot * float(errors.sum())))
    return np.asarray(own.slot * np.arange(len(noise))), queue, rate


def figure_17(_: Evidence) -> Iterator[Curve]:
    """Draw the queue and a flow's throughput by the model."""
    for flows in FLOWS:
        at, queue, rate = wander(flows, 1.0, 400.0)
        yield Curve("upper", f"N = {flows}", at, queue)
        yield Curve("lower", f"N = {flows}", at, rate)


def figure_18(_: Evidence) -> Iterator[Curve]:
    """Draw the map from slot to slot for both numbers of flows."""
    q = np.linspace(0, BUFFER, 201)
    for flows in FLOWS:
        yield Curve("", f"f, N = {flows}", q, model(flows).f(q))
    yield Curve("", "q", q, q, style="dashed")
    for flows in FLOWS:
        own = model(flows)
        yield Curve("", f"equilibrium, N = {flows}", [own.q_e], [own.q_e], style="points")


def figure_19(_: Evidence) -> Iterator[Curve]:
    """Draw the map for several slots."""
    q = np.linspace(0, BUFFER, 201)
    for slots in (0.5, 1.0, 2.0):
        yield Curve("", f"S = {slots:g} RTT", q, model(40, slots).f(q))
    yield Curve("", "q", q, q, style="dashed")


def figure_20(_: Evidence) -> Iterator[Curve]:
    """Draw the queue with slots of one and of two round trips."""
    for panel, slots in (("upper", 1.0), ("lower", 2.0)):
        at, queue, _rate = wander(40, slots, 400.0)
        yield Curve(panel, "Queue", at, queue)


def _histogram(panel: str, seen: list[Steady]) -> Curve:
    queue = np.concatenate([one.queue for one in seen])
    edges = np.linspace(queue.min(), queue.max(), 41)
    density, _ = np.histogram(queue, edges, density=True)
    return Curve(panel, "Packet engine", (edges[1:] + edges[:-1]) / 2, density, style="steps")


PLACES = {20: ("upper", slice(60, 281)), 40: ("lower", slice(150, 601))}
"""Panel of Fig. 21 by the number of flows, and its range of queues."""


def figure_21(evidence: Evidence) -> Iterator[Curve]:
    """Draw the queue's distribution by the engine, the chain and the Gaussian."""
    for flows, (panel, shown) in PLACES.items():
        q = np.arange(BUFFER + 1.0)[shown]
        yield _histogram(panel, steady(evidence, MOVING, flows))
        yield Curve(panel, "Markov chain (17)", q, chain(flows).probability[shown])
        first = steady(evidence, MOVING, flows)[0]
        ours = first.slots.chain(first.sigma, BUFFER).probability[shown]
        yield Curve(panel, "Markov chain, measured loss and deviation", q, ours)
        yield Curve(panel, "Markov chain (17), deviations interchanged", q, interchanged(flows).probability[shown])
        density = model(flows).density(q, redtail.paper_sigma(flows))
        yield Curve(panel, "Gaussian (21)", q, density, style="dashed")


def figure_fixed(evidence: Evidence) -> Iterator[Curve]:
    """Draw the distributions with the same loss probability for every packet, for the measured deviation."""
    for flows, (panel, shown) in PLACES.items():
        q = np.arange(BUFFER + 1.0)[shown]
        seen = steady(evidence, FIXED, flows)
        yield _histogram(panel, seen)
        # the runs differ by a few hundredths
        chains = [one.slots.chain(one.sigma, BUFFER).probability[shown] for one in seen]
        yield Curve(panel, "Markov chain (17)", q, np.mean(chains, axis=0))
        densities = [one.slots.density(q, one.sigma) for one in seen]
        yield Curve(panel, "Gaussian (21)", q, np.mean(densities, axis=0), style="dashed")


_QUEUE = Axis("Queue length (packets)", 0, BUFFER)
_TIME = Axis("Time (s)", 0, 400)

FIGURES: tuple[Figure | Table, ...] = (
    Figure(
        name="fig2",
        title="Mean delivery delay of a small file over the drop probability",
        panels=[Panel("", "30 to 210 KB, 3 Mbit/s, 128 ms", Axis("Pd", 0, 0.08), Axis("Delivery delay (s)", 0, 20))],
        curves=figure_2,
        needs=["table1"],
        caption="600 transfers of each size a run, by Reno. Half a round trip is added for the request, which the "
        "runs do without. Dots: the means of Table I.",
    ),
    Table(
        name="table1",
        title="Delivery delay of small files: mean and standard deviation",
        rows=table_1,
        needs=["table1"],
        digits=3,
        caption="The packet engine's transfers have no request: half a round trip is added, what its loss would cost "
        "is not. Trials: TCP packet by packet, with a request that can be lost. Formula: slow start without loss; else "
        "Cardwell, Savage and Anderson.",
    ),
    Figure(
        name="fig17",
        title="Queue length and throughput of a connection by the model (5), S = RTT",
        panels=[
            Panel("upper", "Queue", _TIME, _QUEUE),
            Panel("lower", "Throughput of a connection", _TIME, Axis("Throughput (packets/s)", -40, 100)),
        ],
        curves=figure_17,
        caption="P = 0.014, and the deviations of a flow's rate as printed: 77021 and 128490 bit/s. "
        "The latter is so large that the rate of one of 40 flows is often negative.",
    ),
    Figure(
        name="fig18",
        title="The map f for 20 and 40 connections, S = RTT",
        panels=[Panel("", "f", Axis("q (packets)", 0, BUFFER), Axis("f(q) (packets)", 0))],
        curves=figure_18,
    ),
    Figure(
        name="fig19",
        title="The map f for several slots, N = 40",
        panels=[Panel("", "f", Axis("q (packets)", 0, BUFFER), Axis("f(q) (packets)", 0))],
        curves=figure_19,
    ),
    Figure(
        name="fig20",
        title="Queue length with N = 40, S = RTT and 2 RTT",
        panels=[Panel("upper", "S = RTT", _TIME, _QUEUE), Panel("lower", "S = 2 RTT", _TIME, _QUEUE)],
        curves=figure_20,
    ),
    Figure(
        name="fig21",
        title="Steady-state queue length distributions, S = RTT",
        panels=[
            Panel("upper", "N = 20", Axis("Queue length (packets)", 60, 280), Axis("Density")),
            Panel("lower", "N = 40", Axis("Queue length (packets)", 150, 600), Axis("Density")),
        ],
        curves=figure_21,
        needs=["steady"],
        caption="The paper's chain and Gaussian: for P = 0.014 and the printed deviations of a flow's rate; and the "
        "chain with these two interchanged. Measured: what the engine's first run has, with thresholds that move.",
    ),
    Figure(
        name="fig21-fixed",
        title="The same where losses are as the model has them",
        panels=[
            Panel("upper", "N = 20", Axis("Queue length (packets)", 60, 280), Axis("Density")),
            Panel("lower", "N = 40", Axis("Queue length (packets)", 150, 600), Axis("Density")),
        ],
        curves=figure_fixed,
        needs=["steady"],
        caption="Every packet is lost with probability 0.014; the deviation of a flow's rate is the measured one.",
        beyond=True,
    ),
)

CHOICES = (
    Choice(
        "TCP of Table I",
        "packet 1 KB, initial ssthresh 64 KB; Tahoe and Reno are explained",
        "Reno of ns-2 of 2002, initial window 1, no delayed ACKs, time-out 6 s at first, at least 1 s then",
        "The column without loss needs an initial window of 1 and an ACK a packet; the others fit Tahoe and Reno "
        "alike, and neither a least time-out of 0.2 s nor delayed ACKs.",
    ),
    Choice(
        "What a delivery of Table I takes in",
        "",
        "two round trips besides those of the data",
        "SYN, request and last ACK: then the column without loss is met to the digit.",
    ),
    Choice("Drop probability of Figs. 17 to 20", "fixed; 0.014 in Fig. 11", "0.014", "The mean of Fig. 11."),
    Choice("Buffer of section VI", "", "800 packets", "As in Figs. 10 and 11; far from both queues."),
    Choice(
        "Deviation of a flow's rate",
        "77021 bit/s for 20 flows, 128490 for 40",
        "as printed; a claim of ours says that they look interchanged",
        "Fig. 21 is drawn with them.",
    ),
)
