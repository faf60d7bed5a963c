"""Stable values of alpha for AVQ: a working rule, and the limits set by each marking of the virtual queue.

Symbols are those of `aqmlab_papers.theory.avq.loop`, and:

* W: window gamma C d / N (packets); points: windows to scan, at least 2.
"""

from dataclasses import dataclass
from math import inf, isfinite, pi, sqrt

import numpy as np
from scipy.optimize import brentq

from aqmlab.theory import domain
from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, remarks
from aqmlab_papers.theory.avq.loop import SAWTOOTH, critical_alpha, delay_limit, linearise, utilisation

# The virtual buffer (packets) that the design rule takes as an example.
EXAMPLE_BUFFER = 20


def working_rule(N: float, d: float, C: float, gamma: float = 0.98) -> float:
    """Return the limit on alpha inferred from the only published number: N / (gamma C d^2) = K11, 1/s.

    Inferred, not a theorem: the LRED paper quotes 0.2 for 100 flows, 450 ms and 2500 packets/s, where this is 0.2016.
    """
    positive(N=N, d=d, C=C)
    utilisation(gamma)
    return N / (gamma * C * d**2)


def elasticity_limit(W: float) -> float:
    """Return the elasticity of the marking, whichever it is, above which no alpha is stable.

    e with sqrt((1 + e)^2 - 1) = W arccos(-1/(1 + e)), of s + K11 (1 + (1 + e) e^(-s d)) with K11 d = 1/W. Ours.
    """
    positive(W=W)

    def excess(e: float) -> float:
        return sqrt((1 + e) ** 2 - 1) - W * float(np.arccos(-1 / (1 + e)))

    return float(brentq(excess, 0.0, 1 + pi * W, xtol=1e-14, rtol=1e-14))


def widest_window(beta: float = SAWTOOTH) -> float:
    """Return the window W (packets) from which on fluid marking, of elasticity beta W^2 - 1, is stable for no alpha."""
    positive(beta=beta)
    least = sqrt(1 / beta)
    return float(brentq(lambda W: beta * W**2 - 1 - elasticity_limit(W), least * (1 + 1e-9), 10 * least + 10 / beta))


def buffer_limit(
    N: float, d: float, C: float, gamma: float = 0.98, beta: float = SAWTOOTH, alpha: float = 0.0
) -> float:
    """Return the buffer B (packets) above which an alpha is unstable with M/M/1/B marking; infinite if none is."""
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
    N_min: float, R_max: float, C: float, gamma: float = 0.98, beta: float = SAWTOOTH, B: float = inf, points: int = 60
) -> tuple[float, float]:
    """Return the least critical alpha over all flow counts from N_min and all round trips up to R_max.

    alpha (1/s), 0 if for some flow count no alpha is stable, and the number of flows at which it occurs. Scaled by d,
    the loop depends on the window alone; among loops of equal window the longest round trip is the worst.
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
    """Limits on AVQ's alpha.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    alpha_max : float
        The working rule N / (gamma C d^2) (1/s): inferred from one published number, not a theorem.
    alpha : float
        The alpha that is evaluated (1/s); alpha_max by default.
    within_rule : bool
        Whether alpha is at most alpha_max.
    window : float
        W = gamma C d / N (packets).
    p : float or None
        Loss or marking probability at the equilibrium, 3/(2 W^2); None, as is all that depends on the loop, if that is
        not a probability.
    alpha_fluid : float or None
        Critical alpha if the virtual queue marks as a fluid (1/s); 0 if no alpha is stable.
    alpha_mm1 : float or None
        Critical alpha if it marks as an M/M/1/20 queue (1/s).
    alpha_mm1_least : float or None
        The least alpha_mm1 over this and larger numbers of flows (1/s).
    buffer_any : float or None
        Virtual buffer (packets) up to which an M/M/1/B marking leaves some alpha stable; None if every buffer does.
    buffer_alpha : float or None
        The same for this alpha; None if every buffer does, 0 if none does.
    elasticity_max : float
        Elasticity of any marking, d ln p / d ln lambda, up to which some alpha is stable.
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
    """Bound AVQ's alpha.

    The bounds are a practical one and, for each kind of marking by the virtual queue, that of stability, at the fewest
    flows and the longest round trip.

    Parameters
    ----------
    N_min : float
        The fewest long-lived flows.
    R_max : float
        The longest round-trip time (s).
    C : float
        Link capacity (packets/s).
    gamma : float
        Desired utilisation, in (0, 1].
    alpha : float or None
        Adaptation rate of the virtual capacity (1/s), positive; the working rule's by default.

    Returns
    -------
    Design
        The working rule, and the limits set by each marking.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    All except alpha_mm1_least are for N_min and R_max, which need not be the worst case.
    """
    rule = working_rule(N_min, R_max, C, gamma)
    alpha = rule if alpha is None else alpha
    positive(alpha=alpha)
    window = gamma * domain.window(N_min, R_max, C)
    loops: dict[str, float | None] = {}
    with remarks() as warned:
        caution(
            "alpha_max is a working rule, not the original theorem: stability depends on how the virtual queue marks, "
            "which is unknown"
        )
        if alpha > rule:
            caution(f"alpha = {alpha:.4g} is above alpha_max = {rule:.4g}")
        if SAWTOOTH * window**2 > 1:
            loops = _by_marking(N_min, R_max, C, gamma, alpha)
            _judge(alpha, window, loops)
        else:
            caution(
                f"at a window of {window:.3g} packets the model's flows send gamma C however much is marked: it has no "
                "equilibrium, and time-outs dominate"
            )
    return Design(
        alpha_max=rule,
        alpha=alpha,
        within_rule=alpha <= rule,
        window=window,
        elasticity_max=elasticity_limit(window),
        warnings=tuple(warned),
        **loops,
    )


def _by_marking(N: float, d: float, C: float, gamma: float, alpha: float) -> dict[str, float | None]:
    """Return the fields of `Design` that depend on the marking."""
    fluid = linearise(N, d, C, gamma)
    with remarks():  # Drop warnings about the example buffer.
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
    """Warn if a marking makes alpha unstable."""
    fluid, queue, least = (loops[name] for name in ("alpha_fluid", "alpha_mm1", "alpha_mm1_least"))
    if fluid == 0:
        caution(
            f"with the fluid marking no alpha is stable at a window of {window:.4g} packets, nor at any from "
            f"{widest_window():.3g} on"
        )
    elif fluid is not None and alpha >= fluid:
        caution(f"with the fluid marking alpha = {alpha:.4g} is unstable: the critical alpha is {fluid:.4g}")
    if queue is not None and least is not None and least < min(queue, alpha):
        caution(
            f"with the marking of an M/M/1/{EXAMPLE_BUFFER} queue N_min is not the worst case: the critical alpha is "
            f"{queue:.4g} there and {least:.4g} with more flows"
        )


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
