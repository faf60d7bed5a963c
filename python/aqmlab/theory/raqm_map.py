"""RAQM's loop as a map of x = r / r0: its orbits, cycles and chaos, and what is left of Theorems 1 and 2."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isfinite, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, positive, probability

Array = NDArray[np.float64]


def step(x: ArrayLike, m: ArrayLike) -> Array:
    """Give the next rate at a constant gain: Ricker's map.

    Parameters
    ----------
    x : array_like
        r_k / r0.
    m : array_like
        alpha r0.

    Returns
    -------
    ndarray
        x e^(-(m/2)(x - 1)); the arguments' broadcast shape.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    (9). The one fixed point is 1 (Lemmas 1 and 2): the exponent has no other zero.
    """
    positive(x=x, m=m)
    x = np.asarray(x, dtype=float)
    return np.asarray(x * np.exp(-np.asarray(m, dtype=float) / 2 * (x - 1)))


def c(x: ArrayLike) -> Array:
    """Give the bound on the gain, as alpha r0, by the rate, as x = r / r0.

    Parameters
    ----------
    x : array_like
        r / r0, in (0, 2).

    Returns
    -------
    ndarray
        2 ln((2 - x)/x) / (1 - x) = 4 artanh(x - 1)/(x - 1), 4 at x = 1; shape of ``x``.

    Raises
    ------
    ValueError
        If x is not in (0, 2).

    Notes
    -----
    (13). Even in x - 1, least at 1: 4 + (4/3)(x-1)^2 + (4/5)(x-1)^4 + ...; without limit towards 0 and 2.
    """
    x = np.asarray(x, dtype=float)
    positive(x=x)
    if not np.all(x < 2):
        raise ValueError(f"x = {x}: must be in (0, 2), the rate below twice the expected one")
    off = x - 1
    safe = np.where(off == 0, 1e-9, off)
    return np.asarray(4 * np.arctanh(safe) / safe)


def c_curve(points: int = 199, edge: float = 0.01) -> tuple[Array, Array]:
    """Give the paper's figure 2 as data.

    Parameters
    ----------
    points : int
        How many, at least 2.
    edge : float
        Distance of the first and the last from 0 and 2, in (0, 1).

    Returns
    -------
    tuple of ndarray
        x and c(x); shape (points,) each.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    probability(edge=edge)
    if points < 2:
        raise ValueError(f"points = {points}: must be at least 2")
    x = np.linspace(edge, 2 - edge, points)
    return x, c(x)


def adaptive_step(x: ArrayLike, eps: ArrayLike) -> Array:
    """Give the next rate if alpha is eps times the bound at this rate.

    Parameters
    ----------
    x : array_like
        r_k / r0, in (0, 2).
    eps : array_like
        In (0, 1].

    Returns
    -------
    ndarray
        x^(1 - eps) (2 - x)^eps; the arguments' broadcast shape. With eps = 1 it is 2 - x: for ever to and fro.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    (9) with (13).
    """
    positive(x=x, eps=eps)
    x, eps = np.asarray(x, dtype=float), np.asarray(eps, dtype=float)
    if not np.all(x < 2):
        raise ValueError(f"x = {x}: must be in (0, 2)")
    if not np.all(eps <= 1):
        raise ValueError(f"eps = {eps}: must be in (0, 1]")
    return np.asarray(x ** (1 - eps) * (2 - x) ** eps)


def factor(m: float) -> float:
    """Give the map's linear factor at its fixed point.

    Parameters
    ----------
    m : float
        alpha r0; 4 eps for the adaptive gain.

    Returns
    -------
    float
        1 - m/2: stable for 0 < m < 4, at 2 the next rate is r0 to first order.

    Raises
    ------
    ValueError
        If m is not positive.
    """
    positive(m=m)
    return 1 - m / 2


def two_cycle(m: float) -> tuple[float, float] | None:
    """Give the cycle of period 2.

    Parameters
    ----------
    m : float
        alpha r0.

    Returns
    -------
    tuple of float or None
        (x, 2 - x) with c(x) = m, the lower first; none up to m = 4.

    Raises
    ------
    ValueError
        If m is not positive.

    Notes
    -----
    Two steps of (9) add -(m/2)(x + x' - 2) to ln x, so that x + x' = 2; x' = 2 - x in (9) is (11). The cycle is where
    Theorem 1 has V unchanged: V falls outside it and grows inside.
    """
    positive(m=m)
    if m <= 4:
        return None

    def excess(off: float) -> float:
        return 4 * float(np.arctanh(off)) - m * off

    # 4 artanh(u) = m u, away from u = 0; artanh reaches m/4 before u = tanh(m/4) < 1.
    most = float(np.nextafter(1, 0))
    if excess(most) <= 0:
        off = most
    else:
        least = sqrt(1 - 4 / m)  # 4 artanh(u) - m u falls up to here
        off = float(brentq(excess, least, most, xtol=1e-16, rtol=1e-14))
    return 1 - off, 1 + off


