"""AVQ: the fluid model of its adapted capacity, and the loop at its equilibrium."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, hypot, inf, isinf, sqrt

import numpy as np
from scipy.optimize import brentq

from aqmlab.theory.domain import caution, not_negative, positive
from aqmlab.theory.lred.proportional import chebyshev

# 1/beta is the square of the constant of the square-root law: 3/2 for an ACK a packet; others take 2.
SAWTOOTH = 2 / 3


def marking(rho: float, B: float = inf) -> float:
    """Give the probability that the virtual queue overflows.

    Parameters
    ----------
    rho : float
        Rate of arrivals by the virtual capacity, lambda / C~.
    B : float
        Virtual buffer (packets) of an M/M/1/B queue, which need not be whole; infinite for the fluid.

    Returns
    -------
    float
        (1 - rho) rho^B / (1 - rho^(B+1)); the fluid's (1 - 1/rho)+ if B is infinite, which is its limit.

    Raises
    ------
    ValueError
        If an argument is out of its range.
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
    """Give by how many per cent the marking grows if the load grows by one.

    Parameters
    ----------
    rho : float
        Rate of arrivals by the virtual capacity; above 1 for the fluid.
    B : float
        Virtual buffer (packets), infinite for the fluid.

    Returns
    -------
    float
        e = d ln p / d ln rho: 1/(rho - 1) for the fluid, B/2 at rho = 1 for M/M/1/B.

    Raises
    ------
    ValueError
        If an argument is out of its range, or nothing is marked.
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
    """AVQ at its equilibrium, linearised.

    Parameters
    ----------
    d : float
        Round-trip time (s).
    p : float
        Probability of a mark, N^2 / (beta (gamma C d)^2).
    rate : float
        lambda = gamma C, packets a second.
    capacity : float
        Virtual capacity C~, packets a second.
    e : float
        Elasticity of the marking by the load.
    K11 : float
        N / (gamma C d^2), 1/s: the flows' own damping.
    K12 : float
        K11 (1 + e), 1/s: the delayed one, by the marks.
    K2 : float
        K11 e lambda / C~, 1/s: what the virtual capacity does to the rate.
    """

    d: float
    p: float
    rate: float
    capacity: float
    e: float
    K11: float
    K12: float
    K2: float


def derivatives(
    rate: float,
    delayed: float,
    delayed_capacity: float,
    *,
    N: float,
    d: float,
    C: float,
    gamma: float,
    alpha: float,
    beta: float = SAWTOOTH,
    B: float = inf,
) -> tuple[float, float]:
    """Give the right-hand side of the fluid model.

    Parameters
    ----------
    rate : float
        lambda(t), packets a second.
    delayed : float
        lambda(t - d).
    delayed_capacity : float
        C~(t - d).
    N : float
        Flows.
    d : float
        Round-trip time (s).
    C : float
        What the link carries, packets a second.
    gamma : float
        Desired utilisation.
    alpha : float
        How fast the virtual capacity adapts (1/s).
    beta : float
        2/3 for one ACK a packet, 1/2 in other models.
    B : float
        Virtual buffer of the `marking`.

    Returns
    -------
    tuple of float
        d lambda/dt = N/d^2 - (beta/N) lambda(t) lambda(t-d) p(lambda(t-d), C~(t-d)), and
        d C~/dt = alpha (gamma C - lambda).

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The sum over N equal flows, lambda = N x. The paper's virtual capacity also stays in [0, C].
    """
    positive(rate=rate, delayed=delayed, delayed_capacity=delayed_capacity, N=N, d=d, C=C, beta=beta)
    utilisation(gamma)
    not_negative(alpha=alpha)
    marked = marking(delayed / delayed_capacity, B)
    return N / d**2 - beta / N * rate * delayed * marked, alpha * (gamma * C - rate)


def linearise(N: float, d: float, C: float, gamma: float = 0.98, beta: float = SAWTOOTH, B: float = inf) -> Loop:
    """Give equilibrium and linearised loop.

    Parameters
    ----------
    N : float
        Flows.
    d : float
        Round-trip time (s).
    C : float
        What the link carries, packets a second.
    gamma : float
        Desired utilisation, in (0, 1].
    beta : float
        2/3 for one ACK a packet, 1/2 in other models.
    B : float
        Virtual buffer (packets) of an M/M/1/B marking; infinite for the fluid one.

    Returns
    -------
    Loop
        Equilibrium and constants.

    Raises
    ------
    ValueError
        If an argument is out of its range, or so many flows send gamma C or more whatever is marked.

    Notes
    -----
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
            f"N = {N:g}: must be below {sqrt(beta) * rate * d:g}, or the flows send gamma C whatever is marked"
        )
    rho = _load(p, B)
    e = elasticity(rho, B)
    K11 = 1 / (W * d)
    if rate / rho > C:
        caution(f"C~ = {rate / rho / C:.3g} C at the equilibrium of an M/M/1/{B:g} queue: AVQ's is at most C")
    return Loop(d=d, p=p, rate=rate, capacity=rate / rho, e=e, K11=K11, K12=K11 * (1 + e), K2=K11 * e * rho)


