"""What the study measures: the points of its experiments, goodput of TCP, losses in a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aqmlab.papers import At, Check, Runs

Array = NDArray[np.float64]
Each = list[float | None]
"""A number of each seed; none where a run has none."""
Measure = Callable[[Runs, str, At | None], Each]
"""Such a number of a discipline at a point."""

TD, RED, APPROXIMATED, GENTLE, HERO = "Tail Drop", "RED", "GRED (testbed)", "GRED (gentle)", "GRED-I"
GREDS = (APPROXIMATED, GENTLE)
"""Gentle RED as routers could be made to have it, and as its author proposed it."""

TCP_ONLY: Mapping[str, At] = {
    f"Exp{number}": {"traffic.ftp.count": count} for number, count in enumerate((205, 102, 51, 26, 13), start=1)
}
"""Experiments 1 to 5: 256, 128, 64, 32 and 16 sources, by those of large files."""

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
"""How long the link takes for a packet of 1000 B, in s: what each in the queue adds to the delay."""
BUFFER = 200
MIN_TH = 30
"""Packets: where RED, GRED and GRED-I begin to drop."""
SURGE_END = 80
"""When a surge of UDP ends, in s."""
LONGEST = 20
"""Packets: up to here runs of losses are drawn."""


def present(runs: Runs, points: Mapping[str, At]) -> dict[str, At]:
    """Choose the points that there are runs for.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    points : mapping
        Points by their names.

    Returns
    -------
    dict
        Those that were run.
    """
    import polars

    def there(at: At) -> bool:
        return not runs.frame.filter(*(polars.col(path) == value for path, value in at.items())).is_empty()

    return {name: at for name, at in points.items() if there(at)}


def less(one: Sequence[float | None], other: Sequence[float | None]) -> Each:
    """Take one number of each seed from another.

    Parameters
    ----------
    one : sequence of float or None
        Of each seed.
    other : sequence of float or None
        What to take from it.

    Returns
    -------
    list of float or None
        The differences; none where a number is missing.
    """
    return [None if a is None or b is None else a - b for a, b in zip(one, other, strict=True)]


def over(one: Sequence[float | None], other: Sequence[float | None]) -> Each:
    """Divide one number of each seed by another.

    Parameters
    ----------
    one : sequence of float or None
        Of each seed.
    other : sequence of float or None
        What to divide by.

    Returns
    -------
    list of float or None
        The ratios; none where a number is missing, or to divide by 0.
    """
    return [None if a is None or not b else a / b for a, b in zip(one, other, strict=True)]


def tcp_goodput(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give the goodput of all TCP flows.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    label : str
        Of which discipline.
    at : mapping
        At which points; by default the mean over all.

    Returns
    -------
    list of float or None
        In Mbit/s, of each seed: what all flows deliver less what UDP does.
    """
    everything = runs.values("goodput", label, at, scale=1e-6)
    if not any(entry["name"] == "udp" for entry in runs.study.scenario.resolved["traffic"]):
        return everything
    return less(everything, runs.values("classes.udp.goodput", label, at, scale=1e-6))


