"""Parameters and labels of RAQM's experiments, and the quantities read from its runs."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars
from numpy.typing import NDArray

from aqmlab_papers import At, PerSeed, Runs

Array = NDArray[np.float64]
Read = Callable[["polars.DataFrame"], float | None]
FLOWS, TARGET = "traffic.long.count", "aqm.q0"
EACH = (FLOWS, "{:g} flows")
Q0, BAND = 50.0, 10.0
"""The target of all cases but figure 7, and a fifth of it, in which the queue counts as on target (packets)."""
BIN = 5.0
"""Averaging time of the queue (s), as for the response time."""
HOLD = 4
"""The number of such means in a row within the band at which a queue has settled, as for the response time."""
LINK = 10e6
"""The link's rate (bit/s)."""
PACKETS = LINK / 8 / 500
"""The same in packets/s."""
FULL = LINK * 460 / 500
"""The goodput of a full link without loss (bit/s): 40 bytes of each packet are headers."""
BUFFER = 100.0
"""The buffer (packets)."""
ANYWHERE = BUFFER / 12**0.5
"""The standard deviation of a queue that is anywhere in the buffer with equal probability (packets)."""
KNEE = 60.0
"""The target (packets) above which the paper reports that PI's and REM's goodput falls."""
CASES = ("case1", "case2", "case3")

# Disciplines other than those of the paper, by their labels.
TAIL = "tail drop"
UNSHED, ACCEPTED = "r without early drops", "r of accepted packets"
FED, BOTH, STILL = "applied p fed back", "fed back, r without early drops", "fed back, r without early drops, alpha = 0"
MARKS = "marks instead of drops"

LINKS = ("first", "second", "third")
CROSS = {link: f"traffic.cross{number}.count" for number, link in enumerate(LINKS, 1)}
CROSS_FLOWS = CROSS["first"]
PLAIN, SHARED, CORRECTED = "RAQM", "RAQM, shares", "RAQM, shares, corrected"
FLOOD = "traffic.flood.rate"
SHARES = {"first": 0.5, "second": 0.3, "third": 0.2}
MEMBERS = {"first": ("first",), "second": ("second",), "third": ("third", "flood")}
"""The traffic of each aggregate."""


def at(flows: float) -> At:
    """Return the point with a given number of long flows."""
    return {FLOWS: flows}


def loads(runs: Runs) -> list[tuple[str, At]]:
    """List the numbers of long flows of an experiment, in words and as points."""
    return [(f"{flows:g} flows", at(flows)) for flows in runs.points(FLOWS)]


def panels(*cases: Runs) -> list[tuple[str, Runs, At]]:
    """List the panels of figures 4 to 6 by the experiments of cases 1 to 3: name, runs and point."""
    return [
        (f"{case}, {name}", runs, where) for case, runs in zip(CASES, cases, strict=True) for name, where in loads(runs)
    ]


def distance(q0: float = Q0) -> polars.Expr:
    """Return the root mean square distance of the queue from a target over time (packets)."""
    return (polars.col("queue_std") ** 2 + (polars.col("queue_mean") - q0) ** 2).sqrt()


def balance() -> polars.Expr:
    """Return U + l, utilisation plus loss ratio."""
    return polars.col("utilisation") + polars.col("loss_ratio")


def good() -> polars.Expr:
    """Return the goodput in percent of a full link's."""
    return polars.col("goodput") * (100 / FULL)


def input_rate() -> polars.Expr:
    """Return the rate of arrivals over the link's, U / (1 - l)."""
    return polars.col("utilisation") / (1 - polars.col("loss_ratio"))


# --- from the time series of a run -----------------------------------------------------------------------------------


def mean_of(column: str, start: float, end: float) -> Read:
    """Return the reader of a column's mean over part of a run (s)."""

    def read(frame: polars.DataFrame) -> float:
        times = frame["t"].to_numpy()
        return float(np.mean(frame[column].to_numpy()[(times >= start) & (times < end)]))

    return read


def binned(frame: polars.DataFrame) -> tuple[Array, Array]:
    """Return the beginnings of the bins of `BIN` seconds, and the queue's mean in each."""
    times, queue = frame["t"].to_numpy(), frame["queue.mean"].to_numpy()
    bins = np.floor(times / BIN + 1e-9).astype(int)
    return BIN * np.arange(bins[-1] + 1), np.bincount(bins, queue) / np.bincount(bins)


@dataclass(frozen=True)
class Overshoot:
    """The queue above the target's band.

    ``first`` is the time (s) from the first bin above the band to the next that is not; ``total`` is the time of all
    bins above it.
    """

    first: float
    total: float


def above(queue: Array) -> Overshoot:
    """Return the overshoot in bins of the queue (packets)."""
    high = queue > Q0 + BAND
    if not high.any():
        return Overshoot(0.0, 0.0)
    begun = high[int(np.argmax(high)) :]
    first = len(begun) if begun.all() else int(np.argmin(begun))
    return Overshoot(BIN * first, BIN * int(np.count_nonzero(high)))


def height(frame: polars.DataFrame) -> float:
    """Return how far the queue goes above the target, as plotted: a mean over `BIN` would hide a faster swing."""
    return float(frame["queue.mean"].to_numpy().max()) - Q0


