"""The closed loop of any response with or without delay: poles, bandwidth, sensitivity and step response.

Symbols, beside those of `aqmlab.theory`:

* response: the open loop T as a function of an array of complex s; negative feedback.
* delay: the longest delay in the response (s).
* count: most poles to return.
* band: width of the band as a fraction of the initial deviation, in (0, 1).
* times: times (s), from 0; growth: real part of the rightmost pole (1/s), if it is positive.
"""

from __future__ import annotations

from math import inf, log, nan, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar

from aqmlab.theory.domain import positive
from aqmlab.theory.loop.margins import Response, sampled

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

_TERMS = 1 << 18


def poles(response: Response, delay: float = 0.0, count: int = 10) -> Complex:
    """Find the rightmost poles of the closed loop.

    Those with non-negative imaginary part (1/s), the rightmost first. Newton's method on 1 + 1/T, which has the zeros
    of 1 + T but not the open loop's poles, started from a polar grid. A loop with delay has infinitely many poles, ever
    farther to the left; those with a modulus up to about 50 over the delay and those near the crossings are found.
    Nyquist's count independently determines the number of poles in the right half-plane. Raises ValueError if the
    response does not fall at high frequencies.
    """
    on = sampled(response, delay)
    low, high = on.w[0], max(50 / delay, 2 * on.w[-1]) if delay > 0 else on.w[-1]
    radius = np.geomspace(low, high, max(80, int(8 * np.log10(high / low))))
    start = (radius[:, None] * np.exp(1j * np.linspace(0.25 * pi, pi, 16))).ravel()
    s = np.concatenate([start, np.linspace(0, 40 / delay, 160) * 1j - 1 / delay]) if delay > 0 else start
    found = np.empty(0, dtype=complex)
    with np.errstate(all="ignore"):
        for _ in range(60):
            h = 1e-6 * np.abs(s)
            ahead, behind = 1 / response(s + h), 1 / response(s - h)
            newton = (1 + (ahead + behind) / 2) * 2 * h / (ahead - behind)
            reach = np.abs(newton) / np.abs(s)
            s = s - newton / np.maximum(1, 2 * reach)
            done = reach < 1e-9
            found = np.concatenate([found, s[done]])
            s = s[~done & np.isfinite(s) & (np.abs(s) < 3 * high)]
            if not len(s):
                break
        for _ in range(2):
            h = 1e-6 * np.abs(found)
            slope = (1 / response(found + h) - 1 / response(found - h)) / (2 * h)
            found = found - (1 + 1 / response(found)) / slope
    found = found[np.isfinite(found) & (np.abs(found) < 1.2 * high)]
    found = np.where(np.abs(found.imag) < 1e-9 * np.abs(found), found.real + 0j, found)
    found = found[(found.imag >= 0) & (np.abs(found) > low / 10)]
    kept: list[complex] = []
    for one in found[np.argsort(-found.real)]:
        if all(abs(one - other) > 1e-6 * abs(one) for other in kept):
            kept.append(complex(one))
            if len(kept) == count:
                break
    return np.asarray(kept, dtype=complex)


def bandwidth(response: Response, delay: float = 0.0) -> float:
    """Return the frequency at which the closed loop T / (1 + T) is 3 dB below its value at low frequencies.

    The first such frequency, in rad/s. Raises ValueError if the response does not fall at high frequencies.
    """
    on = sampled(response, delay)

    def below(w: float) -> float:
        T = complex(response(complex(0, w)))
        return abs(T / (1 + T)) - level

    closed = np.abs(on.T / (1 + on.T))
    level = float(closed[0]) / sqrt(2)
    under = np.flatnonzero(closed < level)
    if not len(under):
        return nan
    return float(brentq(below, on.w[under[0] - 1], on.w[under[0]], rtol=1e-13))


def sensitivity_peak(response: Response, delay: float = 0.0) -> tuple[float, float]:
    """Return the largest ``|1 / (1 + T)|``, the inverse of the Nyquist curve's distance from -1.

    Returned with its frequency (rad/s). Raises ValueError if the response does not fall at high frequencies.
    """
    on = sampled(response, delay)
    k = int(np.argmin(np.abs(1 + on.T)))
    ends = on.w[max(k - 1, 0)], on.w[min(k + 1, len(on.w) - 1)]
    least = minimize_scalar(
        lambda w: abs(1 + complex(response(complex(0, w)))), bounds=ends, method="bounded", options={"xatol": 1e-12}
    )
    return 1 / float(least.fun), float(least.x)


def response_time(response: Response, delay: float = 0.0, band: float = 0.02) -> float:
    """Predict the time the closed loop takes to settle within a band, from its dominant pole.

    ln(1 / band) / -Re s1 (s), with s1 the rightmost pole; infinite if s1 is not in the left half-plane. For small
    deviations. It ignores clipping and an empty or full buffer, which dominate after large ones.
    """
    if not 0 < band < 1:
        raise ValueError(f"band = {band:g}: must be in (0, 1)")
    first = poles(response, delay, 1)
    if not len(first) or first[0].real >= 0:
        return inf
    return -log(band) / -float(first[0].real)


def step(response: Response, times: ArrayLike, growth: float = 0.0) -> Array:
    """Return the closed loop's response to a unit step of its target: T / (1 + T) / s in the time domain.

    It tends to T(0) / (1 + T(0)) if the loop is stable. Inverts the Laplace transform by a Fourier series (Dubner and
    Abate 1968) of 2^18 terms; accurate to about 1e-4. Raises ValueError if no time is positive.
    """
    times = np.asarray(times, dtype=float)
    positive(longest=times.max(initial=0.0))
    half = 1.02 * float(times.max())  # half the period of the series
    damping = max(growth, 0.0) + 8 / half
    s = damping + 1j * pi / half * np.arange(_TERMS)
    with np.errstate(over="ignore"):
        T = response(s)
        terms = np.asarray(T / (1 + T) / s, dtype=complex)
    terms[0] /= 2
    series = np.real(np.fft.ifft(terms, 2 * _TERMS)) * 2 * _TERMS  # at 2 half k / (2 terms)
    grid = np.arange(_TERMS) * half / _TERMS
    return np.asarray(np.interp(times, grid, np.exp(damping * grid) / half * series[:_TERMS]))
