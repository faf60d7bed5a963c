"""Verdicts: which differences from the reference are shown, with a stated rate of errors over all of them.

Differences are taken seed by seed. The test of one is Student's, of the null hypothesis that the mean difference is no
larger than the least difference of interest, delta: with the mean m and the standard error s of n differences,

    t = (|m| - delta) / s,    p = 2 P(T > t)   with n - 1 degrees of freedom, 1 if t <= 0

which rejects a difference of exactly delta with a probability of at most the level, and smaller ones more rarely.
The procedure of Holm bounds the probability of one or more false verdicts among all; that of Benjamini and Hochberg
bounds the expected share of false ones among those that are given.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np

from aqmlab.results.summary import Summary

LEVEL = 0.05
"""The bound on errors."""

Correction = Literal["holm", "bh"]

CORRECTIONS: dict[Correction, str] = {
    "holm": f"the probability of one or more false verdicts among all is at most {100 * LEVEL:g} % (Holm)",
    "bh": f"at most {100 * LEVEL:g} % of the verdicts are false in expectation (Benjamini and Hochberg)",
}
"""The promise of each procedure."""

_ROUNDING = 1e-9
"""Differences that vary by less, relative to the values, are equal: that is the rounding of numbers."""


class Verdict(StrEnum):
    """The judgement of a difference."""

    BETTER = "better"
    WORSE = "worse"
    NONE = "no difference shown"
    UNTESTED = "not tested"


@dataclass(frozen=True)
class Test:
    """A paired test.

    ``difference`` summarises the differences of the seeds for which both sides have a value. ``p`` is None if nothing
    can be tested, for the ``reason`` given.
    """

    difference: Summary
    p: float | None
    reason: str = ""


def paired(own: Mapping[int, float | None], others: Mapping[int, float | None], least: float) -> Test:
    """Test the differences of values of the same seeds, of which ``least`` is the least of interest."""
    from scipy.stats import t as student

    both = [(mine, others.get(seed)) for seed, mine in own.items()]
    pairs = [(mine, theirs) for mine, theirs in both if mine is not None and theirs is not None]
    differences = [mine - theirs for mine, theirs in pairs]
    summary = Summary.of(differences)
    if len(pairs) < len(both):
        return Test(summary, None, "some seeds have no value")
    if not all(map(math.isfinite, differences)):
        return Test(summary, None, "a value is not finite")
    if summary.n < 2 or summary.mean is None or summary.std is None:
        return Test(summary, None, "fewer than two seeds")
    scale = max(abs(value) for pair in pairs for value in pair)
    if float(np.ptp(differences)) <= _ROUNDING * scale:
        if abs(summary.mean) <= max(least, _ROUNDING * scale):
            return Test(summary, 1.0)
        return Test(summary, None, "every seed has the same difference: they are no sample")
    t = (abs(summary.mean) - least) * math.sqrt(summary.n) / summary.std
    return Test(summary, 1.0 if t <= 0 else float(2 * student.sf(t, summary.n - 1)))


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values adjusted by the procedure of Holm (1979), in the same order.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(ps, kind="stable")
    factors = np.arange(len(ps), 0, -1)
    raised = np.minimum(np.maximum.accumulate(np.asarray(ps, float)[order] * factors), 1.0)
    adjusted = np.empty(len(ps))
    adjusted[order] = raised
    return [float(p) for p in adjusted]


def adjusted(ps: Sequence[float | None], correction: Correction) -> list[float | None]:
    """Return the adjusted p-values of a family, in the same order; missing tests are no members of it."""
    from scipy.stats import false_discovery_control

    known = [p for p in ps if p is not None]
    if not known:
        return list(ps)
    raised = iter(holm(known) if correction == "holm" else false_discovery_control(known, method="bh"))
    return [None if p is None else float(next(raised)) for p in ps]


def verdict(test: Test, p: float | None, better: str) -> Verdict:
    """Return the verdict on a difference, given the adjusted p and whether ``more`` or ``less`` is better."""
    if p is None or test.difference.mean is None:
        return Verdict.UNTESTED
    if p > LEVEL:
        return Verdict.NONE
    return Verdict.BETTER if (test.difference.mean > 0) == (better == "more") else Verdict.WORSE