def two_cycle_factor(m: float) -> float | None:
    """Give what two periods multiply a small distance from the cycle of period 2 by.

    Parameters
    ----------
    m : float
        alpha r0.

    Returns
    -------
    float or None
        (1 - (m/2) x)(1 - (m/2)(2 - x)), the cycle is stable while it is in (-1, 1); none without a cycle.

    Raises
    ------
    ValueError
        If m is not positive.
    """
    cycle = two_cycle(m)
    return None if cycle is None else (1 - m / 2 * cycle[0]) * (1 - m / 2 * cycle[1])


def orbit(m: float, x: float = 0.5, periods: int = 100) -> Array:
    """Follow the rate at a constant gain.

    Parameters
    ----------
    m : float
        alpha r0.
    x : float
        r / r0 at the start.
    periods : int
        How many steps.

    Returns
    -------
    ndarray
        r / r0, the start first; shape (periods + 1,).

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    positive(m=m, x=x)
    found = np.empty(_count("periods", periods) + 1)
    found[0] = x
    for k in range(periods):
        found[k + 1] = x = x * np.exp(-m / 2 * (x - 1))
    return found


def bifurcation(m: ArrayLike, x: float = 0.5, transient: int = 2000, kept: int = 200) -> Array:
    """Give where orbits stay, by the gain: the points of a bifurcation diagram.

    Parameters
    ----------
    m : array_like
        alpha r0; shape (gains,).
    x : float
        r / r0 at the start.
    transient : int
        Steps left out.
    kept : int
        Steps given.

    Returns
    -------
    ndarray
        r / r0 in the kept periods; shape (gains, kept).

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    positive(m=m, x=x)
    half = np.atleast_1d(np.asarray(m, dtype=float)) / 2
    now = np.full_like(half, x)
    for _ in range(_count("transient", transient)):
        now = now * np.exp(-half * (now - 1))
    found = np.empty((len(half), _count("kept", kept)))
    for k in range(kept):
        found[:, k] = now = now * np.exp(-half * (now - 1))
    return found


