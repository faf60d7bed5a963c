"""TCP and an AQM as a control loop: the plant times the control law, its margins, and the stability boundary.

Symbols, beside those of `aqmlab.theory`:

* merged: whether w(t-R) is approximated by w(t) in the product of the two.

>>> round(float(critical_gain(N=300, R=0.35, C=2500)), 9)  # the largest gain Hc that LRED's equation (25) allows
0.000442809
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.domain import positive
from aqmlab.theory.loop import closed
from aqmlab.theory.loop.margins import Margins, margins

Array = NDArray[np.float64]


class Loop:
    """A plant and the law that maps its queue to a drop probability, closed with negative feedback.

    Parameters
    ----------
    plant : callable
        The response from dp to dq without its negative sign, of an array of complex s: a `Plant`. Its ``delay`` is
        used.
    controller : callable or float
        The response from dq to dp, of an array of complex s; a number is a static gain (1/packet).
    """

    def __init__(self, plant: Callable[[Any], Any], controller: Callable[[Any], Any] | float) -> None:
        self.plant, self.controller = plant, controller
        if not callable(controller):
            positive(controller=controller)
        self.delay = float(getattr(plant, "delay", 0.0)) + float(getattr(controller, "delay", 0.0))

    def __call__(self, s: Any) -> Any:
        """Return the open loop's response T, with negative feedback: 1 + T = 0.

        Parameters
        ----------
        s : complex or array_like
            Frequency (rad/s).

        Returns
        -------
        complex or ndarray
            T(s), of the same shape.
        """
        law = self.controller
        return self.plant(s) * (law(s) if callable(law) else law)

    def response(self, frequencies: ArrayLike) -> NDArray[np.complex128]:
        """Return the open loop's response.

        Parameters
        ----------
        frequencies : array_like
            Frequency (rad/s).

        Returns
        -------
        ndarray
            T(jw), complex, of the same shape.

        Raises
        ------
        ValueError
            If a frequency is not positive.
        """
        positive(frequencies=frequencies)
        return np.asarray(self(1j * np.asarray(frequencies, dtype=float)), dtype=complex)

    def margins(self) -> Margins:
        """Return gain, phase and delay margin, and whether the closed loop is stable.

        Returns
        -------
        Margins
            The margins, exact for loops with delay.
        """
        return margins(self, self.delay)

    def bandwidth(self) -> float:
        """Return the frequency at which the closed loop is 3 dB below its value at low frequencies.

        Returns
        -------
        float
            The first such frequency (rad/s).
        """
        return closed.bandwidth(self, self.delay)

    def sensitivity_peak(self) -> float:
        """Return the largest ``|1 / (1 + T)|``, the inverse of the Nyquist curve's distance from -1.

        Returns
        -------
        float
            The peak; meaningful for stable loops only.
        """
        return closed.sensitivity_peak(self, self.delay)[0]

    def poles(self, count: int = 10) -> NDArray[np.complex128]:
        """Find the rightmost poles of the closed loop.

        Parameters
        ----------
        count : int
            Maximum number of poles.

        Returns
        -------
        ndarray
            Poles with non-negative imaginary part, the rightmost first; complex.
        """
        return closed.poles(self, self.delay, count)

    def response_time(self, band: float = 0.02) -> float:
        """Predict the time in which a small deviation shrinks to a given fraction, from the rightmost pole.

        Parameters
        ----------
        band : float
            The fraction, in (0, 1): 0.02 for 2 %, 0.2 for the LRED paper's q0 +- 20 of 100.

        Returns
        -------
        float
            ln(1 / band) / -Re s1 (s); infinite if the loop is not stable.
        """
        return closed.response_time(self, self.delay, band)

    def step(self, times: ArrayLike) -> Array:
        """Return the queue's response to a step of its target by one packet.

        Parameters
        ----------
        times : array_like
            Times (s), from 0; shape (times,).

        Returns
        -------
        ndarray
            Packets.
        """
        first = self.poles(1)
        return closed.step(self, times, float(first[0].real) if len(first) else 0.0)


def boundary(N: ArrayLike, R: ArrayLike, C: ArrayLike, merged: bool = True) -> Any:
    """Return the frequency at which a static gain on LRED's plant loses stability: w (rad/s).

    LRED, eq. (25), w R + arctan(w / K11) = pi/2, which is x tan x = K11 R with x = w R. Without merging it is x
    tan(x/2) = K11 R / 2, derived in docs/theory/loop.md.
    """
    positive(N=N, R=R, C=C)
    n, r, c = (np.asarray(value, dtype=float) for value in (N, R, C))
    turned = 2 * n / (r * c)  # K11 R
    x = _x_tan_x(turned) if merged else 2 * _x_tan_x(turned / 4)
    return (x / r)[()]


def critical_gain(N: ArrayLike, R: ArrayLike, C: ArrayLike, eta: ArrayLike = 1.5, merged: bool = True) -> Any:
    """Return the largest static gain at which LRED's plant is stable.

    LRED's Hc is beta sqrt(p0) (1/packet). LRED, eqs. (18) and (25): Kc Hc = w sqrt(w^2 + K11^2) at the frequency of
    `boundary`.
    """
    positive(eta=eta)
    w = boundary(N, R, C, merged)
    n, r, c, e = (np.asarray(value, dtype=float) for value in (N, R, C, eta))
    K11 = 2 * n / (r**2 * c)
    window = 1j * w + (K11 if merged else K11 / 2 * (1 + np.exp(-1j * w * r)))
    return (w * np.abs(window) * e * n / c**2)[()]


def _x_tan_x(a: Array) -> Array:
    """Solve x tan x = a on (0, pi/2) by Newton's method on x + arctan(x/a) - pi/2, which is concave: from the left."""
    x = np.zeros_like(a)
    for _ in range(100):
        step = (np.pi / 2 - x - np.arctan2(x, a)) / (1 + a / (a**2 + x**2))
        x = x + step
        if np.all(np.abs(step) <= 4e-16 * x):
            break
    return np.asarray(x)
