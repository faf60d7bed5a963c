"""RAQM's loop as a map of x = r / r0, the rate not smoothed: the bound on its gain, orbits, cycles, chaos."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from aqmlab.theory.domain import positive, probability

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
    # artanh is exact next to 1, where 2 - x is rounded; logarithms are next to 0, where x - 1 is.
    near = np.where(off == 0, 1e-9, np.clip(off, -0.5, 0.5))
    far = np.where(np.abs(off) < 0.5, 0.5, off)
    return np.asarray(np.where(np.abs(off) < 0.5, 4 * np.arctanh(near) / near, 2 * (np.log(x) - np.log(2 - x)) / far))


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
    found = np.empty(counted("periods", periods) + 1)
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
    for _ in range(counted("transient", transient)):
        now = now * np.exp(-half * (now - 1))
    found = np.empty((len(half), counted("kept", kept)))
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
        Mean of ln |1 - (m/2) x|, a period; shape (gains,).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    dx'/dx is x'/x times 1 - (m/2) x, and the mean of ln(x'/x) along an orbit that stays bounded is 0.
    """
    half = np.atleast_1d(np.asarray(m, dtype=float))[:, None] / 2
    slope = np.abs(1 - half * bifurcation(m, x, transient, kept))
    return np.asarray(np.mean(np.log(np.maximum(slope, np.finfo(float).tiny)), axis=1))


def counted(name: str, value: int) -> int:
    """Refuse a number of steps below 1.

    Parameters
    ----------
    name : str
        What the caller calls it.
    value : int
        The number.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        With name and value.
    """
    if value < 1:
        raise ValueError(f"{name} = {value}: must be at least 1")
    return value