def lyapunov_exponent(m: ArrayLike, x: float = 0.5, transient: int = 2000, kept: int = 20000) -> Array:
    """Give how fast neighbouring orbits part: below 0 at a cycle, above 0 in chaos.

    Parameters
    ----------
    m : array_like
        alpha r0; shape (gains,).
    x : float
        r / r0 at the start.
    transient : int
        Steps left out.
    kept : int
        Steps averaged over.

    Returns
    -------
    ndarray
        Mean of ln |dx'/dx| = ln |1 - (m/2) x| - (m/2)(x - 1), a period; shape (gains,).

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    half = np.atleast_1d(np.asarray(m, dtype=float))[:, None] / 2
    visited = bifurcation(m, x, transient, kept)
    slope = np.maximum(np.abs(1 - half * visited), np.finfo(float).tiny)
    return np.asarray(np.mean(np.log(slope) - half * (visited - 1), axis=1))


def smoothed_roots(m: float, weight: float) -> tuple[complex, complex]:
    """Give the loop's two eigenvalues at r0 with the rate smoothed.

    Parameters
    ----------
    m : float
        alpha r0; 4 eps for the adaptive gain.
    weight : float
        f', in (0, 1).

    Returns
    -------
    tuple of complex
        Roots of z^2 - (1 + f' - (m/2)(1 - f')) z + f' = 0, the greater magnitude first.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    (2), (3) and (5) linearised; the paper leaves (2) out of its analysis. Our derivation.
    """
    positive(m=m)
    probability(weight=weight)
    found = np.roots([1, -(1 + weight - m / 2 * (1 - weight)), weight])
    first, second = sorted((complex(z) for z in found), key=abs, reverse=True)
    return first, second


def smoothed_radius(m: float, weight: float) -> float:
    """Give what the distance to r0 shrinks by, each period near it, with the rate smoothed.

    Parameters
    ----------
    m : float
        alpha r0; 4 eps for the adaptive gain.
    weight : float
        f', in (0, 1).

    Returns
    -------
    float
        The greater magnitude of `smoothed_roots`: sqrt(f') for every gain within `smoothed_plateau`.

    Raises
    ------
    ValueError
        If an argument is out of its range.
    """
    return abs(smoothed_roots(m, weight)[0])


def smoothed_limit(weight: float) -> float:
    """Give the gain from which the smoothed loop is unstable.

    Parameters
    ----------
    weight : float
        f', in (0, 1).

    Returns
    -------
    float
        alpha r0 = 4 (1 + f') / (1 - f').

    Raises
    ------
    ValueError
        If f' is out of its range.

    Notes
    -----
    A root of `smoothed_roots` at -1. Smoothing slows the measurement and yet allows more gain.
    """
    probability(weight=weight)
    return 4 * (1 + weight) / (1 - weight)


def smoothed_plateau(weight: float) -> tuple[float, float]:
    """Give the gains between which the smoothed loop is as fast as it can be, and equally fast.

    Parameters
    ----------
    weight : float
        f', in (0, 1).

    Returns
    -------
    tuple of float
        alpha r0 = 2 (1 - s)/(1 + s) and 2 (1 + s)/(1 - s), s = sqrt(f').

    Raises
    ------
    ValueError
        If f' is out of its range.

    Notes
    -----
    Between them the two roots are a pair of magnitude sqrt(f'), their product being f'.
    """
    probability(weight=weight)
    s = sqrt(weight)
    return 2 * (1 - s) / (1 + s), 2 * (1 + s) / (1 - s)


def smoothed_orbit(
    *, m: float | None = None, eps: float | None = None, weight: float = 0.0, x: float = 0.5, periods: int = 100
) -> Array:
    """Follow the smoothed rate at a constant or at the adaptive gain.

    Parameters
    ----------
    m : float or None
        alpha r0, for a constant gain.
    eps : float or None
        For the adaptive gain eps c(x) instead; from x = 2 on eps times its lower bound 4.
    weight : float
        f', in [0, 1).
    x : float
        r / r0 at the start, smoothed or not.
    periods : int
        How many steps.

    Returns
    -------
    ndarray
        Smoothed r / r0, the start first; shape (periods + 1,).

    Raises
    ------
    ValueError
        If an argument is out of its range, or not one of m and eps is given.

    Notes
    -----
    (2), (3), (5), nothing linearised or clipped.
    """
    gain = _gain(m, eps)
    positive(x=x)
    if not (isfinite(weight) and 0 <= weight < 1):
        raise ValueError(f"weight = {weight:g}: must be in [0, 1)")
    found = np.empty(_count("periods", periods) + 1)
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
    """Count the periods until the rate stays within a tolerance of r0.

    Parameters
    ----------
    m : float or None
        alpha r0, for a constant gain.
    eps : float or None
        For the adaptive gain instead.
    weight : float
        f', in [0, 1); the paper's analysis has 0, its simulations 0.1.
    x : float
        r / r0 at the start.
    tolerance : float
        Distance of r / r0 from 1, in (0, 1).
    most : int
        Periods to follow.

    Returns
    -------
    int or None
        The first period from which on to ``most`` the rate is within the tolerance; none if there is no such.

    Raises
    ------
    ValueError
        If an argument is out of its range, or not one of m and eps is given.
    """
    probability(tolerance=tolerance)
    outside = np.abs(smoothed_orbit(m=m, eps=eps, weight=weight, x=x, periods=most) - 1) > tolerance
    late = np.flatnonzero(outside)
    first = int(late[-1]) + 1 if late.size else 0
    return first if first <= most else None


def v_difference(x: ArrayLike, m: ArrayLike) -> Array:
    """Give how much Theorem 1's V changes in a step.

    Parameters
    ----------
    x : array_like
        r_k / r0.
    m : array_like
        alpha r0.

    Returns
    -------
    ndarray
        (V_(k+1) - V_k) / r0^2 = (x' - x)(x' + x - 2); the arguments' broadcast shape.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    (7), (8), (10).
    """
    after = step(x, m)
    x = np.asarray(x, dtype=float)
    return np.asarray((after - x) * (after + x - 2))


@dataclass(frozen=True, kw_only=True)
class Theorem1:
    """What a scan of rates and gains says of Theorem 1.

    Parameters
    ----------
    decreases : ndarray of bool
        Whether V falls in the next step; shape (gains, rates).
    below : ndarray of bool
        Whether the gain is below the bound at the rate, c(x); the same shape. The theorem holds where the two agree.
    misled : ndarray of bool
        Where V falls now although r0 is unstable at this gain, 4 < m < c(x); the same shape.
    """

    decreases: NDArray[np.bool_]
    below: NDArray[np.bool_]
    misled: NDArray[np.bool_]

    @property
    def holds(self) -> bool:
        """Whether V falls wherever, and only where, the gain is below the bound."""
        return bool(np.all(self.decreases == self.below))


def theorem_1(m: ArrayLike, x: ArrayLike | None = None) -> Theorem1:
    """Scan whether V falls just where the gain is below the bound.

    Parameters
    ----------
    m : array_like
        Gains, alpha r0; shape (gains,).
    x : array_like or None
        Rates, r / r0, in (0, 2) but not 1; shape (rates,). By default 98 of them.

    Returns
    -------
    Theorem1
        The scan. Remarks on gains from 4 on, for which r0 is unstable wherever V may fall at first.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem 1: stable iff 0 < alpha < alpha^. With its lower bound 4/r0 that is right, and global: m <= 4 < c(x) lets V
    fall from every rate, those above 2 r0 included. With alpha^ at the present rate it speaks of the next step only.
    """
    x = np.delete(np.linspace(0.02, 1.98, 99), 49) if x is None else np.asarray(x, dtype=float)
    positive(m=m)
    gains = np.atleast_1d(np.asarray(m, dtype=float))[:, None]
    bound = c(x)[None, :]
    if np.any(x == 1):
        raise ValueError(f"x = {x}: must not be 1, where V is 0")
    falls = v_difference(x[None, :], gains) < 0
    misled = falls & (gains > 4)
    if misled.any():
        caution("V falls now at some rates although alpha r0 > 4: the rate ends in a cycle, not at r0")
    return Theorem1(decreases=falls, below=gains < bound, misled=misled)


@dataclass(frozen=True, kw_only=True)
class Counterexample:
    """Two gains of which the bigger converges more slowly.

    Parameters
    ----------
    smaller : float
        alpha r0 of the smaller gain.
    bigger : float
        alpha r0 of the bigger gain.
    smaller_steps : int
        Periods that the smaller takes.
    bigger_steps : int or None
        Periods that the bigger takes, more; none if it does not converge in those that were followed.
    """

    smaller: float
    bigger: float
    smaller_steps: int
    bigger_steps: int | None


def theorem_2(
    m: Sequence[float] = (0.5, 1.0, 2.0, 3.0, 3.8, 3.99), x: float = 0.5, tolerance: float = 0.01, most: int = 1000
) -> list[Counterexample]:
    """Give the pairs of gains that contradict Theorem 2.

    Parameters
    ----------
    m : sequence of float
        Gains, alpha r0.
    x : float
        r / r0 at the start.
    tolerance : float
        Distance of r / r0 from 1 that counts as there.
    most : int
        Periods to follow.

    Returns
    -------
    list of Counterexample
        Every pair of which the bigger takes more periods. Empty if the theorem holds for them.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem 2: the bigger alpha, the faster. True up to m = 2, where `factor` is 0; beyond, |1 - m/2| grows again.
    """
    gains = sorted(set(m))
    steps = {one: steps_to_settle(m=one, x=x, tolerance=tolerance, most=most) for one in gains}
    found = []
    for smaller, bigger in combinations(gains, 2):
        quick, slow = steps[smaller], steps[bigger]
        if quick is not None and (slow is None or slow > quick):
            found.append(Counterexample(smaller=smaller, bigger=bigger, smaller_steps=quick, bigger_steps=slow))
    return found


def _gain(m: float | None, eps: float | None) -> Callable[[float], float]:
    """Give alpha r0 by the rate."""
    if m is not None and eps is None:
        positive(m=m)
        constant = m
        return lambda _: constant
    if eps is not None and m is None:
        positive(eps=eps)
        part = eps
        return lambda x: part * (float(c(x)) if x < 2 else 4)
    raise ValueError(f"m = {m}, eps = {eps}: give one of them")


def _count(name: str, value: int) -> int:
    if value < 1:
        raise ValueError(f"{name} = {value}: must be at least 1")
    return value