def characteristic(s: complex, alpha: float, loop: Loop) -> complex:
    """Give the characteristic function, whose zeros are the loop's poles.

    Parameters
    ----------
    s : complex
        1/s.
    alpha : float
        How fast the virtual capacity adapts (1/s).
    loop : Loop
        From `linearise`.

    Returns
    -------
    complex
        s^2 + K11 s + (K12 s + alpha K2) e^(-s d).

    Raises
    ------
    ValueError
        If alpha is out of its range.
    """
    not_negative(alpha=alpha)
    return complex(s * s + loop.K11 * s + (loop.K12 * s + alpha * loop.K2) * np.exp(-s * loop.d))


def crossing_frequency(alpha: float, loop: Loop) -> float:
    """Give the one frequency at which the open loop's gain is 1.

    Parameters
    ----------
    alpha : float
        How fast the virtual capacity adapts (1/s).
    loop : Loop
        From `linearise`.

    Returns
    -------
    float
        w with 2 w^2 = K12^2 - K11^2 + sqrt((K12^2 - K11^2)^2 + 4 alpha^2 K2^2), rad/s.

    Raises
    ------
    ValueError
        If alpha is out of its range.
    """
    not_negative(alpha=alpha)
    spread = loop.K12**2 - loop.K11**2
    return sqrt((spread + hypot(spread, 2 * alpha * loop.K2)) / 2)


def delay_limit(alpha: float, loop: Loop) -> float:
    """Give the delay up to which the loop is stable, its constants held.

    Parameters
    ----------
    alpha : float
        How fast the virtual capacity adapts (1/s).
    loop : Loop
        From `linearise`.

    Returns
    -------
    float
        (arctan(w K12 / (alpha K2)) + arctan(K11 / w)) / w at the `crossing_frequency` w, s. The loop is stable if and
        only if its delay is less.

    Raises
    ------
    ValueError
        If alpha is out of its range.

    Notes
    -----
    Without delay s^2 + (K11 + K12) s + alpha K2 is stable; poles come to the imaginary axis at w alone, and move right
    there. It falls in alpha, since w grows and both angles fall.
    """
    w = crossing_frequency(alpha, loop)
    return (atan2(w * loop.K12, alpha * loop.K2) + atan2(loop.K11, w)) / w


def critical_alpha(loop: Loop) -> float:
    """Give the alpha from which the loop is unstable.

    Parameters
    ----------
    loop : Loop
        From `linearise`.

    Returns
    -------
    float
        alpha (1/s) at which `delay_limit` is the delay; 0 if none is stable, however small.

    Notes
    -----
    None is stable if the flows and the marks alone are not, s + K11 + K12 e^(-s d): see `elasticity_limit`.
    """
    if delay_limit(0.0, loop) <= loop.d:
        return 0.0
    most = 1 / loop.d
    while delay_limit(most, loop) > loop.d:
        most *= 2
    return float(brentq(lambda alpha: delay_limit(alpha, loop) - loop.d, 0.0, most, xtol=1e-15, rtol=1e-13))


def rightmost(alpha: float, loop: Loop, nodes: int = 41) -> complex:
    """Give the loop's rightmost pole.

    Parameters
    ----------
    alpha : float
        How fast the virtual capacity adapts (1/s).
    loop : Loop
        From `linearise`.
    nodes : int
        Chebyshev nodes over the delay.

    Returns
    -------
    complex
        s (1/s) with the largest real part, the imaginary one not negative.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Eigenvalues of the delay equation's generator, collocated at Chebyshev's nodes, then Newton's method on
    `characteristic`.
    """
    not_negative(alpha=alpha)
    if nodes < 4:
        raise ValueError(f"nodes = {nodes}: must be at least 4")
    generator = np.kron(chebyshev(nodes) * 2 / loop.d, np.eye(2))
    generator[:2] = 0
    generator[:2, :2] = np.array([[-loop.K11, 0], [-alpha, 0]])
    generator[:2, -2:] = np.array([[-loop.K12, loop.K2], [0, 0]])
    s = complex(max(np.linalg.eigvals(generator), key=lambda z: z.real))
    for _ in range(20):
        late = complex(np.exp(-s * loop.d))
        slope = 2 * s + loop.K11 + (loop.K12 - loop.d * (loop.K12 * s + alpha * loop.K2)) * late
        move = characteristic(s, alpha, loop) / slope
        s -= move
        if abs(move) < 1e-15 * max(1.0, abs(s)):
            break
    return complex(s.real, abs(s.imag))


def _load(p: float, B: float) -> float:
    """Give the load at which so much is marked."""
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
    """Refuse a desired utilisation outside (0, 1].

    Parameters
    ----------
    gamma : float
        Desired utilisation.

    Raises
    ------
    ValueError
        With the value.
    """
    if not 0 < gamma <= 1:
        raise ValueError(f"gamma = {gamma:g}: must be in (0, 1]")
