"""Labels and points of the study's experiments, and the quantities read from its runs: goodput, delay, loss runs."""

import math
from collections.abc import Iterable, Mapping
from typing import TypedDict

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab_papers import At, Check, Effect, PerSeed, Runs, Tolerance
from aqmlab_papers.describe.check import RELATIVE, Better

Array = NDArray[np.float64]

TD, RED, APPROXIMATED, GENTLE, HERO = "Tail Drop", "RED", "GRED (testbed)", "GRED (gentle)", "GRED-I"
GREDS = (APPROXIMATED, GENTLE)
"""Gentle RED as routers could be configured, and as its author proposed it."""
PAPERS = (TD, RED, APPROXIMATED, GENTLE, HERO)
SHORT = "Tail Drop, 90"
AVERAGE_GONE, SLOPE_ALONE = "RED, w = 1", "GRED-I, averaged"
"""RED without its average, and RED with GRED-I's slope in place of its edge."""

TCP_ONLY: Mapping[str, At] = {
    f"Exp{number}": {"traffic.ftp.count": count} for number, count in enumerate((205, 102, 51, 26, 13), start=1)
}
"""Experiments 1 to 5: 256, 128, 64, 32 and 16 sources, set by the number of those with large files."""
MIXED: Mapping[str, At] = {
    f"Exp{number}": {"traffic.ftp.count": files, "traffic.udp.count": udp}
    for number, files, udp in ((6, 80, 10), (7, 40, 10), (8, 40, 5))
}
"""Experiments 6 to 8 on the testbed: 400, 200 and 200 sources, 10, 10 and 5 % of UDP."""
GREEDY: Mapping[str, At] = {
    f"Exp{number}": {"traffic.tcp.count": sources, "traffic.udp.count": udp}
    for number, sources, udp in ((6, 400, 10), (7, 200, 10), (8, 200, 5))
}
"""Experiments 6 to 8 in simulation."""
SIMULATED = {f"{name} simulated": at for name, at in GREEDY.items()}
POINTS: Mapping[str, Mapping[str, At]] = {"tcp": TCP_ONLY, "mixed": MIXED, "simulation": GREEDY}

PACKET_TIME = 0.8e-3
"""Transmission time of a packet of 1000 B (s), by which each queued packet adds to the delay."""
PAYLOAD = 0.96
"""Payload of a packet of 1000 B, over its size."""
BUFFER, MIN_TH = 200, 30
BUFFERS = (50, 100, 200, 400)
SPLITS = (1, 2, 4, 10, 40)
"""Numbers of flows into which 1 Mbit/s of UDP is split, beyond the paper."""
LONGEST = 20
"""Longest loss run that is drawn (packets)."""
LAST_BIN = 100
"""Last bin of loss runs (packets); longer runs are counted in it."""
FEWEST = 10
"""Fewest runs of losses, of both disciplines together, whose frequencies are compared."""
FAILS, RETURNS = 100, 105
"""The time of the link failure, and of the link's return (s)."""

SAME = Tolerance(3, RELATIVE, "the paper calls 3 % of the goodput little (Section IV)", negligible=True)
SIGNIFICANT = Tolerance(
    5,
    RELATIVE,
    "5 % is the least that the paper calls significantly more loss (Section III-A.2); UDP's scatters by 2 % by seed",
    negligible=True,
)
HEAVY = Tolerance(100, RELATIVE, '"heavy" is read as twice as much or more')
SEEN = Tolerance(5, "packets", "a fortieth of the buffer: less is not seen in a curve of the queue")
CLOSE = Tolerance(10, RELATIVE, 'a tenth, our reading of "close" and "similar"')
HALF = Tolerance(50, "%", "of flows that are in step most lose in the same round trip")
TWICE = Tolerance(0.3, "orders of magnitude", "a factor of two: less is not major")
MORE_OFTEN = Tolerance(0.04, "orders of magnitude", "a tenth more or less often", negligible=True)
SIX, TWO = 6, 2
"""The lengths of loss runs (packets) that are compared: more than 5 as in Section III-A.4, and any more than 1."""


class Quantity(TypedDict):
    """A metric, or an expression of metrics with its unit, as `Runs.per_seed` and `Runs.compare` take them."""

    metric: str | polars.Expr
    unit: str
    name: str


