"""Stability of loops of any response with or without delay: crossings, margins and closed-loop poles.

Symbols, beside those of `aqmlab.theory`:

* response: the open loop T as a function of an array of complex s, negative feedback; strictly proper, positive at low
  frequencies, without poles in the right half-plane.
* delay: the longest delay in the response (s), which determines the grid of frequencies.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from math import inf, isfinite, nan, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]
Response = Callable[[Any], Any]

_A_DECADE = 400
_A_TURN = 100
_MOST = 2_000_000


@dataclass(frozen=True)
class Margins:
    """Stability margins of a loop.

    Parameters
    ----------
    gain_margin : float
        For a stable loop, the smallest gain factor above 1 that makes it unstable, infinite if there is none. For an
        unstable loop, the factor below 1 to which its gain must fall; 0 if no gain makes it stable.
    phase_margin_deg : float
        For a stable loop, the tolerable phase lag (degrees) where its gain is 1, at the crossing nearest to
        instability; negative if a lead is nearer; infinite if there is no crossing. For an unstable loop, 180 plus the
        phase at the crossing with the largest lag, not wrapped: -200 is a lag of 380.
    delay_margin : float
        The tolerable additional delay (s); for an unstable loop, negative, the delay to remove.
    crossover : float
        Frequency of the crossing at which the phase margin is taken (rad/s); NaN if there is none.
    phase_crossover : float
        Frequency of the -180 degree phase crossing at which the gain margin is taken (rad/s); NaN if there is none.
    stable : bool
        Whether the closed loop is stable, by Nyquist's count.
    unstable_poles : int
        Poles of the closed loop in the right half-plane, by Nyquist's count.
    """

    gain_margin: float
    phase_margin_deg: float
    delay_margin: float
    crossover: float
    phase_crossover: float
    stable: bool
    unstable_poles: int

    def document(self) -> dict[str, Any]:
        """Return the margins as a JSON object.

        Returns
        -------
        dict
            Each margin by name; infinite values and NaN become None.
        """
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value if isfinite(value) else None for name, value in values.items()}


@dataclass(frozen=True)
class Sampled:
    """A loop's response on a grid so dense that its phase is unambiguous.

    Parameters
    ----------
    w : ndarray
        Frequencies (rad/s), increasing.
    T : ndarray
        The response at each frequency, complex.
    phase : ndarray
        The phase of the response (rad), continuous from -pi/2 times ``integrators`` at frequency 0.
    integrators : int
        Number of poles at 0.
    """

    w: Array
    T: Complex
    phase: Array
    integrators: int


@lru_cache(maxsize=16)  # margins, bandwidth and poles of one loop share the result
def sampled(response: Response, delay: float = 0.0) -> Sampled:
    """Evaluate a loop from frequencies where it is a pure integrator, or constant, to well above its last crossings.

    Raises ValueError if the response does not fall at high frequencies, or has too many phase turns to count.
    """

    def gain(w: float) -> float:
        return float(abs(response(complex(0, w))))

    scale = 1 / delay if delay > 0 else 1.0
    low = 1e-4 * scale
    while True:
        integrators = np.log(gain(low) / gain(3 * low)) / np.log(3)
        settled = abs(integrators - round(integrators)) < 1e-5 and (round(integrators) == 0 or gain(low) > 100)
        if settled or low < 1e-13 * scale:
            break
        low /= 10
    # The last crossing: a coarse grid suffices, since the gain of physical systems falls without ripples.
    coarse = np.geomspace(low, 1e9 * scale, 4000)
    loud = np.flatnonzero(np.abs(response(1j * coarse)) >= min(0.5, 0.1 * gain(low)))
    last = float(coarse[min(loud[-1] + 1, len(coarse) - 1)])
    if loud[-1] == len(coarse) - 1:
        raise ValueError("the open loop's gain does not fall at high frequencies: it must be strictly proper")
    # Above it, the phase continues to turn: cover two turns of the delay, or three decades without delay. If the
    # longest delay is the law's memory, other delays turn the phase: continue until it has passed -180 degrees.
    high = max(last, scale) + 4 * pi / delay if delay > 0 else 1e3 * last
    while True:
        w = _frequencies(low, high, last, delay)
        T = np.asarray(response(1j * w), dtype=complex)
        phase = np.unwrap(np.angle(T))
        start = -pi / 2 * round(integrators)
        phase += 2 * pi * np.round((start - phase[0]) / (2 * pi))
        if delay == 0 or phase[-1] < -1.5 * pi or abs(T[-1]) < 1e-9 * min(1, gain(low)) or len(w) > _MOST / 4:
            return Sampled(w, T, phase, round(integrators))
        high *= 2


def _frequencies(low: float, high: float, last: float, delay: float) -> Array:
    """Return a frequency grid that is dense per decade and per turn of the delay."""
    w = np.geomspace(low, high, int(_A_DECADE * np.log10(high / low)))
    if delay == 0:
        return w
    step = 2 * pi / (_A_TURN * delay)
    wide = step / (w[1] / w[0] - 1)
    if wide >= high:
        return w
    if (high - wide) / step > _MOST:
        raise ValueError(f"the loop's gain is 1 at {last:.3g} rad/s, thousands of turns of its delay {delay:g} s")
    return np.concatenate([w[w < wide], np.arange(wide, high + step, step)])


def margins(response: Response, delay: float = 0.0) -> Margins:
    """Return the margins of a loop, considering every crossing.

    Parameters
    ----------
    response : callable
        The open loop T as a function of an array of complex s, with negative feedback (1 + T = 0); strictly proper,
        positive at low frequencies, without poles in the right half-plane.
    delay : float
        The longest delay in the response (s).

    Returns
    -------
    Margins
        Margins, their frequencies, and whether the closed loop is stable.

    Raises
    ------
    ValueError
        If the response does not fall at high frequencies, or has too many phase turns to count.

    Notes
    -----
    Nyquist's criterion as a count: each time the phase falls through an odd multiple of -180 degrees while the gain is
    above 1, two poles move to the right half-plane; each time it rises through one, two return.
    """
    on = sampled(response, delay)

    def at(w: float) -> complex:
        return complex(response(complex(0, w)))

    def continuous(w: float, k: int) -> float:
        raw = float(np.angle(at(w)))
        return raw + 2 * pi * round(float(on.phase[k] - raw) / (2 * pi))

    turns = np.floor((on.phase + pi) / (2 * pi)).astype(int)  # number of the lines -pi, -3 pi, … above: -turns
    right = -int(turns[0])
    most, phase_crossover, hopeless = 0.0, nan, turns[0] < 0
    quietest, quiet_crossover = inf, nan
    for k in map(int, np.flatnonzero(np.diff(turns))):
        line = -pi + 2 * pi * max(turns[k], turns[k + 1])
        w = _root(lambda x: continuous(x, k) - line, on.w[k], on.w[k + 1])  # noqa: B023, called at once
        gain = abs(at(w))
        if gain > 1:
            right -= int(turns[k + 1] - turns[k])
        if gain > most:
            most, phase_crossover = gain, w
        if gain <= 1 and 1 / gain < quietest:
            quietest, quiet_crossover = 1 / gain, w
    stable = right == 0
    if stable:
        gain_margin, phase_crossover = quietest, quiet_crossover
    else:
        gain_margin, phase_crossover = (0.0, nan) if hopeless else (1 / most, phase_crossover)

    phase_margin, delay_margin, crossover = inf, inf, nan
    loud = np.log(np.abs(on.T))
    for k in map(int, np.flatnonzero(np.diff(loud >= 0))):
        w = _root(lambda x: float(np.log(abs(at(x)))), on.w[k], on.w[k + 1])
        distance = continuous(w, k) + pi
        if stable:
            wrapped = distance - 2 * pi * round(distance / (2 * pi))
            delay_margin = min(delay_margin, distance % (2 * pi) / w)
            closer = abs(wrapped) < abs(phase_margin)
            distance = wrapped
        else:
            delay_margin = min(delay_margin, distance / w)
            closer = distance < phase_margin
        if closer:
            phase_margin, crossover = distance, w
    return Margins(
        gain_margin=float(gain_margin),
        phase_margin_deg=float(np.degrees(phase_margin)),
        delay_margin=float(delay_margin),
        crossover=float(crossover),
        phase_crossover=float(phase_crossover),
        stable=bool(stable),
        unstable_poles=2 * right,
    )


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    return float(brentq(f, low, high, xtol=1e-15 * high, rtol=1e-14))
