"""Points and labels of the study's experiments, and the quantities read from its runs: goodput, delay, loss runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from aqmlab.papers import At, Check, Evidence, Runs
from aqmlab.papers.run.seeds import Values, average, difference, mean, ratio

Array = NDArray[np.float64]


"""One number per seed; None where a run has none."""

Measure = Callable[[Runs, str, At | None], Values]
"""Such numbers for a discipline at a point."""
TD, RED, APPROXIMATED, GENTLE, HERO = "Tail Drop", "RED", "GRED (testbed)", "GRED (gentle)", "GRED-I"
GREDS = (APPROXIMATED, GENTLE)
"""Gentle RED as routers could be configured, and as its author proposed it."""

TCP_ONLY: Mapping[str, At] = {
    f"Exp{number}": {"traffic.ftp.count": count} for number, count in enumerate((205, 102, 51, 26, 13), start=1)
}
"""Experiments 1 to 5: 256, 128, 64, 32 and 16 sources, set by the number of those with large files."""

MIXED: Mapping[str, At] = {
    "Exp6": {"traffic.ftp.count": 80, "traffic.udp.count": 10},
    "Exp7": {"traffic.ftp.count": 40, "traffic.udp.count": 10},
    "Exp8": {"traffic.ftp.count": 40, "traffic.udp.count": 5},
}
"""Experiments 6 to 8 on the testbed: 400, 200 and 200 sources, 10, 10 and 5 % of UDP."""

GREEDY: Mapping[str, At] = {
    "Exp6": {"traffic.tcp.count": 400, "traffic.udp.count": 10},
    "Exp7": {"traffic.tcp.count": 200, "traffic.udp.count": 10},
    "Exp8": {"traffic.tcp.count": 200, "traffic.udp.count": 5},
}
"""Experiments 6 to 8 in simulation."""

POINTS: Mapping[str, Mapping[str, At]] = {"tcp": TCP_ONLY, "mixed": MIXED, "simulation": GREEDY}
PACKET_TIME = 0.8e-3
"""Transmission time of a packet of 1000 B (s), by which each queued packet adds to the delay."""
BUFFER = 200
MIN_TH = 30
"""Queue at which RED, GRED and GRED-I begin to drop (packets)."""
EVENT = 0.3
"""Duration of a loss event in simulation (s)."""
SURGE_BEGIN, SURGE_END = 70, 80
"""Start and end of the surge of UDP (s)."""
SPLITS: dict[int, At] = {flows: {"traffic.udp.count": flows} for flows in (1, 2, 4, 10, 40)}
"""Numbers of flows into which 1 Mbit/s of UDP is split, beyond the paper."""
LONGEST = 20
"""Longest loss run that is drawn (packets)."""
LAST_BIN = 100
"""Last bin of loss runs (packets); longer runs are counted in it."""
LENGTHS = (2, 6)
"""Lengths at which loss runs are compared (packets): more than one, and more than five, as in the paper."""

# The paper calls a difference of 3 % of the goodput little (Section IV): smaller differences count as equal.
SAME = 3.0

# "Close to" a threshold: within a tenth of it.
CLOSE = 0.1

# The paper calls 5 to 12 % significantly more loss (Section III-A.2).
MUCH = 5.0

# Flows are synchronised if a loss event hits most of them.
MOST = 50.0
TITLES = {"mixed": "testbed's traffic", "simulation": "greedy TCP"}


def present(runs: Runs, points: Mapping[str, At]) -> dict[str, At]:
    """Return the named points that were run."""
    import polars

    def there(at: At) -> bool:
        return not runs.frame.filter(*(polars.col(path) == value for path, value in at.items())).is_empty()

    return {name: at for name, at in points.items() if there(at)}


def present_splits(runs: Runs) -> dict[int, At]:
    """Return the splits of UDP that were run: the point by number of flows."""
    known = set(runs.points("traffic.udp.count"))
    return {flows: at for flows, at in SPLITS.items() if flows in known}


def hit(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the share of active flows that a loss event hits, for each seed (%)."""
    return runs.values("links.bottleneck.loss_synchronisation", label, at, scale=100)