CALLS: Mapping[str, str] = {
    "voice": "calls of constant rate",
    "adaptive": "calls that adapt their rate",
    "friendly": "TCP-friendly sources",
}
"""The further traffic of the experiment with telephone calls."""


def loss_of(name: str) -> Quantity:
    """Return the loss ratio of one of `CALLS`."""
    return {"metric": f"classes.{name}.loss_ratio", "unit": "%", "name": f"loss of {CALLS[name]}"}


UDP_LOSS: Quantity = {"metric": "classes.udp.loss_ratio", "unit": "%", "name": "UDP loss"}
LOSS: Quantity = {"metric": "loss_ratio", "unit": "%", "name": "loss of all"}
SWING: Quantity = {"metric": "queue_std", "unit": "packets", "name": "standard deviation of the queue"}
DELAY: Quantity = {"metric": "queue_delay_mean", "unit": "ms", "name": "delay"}
HIT: Quantity = {"metric": "links.bottleneck.loss_synchronisation", "unit": "%", "name": "flows that a loss event hits"}
BUSY: Quantity = {"metric": "utilisation", "unit": "%", "name": "utilisation"}
GOODPUT: Quantity = {"metric": "goodput", "unit": "Mbit/s", "name": "goodput of all"}


def _of_tcp(runs: Runs, metric: str) -> list[polars.Expr]:
    columns = (f"classes.{entry}.{metric}" for entry in ("tcp", "ftp", "gif", "text"))
    return [polars.col(column) for column in columns if column in runs.frame.columns]


def tcp_goodput(runs: Runs) -> Quantity:
    """Return the goodput of all TCP flows."""
    return {"metric": polars.sum_horizontal(_of_tcp(runs, "goodput")) / 1e6, "unit": "Mbit/s", "name": "TCP goodput"}


def tcp_loss(runs: Runs) -> Quantity:
    """Return the loss ratio of all TCP flows."""
    arrivals, ratios = _of_tcp(runs, "arrivals"), _of_tcp(runs, "loss_ratio")
    lost = polars.sum_horizontal(ratio * count for ratio, count in zip(ratios, arrivals, strict=True))
    return {"metric": 100 * lost / polars.sum_horizontal(arrivals), "unit": "%", "name": "TCP loss"}


def in_vain() -> Quantity:
    """Return the share of the bits sent that are not goodput: repetitions of data that arrived, and SYNs."""
    useful = polars.col("goodput") / polars.col("throughput") / PAYLOAD
    return {"metric": 100 * (1 - useful), "unit": "%", "name": "sent in vain"}


def load(runs: Runs) -> Quantity:
    """Return the offered load: the bits that arrived over those that the link could have sent."""
    capacity = float(runs.study.scenario.resolved["dumbbell"]["rate"].removesuffix(" Mbit/s")) * 1e6
    arrived = polars.col("throughput") / (1 - polars.col("loss_ratio"))
    return {"metric": arrived / capacity, "unit": "", "name": "offered load"}


def queue_over(runs: Runs, length: float, label: str, at: At | None = None) -> PerSeed:
    """Return the mean queue over a length."""
    return (runs.per_seed("queue_mean", label, at) / length).called("mean queue", "")


def of_buffer(label: str, buffer: int) -> str:
    """Return the label of a discipline with a buffer of its own (packets)."""
    return f"{label}, {buffer}"


def exactly(runs: Runs, label: str, name: str) -> float:
    """Return a discipline's parameter as it was run."""
    return float(str(runs.study.variants[label].resolved["aqm"][name]))


