"""What is known of a stable alpha for AVQ: a working rule, and what each marking of the virtual queue allows."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, pi, sqrt

import numpy as np
from scipy.optimize import brentq

from aqmlab.theory import domain
from aqmlab.theory.answer import Answer
from aqmlab.theory.avq.loop import SAWTOOTH, critical_alpha, delay_limit, linearise, utilisation
from aqmlab.theory.domain import caution, not_negative, positive, remarks

# The virtual buffer (packets) of which a design rule tells for example.
EXAMPLE_BUFFER = 20


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
    alpha = K11 the zero of the adaptation takes no more phase than the pole of TCP. The LRED paper's 0.2 for 100
    flows, 450 ms and 2500 packets/s, which it has from AVQ's authors, is 0.2016 here.
    """
    positive(N=N, d=d, C=C)
    utilisation(gamma)
    return N / (gamma * C * d**2)


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
        B (packets) of an M/M/1/B marking, not whole in general; infinite if the fluid one is stable too. Larger ones
        are more elastic and unstable.

    Raises
    ------
    ValueError
        If an argument is out of its range, or even B = 0.1 is unstable.
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
    least = 0.1
    if margin(least) <= 0:
        raise ValueError(f"alpha = {alpha:g}: unstable even with a virtual buffer of {least:g} packets")
    return float(brentq(margin, least, most, xtol=1e-12))


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


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """What is known of AVQ's alpha.

    Parameters
    ----------
    warnings : tuple of str
        Which conditions of the formulas fail here, and what that means.
    alpha_max : float
        The working rule N / (gamma C d^2) (1/s): inferred from one printed number, no theorem.
    alpha : float
        The alpha that is judged (1/s); alpha_max unless given.
    within_rule : bool
        Whether alpha is at most alpha_max.
    window : float
        W = gamma C d / N (packets).
    p : float or None
        Loss or marks at the equilibrium, 3/(2 W^2); none if that is no probability, and then no loop either.
    alpha_fluid : float or None
        Critical alpha if the virtual queue marks as a fluid (1/s): 0 for none is stable.
    alpha_mm1 : float or None
        Critical alpha if it marks as an M/M/1/20 queue (1/s).
    alpha_mm1_least : float or None
        The least of the same for more flows too (1/s).
    buffer_any : float or None
        Virtual buffer (packets) up to which an M/M/1/B marking leaves some alpha stable; none for every buffer.
    buffer_alpha : float or None
        The same for this alpha; none for every buffer, 0 for no buffer.
    elasticity_max : float
        d ln p / d ln lambda of any marking up to which some alpha is stable.
    """

    alpha_max: float
    alpha: float
    within_rule: bool
    window: float
    p: float | None = None
    alpha_fluid: float | None = None
    alpha_mm1: float | None = None
    alpha_mm1_least: float | None = None
    buffer_any: float | None = None
    buffer_alpha: float | None = None
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
        If an argument is out of its range.

    Notes
    -----
    All but alpha_mm1_least are for N_min and R_max themselves, which need not be the worst case.
    """
    rule = working_rule(N_min, R_max, C, gamma)
    alpha = rule if alpha is None else alpha
    positive(alpha=alpha)
    window = gamma * domain.window(N_min, R_max, C)
    loops: dict[str, float | None] = {}
    with remarks() as told:
        caution(
            "alpha_max is a working rule, not the original theorem, which is open here: what is stable depends on "
            "how the virtual queue marks, and that is not known"
        )
        if alpha > rule:
            caution(f"alpha = {alpha:.4g} is above alpha_max = {rule:.4g}")
        if SAWTOOTH * window**2 > 1:
            loops = _by_marking(N_min, R_max, C, gamma, alpha)
            _judge(alpha, window, loops)
        else:
            caution(
                f"at a window of {window:.3g} packets the model's flows send gamma C whatever is marked: it has no "
                "equilibrium, and time-outs rule"
            )
    return Design(
        alpha_max=rule,
        alpha=alpha,
        within_rule=alpha <= rule,
        window=window,
        elasticity_max=elasticity_limit(window),
        warnings=tuple(told),
        **loops,
    )


def _by_marking(N: float, d: float, C: float, gamma: float, alpha: float) -> dict[str, float | None]:
    """Give what `Design` has of each marking."""
    fluid = linearise(N, d, C, gamma)
    with remarks():  # The buffers are examples, and so is what is wrong with them.
        queue = linearise(N, d, C, gamma, B=EXAMPLE_BUFFER)
    try:
        buffer_alpha = buffer_limit(N, d, C, gamma, alpha=alpha)
    except ValueError:
        buffer_alpha = 0.0
    return {
        "p": fluid.p,
        "alpha_fluid": critical_alpha(fluid),
        "alpha_mm1": critical_alpha(queue),
        "alpha_mm1_least": least_critical_alpha(N, d, C, gamma, B=EXAMPLE_BUFFER)[0],
        "buffer_any": _finite(buffer_limit(N, d, C, gamma)),
        "buffer_alpha": _finite(buffer_alpha),
    }


def _judge(alpha: float, window: float, loops: dict[str, float | None]) -> None:
    """Remark on an alpha that a marking makes unstable."""
    fluid, queue, least = (loops[name] for name in ("alpha_fluid", "alpha_mm1", "alpha_mm1_least"))
    if fluid == 0:
        caution(
            f"with the fluid marking no alpha is stable at a window of {window:.4g} packets, nor at any from "
            f"{widest_window():.3g} on"
        )
    elif fluid is not None and alpha >= fluid:
        caution(f"with the fluid marking alpha = {alpha:.4g} is unstable: the critical one is {fluid:.4g}")
    if queue is not None and least is not None and least < min(queue, alpha):
        caution(
            f"with the marking of an M/M/1/{EXAMPLE_BUFFER} queue N_min is not the worst case: the critical alpha is "
            f"{queue:.4g} there and {least:.4g} with more flows"
        )


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
