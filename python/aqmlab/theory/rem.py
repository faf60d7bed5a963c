"""REM: the shortest response to an overload, the equilibrium queue of its rate form, and its loop.

Symbols, beside those of `aqmlab.theory`:

* phi: base of the exponential, above 1; gamma: step of the price (per packet).
* alpha: weight of the queue's error, in (0, 1], 0.1 in ns-2; frequency: updates per second.
* exact: whether to keep the exponential: -ln(1 - p0) takes the place of p0, and the bound is sharper.
* loss: fraction of arrivals that is dropped, in [0, 1).

>>> round(float(response_bound(0.1)), 2), round(float(response_bound(0.1, exact=True)), 2)
(20.01, 21.08)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory import laws, loop
from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, probability, remarks, window
from aqmlab.theory.pi import HOLLOT_ETA

Array = NDArray[np.float64]


def response_bound(
    p0: ArrayLike,
    phi: float = 1.001,
    gamma: float = 0.001,
    alpha: float = 0.1,
    frequency: float = 500.0,
    q0: float = 100.0,
    Q: float = 200.0,
    exact: bool = False,
) -> Array:
    """Return the least time that REM needs from a price of 0 to a given drop probability.

    p0 / (gamma alpha (Q - q0) f ln(phi)) (s). LRED paper, eqs. (35) to (40), which assume a full buffer throughout: u =
    k gamma alpha (Q - q0), p = 1 - phi^-u.
    """
    _check(phi, gamma, alpha, frequency, q0, Q)
    probability(p0=p0)
    p0 = np.asarray(p0, dtype=float)
    wanted = -np.log1p(-p0) if exact else p0
    return np.asarray(wanted / (gamma * alpha * (Q - q0) * frequency * np.log(phi)))


def rate_form_queue(
    loss: ArrayLike, C: float, q0: float = 100.0, alpha: float = 0.1, frequency: float = 500.0
) -> Array:
    """Return the equilibrium queue if the price uses the arrival rate, as in ns-2, instead of the queue's change.

    q0 - (c/alpha) l/(1 - l) with c = C/f, or 0 if that is negative (packets). Arrivals include dropped packets: in - c
    = c l/(1 - l), which alpha (q - q0) must offset.
    """
    not_negative(loss=loss, q0=q0)
    positive(C=C, alpha=alpha, frequency=frequency)
    loss = np.asarray(loss, dtype=float)
    if np.any(loss >= 1):
        raise ValueError(f"loss = {loss.max():g}: must be below 1")
    return np.asarray(np.maximum(0, q0 - C / frequency / alpha * loss / (1 - loss)))


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """REM's response time and loop at the fewest flows and the longest round trip.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    w0 : float
        Window at which the flows fill the link (packets).
    p0 : float
        Drop probability there, 2/w0^2 on Hollot's plant.
    response_slope : float
        Least response time per unit of drop probability (s).
    response_bound : float or None
        Least response time at p0, eq. (40) (s); None, like everything derived from p0, where p0 is not a probability.
    response_bound_exact : float or None
        The same without expanding the exponential.
    rate_form_queue : float or None
        Equilibrium queue of ns-2's rate form at p0 (packets).
    stable : bool or None
        Whether the loop, linearised at p0, is stable on Hollot's plant.
    gain_margin : float or None
        Factor by which the gain may grow; below 1, the factor to which it must shrink.
    phase_margin_deg : float or None
        Phase margin there.
    delay_margin : float or None
        Tolerable increase of the delay (s).
    gamma_max : float or None
        The largest gamma for which the loop is stable (per packet).
    """

    w0: float
    p0: float
    response_slope: float
    response_bound: float | None = None
    response_bound_exact: float | None = None
    rate_form_queue: float | None = None
    stable: bool | None = None
    gain_margin: float | None = None
    phase_margin_deg: float | None = None
    delay_margin: float | None = None
    gamma_max: float | None = None


def design(
    *,
    N_min: float,
    R_max: float,
    C: float,
    phi: float = 1.001,
    gamma: float = 0.001,
    alpha: float = 0.1,
    frequency: float = 500.0,
    q0: float = 100.0,
    Q: float = 200.0,
) -> Design:
    """Evaluate REM's parameters.

    The answer has the shortest response time, the queue at equilibrium, the margins, and the largest stable gamma, at
    the fewest flows and the longest round trip.

    Parameters
    ----------
    N_min : float
        Fewest flows.
    R_max : float
        Longest round-trip time (s), the queue included.
    C : float
        Capacity (packets/s).
    phi : float
        Base of the exponential, above 1.
    gamma : float
        Step of the price (per packet).
    alpha : float
        Weight of the queue's error, in (0, 1).
    frequency : float
        Updates per second.
    q0 : float
        Target queue (packets).
    Q : float
        Buffer (packets), above ``q0``.

    Returns
    -------
    Design
        Response time, margins and the largest gamma; ``warnings`` lists the conditions that fail.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The law is `laws.rem`: PI's, with the gains a = gamma ln(phi) (1 - p0) and (1 - alpha) a.
    """
    positive(N_min=N_min, R_max=R_max, C=C)
    window(N_min, R_max, C)
    _check(phi, gamma, alpha, frequency, q0, Q)
    with remarks() as warned:
        point = loop.operating_point(N_min, R_max, C, HOLLOT_ETA)
        p0 = float(point.p0)
        of_p0: dict[str, float | bool] = {}
        if p0 < 1:
            law = laws.rem(gamma, alpha, phi, 1 / frequency, p0)
            found = loop.Loop(loop.Plant(N_min, R_max, C, HOLLOT_ETA, queue_pole=True), law).margins()
            of_p0 = {
                "response_bound": float(response_bound(p0, phi, gamma, alpha, frequency, q0, Q)),
                "response_bound_exact": float(response_bound(p0, phi, gamma, alpha, frequency, q0, Q, exact=True)),
                "rate_form_queue": float(rate_form_queue(p0, C, q0, alpha, frequency)),
                "stable": found.stable,
                "gain_margin": found.gain_margin,
                "phase_margin_deg": found.phase_margin_deg,
                "delay_margin": found.delay_margin,
                "gamma_max": gamma * found.gain_margin,
            }
            if not found.stable:
                caution(
                    f"the loop is unstable at p0 = {p0:.3g} on Hollot's plant: gamma = {gamma:g} must be below "
                    f"{of_p0['gamma_max']:.3g}"
                )
    return Design(
        w0=float(point.w0),
        p0=p0,
        response_slope=float(1 / (gamma * alpha * (Q - q0) * frequency * np.log(phi))),
        **of_p0,  # type: ignore[arg-type]
        warnings=tuple(warned),
    )


def _check(phi: float, gamma: float, alpha: float, frequency: float, q0: float, Q: float) -> None:
    positive(phi=phi, gamma=gamma, alpha=alpha, frequency=frequency, q0=q0, Q=Q)
    if phi <= 1:
        raise ValueError(f"phi = {phi:g}: must be above 1")
    if alpha > 1:
        raise ValueError(f"alpha = {alpha:g}: must be at most 1")
    if q0 >= Q:
        raise ValueError(f"Q = {Q:g}: must be above q0 = {q0:g}")