def by_length(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> Array:
    """Count loss runs by length; shape (seeds, `LAST_BIN`), for 1, 2, ... packets.

    ``owner`` is a traffic entry, for the losses of each of its flows, or ``bottleneck``, for those of all flows.
    """
    name, kind = ("loss_bursts", "links") if owner == "bottleneck" else ("loss_runs", "classes")
    counts = runs.distribution(name, label, owner, at, kind)
    return np.array([[*run, *[0.0] * (LAST_BIN - len(run))] for run in counts])


def at_least(counts: Array) -> Array:
    """Return P(run >= n) for n = 1 to `LONGEST` over all seeds; beyond the longest run NaN, for logarithmic axes."""
    total = counts.sum(axis=0)
    tail = np.cumsum(total[::-1])[::-1][:LONGEST]
    return np.where(tail > 0, tail / max(total.sum(), 1), np.nan)


def orders(some: Array, others: Array, n: int, name: str = "") -> PerSeed:
    """Compare the frequencies of loss runs of at least ``n`` packets: log10 of the ratio of P(run >= n).

    The values are the jackknife's: the mean is the ratio of all seeds together, and the scatter is that between
    seeds, since runs come in clusters and are no Poisson counts. Half a run is added to each count, which keeps the
    logarithm finite. Below `FEWEST` runs there is no value.
    """
    sums = [np.stack([counts[:, n - 1 :].sum(axis=1), counts.sum(axis=1)]) for counts in (some, others)]
    seeds = sums[0].shape[1]
    if sums[0][0].sum() + sums[1][0].sum() < FEWEST:
        return PerSeed.of([None] * seeds, "orders of magnitude", name)

    def ratio(kept: NDArray[np.bool_]) -> float:
        (one, runs), (two, other_runs) = (each[:, kept].sum(axis=1) for each in sums)
        return math.log10((one + 0.5) / runs * other_runs / (two + 0.5))

    every = np.ones(seeds, dtype=bool)
    whole = ratio(every)
    values = [
        whole if seeds == 1 else seeds * whole - (seeds - 1) * ratio(np.arange(seeds) != seed) for seed in range(seeds)
    ]
    return PerSeed.of(values, "orders of magnitude", name)


def longest(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> PerSeed:
    """Return the longest loss run (packets); `LAST_BIN` stands for any longer run, 0 for no loss."""
    counts = by_length(runs, label, at, owner)
    return PerSeed.of([float(max(np.flatnonzero(one) + 1, default=0)) for one in counts], "packets")


def max_th(runs: Runs, label: str) -> float:
    """Return the upper threshold of a discipline (packets): a variant may have another."""
    return float(runs.study.variants[label].resolved["aqm"]["max_th"])


def crossings(frame: polars.DataFrame, threshold: float) -> float:
    """Return the number of times per minute that RED's average rises to a threshold, after the warm-up."""
    average = frame.filter(frame["t"] >= 20)["avg.max"].to_numpy()
    above = average >= threshold
    return float(np.sum(~above[:-1] & above[1:]) * 60 / (len(average) * (frame["t"][1] - frame["t"][0])))


def likeness(frame: polars.DataFrame) -> float:
    """Return the correlation of RED's average with the queue at the same time."""
    return likenesses(frame)[0]


def likenesses(frame: polars.DataFrame) -> list[float]:
    """Return the correlation of RED's average with the queue earlier by each lag up to 2 s, in steps of the series."""
    settled = frame.filter(frame["t"] >= 20)
    queue, average = (settled[name].to_numpy() for name in ("queue.mean", "avg.mean"))
    steps = range(round(2 / float(frame["t"][1] - frame["t"][0])))
    return [float(np.corrcoef(queue[: len(queue) - k], average[k:])[0, 1]) for k in steps]


def lateness(frame: polars.DataFrame, threshold: float) -> float:
    """Return the time (s) by which RED's average reaches a threshold after the queue in a link failure.

    Until the link's return if it does not; 0 if the queue does not either: there is nothing to reflect then.
    """
    failed = frame.filter((frame["t"] >= FAILS) & (frame["t"] < RETURNS))
    queue, average = (failed.filter(failed[name] >= threshold)["t"] for name in ("queue.mean", "avg.mean"))
    if queue.is_empty():
        return 0.0
    return (RETURNS if average.is_empty() else float(average[0])) - float(queue[0])


def misses(frame: polars.DataFrame, threshold: float) -> float:
    """Return 1 if RED's average does not reach a threshold in a link failure, though the queue does; otherwise 0."""
    failed = frame.filter((frame["t"] >= FAILS) & (frame["t"] < RETURNS))
    queue, average = (bool((failed[name] >= threshold).any()) for name in ("queue.mean", "avg.mean"))
    return float(queue and not average)


def lag(frame: polars.DataFrame) -> float:
    """Return the lag (s) at which RED's average correlates most with the queue."""
    return float(frame["t"][1] - frame["t"][0]) * int(np.argmax(likenesses(frame)))


def answer(frame: polars.DataFrame) -> float:
    """Return the correlation of the drops in 0.1 s with the change of the queue in the 0.3 s that follow."""
    bins = round(0.1 / float(frame["t"][1] - frame["t"][0]))
    settled = frame.filter(frame["t"] >= 20)
    length = len(settled) // bins * bins
    dropped = settled["drops"].to_numpy()[:length].reshape(-1, bins).sum(axis=1)
    queue = settled["queue.mean"].to_numpy()[:length].reshape(-1, bins).mean(axis=1)
    return float(np.corrcoef(dropped[:-3], queue[3:] - queue[:-3])[0, 1])


def drops(frame: polars.DataFrame, begin: float, end: float, below: float = math.inf) -> float:
    """Count the packets dropped from ``begin`` to ``end`` (s) in bins in which the queue is always below ``below``."""
    kept = frame.filter((frame["t"] >= begin) & (frame["t"] < end) & (frame["queue.max"] < below))
    return float(kept["drops"].sum())


def average_after(frame: polars.DataFrame) -> float:
    """Return RED's average in the interval in which the failed link returns (packets)."""
    return float(frame.filter(frame["t"] >= RETURNS)["avg.mean"][0])


def first_drop(frame: polars.DataFrame) -> float:
    """Return the time from the link failure to the first drop, or to its return if nothing is dropped before (s)."""
    dropped = frame.filter((frame["t"] >= FAILS) & (frame["t"] < RETURNS) & (frame["drops"] > 0))
    return (RETURNS if dropped.is_empty() else float(dropped["t"][0])) - FAILS


def versus(
    runs: Runs,
    points: Mapping[str, At | None],
    quantity: Quantity,
    one: str,
    others: Iterable[str],
    better: Better,
    tolerance: Tolerance,
) -> list[Check]:
    """Compare a discipline with each of some others at named points, such as the paper's experiments."""
    checks = []
    for place, at in points.items():
        for other in others:
            if other != one:
                mine, theirs = (runs.per_seed(**quantity, label=label, at=at) for label in (one, other))
                joint = "over" if tolerance.relative else "minus"
                effect = f"{f'{place}: ' * bool(place)}{quantity['name']}, {one} {joint} {other}"
                checks.append(Effect(effect).better(mine, theirs, better, tolerance))
    return checks


def extremes(values: Iterable[PerSeed], form: str = ".3g") -> str:
    """Return the least and the greatest mean in words: ``29 to 38``."""
    means = [one.mean for one in values]
    return f"{min(means):{form}} to {max(means):{form}}"


def mean_of(runs: Runs, quantity: Quantity, labels: Iterable[str], at: At | None = None) -> str:
    """Return the means of a quantity in words: ``58 (RED), 30 (GRED-I) ms``."""
    found = ", ".join(f"{runs.per_seed(**quantity, label=label, at=at):.3g} ({label})" for label in labels)
    return f"{found}{quantity['unit'] and ' ' + quantity['unit']}"


def in_a_row(
    runs: Runs,
    one: str,
    others: Iterable[str],
    better: Better,
    tolerance: Tolerance,
    *,
    n: int = SIX,
    at: At | None = None,
    place: str = "",
    owner: str = "bottleneck",
) -> list[Check]:
    """Compare how often ``n`` and more packets in a row are lost with a discipline and others, at a named point."""
    mine = by_length(runs, one, at, owner)
    whose = "of all packets" if owner == "bottleneck" else f"of a flow of {owner}"
    return [
        more_often(
            f"{place}{': ' * bool(place)}P(> {n - 1} in a row) {whose}, {one} over {other}",
            orders(mine, by_length(runs, other, at, owner), n),
            better,
            tolerance,
        )
        for other in others
        if other != one
    ]


def more_often(effect: str, found: PerSeed, better: Better, tolerance: Tolerance) -> Check:
    """Check how two frequencies compare whose `orders` are given."""
    return Effect(effect).better(found, found * 0.0, better, tolerance)
