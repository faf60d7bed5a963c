"""RAQM's loop with the rate smoothed, as in its simulations but not in its analysis, and the settling time of both.

Symbols, beside those of `aqmlab.theory`:

* m, eps: alpha r0 of a constant gain (4 eps for the adaptive one in `smoothed_radius`), or eps of the adaptive gain eps
  c(x); from x = 2 on, eps times the lower bound 4.
* weight: f', in [0, 1); 0 in the paper's analysis, 0.1 in its simulations.
* x: initial r / r0, smoothed or not.
* periods, most: steps to follow; tolerance: distance of r / r0 from 1, in (0, 1).
"""

from collections.abc import Callable
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory.domain import positive, probability
from aqmlab_papers.theory.raqm.map import c, counted

Array = NDArray[np.float64]


def smoothed_roots(m: float, weight: float) -> tuple[complex, complex]:
    """Return the loop's two eigenvalues at r0 with the rate smoothed, the larger magnitude first.

    Roots of z^2 - (1 + f' - (m/2)(1 - f')) z + f' = 0: eqs. (2), (3) and (5) linearised. Ours.
    """
    positive(m=m)
    probability(weight=weight)
    found = np.roots([1, -(1 + weight - m / 2 * (1 - weight)), weight])
    first, second = sorted((complex(z) for z in found), key=abs, reverse=True)
    return first, second


def smoothed_radius(m: float, weight: float) -> float:
    """Return the factor per period on a small distance from r0: the larger magnitude of `smoothed_roots`."""
    return abs(smoothed_roots(m, weight)[0])


def smoothed_limit(weight: float) -> float:
    """Return the gain from which the smoothed loop is unstable: alpha r0 = 4 (1 + f') / (1 - f')."""
    probability(weight=weight)
    return 4 * (1 + weight) / (1 - weight)


def smoothed_orbit(
    *, m: float | None = None, eps: float | None = None, weight: float = 0.0, x: float = 0.5, periods: int = 100
) -> Array:
    """Follow the smoothed rate at a constant or an adaptive gain by eqs. (2), (3) and (5), not clipped.

    Smoothed r / r0, including the initial value; shape (periods + 1,).
    """
    gain = _gain(m, eps)
    positive(x=x)
    if not (isfinite(weight) and 0 <= weight < 1):
        raise ValueError(f"weight = {weight:g}: must be in [0, 1)")
    found = np.empty(counted("periods", periods) + 1)
    found[0] = arriving = x
    for k in range(periods):
        arriving *= float(np.exp(-gain(x) / 2 * (x - 1)))
        found[k + 1] = x = (1 - weight) * arriving + weight * x
    return found


def steps_to_settle(
    *,
    m: float | None = None,
    eps: float | None = None,
    weight: float = 0.0,
    x: float = 0.5,
    tolerance: float = 0.01,
    most: int = 1000,
) -> int | None:
    """Return the first period from which the rate stays within a tolerance of r0 until ``most``; None without one."""
    probability(tolerance=tolerance)
    outside = np.abs(smoothed_orbit(m=m, eps=eps, weight=weight, x=x, periods=most) - 1) > tolerance
    late = np.flatnonzero(outside)
    first = int(late[-1]) + 1 if late.size else 0
    return first if first <= most else None


def _gain(m: float | None, eps: float | None) -> Callable[[float], float]:
    """Return alpha r0 by the rate."""
    if m is not None and eps is None:
        positive(m=m)
        constant = m
        return lambda _: constant
    if eps is not None and m is None:
        positive(eps=eps)
        part = eps
        return lambda x: part * (float(c(x)) if x < 2 else 4)
    raise ValueError(f"m = {m}, eps = {eps}: give exactly one of them")
