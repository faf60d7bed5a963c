"""LRED's response time: the recursion of its estimator, with TCP always in equilibrium.

TCP that fills the link needs the loss ratio p0, whatever the queue. At the estimate L, the queue with that loss ratio
is q = q0 + (p0 - L) / (beta sqrt(L)). Above the buffer, overflow adds the losses that the law lacks. Below 0 the link
idles, and the loss ratio is L - beta sqrt(L) q0 > p0. The resulting loss ratio enters L over the next M periods.

Symbols, beside those of `aqmlab.theory`:

* p0: loss ratio at which TCP fills the link; overload: that of the first two periods, of which a half is the maximum,
  since slow start sends two packets for each that arrives.
* L0: initial estimate, in [0, 1): the previous load's loss ratio, or what a cold start's overload leaves.
* law: LRED's law and the buffer, by default as in the paper; periods: the number of periods.
* filled: periods with loss ratio L0 that the measurement covers at the start; M by default, fewer after a cold start.
* band: half the width of the band relative to q0, in (0, 1).

>>> response_time(0.0165, 0.193)  # 50 flows of experiment 1, after their slow starts
16.0
"""

from collections import deque
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory.domain import not_negative, positive, probability
from aqmlab.theory.laws import lag

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Trajectory:
    """Estimate, queue and loss ratio of each period.

    * t: start of each period (s); shape (periods,).
    * L: estimate during each period.
    * q: queue (packets).
    * loss: fraction of arrivals dropped, by the law or by overflow.
    """

    t: Array
    L: Array
    q: Array
    loss: Array


@dataclass(frozen=True)
class ResponseTime:
    """The response time in closed form.

    * lag: lag (s) of the estimate behind a steadily moving loss ratio.
    * empty: time (s) during which the queue stays empty because the estimate is too large.
    * settling: time (s) the queue then takes to settle within the band.
    """

    lag: float
    empty: float
    settling: float

    @property
    def total(self) -> float:
        """The sum of both phases (s)."""
        return self.empty + self.settling


def _below_1(**values: float) -> None:
    for name, value in values.items():
        if value >= 1:
            raise ValueError(f"{name} = {value:g}: must be below 1")


@dataclass(frozen=True, kw_only=True)
class Law:
    """LRED's law at a buffer of Q packets; by default as in the paper's first experiment.

    * q0: target (packets).
    * Q: buffer (packets).
    * beta: gain (per packet).
    * M: periods over which the loss ratio is measured.
    * m_w: weight of the previous estimate, in [0, 1).
    * t_m: length of a period (s).
    """

    q0: float = 100.0
    Q: float = 200.0
    beta: float = 0.001
    M: int = 4
    m_w: float = 0.1
    t_m: float = 1.0

    def __post_init__(self) -> None:
        not_negative(m_w=self.m_w)
        positive(q0=self.q0, Q=self.Q, beta=self.beta, t_m=self.t_m)
        _below_1(m_w=self.m_w)
        if self.q0 >= self.Q:
            raise ValueError(f"Q = {self.Q:g}: must be above q0 = {self.q0:g}")
        if self.M < 1:
            raise ValueError(f"M = {self.M}: must be at least 1")


PAPER = Law()


def trajectory(p0: float, L0: float, periods: int = 60, *, law: Law = PAPER, filled: int | None = None) -> Trajectory:
    """Return estimate, queue and loss ratio for each period.

    Eqs. (1) to (3) with equal arrivals in each period. TCP is assumed to be faster than the estimator: a window's time
    constant R^2 C/(2 N) must be well below `lag`. From L0 = 0 the buffer is full for the first period.
    """
    _check(p0, L0)
    if periods < 1:
        raise ValueError(f"periods = {periods}: must be at least 1")
    filled = law.M if filled is None else filled
    if not 0 <= filled <= law.M:
        raise ValueError(f"filled = {filled}: must be from 0 to M = {law.M}")
    found: Array = np.empty((3, periods))
    window, L = deque([L0] * filled, maxlen=law.M), L0
    for k in range(periods):
        gain = law.beta * sqrt(L)
        wanted = law.q0 + (p0 - L) / gain if gain > 0 else np.inf
        loss = p0 if wanted >= 0 else max(L - gain * law.q0, p0)
        found[:, k] = L, min(max(wanted, 0), law.Q), loss
        window.append(loss)
        L = law.m_w * L + (1 - law.m_w) * sum(window) / len(window)
    return Trajectory(law.t_m * np.arange(periods, dtype=float), found[0], found[1], found[2])


def response_time(p0: float, L0: float, *, law: Law = PAPER, filled: int | None = None, band: float = 0.2) -> float:
    """Predict the time (s) after which the queue of `trajectory` stays in a band about its target, in whole t_m."""
    closed = response_law(p0, L0, law=law, band=band)
    periods = int(3 * closed.total / law.t_m + 20 * closed.lag / law.t_m) + 20
    path = trajectory(p0, L0, periods, law=law, filled=filled)
    outside = np.flatnonzero(np.abs(path.q - law.q0) > band * law.q0)
    return float(law.t_m * (outside[-1] + 1)) if len(outside) else 0.0


def response_law(p0: float, L0: float, *, law: Law = PAPER, band: float = 0.2) -> ResponseTime:
    """Return the response time in closed form, which shows its dependences.

    With T = `lag`: while the queue is empty, d(L)/dt = -beta q0 sqrt(L)/T. Hence sqrt(L) falls linearly, to sqrt(Le) =
    beta q0/2 + sqrt((beta q0/2)^2 + p0), for (2 T/(beta q0)) (sqrt(L0) - sqrt(Le)). From then on, or from the start if
    L0 < Le, the loss ratio is p0, and after M periods the measurement no longer contains earlier values.
    """
    _check(p0, L0)
    probability(band=band)
    T, reach = lag(law.M, law.m_w, law.t_m), law.beta * law.q0
    at_empty = reach / 2 + sqrt(reach**2 / 4 + p0)
    empty = max(0.0, 2 * T / reach * (sqrt(L0) - at_empty))
    near = abs(p0 - L0) <= band * reach * sqrt(L0)
    return ResponseTime(T, empty, 0.0 if near else law.M * law.t_m)


def cold_start(p0: float, overload: float = 0.5, *, law: Law = PAPER, band: float = 0.2) -> float:
    """Predict the response time from an empty link, with flows in slow start during the first two periods.

    2 t_m + `response_time` (s) from L(2) = (1 - m_w^2) overload with two periods measured (or M, if smaller).
    """
    probability(overload=overload)
    left = (1 - law.m_w**2) * overload
    return 2 * law.t_m + response_time(p0, left, law=law, filled=min(2, law.M), band=band)


def _check(p0: float, L0: float) -> None:
    probability(p0=p0)
    not_negative(L0=L0)
    _below_1(L0=L0)
