"""Loss runs: frequency of long ones, and comparison between disciplines."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.library.impact.measures import Array, Each
from aqmlab.papers import At, Check, Runs

LONGEST = 20
"""Longest loss run that is drawn (packets)."""
LAST_BIN = 100
"""Last bin of loss runs (packets); longer runs are counted in it."""
LENGTHS = (2, 6)
"""Lengths at which loss runs are compared (packets): more than one, and more than five, as in the paper."""


def counted(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> Array:
    """Count loss runs by length over all simulations together.

    Entries are for lengths of 1, 2, ... packets, at least `LONGEST` of them. ``owner`` is a traffic entry, for the
    losses of each of its flows, or ``bottleneck``, for those of all flows.
    """
    aggregate = owner == "bottleneck"
    name, kind = ("loss_bursts", "links") if aggregate else ("loss_runs", "classes")
    counts = runs.distribution(name, label, owner, at, kind)
    total = np.zeros(max([LONGEST, *map(len, counts)]))
    for own in counts:
        total[: len(own)] += own
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
        return Check(effect=effect, value=math.nan, ci95=None, unit="orders of magnitude", least=least, most=most)
    long, short = some[n - 1 :].sum() + 0.5, others[n - 1 :].sum() + 0.5
    value = math.log10((long / some.sum()) / (short / others.sum()))
    half = 1.96 * math.sqrt(1 / long + 1 / short) / math.log(10)
    return Check(effect=effect, value=value, ci95=half, unit="orders of magnitude", least=least, most=most)


def mean_run(runs: Runs, label: str, at: At | None = None) -> Each:
    """Return the mean length of loss runs over all flows, for each seed (packets)."""
    return runs.values("links.bottleneck.loss_burst_mean", label, at)


def longest(runs: Runs, label: str, at: At | None = None, owner: str = "udp") -> float:
    """Return the longest loss run of all seeds (packets); `LAST_BIN` stands for any longer run, 0 for no loss.

    ``owner`` as in `counted`.
    """
    return float(max(np.flatnonzero(counted(runs, label, at, owner)) + 1, default=0))
