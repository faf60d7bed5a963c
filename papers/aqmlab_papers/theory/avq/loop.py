"""AVQ: the fluid model of its adaptive virtual capacity, and the loop linearised at its equilibrium.

Symbols, beside those of `aqmlab.theory`:

* d: round-trip time (s); gamma: desired utilisation, in (0, 1]; alpha: adaptation rate of the virtual capacity (1/s).
* rho: arrival rate over the virtual capacity, lambda / C~; above 1 for the fluid.
* B: virtual buffer (packets) of an M/M/1/B queue, not necessarily an integer; infinite for the fluid.
* beta: 2/3 for one ACK per packet, 1/2 in other models.
* loop: the loop's constants, from `linearise`.
"""

from dataclasses import dataclass
from math import atan2, hypot, inf, isinf, sqrt

import numpy as np
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, not_negative, positive

# 1/beta is the square of the constant in the square-root law: 3/2 with one ACK per packet; other models use 2.
SAWTOOTH = 2 / 3


def marking(rho: float, B: float = inf) -> float:
    """Return the probability that the virtual queue overflows.

    (1 - rho) rho^B / (1 - rho^(B+1)); the fluid's (1 - 1/rho)+, its limit, if B is infinite.
    """
    positive(rho=rho)
    _buffer(B)
    if isinf(B):
        return max(0.0, 1 - 1 / rho)
    y = float(np.log(rho))
    if y == 0:
        return 1 / (B + 1)
    if y > 0:
        return float(np.expm1(-y) / np.expm1(-(B + 1) * y))
    return float(np.exp(B * y) * np.expm1(y) / np.expm1((B + 1) * y))


def elasticity(rho: float, B: float = inf) -> float:
    """Return the relative change of the marking probability per relative change of the load.

    e = d ln p / d ln rho: 1/(rho - 1) for the fluid, B/2 at rho = 1 for M/M/1/B.
    """
    positive(rho=rho)
    _buffer(B)
    if isinf(B):
        if rho <= 1:
            raise ValueError(f"rho = {rho:g}: must be above 1, or the fluid marks nothing")
        return 1 / (rho - 1)
    y = float(np.log(rho))
    if (B + 1) * abs(y) < 1e-4:
        return B / 2 - y * B * (B + 2) / 12
    with np.errstate(over="ignore"):
        one, all_ = (z / float(-np.expm1(-z)) for z in (y, (B + 1) * y))
    return B + (one - all_) / y


@dataclass(frozen=True, kw_only=True)
class Loop:
    """AVQ's loop, linearised at its equilibrium.

    * d: round-trip time (s).
    * p: probability of a mark, N^2 / (beta (gamma C d)^2).
    * rate: lambda = gamma C, packets a second.
    * capacity: virtual capacity C~, packets a second.
    * e: elasticity of the marking with respect to the load.
    * K11: n / (gamma C d^2), 1/s: the flows' undelayed damping.
    * K12: K11 (1 + e), 1/s: the delayed damping by marks.
    * K2: K11 e lambda / C~, 1/s: the effect of the virtual capacity on the rate.
    """

    d: float
    p: float
    rate: float
    capacity: float
    e: float
    K11: float
    K12: float
    K2: float


def linearise(N: float, d: float, C: float, gamma: float = 0.98, beta: float = SAWTOOTH, B: float = inf) -> Loop:
    """Return the equilibrium and the linearised loop.

    delta lambda' = -K11 delta lambda(t) - K12 delta lambda(t-d) + K2 delta C~(t-d), delta C~' = -alpha delta lambda.
    With the window W = gamma C d / N: K11 = 1/(W d), p = 1/(beta W^2). For the fluid K12 = K2 = beta W / d.
    """
    positive(N=N, d=d, C=C, beta=beta)
    utilisation(gamma)
    _buffer(B)
    rate = gamma * C
    W = rate * d / N
    p = 1 / (beta * W**2)
    if p >= 1:
        raise ValueError(
            f"N = {N:g}: must be below {sqrt(beta) * rate * d:g}, or the flows send gamma C however much is marked"
        )
    rho = _load(p, B)
    e = elasticity(rho, B)
    K11 = 1 / (W * d)
    if rate / rho > C:
        caution(f"C~ = {rate / rho / C:.3g} C at the equilibrium of an M/M/1/{B:g} queue: AVQ's is at most C")
    return Loop(d=d, p=p, rate=rate, capacity=rate / rho, e=e, K11=K11, K12=K11 * (1 + e), K2=K11 * e * rho)


def crossing_frequency(alpha: float, loop: Loop) -> float:
    """Return the only frequency at which the open loop's gain is 1.

    w with 2 w^2 = K12^2 - K11^2 + sqrt((K12^2 - K11^2)^2 + 4 alpha^2 K2^2), rad/s.
    """
    not_negative(alpha=alpha)
    spread = loop.K12**2 - loop.K11**2
    return sqrt((spread + hypot(spread, 2 * alpha * loop.K2)) / 2)


def delay_limit(alpha: float, loop: Loop) -> float:
    """Return the delay below which, and only below which, the loop with these constants is stable.

    (arctan(w K12 / (alpha K2)) + arctan(K11 / w)) / w at the `crossing_frequency` w, s. It falls as alpha grows.
    """
    w = crossing_frequency(alpha, loop)
    return (atan2(w * loop.K12, alpha * loop.K2) + atan2(loop.K11, w)) / w


def critical_alpha(loop: Loop) -> float:
    """Return the alpha (1/s) from which the loop is unstable: `delay_limit` is its delay; 0 if no alpha is stable."""
    if delay_limit(0.0, loop) <= loop.d:
        return 0.0
    most = 1 / loop.d
    while delay_limit(most, loop) > loop.d:
        most *= 2
    return float(brentq(lambda alpha: delay_limit(alpha, loop) - loop.d, 0.0, most, xtol=1e-15, rtol=1e-13))


def _load(p: float, B: float) -> float:
    """Return the load at which the marking probability is p."""
    if isinf(B):
        return 1 / (1 - p)
    least, most = -1.0, 1.0
    while marking(float(np.exp(least)), B) > p:
        least *= 2
    while marking(float(np.exp(most)), B) < p:
        most *= 2
    return float(np.exp(brentq(lambda y: marking(float(np.exp(y)), B) - p, least, most, xtol=1e-15, rtol=1e-14)))


def _buffer(B: float) -> None:
    if not B > 0:
        raise ValueError(f"B = {B:g}: must be positive; inf for the fluid")


def utilisation(gamma: float) -> None:
    """Raise ValueError unless a desired utilisation is in (0, 1]."""
    if not 0 < gamma <= 1:
        raise ValueError(f"gamma = {gamma:g}: must be in (0, 1]")
