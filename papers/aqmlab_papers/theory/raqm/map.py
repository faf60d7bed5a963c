"""RAQM's loop as a map of x = r / r0 without smoothing: the bound on its gain, orbits, cycles and chaos.

Symbols, beside those of `aqmlab.theory`:

* x: r / r0, in (0, 2) for `c`; of an orbit, its start.
* m: alpha r0; 4 eps for the adaptive gain.
* points, edge: number of points, and the distance of the outer ones from 0 and 2.
* periods, transient, kept: steps to follow, to discard at first, and to keep.
* name, value: a number of steps, and what the caller calls it.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import positive, probability

Array = NDArray[np.float64]


def step(x: ArrayLike, m: ArrayLike) -> Array:
    """Return the next rate at constant gain, Ricker's map, eq. (9): x e^(-(m/2)(x - 1))."""
    positive(x=x, m=m)
    x = np.asarray(x, dtype=float)
    return np.asarray(x * np.exp(-np.asarray(m, dtype=float) / 2 * (x - 1)))


def c(x: ArrayLike) -> Array:
    """Return the bound on the gain alpha r0 at the rate x = r / r0: 4 at x = 1, unbounded towards 0 and 2.

    2 ln((2 - x)/x) / (1 - x) = 4 artanh(x - 1)/(x - 1), eq. (13).
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
    """Return the data of the paper's figure 2: x and c(x); shape (points,) each."""
    probability(edge=edge)
    if points < 2:
        raise ValueError(f"points = {points}: must be at least 2")
    x = np.linspace(edge, 2 - edge, points)
    return x, c(x)


def factor(m: float) -> float:
    """Return the map's linear factor at its fixed point, stable for 0 < m < 4: 1 - m/2."""
    positive(m=m)
    return 1 - m / 2


def orbit(m: float, x: float = 0.5, periods: int = 100) -> Array:
    """Follow the rate at constant gain: r / r0, including the initial value; shape (periods + 1,)."""
    positive(m=m, x=x)
    found = np.empty(counted("periods", periods) + 1)
    found[0] = x
    for k in range(periods):
        found[k + 1] = x = x * np.exp(-m / 2 * (x - 1))
    return found


def bifurcation(m: ArrayLike, x: float = 0.5, transient: int = 2000, kept: int = 200) -> Array:
    """Return r / r0 in the kept periods of orbits by gain, the points of a bifurcation diagram; shape (gains, kept)."""
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

    Mean of ``ln |1 - (m/2) x|`` per period; shape (gains,).
    """
    half = np.atleast_1d(np.asarray(m, dtype=float))[:, None] / 2
    slope = np.abs(1 - half * bifurcation(m, x, transient, kept))
    return np.asarray(np.mean(np.log(np.maximum(slope, np.finfo(float).tiny)), axis=1))


def counted(name: str, value: int) -> int:
    """Return a number of steps; ValueError if it is below 1."""
    if value < 1:
        raise ValueError(f"{name} = {value}: must be at least 1")
    return value