def lost(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the loss ratio of all packets, for each seed (%)."""
    return runs.values("loss_ratio", label, at, scale=100)


def tcp_loss(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the loss ratio of TCP, total loss minus that of UDP, for each seed (%)."""
    every, udp = runs.values("arrivals", label, at), runs.values("classes.udp.arrivals", label, at)
    drops, others = (
        [None if share is None or count is None else share * count for share, count in zip(part, counts, strict=True)]
        for part, counts in ((lost(runs, label, at), every), (udp_loss(runs, label, at), udp))
    )
    return ratio(difference(drops, others), difference(every, udp))


def tcp_goodput(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the goodput of all TCP flows, the total minus UDP's, for each seed (Mbit/s)."""
    everything = runs.values("goodput", label, at, scale=1e-6)
    if not any(entry["name"] == "udp" for entry in runs.study.scenario.resolved["traffic"]):
        return everything
    return difference(everything, runs.values("classes.udp.goodput", label, at, scale=1e-6))


def udp_loss(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the loss ratio of UDP, for each seed (%)."""
    return runs.values("classes.udp.loss_ratio", label, at, scale=100)


def dropped_at(p: float, spacing: str) -> float:
    """Return the fraction of packets that RED drops at probability ``p`` before spacing: the inverse of the mean gap.

    Gaps between drops are uniform on 1 to 1/p packets for ``1993``, on 1/p to 2/p for ``wait``, as in ns-2; for
    ``none`` drops are independent.
    """
    return {"1993": 2 * p / (1 + p), "wait": 2 * p / 3, "none": p}[spacing]


def swing(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the standard deviation of the queue, for each seed (packets)."""
    return runs.values("queue_std", label, at)


def delay(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the mean queueing delay, for each seed (ms)."""
    return runs.values("queue_delay_mean", label, at, scale=1e3)


def mean_over(runs: Runs, points: Iterable[At], measure: Measure, label: str) -> Values:
    """Return the mean of a measure over points, for each seed."""
    return average(measure(runs, label, at) for at in points)


def mean_difference(runs: Runs, points: Iterable[At], measure: Measure, one: str, other: str) -> Values:
    """Return a measure of ``one`` minus that of ``other``, averaged over points, for each seed."""
    return mean_over(
        runs, points, lambda runs, label, at: difference(measure(runs, label, at), measure(runs, other, at)), one
    )


def mean_excess(runs: Runs, points: Iterable[At], measure: Measure, one: str, other: str) -> Values:
    """Return the relative excess of a measure of ``one`` over that of ``other``, for each seed (%).

    The measures are averaged over points.
    """

    def above(runs: Runs, label: str, at: At | None) -> Values:
        ratios = ratio(measure(runs, label, at), measure(runs, other, at))
        return [None if value is None else 100 * (value - 1) for value in ratios]

    return mean_over(runs, points, above, one)


def dropped(runs: Runs, label: str, seed: int, begin: float, end: float, below: float = math.inf) -> float:
    """Count the packets dropped from ``begin`` to ``end`` (s).

    Only bins of the series whose queue is always below ``below`` packets count.
    """
    import polars

    counts = polars.col("t").is_between(begin, end, closed="left") & (polars.col("bottleneck.queue.max") < below)
    return float(runs.series(label, seed=seed).filter(counts)["bottleneck.drops"].sum())


def waits(evidence: Evidence, label: str) -> str:
    """Return the queueing delay in words."""
    return " and ".join(f"{mean(delay(evidence[experiment], label)):.0f} ms" for experiment in TITLES)


def empty_text(runs: Runs) -> str:
    """Return the time that each queue is empty, in words."""
    return ", ".join(f"{100 * mean(runs.values('queue_empty', label)):.1f} % ({label})" for label in runs.labels)


def counted(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> Array:
    """Count loss runs by length over all simulations together.

    Entries are for lengths of 1, 2, ... packets, at least `LONGEST` of them. ``owner`` is a traffic entry, for the
    losses of each of its flows, or ``bottleneck``, for those of all flows.
    """
    aggregate = owner == "bottleneck"
    name, kind = ("loss_bursts", "links") if aggregate else ("loss_runs", "classes")
    counts = runs.distribution(name, label, owner, at, kind)
    total = np.zeros(max([LONGEST, *map(len, counts)]))
    for run in counts:
        total[: len(run)] += run
    return total


def at_least(counts: Array) -> Array:
    """Return P(run >= n) for n = 1 to `LONGEST`, from counts of runs by length.

    Entries beyond the longest run are NaN, for logarithmic axes.
    """
    tail = np.cumsum(counts[::-1])[::-1][:LONGEST]
    return np.where(tail > 0, tail / max(counts.sum(), 1), np.nan)


def orders(
    effect: str, some: Array, others: Array, n: int, *, least: float = -math.inf, most: float = math.inf
) -> Check:
    """Compare the frequency of loss runs of at least ``n`` packets, in orders of magnitude.

    The value is log10 of the ratio of P(run >= n) between two counts, claimed to be within ``least`` and ``most``, with
    a 95 % interval; NaN if there are no runs. Counts of rare runs are Poisson; adding half a run to each (Haldane,
    Anscombe) keeps the logarithm finite, and its variance is the sum of the inverse counts.
    """
    if not (some.sum() and others.sum()):
        return Check(effect=effect, value=math.nan, half=None, unit="orders of magnitude", least=least, most=most)
    long, short = some[n - 1 :].sum() + 0.5, others[n - 1 :].sum() + 0.5
    value = math.log10((long / some.sum()) / (short / others.sum()))
    half = 1.96 * math.sqrt(1 / long + 1 / short) / math.log(10)
    return Check(effect=effect, value=value, half=half, unit="orders of magnitude", least=least, most=most)


def mean_run(runs: Runs, label: str, at: At | None = None) -> Values:
    """Return the mean length of loss runs over all flows, for each seed (packets)."""
    return runs.values("links.bottleneck.loss_burst_mean", label, at)


def longest(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> float:
    """Return the longest loss run of all seeds (packets); `LAST_BIN` stands for any longer run, 0 for no loss.

    ``owner`` as in `counted`.
    """
    return float(max(np.flatnonzero(counted(runs, label, at, owner)) + 1, default=0))