def overshoot(part: str, start: float = 0.0) -> Read:
    """Return the reader of a part of the overshoot from ``start`` (s) on."""

    def read(frame: polars.DataFrame) -> float:
        times, queue = binned(frame)
        return float(getattr(above(queue[times >= start]), part))

    return read


def settles(start: float, end: float) -> Read:
    """Return the reader of the response time from ``start`` on, ``end - start`` if the queue does not settle (s)."""

    def read(frame: polars.DataFrame) -> float:
        times, queue = binned(frame)
        near = np.abs(queue[(times >= start) & (times < end)] - Q0) <= BAND
        held = np.lib.stride_tricks.sliding_window_view(near, HOLD).all(axis=1)
        return BIN * float(np.argmax(held)) if held.any() else end - start

    return read


def off_target(start: float, end: float) -> Read:
    """Return the reader of the time that bins are outside the target's band (s)."""

    def read(frame: polars.DataFrame) -> float:
        times, queue = binned(frame)
        away = np.abs(queue[(times >= start) & (times < end)] - Q0) > BAND
        return BIN * float(np.count_nonzero(away))

    return read


def comes_to_rest(frame: polars.DataFrame) -> float:
    """Return the time from which each bin is within the band's width of the mean of the last 50 s (s)."""
    times, queue = binned(frame)
    away = np.abs(queue - queue[times >= times[-1] + BIN - 50].mean()) > BAND
    return float(times[np.flatnonzero(away)[-1]] + BIN) if away.any() else 0.0


def half_way(frame: polars.DataFrame) -> float | None:
    """Return the time that p_k needs to half of its mean of the last 50 s; None if it does not grow tenfold (s)."""
    times, p = frame["t"].to_numpy(), frame["p_1.mean"].to_numpy()
    half = float(np.mean(p[times >= times[-1] - 50])) / 2
    return float(times[int(np.argmax(p >= half))]) if half > 10 * p[0] else None


def spread_of_rate(frame: polars.DataFrame) -> float:
    """Return the standard deviation of the arrivals in a second over those of a full link, in the second half."""
    times, arrivals = frame["t"].to_numpy(), frame["arrivals"].to_numpy()
    seconds = np.bincount(np.floor(times + 1e-9).astype(int), arrivals) / PACKETS
    return float(np.std(seconds[len(seconds) // 2 :]))


def spread_of_p(frame: polars.DataFrame) -> float:
    """Return the standard deviation of ln p_k in the second half of a run."""
    p = frame["p_1.mean"].to_numpy()
    return float(np.std(np.log(p[len(p) // 2 :])))


# --- figure 7 --------------------------------------------------------------------------------------------------------


def at_equal_queue(
    runs: Runs, subject: str, other: str, metric: str, further: Runs | None = None, reach: float = BAND / 2
) -> tuple[PerSeed, PerSeed]:
    """Compare a discipline with another at the same mean queue.

    Return for each seed the metric and the other's, averaged over the subject's points. The other's is interpolated
    between its queues, those of ``further`` runs included; None where it never has such a queue. Up to ``reach``
    packets beyond its shortest and longest queues its nearest run is used. Seeds that are not in all runs are left out.
    """
    theirs = [one.of(other).select("seed", "queue_mean", metric) for one in (runs, further) if one]
    seeds = set.intersection(*(set(one["seed"]) for one in theirs))
    mine = runs.of(subject).filter(polars.col("seed").is_in(list(seeds))).sort("seed")
    own: dict[int, float | None] = {}
    found: dict[int, float | None] = {}
    for (seed,), rows in mine.group_by("seed", maintain_order=True):
        known = polars.concat(theirs).filter(polars.col("seed") == seed).sort("queue_mean")
        queue = known["queue_mean"].to_numpy()
        inside = rows.filter(polars.col("queue_mean").is_between(queue[0] - reach, queue[-1] + reach))
        values = np.interp(inside["queue_mean"].to_numpy(), queue, known[metric])
        one = int(str(seed))
        own[one], found[one] = (
            float(both.mean()) if both.size else None for both in (inside[metric].to_numpy(), values)
        )
    return PerSeed.of(own), PerSeed.of(found)


def slope(runs: Runs, label: str) -> PerSeed:
    """Return the slope of the mean queue over the target for each seed, by linear regression."""
    return runs.slope(polars.col("queue_mean"), TARGET, label)


# --- several bottlenecks, and sub-aggregates -------------------------------------------------------------------------


def cross_points(runs: Runs) -> list[At]:
    """List the points of the experiment ``bottlenecks``, which has equally many flows at each."""
    return [dict.fromkeys(CROSS.values(), count) for count in runs.points(CROSS_FLOWS)]


def handicap(runs: Runs, label: str, at: At) -> PerSeed:
    """Return the goodput of a long flow divided by that of a cross-traffic flow."""
    goodput = [polars.col(f"classes.{name}.goodput") for name in ("long", "cross1", "cross2", "cross3")]
    counts = [20, *(at[CROSS_FLOWS] for _ in LINKS)]
    each = [one / count for one, count in zip(goodput, counts, strict=True)]
    return runs.per_seed(each[0] * 3 / (each[1] + each[2] + each[3]), label, at)


def link_share(runs: Runs, label: str, name: str, at: At) -> PerSeed:
    """Return an aggregate's share of the link."""
    sent = sum((polars.col(f"classes.{one}.throughput") for one in MEMBERS[name]), polars.lit(0.0))
    return runs.per_seed(sent / LINK, label, at)
