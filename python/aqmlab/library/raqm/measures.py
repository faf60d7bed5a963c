"""Parameters and labels of RAQM's experiments, and the quantities read from its runs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aqmlab.papers import At, Runs

if TYPE_CHECKING:
    import polars

Array = NDArray[np.float64]
FLOWS = "traffic.long.count"
TARGET = "aqm.q0"
Q0 = 50.0
"""The target of all cases but figure 7 (packets)."""
BAND = 0.2
"""The band around the target, relative to it, in which the queue counts as on target, as for the response time."""
FULL = 10e6 * 460 / 500
"""The goodput of a full link without loss (bit/s): 40 bytes of each packet are headers."""
BIN = 5.0
"""Averaging time of the queue (s), as for the response time."""
LINK = 10e6
"""The link's rate (bit/s)."""
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


def distance(q0: float = Q0) -> polars.Expr:
    """Return the root mean square distance of the queue from a target over time (packets).

    It is computed from mean and standard deviation.
    """
    import polars

    return (polars.col("queue_std") ** 2 + (polars.col("queue_mean") - q0) ** 2).sqrt()


@dataclass(frozen=True)
class Overshoot:
    """The queue above the target's band in a run.

    ``first`` is the time (s) from the first mean of `BIN` seconds above the band to the next that is not; ``total`` is
    the time of all means above it; ``height`` is the distance of the highest from the target (packets), 0 if none is
    above the band.
    """

    first: float
    total: float
    height: float


def overshoot(runs: Runs, label: str, where: At, start: float = 0.0) -> dict[int, Overshoot]:
    """Return the overshoot of the queue from ``start`` (s) on, by seed. The runs must have series."""
    return {seed: above(queue[times >= start]) for seed, (times, queue) in _binned(runs, label, where).items()}


def above(queue: Array) -> Overshoot:
    """Return the overshoot in means of `BIN` seconds of the queue (packets)."""
    high = queue > Q0 * (1 + BAND)
    if not high.any():
        return Overshoot(0.0, 0.0, 0.0)
    begun = high[int(np.argmax(high)) :]
    first = len(begun) if begun.all() else int(np.argmin(begun))
    return Overshoot(BIN * first, BIN * int(np.count_nonzero(high)), float(queue.max()) - Q0)


def outside(runs: Runs, label: str, where: At, start: float, end: float) -> dict[int, float]:
    """Return the time between ``start`` and ``end`` that the queue is off target, by seed (s).

    It counts means of `BIN` seconds outside the target's band; the runs must have series.
    """
    found = {}
    for seed, (times, queue) in _binned(runs, label, where).items():
        away = np.abs(queue[(times >= start) & (times < end)] - Q0) > BAND * Q0
        found[seed] = BIN * float(np.count_nonzero(away))
    return found


def _binned(runs: Runs, label: str, where: At) -> dict[int, tuple[Array, Array]]:
    """Return times and means of `BIN` seconds of the queue, by seed."""
    found = {}
    for seed in runs.of(label, where)["seed"].to_list():
        curve = runs.over_time("", label, at=where, bin=BIN, seed=seed)
        found[seed] = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    return found


def p_k(runs: Runs, where: At, start: float | None = None, end: float = math.inf) -> dict[int, float]:
    """Return the mean of RAQM's p_k over part of a run, by seed.

    ``start`` (s) is by default the middle of the run; the runs must have series.
    """
    found = {}
    begin = runs.duration / 2 if start is None else start
    for seed in runs.of(runs.hero, where)["seed"].to_list():
        curve = runs.over_time("", runs.hero, quantity="p_1.mean", at=where, seed=seed)
        times = np.asarray(curve.x)
        found[seed] = float(np.mean(np.asarray(curve.y)[(times >= begin) & (times < end)]))
    return found


def at_equal_queue(runs: Runs, further: Runs | None, metric: str, other: str, reach: float = 5.0) -> list[float | None]:
    """Compare the paper's discipline with another at the same mean queue.

    Return for each seed the metric minus the other's, averaged over our points. The other's is interpolated between its
    queues, with its runs at further targets included; None where it never has such a queue. Up to ``reach`` packets
    beyond its shortest and longest queues, a tenth of the target, its nearest run is used.
    """
    import polars

    theirs = runs.of(other).select("seed", "queue_mean", metric)
    if further is not None and other in further.labels:
        theirs = polars.concat([theirs, further.of(other).select("seed", "queue_mean", metric)])
    found: list[float | None] = []
    for (seed,), rows in runs.of(runs.hero).sort("seed").group_by("seed", maintain_order=True):
        known = theirs.filter(polars.col("seed") == seed).sort("queue_mean")
        if known.is_empty():
            continue
        queue, value = known["queue_mean"].to_numpy(), known[metric].to_numpy()
        inside = rows.filter(polars.col("queue_mean").is_between(queue[0] - reach, queue[-1] + reach))
        differences = inside[metric].to_numpy() - np.interp(inside["queue_mean"].to_numpy(), queue, value)
        found.append(float(differences.mean()) if differences.size else None)
    return found


def slope(runs: Runs, label: str) -> list[float]:
    """Return the slope of the mean queue over the target for each seed, by linear regression."""
    found = []
    for _, rows in runs.of(label).sort("seed").group_by("seed", maintain_order=True):
        found.append(float(np.polyfit(rows[TARGET].to_numpy().astype(float), rows["queue_mean"].to_numpy(), 1)[0]))
    return found


def balance() -> polars.Expr:
    """Return U + l, utilisation plus loss ratio."""
    import polars

    return polars.col("utilisation") + polars.col("loss_ratio")


def handicaps(runs: Runs, label: str, at: At) -> list[float]:
    """Return the goodput of a long flow divided by that of a cross-traffic flow, for each seed."""
    import polars

    goodput = [polars.col(f"classes.{name}.goodput") for name in ("long", "cross1", "cross2", "cross3")]
    counts = [20, *(at[CROSS_FLOWS] for _ in LINKS)]
    each = [one / count for one, count in zip(goodput, counts, strict=True)]
    return list(runs.of(label, at).sort("seed").select(value=each[0] * 3 / (each[1] + each[2] + each[3]))["value"])


def cross_points(runs: Runs) -> list[At]:
    """List the points of the experiment ``bottlenecks``, which has equally many flows at each."""
    return [dict.fromkeys(CROSS.values(), count) for count in runs.points(CROSS_FLOWS)]


def link_shares(runs: Runs, label: str, name: str, at: At) -> list[float]:
    """Return an aggregate's share of the link, for each seed."""
    import polars

    sent = sum((polars.col(f"classes.{one}.throughput") for one in MEMBERS[name]), polars.lit(0.0))
    return [float(one) for one in runs.of(label, at).sort("seed").select(value=sent / LINK)["value"]]
