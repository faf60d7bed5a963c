"""What the study measures: the points of its experiments, goodput of TCP, losses in a row."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aqmlab.papers import At, Runs

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
EVENT = 0.3
"""How long a loss event lasts in simulation, in s."""
SURGE_BEGIN, SURGE_END = 70, 80
"""From when to when there is a surge of UDP, in s."""


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


def hit(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how many of the flows a loss event hits.

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
        In per cent of the active flows, of each seed.
    """
    return runs.values("links.bottleneck.loss_synchronisation", label, at, scale=100)


def lost(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how much of all packets is lost.

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
    return runs.values("loss_ratio", label, at, scale=100)


def tcp_loss(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how much of TCP is lost.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment with UDP beside TCP.
    label : str
        Of which discipline.
    at : mapping
        At which point.

    Returns
    -------
    list of float or None
        In per cent, of each seed: what all lose less what UDP does.
    """
    every, own = runs.values("arrivals", label, at), runs.values("classes.udp.arrivals", label, at)
    drops, others = (
        [None if share is None or count is None else share * count for share, count in zip(part, counts, strict=True)]
        for part, counts in ((lost(runs, label, at), every), (udp_loss(runs, label, at), own))
    )
    return over(less(drops, others), less(every, own))


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


def dropped_at(p: float, spacing: str) -> float:
    """Give what share of packets RED drops.

    Parameters
    ----------
    p : float
        Its probability before drops are spaced.
    spacing : str
        ``1993``: the gaps from one drop to the next are uniform on 1 to 1/p packets; ``wait``, as in ns-2: on 1/p to
        2/p; ``none``: drops are independent.

    Returns
    -------
    float
        One over the mean gap.
    """
    return {"1993": 2 * p / (1 + p), "wait": 2 * p / 3, "none": p}[spacing]


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


def dropped(runs: Runs, label: str, seed: int, begin: float, end: float, below: float = math.inf) -> float:
    """Count what is dropped in a time.

    Parameters
    ----------
    runs : Runs
        The runs of an experiment with series.
    label : str
        Of which discipline.
    seed : int
        Of which seed.
    begin : float
        From when, in s.
    end : float
        To when, in s.
    below : float
        Only in those bins of the series in which never so many packets wait.

    Returns
    -------
    float
        Packets.
    """
    import polars

    counts = polars.col("t").is_between(begin, end, closed="left") & (polars.col("bottleneck.queue.max") < below)
    return float(runs.series(label, seed=seed).filter(counts)["bottleneck.drops"].sum())


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
