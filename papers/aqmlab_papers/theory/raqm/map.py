"""RAQM's loop as a map of x = r / r0 without smoothing: the bound on its gain, orbits, cycles and chaos."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import positive, probability

Array = NDArray[np.float64]


def step(x: ArrayLike, m: ArrayLike) -> Array:
    """Return the next rate at constant gain: Ricker's map.

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
        If an argument is out of range.

    Notes
    -----
    (9). The only fixed point is 1 (Lemmas 1 and 2): the exponent has no other zero.
    """
    positive(x=x, m=m)
    x = np.asarray(x, dtype=float)
    return np.asarray(x * np.exp(-np.asarray(m, dtype=float) / 2 * (x - 1)))


def c(x: ArrayLike) -> Array:
    """Return the bound on the gain alpha r0 at the rate x = r / r0.

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
    (13). Even in x - 1, minimal at 1: 4 + (4/3)(x-1)^2 + (4/5)(x-1)^4 + ...; unbounded towards 0 and 2.
    """
    x = np.asarray(x, dtype=float)
    positive(x=x)
    if not np.all(x < 2):
        raise ValueError(f"x = {x}: must be in (0, 2), the rate below twice the expected one")
    off = x - 1
    # artanh is accurate near 1, where 2 - x is rounded; logarithms are accurate near 0, where x - 1 is rounded.
    near = np.where(off == 0, 1e-9, np.clip(off, -0.5, 0.5))
    far = np.where(np.abs(off) < 0.5, 0.5, off)
    return np.asarray(np.where(np.abs(off) < 0.5, 4 * np.arctanh(near) / near, 2 * (np.log(x) - np.log(2 - x)) / far))


def c_curve(points: int = 199, edge: float = 0.01) -> tuple[Array, Array]:
    """Return the data of the paper's figure 2.

    Parameters
    ----------
    points : int
        Number of points, at least 2.
    edge : float
        Distance of the first and last points from 0 and 2, in (0, 1).

    Returns
    -------
    tuple of ndarray
        x and c(x); shape (points,) each.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    probability(edge=edge)
    if points < 2:
        raise ValueError(f"points = {points}: must be at least 2")
    x = np.linspace(edge, 2 - edge, points)
    return x, c(x)


def factor(m: float) -> float:
    """Return the map's linear factor at its fixed point.

    Parameters
    ----------
    m : float
        alpha r0; 4 eps for the adaptive gain.

    Returns
    -------
    float
        1 - m/2: stable for 0 < m < 4; at m = 2 the next rate is r0 to first order.

    Raises
    ------
    ValueError
        If m is not positive.
    """
    positive(m=m)
    return 1 - m / 2


def orbit(m: float, x: float = 0.5, periods: int = 100) -> Array:
    """Follow the rate at constant gain.

    Parameters
    ----------
    m : float
        alpha r0.
    x : float
        Initial r / r0.
    periods : int
        Number of steps.

    Returns
    -------
    ndarray
        r / r0, including the initial value; shape (periods + 1,).

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    positive(m=m, x=x)
    found = np.empty(counted("periods", periods) + 1)
    found[0] = x
    for k in range(periods):
        found[k + 1] = x = x * np.exp(-m / 2 * (x - 1))
    return found


def bifurcation(m: ArrayLike, x: float = 0.5, transient: int = 2000, kept: int = 200) -> Array:
    """Return long-run values of orbits by gain: the points of a bifurcation diagram.

    Parameters
    ----------
    m : array_like
        alpha r0; shape (gains,).
    x : float
        Initial r / r0.
    transient : int
        Number of initial steps to discard.
    kept : int
        Number of steps to return.

    Returns
    -------
    ndarray
        r / r0 in the kept periods; shape (gains, kept).

    Raises
    ------
    ValueError
        If an argument is out of range.
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
    """Return the rate at which neighbouring orbits diverge: negative at a cycle, positive in chaos.

    Parameters
    ----------
    m : array_like
        alpha r0; shape (gains,).
    x : float
        Initial r / r0.
    transient : int
        Number of initial steps to discard.
    kept : int
        Number of steps to average.

    Returns
    -------
    ndarray
        Mean of ``ln |1 - (m/2) x|`` per period; shape (gains,).

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    dx'/dx is x'/x times 1 - (m/2) x, and the mean of ln(x'/x) along a bounded orbit is 0.
    """
    half = np.atleast_1d(np.asarray(m, dtype=float))[:, None] / 2
    slope = np.abs(1 - half * bifurcation(m, x, transient, kept))
    return np.asarray(np.mean(np.log(np.maximum(slope, np.finfo(float).tiny)), axis=1))


def counted(name: str, value: int) -> int:
    """Raise ValueError if a number of steps is below 1.

    Parameters
    ----------
    name : str
        The caller's name for it.
    value : int
        The number.

    Returns
    -------
    int
        The same number.

    Raises
    ------
    ValueError
        With name and value.
    """
    if value < 1:
        raise ValueError(f"{name} = {value}: must be at least 1")
    return value