def udp_loss(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how much of UDP is lost.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    label : str
        Of which discipline.
    at : mapping
        At which points; by default the mean over all.

    Returns
    -------
    list of float or None
        In per cent, of each seed.
    """
    return runs.values("classes.udp.loss_ratio", label, at, scale=100)


def swing(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how much the queue swings.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    label : str
        Of which discipline.
    at : mapping
        At which points; by default the mean over all.

    Returns
    -------
    list of float or None
        Its standard deviation in packets, of each seed.
    """
    return runs.values("queue_std", label, at)


def delay(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how long packets wait.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    label : str
        Of which discipline.
    at : mapping
        At which points; by default the mean over all.

    Returns
    -------
    list of float or None
        The mean in ms, of each seed.
    """
    return runs.values("queue_delay_mean", label, at, scale=1e3)


def averaged(runs: Runs, points: Iterable[At], measure: Measure, label: str) -> Each:
    """Average a number over points.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    points : iterable of mapping
        At which points.
    measure : callable
        The number.
    label : str
        Of which discipline.

    Returns
    -------
    list of float or None
        The mean of each seed.
    """
    return [mean(seed) for seed in zip(*(measure(runs, label, at) for at in points), strict=True)]


def gap(runs: Runs, points: Iterable[At], measure: Measure, one: str, other: str) -> Each:
    """Compare two disciplines by the difference of a number, averaged over points.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    points : iterable of mapping
        At which points.
    measure : callable
        The number.
    one : str
        A discipline.
    other : str
        The one to compare with.

    Returns
    -------
    list of float or None
        Of each seed that of ``one`` less that of ``other``.
    """
    return averaged(runs, points, lambda runs, label, at: less(measure(runs, label, at), measure(runs, other, at)), one)


def excess(runs: Runs, points: Iterable[At], measure: Measure, one: str, other: str) -> Each:
    """Compare two disciplines by the ratio of a number, averaged over points.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    points : iterable of mapping
        At which points.
    measure : callable
        The number.
    one : str
        A discipline.
    other : str
        The one to compare with.

    Returns
    -------
    list of float or None
        Of each seed by how many per cent that of ``one`` is above that of ``other``.
    """

    def above(runs: Runs, label: str, at: At | None) -> Each:
        ratios = over(measure(runs, label, at), measure(runs, other, at))
        return [None if ratio is None else 100 * (ratio - 1) for ratio in ratios]

    return averaged(runs, points, above, one)


def counted(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> Array:
    """Count the runs of losses in all runs together.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    label : str
        Of which discipline.
    at : mapping
        At which point.
    owner : str
        A traffic entry: of each of its flows; ``bottleneck``: whatever their flow.

    Returns
    -------
    ndarray
        How often 1, 2, ... packets were lost in a row; shape (longest,), at least `LONGEST`.
    """
    aggregate = owner == "bottleneck"
    name, kind = ("loss_bursts", "links") if aggregate else ("loss_runs", "classes")
    counts = runs.distribution(name, label, owner, at, kind)
    total = np.zeros(max([LONGEST, *map(len, counts)]))
    for own in counts:
        total[: len(own)] += own
    return total


def at_least(counts: Array) -> Array:
    """Give how many of the runs of losses are so long.

    Parameters
    ----------
    counts : ndarray
        How often 1, 2, ... packets were lost in a row.

    Returns
    -------
    ndarray
        P(run >= 1), ..., P(run >= `LONGEST`); shape (`LONGEST`,). NaN from where none is so long, so that a logarithmic
        axis can be.
    """
    tail = np.cumsum(counts[::-1])[::-1][:LONGEST]
    return np.where(tail > 0, tail / max(counts.sum(), 1), np.nan)


def orders(
    effect: str, some: Array, others: Array, n: int, *, least: float = -math.inf, most: float = math.inf
) -> Check:
    """Compare how often runs of losses are long, in orders of magnitude.

    Parameters
    ----------
    effect : str
        What the number is.
    some : ndarray
        Counts of runs of 1, 2, ... packets.
    others : ndarray
        Those to compare with.
    n : int
        Long are runs of at least so many packets.
    least : float
        The claim holds if the logarithm is not below.
    most : float
        The claim holds if it is not above.

    Returns
    -------
    Check
        log10 of the ratio of P(run >= n), with the 95 % interval that the two counts leave. NaN if there are no runs.

    Notes
    -----
    Counts of rare runs are Poisson; half a run more on either side (Haldane, Anscombe) keeps the logarithm finite, and
    its variance is the sum of the inverse counts.
    """
    if not (some.sum() and others.sum()):
        return Check(effect=effect, value=math.nan, ci95=None, unit="orders of magnitude", least=least, most=most)
    long, short = some[n - 1 :].sum() + 0.5, others[n - 1 :].sum() + 0.5
    value = math.log10((long / some.sum()) / (short / others.sum()))
    half = 1.96 * math.sqrt(1 / long + 1 / short) / math.log(10)
    return Check(effect=effect, value=value, ci95=half, unit="orders of magnitude", least=least, most=most)


def longest(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> list[float]:
    """Give the longest run of losses.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment.
    label : str
        Of which discipline.
    at : mapping
        At which point.
    owner : str
        A traffic entry.

    Returns
    -------
    list of float
        Packets, of each seed.
    """
    return [float(len(counts)) for counts in runs.distribution("loss_runs", label, owner, at)]


def mean(values: Iterable[float | None]) -> float:
    """Average numbers of some seeds.

    Parameters
    ----------
    values : iterable of float or None
        Of each seed.

    Returns
    -------
    float
        Their mean; NaN if there is none.
    """
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else math.nan
