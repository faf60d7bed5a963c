"""What RAQM's figures and claims read from the runs: by seed, and from the queue over time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from aqmlab.papers.run.evidence import At, Runs

if TYPE_CHECKING:
    import polars

Array = NDArray[np.float64]

FLOWS = "traffic.long.count"
TARGET = "aqm.q0"

Q0 = 50.0
"""The target of all cases but figure 7 (packets)."""

BAND = 0.2
"""How far from the target counts as on it, as a part of it: that of the response time."""

FULL = 10e6 * 460 / 500
"""The goodput of a full link without a loss (bit/s): 40 bytes of each packet are headers."""

BIN = 5.0
"""Over how many seconds the queue is averaged, as for the response time."""


def at(flows: float) -> At:
    """Say at how many flows.

    Parameters
    ----------
    flows : float
        How many long flows.

    Returns
    -------
    mapping
        The point.
    """
    return {FLOWS: flows}


def less(one: dict[int, float], other: dict[int, float]) -> list[float]:
    """Subtract seed by seed.

    Parameters
    ----------
    one : dict
        A number by seed.
    other : dict
        What to subtract, by seed.

    Returns
    -------
    list of float
        The differences, of the seeds that are in both.
    """
    return [one[seed] - other[seed] for seed in sorted(one.keys() & other.keys())]


def distance(q0: float = Q0) -> polars.Expr:
    """Give how far the queue is from a target, as the root of the mean square over time.

    Parameters
    ----------
    q0 : float
        The target (packets).

    Returns
    -------
    polars.Expr
        The distance (packets), of mean and standard deviation.
    """
    import polars

    return (polars.col("queue_std") ** 2 + (polars.col("queue_mean") - q0) ** 2).sqrt()


@dataclass(frozen=True)
class Overshoot:
    """How the queue of a run is above the target's band.

    Parameters
    ----------
    first : float
        Seconds from the first mean of `BIN` seconds above the band to the next that is not.
    total : float
        Seconds of all such means that are above it.
    height : float
        By how many packets the highest of them is above the target; 0 if none is above the band.
    """

    first: float
    total: float
    height: float


def overshoot(runs: Runs, label: str, where: At, start: float = 0.0) -> dict[int, Overshoot]:
    """Give how long and how far the queue is above the target's band.

    Parameters
    ----------
    runs : Runs
        The runs, with series.
    label : str
        Of which discipline.
    where : mapping
        At which point.
    start : float
        From when on (s).

    Returns
    -------
    dict
        By seed its overshoot.
    """
    return {seed: above(queue[times >= start]) for seed, (times, queue) in _binned(runs, label, where).items()}


def above(queue: Array) -> Overshoot:
    """Give length and height of the times above the target's band.

    Parameters
    ----------
    queue : array
        Means of `BIN` seconds (packets).

    Returns
    -------
    Overshoot
        The first, and all.
    """
    high = queue > Q0 * (1 + BAND)
    if not high.any():
        return Overshoot(0.0, 0.0, 0.0)
    begun = high[int(np.argmax(high)) :]
    first = len(begun) if begun.all() else int(np.argmin(begun))
    return Overshoot(BIN * first, BIN * int(np.count_nonzero(high)), float(queue.max()) - Q0)


def outside(runs: Runs, label: str, where: At, start: float, end: float) -> dict[int, float]:
    """Give how long the queue is away from the target.

    Parameters
    ----------
    runs : Runs
        The runs, with series.
    label : str
        Of which discipline.
    where : mapping
        At which point.
    start : float
        From when on (s).
    end : float
        Until when (s).

    Returns
    -------
    dict
        By seed the seconds in which the mean of `BIN` seconds is outside the target's band.
    """
    found = {}
    for seed, (times, queue) in _binned(runs, label, where).items():
        away = np.abs(queue[(times >= start) & (times < end)] - Q0) > BAND * Q0
        found[seed] = BIN * float(np.count_nonzero(away))
    return found


def _binned(runs: Runs, label: str, where: At) -> dict[int, tuple[Array, Array]]:
    """Give times and means of `BIN` seconds of the queue, by seed."""
    found = {}
    for seed in runs.of(label, where)["seed"].to_list():
        curve = runs.over_time("", label, at=where, bin=BIN, seed=seed)
        found[seed] = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
    return found


def p_k(runs: Runs, where: At, start: float | None = None, end: float = math.inf) -> dict[int, float]:
    """Give the mean of RAQM's p_k over a part of a run.

    Parameters
    ----------
    runs : Runs
        The runs, with series.
    where : mapping
        At which point.
    start : float
        From when on (s); by default from the middle of the run on.
    end : float
        Until when (s).

    Returns
    -------
    dict
        It by seed.
    """
    found = {}
    begin = runs.duration / 2 if start is None else start
    for seed in runs.of(runs.hero, where)["seed"].to_list():
        curve = runs.over_time("", runs.hero, quantity="p_1.mean", at=where, seed=seed)
        times = np.asarray(curve.x)
        found[seed] = float(np.mean(np.asarray(curve.y)[(times >= begin) & (times < end)]))
    return found


def at_equal_queue(runs: Runs, further: Runs | None, metric: str, other: str, reach: float = 5.0) -> list[float | None]:
    """Compare the paper's discipline with another that has the same mean queue.

    Parameters
    ----------
    runs : Runs
        Runs at several targets.
    further : Runs or None
        The other's at further targets.
    metric : str
        What to compare.
    other : str
        The other's label.
    reach : float
        How far (packets) from the other's queues, the shortest and the longest, its nearest run still stands for it: a
        tenth of the target.

    Returns
    -------
    list of float or None
        Of each seed the mean over the points of ours less the other's, which is interpolated between its queues; none
        where the other never has such a queue.
    """
    import polars

    theirs = runs.of(other).select("seed", "queue_mean", metric)
    if further is not None and other in further.labels:
        theirs = polars.concat([theirs, further.of(other).select("seed", "queue_mean", metric)])
    found: list[float | None] = []
    for (seed,), own in runs.of(runs.hero).sort("seed").group_by("seed", maintain_order=True):
        known = theirs.filter(polars.col("seed") == seed).sort("queue_mean")
        if known.is_empty():
            continue
        queue, value = known["queue_mean"].to_numpy(), known[metric].to_numpy()
        inside = own.filter(polars.col("queue_mean").is_between(queue[0] - reach, queue[-1] + reach))
        differences = inside[metric].to_numpy() - np.interp(inside["queue_mean"].to_numpy(), queue, value)
        found.append(float(differences.mean()) if differences.size else None)
    return found


def slope(runs: Runs, label: str) -> list[float]:
    """Give by how many packets the mean queue grows for each packet of target.

    Parameters
    ----------
    runs : Runs
        Runs at several targets.
    label : str
        Of which discipline.

    Returns
    -------
    list of float
        Of each seed the slope of the line through the points.
    """
    found = []
    for _, own in runs.of(label).sort("seed").group_by("seed", maintain_order=True):
        found.append(float(np.polyfit(own[TARGET].to_numpy().astype(float), own["queue_mean"].to_numpy(), 1)[0]))
    return found


def told(value: float | None, digits: int = 3) -> str:
    """Write a number in a sentence.

    Parameters
    ----------
    value : float or None
        The number.
    digits : int
        Its significant digits.

    Returns
    -------
    str
        The number; ``-`` for none.
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.{digits}g}"
