"""Delay differential equations: Runge-Kutta steps with a history of cubic pieces, cut at every discontinuity."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

NEAR = 1e-9
"""Times (s) closer together than this are treated as equal."""


class _Path:
    """Cubic pieces between knots: values and slopes at both ends of each, and a tag."""

    def __init__(self, before: Array) -> None:
        nothing = np.zeros_like(before)
        self.start, self.width = np.full(1024, inf), np.ones(1024)
        self.ends = np.zeros((1024, 4, len(before)))
        self.tags: list[Any] = []
        self.add(-1e9, 0.0, (before, nothing, before, nothing), None)

    def add(self, start: float, end: float, ends: tuple[Array, Array, Array, Array], tag: Any) -> None:
        place = len(self.tags)
        if place == len(self.start):
            self.start = np.concatenate([self.start, np.full(place, inf)])
            self.width = np.concatenate([self.width, np.ones(place)])
            self.ends = np.concatenate([self.ends, np.zeros_like(self.ends)])
        self.start[place], self.width[place] = start, end - start
        self.ends[place] = ends
        self.tags.append(tag)

    def at(self, times: Array, low: Any = -inf, high: Any = inf) -> tuple[Array, list[Any]]:
        """Return values and tags at given times, extrapolating smoothly beyond the bounds ``low`` and ``high``."""
        inside = np.minimum(np.maximum(times, low + NEAR), high - NEAR)
        place = self.start[: len(self.tags)].searchsorted(inside, side="right") - 1
        h, ends = self.width[place][:, None], self.ends[place]
        # A short piece is a poor basis for extrapolation.
        x = np.minimum(np.maximum((times - self.start[place])[:, None] / h, -1), 2)
        values = cubic(x, h, ends[:, 0], ends[:, 1], ends[:, 2], ends[:, 3])
        return values, [self.tags[i] for i in place]


def cubic(x: Any, h: Any, y0: Any, d0: Any, y1: Any, d1: Any) -> Any:
    """Interpolate between two values with their slopes, after Hermite.

    The value at ``x``; exact for cubics.
    """
    rest = 1 - x
    return rest * rest * ((1 + 2 * x) * y0 + x * h * d0) + x * x * ((1 + 2 * rest) * y1 - rest * h * d1)


class Equation:
    """A delay differential equation dy/dt = f(t, y, past). It has only the events that a subclass defines.

    Parameters
    ----------
    f : callable
        ``f(t, y, past)`` returns the slopes, shape (d,), for values y of shape (d,). ``past(times)`` with times of
        shape (m,) returns the values at those times, shape (m, d), and the `tag` of each. The times must precede t by
        at least the step. ``past(times, low, high)`` extrapolates the values between two times beyond them, where a
        jump occurred.
    """

    stop: float = inf
    """The next time at which a step must end."""

    tag: Any = None
    """The data stored with each step in addition to its values."""

    def __init__(self, f: Callable[[float, Array, Any], Array]) -> None:
        self.f = f

    def slope(self, t: float, y: Array, past: Any, side: int) -> Array:
        """Return dy/dt.

        The slopes, shape (d,).
        """
        return self.f(t, y, past)

    def event(self, t: float, h: float, ends: tuple[Array, Array, Array, Array]) -> float:
        """Find the first event inside a step; the step must end there.

        The time (s) of the first event; infinite if there is none.
        """
        return inf

    def arrive(self, t: float, y: Array) -> Array:
        """Process the end of a step, or t = 0.

        The values from which the integration continues.
        """
        return y


def integrate(equation: Equation, before: ArrayLike, end: float, step: float) -> tuple[Array, Array]:
    """Integrate from t = 0 with classical Runge-Kutta steps and a history of cubic pieces.

    Times, shape (n,), and values, shape (n, d). Fourth order if stops and events cover all discontinuities.
    """
    path = _Path(np.asarray(before, dtype=float))

    def slope(t: float, y: Array, side: int) -> Array:
        return equation.slope(t, y, path.at, side)

    def ends(t: float, y: Array, d: Array, h: float) -> tuple[Array, Array, Array, Array]:
        k2 = slope(t + h / 2, y + h / 2 * d, 0)
        k3 = slope(t + h / 2, y + h / 2 * k2, 0)
        k4 = slope(t + h, y + h * k3, -1)
        after = y + h / 6 * (d + 2 * (k2 + k3) + k4)
        return y, d, after, slope(t + h, after, -1)

    t, grid = 0.0, 0
    y = equation.arrive(t, path.ends[0, 2].copy())
    times, values = [t], [y]
    while t < end - NEAR:
        while grid * step < t + NEAR:
            grid += 1
        stop = min(grid * step, equation.stop, end)
        d = slope(t, y, 1)
        trial = ends(t, y, d, stop - t)
        when = equation.event(t, stop - t, trial)
        if t + NEAR < when < stop - NEAR:
            stop = when
            trial = ends(t, y, d, stop - t)
        path.add(t, stop, trial, equation.tag)
        t, y = stop, equation.arrive(stop, trial[2])
        times.append(t)
        values.append(y)
    return np.array(times), np.array(values)
