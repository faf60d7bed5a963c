"""The RED+Tail paper's model of the long queue (section VI) and of small files (Table I) and their runs."""

from collections.abc import Callable, Collection
from functools import cache, lru_cache

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab.theory import tcp
from aqmlab_papers import PerSeed, Runs
from aqmlab_papers.redtail import measures
from aqmlab_papers.redtail.measures import COUNT
from aqmlab_papers.redtail.trials import Recovery, Sender, after_loss, outcomes, times
from aqmlab_papers.theory import redtail
from aqmlab_papers.theory.redtail.markov import Stationary, transitions
from aqmlab_papers.theory.redtail.slots import Slots, rate_deviation

Array = NDArray[np.float64]
RTT, PACKET_TIME = 0.128, 8e3 / 3e6
"""Round trip and transmission time of a packet in Table I (s)."""
REQUEST = RTT / 2
"""Time that a request adds to transfers without one (s)."""
GROUP = 150
"""Transfers in a group of trials: five groups have the paper's accuracy."""
FILE_SIZES = (30, 60, 90, 120, 150, 180, 210)
"""File sizes (kB)."""

TABLE_1 = {
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
MOVING, FIXED_LOSS = "Dynamic thresholds", "Fixed loss"
WARMUP = 50.0
"""Warm-up of the scenario `steady` (s)."""


def model(flows: int, slots: float | None = None, loss: float = LOSS) -> Slots:
    """Return the paper's model of the long queue, with the windows of the square-root law.

    ``slots`` is the slot in round-trip times at the equilibrium, 1 by default.
    """
    window = float(tcp.window(loss))
    slot = None if slots is None else slots * flows * window / CAPACITY
    return Slots(C=CAPACITY, d=DELAY, N=flows, W=window, S=slot)


def loaded(load: float, part: float) -> Slots:
    """Return the model of 40 flows where ``load`` is d C / (N W), with the slot as a part of the limit (10)."""
    whole = model(40)
    found = Slots(C=whole.C, d=load * whole.N * whole.W / whole.C, N=whole.N, W=whole.W)
    return Slots(C=found.C, d=found.d, N=found.N, W=found.W, S=part * found.contraction_limit())


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


def small_buffer() -> Stationary:
    """Return the distribution of 40 flows' queue where it reaches both ends: S = 2 RTT, 600 packets."""
    return model(40, 2.0).chain(redtail.paper_sigma(40), 600)


def change(flows: int, slots: float, probability: Array) -> float:
    """Return the greatest change of a probability when the queue's distribution goes through one more slot."""
    queue_model = model(flows, slots)
    states = np.arange(BUFFER + 1)
    table = transitions(queue_model.f(states.astype(float)), queue_model.noise(redtail.paper_sigma(flows)))
    return float(np.abs(probability @ table - probability).max())


class Steady:
    """The steady state of a run of the experiment ``steady``. ``label`` is moving thresholds or a fixed loss."""

    def __init__(self, runs: Runs, label: str, flows: int, seed: int) -> None:
        at = {COUNT: flows - len(PROBES)}
        frame = runs.series(label, at, seed)
        frame = frame.filter(polars.col("t") >= WARMUP)
        self.queue: Array = frame["bottleneck.queue.mean"].to_numpy()
        row = runs.of(label, {**at, "seed": seed})
        self.loss = LOSS if label == FIXED_LOSS else float(row["loss_ratio"][0])
        counts = np.bincount(np.rint(self.queue).astype(int), minlength=BUFFER + 1)
        self.histogram: Array = counts[: BUFFER + 1] / counts.sum()
        """Share of the bins with each whole number of packets."""
        rtt = float(self.queue.mean()) / CAPACITY + DELAY
        arrivals = np.array([frame[f"bottleneck.{name}.arrivals"].to_numpy() for name in PROBES])
        self.sigma = rate_deviation(arrivals, float(frame["t"][1] - frame["t"][0]), rtt)
        """Standard deviation of a flow's rate from round trip to round trip (packets/s)."""
        self.slots = Slots(C=CAPACITY, d=DELAY, N=flows, W=float(tcp.window(self.loss)), S=rtt)


@lru_cache(maxsize=8)
def steadies(runs: Runs, label: str, flows: int) -> dict[int, Steady]:
    """Return the steady state of every seed of the experiment ``steady``."""
    return {seed: Steady(runs, label, flows, seed) for seed in sorted(runs.of(label)["seed"].unique().to_list())}


def of_steady(runs: Runs, label: str, flows: int, read: Callable[[Steady], float]) -> PerSeed:
    """Return a number of the steady state of every seed."""
    return PerSeed.of({seed: read(one) for seed, one in steadies(runs, label, flows).items()})


@cache
def tried(kilobytes: int, p: float, count: int = 5) -> tuple[Array, Array]:
    """Return durations (s) and time-outs of transfers simulated packet by packet, in groups of 150."""
    groups = [outcomes(kilobytes, p, RTT, PACKET_TIME, GROUP if p else 2, seed) for seed in range(1, 1 + count)]
    return np.array([times for times, _ in groups]), np.array([timeouts for _, timeouts in groups])


def lost(which: Collection[int], flavour: str = "reno", kilobytes: int = 90) -> Recovery:
    """Follow a transfer of Table I's link of which chosen packets are lost."""
    return after_loss(which, kilobytes, RTT, PACKET_TIME, Sender(flavour=flavour))


def completion(runs: Runs, kilobytes: int, p: float) -> PerSeed:
    """Return the mean completion time of each run (s)."""
    return runs.per_seed(f"classes.{kilobytes}kB.completion_time_mean", ALONE, {PD: p})


def delivery(runs: Runs, kilobytes: int, p: float) -> PerSeed:
    """Return the mean delivery time of each run without requests (s), with half a round trip for one."""
    return completion(runs, kilobytes, p) + REQUEST


def deviation(runs: Runs, kilobytes: int, p: float) -> PerSeed:
    """Return the standard deviation of the delivery times of each run (s)."""
    return measures.deviation(runs, f"{kilobytes}kB", ALONE, {PD: p}, "completion_time")


@cache
def by_delay(kilobytes: int, p: float, wait: float) -> float:
    """Return the mean duration (s) of transfers with a queueing delay in each round trip, at a loss of every packet."""
    return float(
        times(
            kilobytes, p, RTT + wait, PACKET_TIME, 5 * GROUP, sender=Sender(requests=0, handshake_measured=True)
        ).mean()
    )


def kolmogorov(one: Array, other: Array) -> float:
    """Return the greatest distance of two distribution functions, of the same points."""
    return float(np.abs(np.cumsum(one) - np.cumsum(other)).max())


def wander(flows: int, slots: float, seconds: float, seed: int = 1) -> tuple[Array, Array, Array]:
    """Simulate the model (5) with the noise of every flow, starting at the equilibrium.

    Return times (s), the queue (packets) and the rate of the first flow (packets/s), one value per slot. ``slots`` is
    the slot in round-trip times.
    """
    queue_model = model(flows, slots)
    noise = np.random.default_rng(seed).normal(0, redtail.paper_sigma(flows), (int(seconds / queue_model.slot), flows))
    queue: Array = np.empty(len(noise))
    rate: Array = np.empty(len(noise))
    q = queue_model.q_e
    for step, errors in enumerate(noise):
        queue[step], rate[step] = q, queue_model.W / (DELAY + q / CAPACITY) + errors[0]
        q = min(BUFFER, max(0.0, float(queue_model.f(q)) + queue_model.slot * float(errors.sum())))
    return np.asarray(queue_model.slot * np.arange(len(noise))), queue, rate
