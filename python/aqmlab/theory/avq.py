"""AVQ: the fluid model of its adapted capacity, its linearisation, and which alpha is stable, as far as that follows."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2, inf, isfinite, isinf, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, probability, remarks

Array = NDArray[np.float64]

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
    capacity: float,
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
    capacity : float
        C~(t), packets a second; it does not enter, but for the shape of the argument list.
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
    positive(rate=rate, delayed=delayed, capacity=capacity, delayed_capacity=delayed_capacity, N=N, d=d, C=C, beta=beta)
    _utilisation(gamma)
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
    _utilisation(gamma)
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
    return sqrt((spread + sqrt(spread**2 + 4 * (alpha * loop.K2) ** 2)) / 2)


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


def least_critical_alpha(
    N_min: float,
    R_max: float,
    C: float,
    gamma: float = 0.98,
    beta: float = SAWTOOTH,
    B: float = inf,
    points: int = 60,
) -> tuple[float, float]:
    """Give the least critical alpha of all flows from N_min on and all round trips up to R_max.

    Parameters
    ----------
    N_min : float
        The fewest flows.
    R_max : float
        The longest round-trip time (s).
    C : float
        What the link carries, packets a second.
    gamma : float
        Desired utilisation, in (0, 1].
    beta : float
        2/3 for one ACK a packet, 1/2 in other models.
    B : float
        Virtual buffer (packets) of an M/M/1/B marking; infinite for the fluid one.
    points : int
        Windows to scan, at least 2.

    Returns
    -------
    tuple of float
        alpha (1/s), 0 if somewhere none is stable, and the number of flows where it is so.

    Raises
    ------
    ValueError
        If an argument is out of its range, or so many flows send gamma C or more whatever is marked.

    Notes
    -----
    Times d, the loop has the window alone in it, so that of all with one window the longest round trip is the worst.
    With M/M/1/B that is not at N_min: see `elasticity_limit`, which falls faster with the window than the elasticity.
    """
    if points < 2:
        raise ValueError(f"points = {points}: must be at least 2")
    with remarks():
        linearise(N_min, R_max, C, gamma, beta, B)
        most = sqrt(beta) * gamma * C * R_max
        flows = np.geomspace(N_min, N_min + 0.95 * (most - N_min), points)
        found = [(critical_alpha(linearise(float(N), R_max, C, gamma, beta, B)), float(N)) for N in flows]
    return min(found)


def elasticity_limit(W: float) -> float:
    """Give how elastic the marking may be, or no alpha is stable.

    Parameters
    ----------
    W : float
        Window gamma C d / N (packets).

    Returns
    -------
    float
        e with sqrt((1 + e)^2 - 1) = W arccos(-1/(1 + e)): about (pi/2) W for large windows.

    Raises
    ------
    ValueError
        If W is not positive.

    Notes
    -----
    Ours: s + K11 (1 + (1 + e) e^(-s d)) with K11 d = 1/W, whatever marks. It leaves only the elasticity open.
    """
    positive(W=W)

    def excess(e: float) -> float:
        return sqrt((1 + e) ** 2 - 1) - W * float(np.arccos(-1 / (1 + e)))

    return float(brentq(excess, 0.0, 1 + pi * W, xtol=1e-14, rtol=1e-14))


def widest_window(beta: float = SAWTOOTH) -> float:
    """Give the window from which the fluid marking is stable with no alpha.

    Parameters
    ----------
    beta : float
        2/3 for one ACK a packet, 1/2 in other models.

    Returns
    -------
    float
        W (packets) at which the fluid's elasticity, beta W^2 - 1, is `elasticity_limit`.

    Raises
    ------
    ValueError
        If beta is not positive.
    """
    positive(beta=beta)
    least = sqrt(1 / beta)
    return float(brentq(lambda W: beta * W**2 - 1 - elasticity_limit(W), least * (1 + 1e-9), 10 * least + 10 / beta))


def buffer_limit(
    N: float, d: float, C: float, gamma: float = 0.98, beta: float = SAWTOOTH, alpha: float = 0.0
) -> float:
    """Give the virtual buffer with which a given alpha is just stable.

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
    alpha : float
        How fast the virtual capacity adapts (1/s); 0 for however slowly.

    Returns
    -------
    float
        B (packets) of an M/M/1/B marking, not whole in general; infinite if the fluid one is stable too. Larger ones are
        more elastic and unstable.

    Raises
    ------
    ValueError
        If an argument is out of its range, or even B = 0.01 is unstable.
    """
    not_negative(alpha=alpha)

    def margin(B: float) -> float:
        with remarks():
            loop = linearise(N, d, C, gamma, beta, B)
        return delay_limit(alpha, loop) - d

    if margin(inf) > 0:
        return inf
    most = 1.0
    while margin(most) > 0:
        most *= 2
    if margin(0.01) <= 0:
        raise ValueError(f"alpha = {alpha:g}: unstable even with a virtual buffer of 0.01 packets")
    return float(brentq(margin, 0.01, most, xtol=1e-12))


def working_rule(N: float, d: float, C: float, gamma: float = 0.98) -> float:
    """Give the limit on alpha that agrees with the one printed number.

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

    Returns
    -------
    float
        N / (gamma C d^2) = K11, 1/s.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Inferred, no theorem: with K12 near K2 the open loop is K2 (s + alpha) e^(-s d) / (s (s + K11)), and up to
    alpha = K11 the zero of the adaptation takes no more phase than the pole of TCP. The LRED paper's 0.2 for 100 flows, 450 ms
    and 2500 packets/s, which it has from AVQ's authors, is 0.2016 here.
    """
    positive(N=N, d=d, C=C)
    _utilisation(gamma)
    return N / (gamma * C * d**2)


def rightmost(alpha: float, loop: Loop, nodes: int = 40) -> complex:
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
    k = np.arange(nodes + 1)
    x = np.cos(pi * k / nodes)
    weight = np.where((k == 0) | (k == nodes), 2.0, 1.0) * (-1.0) ** k
    spread = x[:, None] - x[None, :] + np.eye(nodes + 1)
    D = np.outer(weight, 1 / weight) / spread
    D -= np.diag(D.sum(axis=1))
    generator = np.kron(D * 2 / loop.d, np.eye(2))
    generator[:2] = 0
    generator[:2, :2] = [[-loop.K11, 0], [-alpha, 0]]
    generator[:2, -2:] = [[-loop.K12, loop.K2], [0, 0]]
    s = complex(max(np.linalg.eigvals(generator), key=lambda z: z.real))
    for _ in range(20):
        late = complex(np.exp(-s * loop.d))
        slope = 2 * s + loop.K11 + (loop.K12 - loop.d * (loop.K12 * s + alpha * loop.K2)) * late
        move = characteristic(s, alpha, loop) / slope
        s -= move
        if abs(move) < 1e-15 * max(1.0, abs(s)):
            break
    return complex(s.real, abs(s.imag))


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """What is known of AVQ's alpha.

    Parameters
    ----------
    alpha_max : float
        The working rule N / (gamma C d^2) (1/s): inferred from one printed number, no theorem.
    alpha : float
        The alpha that is judged (1/s); alpha_max unless given.
    within_rule : bool
        Whether alpha is at most alpha_max.
    window : float
        gamma C d / N (packets).
    p : float
        Loss or marks at the equilibrium, N^2 / (beta (gamma C d)^2) with beta = 2/3.
    alpha_fluid : float
        Critical alpha if the virtual queue marks as a fluid (1/s): 0 for none is stable.
    alpha_mm1 : float
        Critical alpha if it marks as an M/M/1/20 queue (1/s).
    alpha_mm1_least : float
        The least of the same for more flows too (1/s).
    buffer_any : float or None
        Virtual buffer (packets) up to which an M/M/1/B marking leaves some alpha stable; none for every buffer.
    buffer_alpha : float or None
        The same for this alpha; none for every buffer.
    elasticity_max : float
        d ln p / d ln lambda of any marking up to which some alpha is stable.
    """

    alpha_max: float
    alpha: float
    within_rule: bool
    window: float
    p: float
    alpha_fluid: float
    alpha_mm1: float
    alpha_mm1_least: float
    buffer_any: float | None
    buffer_alpha: float | None
    elasticity_max: float


def design(*, N_min: float, R_max: float, C: float, gamma: float = 0.98, alpha: float | None = None) -> Design:
    """Judge AVQ's alpha at the fewest flows and the longest round trip.

    Parameters
    ----------
    N_min : float
        The fewest long-lived flows.
    R_max : float
        The longest round-trip time (s).
    C : float
        What the link carries, packets a second.
    gamma : float
        Desired utilisation, in (0, 1].
    alpha : float or None
        How fast the virtual capacity adapts (1/s), positive; the working rule's by default.

    Returns
    -------
    Design
        The working rule, and what each marking says.

    Raises
    ------
    ValueError
        If an argument is out of its range, or so many flows send gamma C or more whatever is marked.

    Notes
    -----
    All but alpha_mm1_least are for N_min and R_max themselves, which need not be the worst case.
    """
    with remarks() as told:
        rule = working_rule(N_min, R_max, C, gamma)
        alpha = rule if alpha is None else alpha
        positive(alpha=alpha)
        fluid = linearise(N_min, R_max, C, gamma)
        with remarks():  # of buffers that are examples
            queue = linearise(N_min, R_max, C, gamma, B=EXAMPLE_BUFFER)
        buffer_alpha = buffer_limit(N_min, R_max, C, gamma, alpha=alpha)
        window = gamma * C * R_max / N_min
        found = critical_alpha(fluid)
        caution(
            "alpha_max is a working rule, not the original theorem, which is open here: what is stable depends on "
            "how the virtual queue marks, and that is not known"
        )
        if alpha > rule:
            caution(f"alpha = {alpha:.4g} is above alpha_max = {rule:.4g}")
        if found == 0:
            caution(
                f"with the fluid marking no alpha is stable at a window of {window:.4g} packets (at most "
                f"{widest_window():.3g})"
            )
        elif alpha >= found:
            caution(f"with the fluid marking alpha = {alpha:.4g} is unstable: critical is {found:.4g}")
    return Design(
        alpha_max=rule,
        alpha=alpha,
        within_rule=alpha <= rule,
        window=window,
        p=fluid.p,
        alpha_fluid=found,
        alpha_mm1=critical_alpha(queue),
        alpha_mm1_least=least_critical_alpha(N_min, R_max, C, gamma, B=EXAMPLE_BUFFER)[0],
        buffer_any=_finite(buffer_limit(N_min, R_max, C, gamma)),
        buffer_alpha=_finite(buffer_alpha),
        elasticity_max=elasticity_limit(window),
        warnings=tuple(told),
    )


EXAMPLE_BUFFER = 20


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


def _utilisation(gamma: float) -> None:
    if gamma != 1:
        probability(gamma=gamma)


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
