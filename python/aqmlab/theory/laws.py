"""Control laws of AQMs, linearised at an equilibrium.

Symbols, beside those of `aqmlab.theory`:

* a, b: PI's gains on the present error and on that of one period ago (1/packet), -a < b < a.
* alpha: weight of the queue's error in REM's price, in (0, 1]; gamma: step of the price (1/packet); phi: base, above 1.
* arrivals: arrival rate (packets/s), dropped packets included.
* average: average queue of RED (packets); ratio: fraction of packets dropped there.
* beta: LRED's gain (1/packet); estimator: whether L follows the loss ratio that the law causes, which adds slow
  integration, or is p0; exponent: that of L in the weight of the queue's distance, 0.5 in LRED.
* f: weight of the old rate in RAQM's smoothed one, in [0, 1); m: alpha r0, or 4 eps for the adaptive alpha.
* frequency: PI's updates per second; interval: time between updates of REM's price (s).
* M, window: periods over which LRED measures the loss ratio; m_w, weight: that of the previous estimate, in [0, 1).
* q0: RAQM's target (packets) in the queue-dependent mode, None for the other.
* ramp: drop ratio as a function of the average queue; w_q: weight of the current queue in the average, in (0, 1].
* sampled: whether p is held for a period; otherwise the law is the continuous one, whose Tustin form PI is.
* t_m, period: time between measurements (s).

>>> law = pi(a=1.822e-5, b=1.816e-5, frequency=170)
>>> round(float(abs(law(1e-3j))), 6)  # nearly K / w with K = (a - b) frequency
0.0102
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.theory.domain import caution, not_negative, positive
from aqmlab.theory.python_control import python_control

if TYPE_CHECKING:
    from control import TransferFunction


@dataclass(frozen=True)
class ControlLaw:
    """A control law from a change of the queue, dq, to a change of the drop probability, dp. A call evaluates it at s.

    Parameters
    ----------
    formula : str
        The response, in symbols.
    values : dict
        The value of each symbol.
    response : callable
        The response (1/packet) as a function of complex s or an array of it.
    left_out : tuple of str
        Parts of the algorithm that the linearisation leaves out.
    delay : float
        The longest delay (s) in the law: the age of its oldest sample.
    rational : tuple
        Coefficients of numerator and denominator, highest power of s first; None if the law is not a rational function.
    """

    formula: str
    values: dict[str, float]
    response: Callable[[Any], Any]
    left_out: tuple[str, ...] = ()
    delay: float = 0.0
    rational: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def __call__(self, s: Any) -> Any:
        """Return the response at s (1/packet)."""
        return self.response(np.asarray(s, dtype=complex))[()]

    def transfer_function(self) -> TransferFunction:
        """Return the law, from dq to dp, as a transfer function of python-control.

        Raises ValueError if the law is not rational, ImportError if control is not installed.
        """
        if self.rational is None:
            raise ValueError(f"{self.formula} is not a rational function")
        above, below = self.rational
        return python_control().tf(list(above), list(below))


def lred(
    beta: float,
    p0: float,
    estimator: bool = False,
    period: float = 1.0,
    window: int = 4,
    weight: float = 0.1,
    exponent: float = 0.5,
) -> ControlLaw:
    """Return LRED's law: a static gain, optionally with the slow dynamics of the measured loss ratio.

    Hc = beta p0^exponent, by default beta sqrt(p0). With the estimator Hc / (1 - E(s)), which at low frequencies is Hc
    (1 + 1 / (tau s)) with tau = (window/2 + 1/2 + weight / (1 - weight)) period. LRED, eq. (26). The estimator is ours:
    dp = dL + Hc dq at q = q0, with L the smoothed mean of p over the window, held for a period. The images of higher
    frequencies that sampling causes are neglected.
    """
    positive(beta=beta, p0=p0, period=period, window=window)
    not_negative(weight=weight, exponent=exponent)
    if p0 > 1 or weight >= 1:
        raise ValueError(f"p0 = {p0:g}, weight = {weight:g}: must be at most 1, and below 1")
    Hc = beta * p0**exponent
    left_out = ("p clipped to [0, 1]", "the noise of the measured ratio when drops are few")
    if not estimator:
        return ControlLaw(
            "Hc = beta sqrt(p0)" if exponent == 0.5 else f"Hc = beta p0^{exponent:g}",
            {"Hc": Hc},
            lambda s: Hc + 0 * s,
            (f"changes of L, held at p0: it follows within about {window * period:g} s", *left_out),
            rational=((Hc,), (1.0,)),
        )

    def response(s: Any) -> Any:
        held, measured = _lack(s * period), _lack(s * period * window)
        new = -np.expm1(-s * period)
        smoothed = weight * new / (1 - weight + weight * new)
        # 1 - E, written in terms of 1 minus each factor of E to avoid cancellation at low frequencies.
        return Hc / (smoothed + (1 - smoothed) * (held + (1 - held) * measured))

    tau = lag(window, weight, period)
    return ControlLaw("Hc / (1 - E(s))", {"Hc": Hc, "tau": tau}, response, left_out, delay=(window + 1) * period)


def lag(M: int = 4, m_w: float = 0.1, t_m: float = 1.0) -> float:
    """Return the lag of LRED's estimate behind a steadily moving loss ratio: t_m ((M + 1)/2 + m_w/(1 - m_w)) (s).

    The measured ratio is the mean over the last M periods; smoothing adds the mean of its geometric weights. Below
    1/lag LRED is therefore a PI controller: d(L)/dt = (p - L)/lag = (beta sqrt(L)/lag) (q - q0).
    """
    positive(t_m=t_m)
    not_negative(m_w=m_w)
    if m_w >= 1 or M < 1:
        raise ValueError(f"M = {M}, m_w = {m_w:g}: must be at least 1, and below 1")
    return t_m * ((M + 1) / 2 + m_w / (1 - m_w))


def pi(a: float, b: float, frequency: float, sampled: bool = True) -> ControlLaw:
    """Return PI's law: (a - b e^(-sT)) / (s T), or K (1 + s/z) / s with K = (a - b) / T and K / z = (a + b) / 2.

    LRED, eq. (32); Hollot et al. 2001. The sampled form adds a lag of exactly half a period: its numerator is Tustin's
    zero and its denominator the integrator with the hold.
    """
    positive(a=a, frequency=frequency)
    if not -a < b < a:
        raise ValueError(f"b = {b:g}: must be below a = {a:g}, or the law does not integrate the error, and above -a")
    T = 1 / frequency
    K = (a - b) * frequency
    z = K / ((a + b) / 2)
    left_out = ("p clipped to [0, 1]",)
    if sampled:
        return ControlLaw(
            "(a - b e^(-sT)) / (s T)",
            {"a": a, "b": b, "T": T, "K": K, "z": z},
            lambda s: ((a - b) - b * np.expm1(-s * T)) / (s * T),
            left_out,
            delay=T,
        )
    return ControlLaw(
        "K (1 + s/z) / s",
        {"K": K, "z": z},
        lambda s: K * (1 + s / z) / s,
        (f"sampling: {frequency:g} Hz", *left_out),
        rational=((K / z, K), (1.0, 0.0)),
    )


def rem(gamma: float, alpha: float, phi: float, interval: float, p0: float, sampled: bool = True) -> ControlLaw:
    """Return REM's law as a function of the queue: PI's, with gains that fall as p0 grows.

    PI's with a = gamma (1 - p0) ln(phi) and b = (1 - alpha) a. LRED, eqs. (35) and (36): dp = phi^-u ln(phi) du with
    phi^-u = 1 - p0. The rate form, ns-2's, agrees while drops are few: it also counts dropped packets.
    """
    positive(gamma=gamma, alpha=alpha, interval=interval, p0=p0)
    if not (phi > 1 and p0 < 1 and alpha <= 1):
        raise ValueError(
            f"phi = {phi:g}, p0 = {p0:g}, alpha = {alpha:g}: must be above 1, in (0, 1), and at most 1, in turn"
        )
    a = gamma * (1 - p0) * log(phi)
    law = pi(a, (1 - alpha) * a, 1 / interval, sampled)
    left_out = ("the fall of the slope of p as the price grows", "the lower bound 0 of the price")
    return ControlLaw(law.formula, law.values, law.response, (*left_out, *law.left_out[:-1]), law.delay, law.rational)


@dataclass(frozen=True)
class Ramp:
    """RED's drop ratio as a function of its average queue.

    Parameters
    ----------
    min_th : float
        Average queue (packets) above which packets are dropped.
    max_th : float
        Average queue (packets) at which p_b is ``max_p``.
    max_p : float
        p_b at ``max_th``, in (0, 1].
    gentle : bool
        Whether p_b continues to rise, reaching 1 at twice ``max_th``, or jumps to 1 at ``max_th``.
    spacing : str
        Spacing of drops: ``1993``, ``wait`` or ``none``.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """

    min_th: float
    max_th: float
    max_p: float
    gentle: bool = True
    spacing: str = "1993"

    def __post_init__(self) -> None:
        positive(min_th=self.min_th, max_p=self.max_p)
        if not self.max_th > self.min_th:
            raise ValueError(
                f"max_th = {self.max_th:g}: must be above min_th = {self.min_th:g} for p_b to have a slope"
            )
        if self.max_p > 1:
            raise ValueError(f"max_p = {self.max_p:g}: must be at most 1")
        if self.spacing not in ("1993", "wait", "none"):
            raise ValueError(f"spacing = {self.spacing!r}: must be 1993, wait or none")

    def ratio(self, average: float) -> float:
        """Return the fraction of packets dropped at an average queue.

        2 p_b / (1 + p_b) where gaps are uniform on [1, 1/p_b]; p_b / 1.5 where on [1/p_b, 2/p_b]; otherwise p_b.
        """
        p = self._called_for(average)[0]
        return {"1993": 2 * p / (1 + p), "wait": p / 1.5, "none": p}[self.spacing]

    def slope(self, average: float) -> float:
        """Return the slope of `ratio` (1/packet); 0 where no packet or every packet is dropped."""
        p, slope = self._called_for(average)
        return slope * {"1993": 2 / (1 + p) ** 2, "wait": 1 / 1.5, "none": 1.0}[self.spacing]

    def average(self, ratio: float) -> float | None:
        """Return the average queue (packets) at which a fraction of packets is dropped; None beyond the ramp."""
        p = self.base(ratio)
        if 0 < p <= self.max_p:
            return self.min_th + (self.max_th - self.min_th) * p / self.max_p
        if self.gentle and self.max_p < p < 1:
            return self.max_th * (1 + (p - self.max_p) / (1 - self.max_p))
        return None

    def base(self, ratio: float) -> float:
        """Return the p_b that drops a given fraction of packets: the inverse of `ratio` for the spacing."""
        return {"1993": ratio / (2 - ratio), "wait": 1.5 * ratio, "none": ratio}[self.spacing]

    def _called_for(self, average: float) -> tuple[float, float]:
        """Return p_b and its slope."""
        if average < self.min_th:
            return 0.0, 0.0
        if average < self.max_th:
            slope = self.max_p / (self.max_th - self.min_th)
            return slope * (average - self.min_th), slope
        if self.gentle and average < 2 * self.max_th:
            slope = (1 - self.max_p) / self.max_th
            return self.max_p + slope * (average - self.max_th), slope
        return 1.0, 0.0


def red(ramp: Ramp, average: float, w_q: float, arrivals: float) -> ControlLaw:
    """Return the law of RED, gentle or not, or of adaptive RED with max_p fixed.

    slope / (1 + s/K) with K = -arrivals ln(1 - w_q); the slope alone if w_q = 1. Hollot, Misra, Towsley and Gong 2001,
    with the slope of the drop ratio, which depends on spacing, in place of the slope of p_b.
    """
    positive(average=average, w_q=w_q, arrivals=arrivals)
    if w_q > 1:
        raise ValueError(f"w_q = {w_q:g}: must be at most 1")
    slope = ramp.slope(average)
    if not slope > 0:
        raise ValueError(f"average = {average:g} packets: not on RED's ramp, whose slope there is 0")
    left_out = (
        "the corners of the ramp",
        "the spacing of drops by a count",
        "the decay of the average while the link is idle",
    )
    if w_q == 1:
        return ControlLaw("slope", {"slope": slope}, lambda s: slope + 0 * s, left_out, rational=((slope,), (1.0,)))
    K = -arrivals * log1p(-w_q)
    return ControlLaw(
        "slope / (1 + s/K)",
        {"slope": slope, "K": K},
        lambda s: slope / (1 + s / K),
        left_out,
        rational=((slope,), (1 / K, 1.0)),
    )


def raqm(
    p0: float, C: float, m: float = 2.0, period: float = 1.0, f: float = 0.1, q0: float | None = None
) -> ControlLaw:
    """Return RAQM's law: an integrator of the rate error, hence proportional to the queue.

    p0 (1/q0 + m / (C T) (1 - f) / (1 - f z^-1) (1 - z^-1) / (s T)), z = e^(sT). RAQM, eqs. (2), (3) and (12); the
    linearisation is ours. While the link is busy and drops are not counted, C T + q(k) - q(k-1) packets arrive in a
    period, and the sum of these errors is the queue's error. RAQM does count drops: with the link's rate as expected
    rate, q0 is not an equilibrium. See the page on RAQM.
    """
    positive(p0=p0, C=C, period=period)
    not_negative(m=m, f=f)
    if p0 >= 1 or f >= 1:
        raise ValueError(f"p0 = {p0:g}, f = {f:g}: must be below 1")
    if q0 is not None:
        positive(q0=q0)
    fast, slow = 0.0 if q0 is None else p0 / q0, p0 * m / (C * period)

    def response(s: Any) -> Any:
        return fast + slow * (1 - f) / (1 - f * np.exp(-s * period)) * _mean(s * period)

    caution("RAQM counts dropped packets as arrivals: with r0 the link's rate, a full link at q0 is no equilibrium")
    return ControlLaw(
        "p0/q0 + p0 m / (C T) W(z) (1 - z^-1) / (s T)",
        {"p0": p0, "m": m, "T": period},
        response,
        ("dropped packets in the rate", "p(k) clipped to [p_min, 1]", "changes of alpha with the rate"),
        delay=period,
    )


WITHOUT = {
    "droptail": "it drops only when the buffer is full: there is no slope to linearise",
    "blue": "p changes by a step at an overflow and when the link becomes idle; in between, p is constant and the loop "
    "is open",
    "avq": "it controls the rate, not the queue; `aqmlab design avq` analyses its loop",
}
"""The algorithms that have no law from the queue to the drop probability, with the reason."""


def _lack(x: Any) -> Any:
    """Return 1 - `_mean`, accurate for small x."""
    small = np.abs(x) < 1e-3
    safe = np.where(small, 1.0, x)
    return np.where(small, x / 2 - x**2 / 6 + x**3 / 24 - x**4 / 120, 1 + np.expm1(-safe) / safe)


def _mean(x: Any) -> Any:
    """Return the response of a mean over the last T: (1 - e^-x) / x with x = s T."""
    small = np.abs(x) < 1e-8
    safe = np.where(small, 1.0, x)
    return np.where(small, 1 - x / 2, -np.expm1(-safe) / safe)
