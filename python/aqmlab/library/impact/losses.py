"""Losses in a row: how often they are long, and by how much more often than others."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.library.impact.measures import Array, Each
from aqmlab.papers import At, Check, Runs

LONGEST = 20
"""Packets: up to here runs of losses are drawn."""
LAST_BIN = 100
"""Packets: longer runs of losses are counted with those of this length."""
LENGTHS = (2, 6)
"""Packets: the runs of losses that are compared: more than one, and more than five, which is the paper's own mark."""


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


def mean_run(runs: Runs, label: str, at: At | None = None) -> Each:
    """Give how many packets are lost in a row, whatever their flow.

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
        The mean in packets, of each seed.
    """
    return runs.values("links.bottleneck.loss_burst_mean", label, at)


def longest(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> float:
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
        As for `counted`.

    Returns
    -------
    float
        Packets, of all seeds; `LAST_BIN` stands for all that are longer, and 0 for no loss at all.
    """
    return float(max(np.flatnonzero(counted(runs, label, at, owner)) + 1, default=0))
