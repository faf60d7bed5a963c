"""PI: its design rule, the stability margins that the rule leaves, and the shortest response to an overload.

Symbols, beside those of `aqmlab.theory`:

* K: gain of the integrator (1/(packet s)); z: zero of the controller (rad/s).
* a, b: gains on the present error and on that of one period ago (per packet), b below a.
* frequency: updates per second.

>>> found = design(N_min=100, R_max=0.45, C=2500)
>>> f"{found.a:.4g} {found.b:.4g}"
'2.857e-05 2.85e-05'
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory import laws, loop
from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, positive, probability, remarks, window

Array = NDArray[np.float64]

HOLLOT_ETA = 2.0
"""eta of Hollot's plant: a loss halves the window at w^2/2 (no 3/(2b))."""


def rule(N_min: float, R_max: float, C: float) -> tuple[float, float]:
    """Return the controller of Hollot's rule: K (1/(packet s)) and z (rad/s) of K (s/z + 1)/s.

    z = 2 N/(R^2 C) is TCP's pole; the loop gain is set to 1 there, ``K = z |1 + j z R| (2 N)^2/(R C)^3``. Hollot,
    Misra, Towsley and Gong 2001. The rule assumes that TCP's pole is below the queue's, R C/N >= 2.
    """
    positive(N_min=N_min, R_max=R_max, C=C)
    z = 2 * N_min / (R_max**2 * C)
    return z * hypot(1, z * R_max) * (2 * N_min) ** 2 / (R_max * C) ** 3, z


def tustin(K: float, z: float, frequency: float = 170.0) -> tuple[float, float]:
    """Return the gains of the sampled PI, p(k) = p(k-1) + a (q(k) - q0) - b (q(k-1) - q0).

    a = K (1/z + 1/(2 f)) and b = K (1/z - 1/(2 f)), per packet; a - b = K/f, (a + b)/2 = K/z. Warns if updates are so
    rare that b is not positive.
    """
    positive(K=K, z=z, frequency=frequency)
    if z >= 2 * frequency:
        caution(f"frequency = {frequency:g}: must be above z/2 = {z / 2:g} Hz, or b is not positive")
    half = 1 / (2 * frequency)
    return K * (1 / z + half), K * (1 / z - half)


def corner_phase_margin_deg(N_min: ArrayLike, R_max: ArrayLike, C: ArrayLike) -> Array:
    """Return the phase margin that Hollot's rule leaves at the flows and round trip of the design.

    90 - x - arctan(x) in degrees, x = 2 N/(R C). It is positive only where R C/N is above 2.3247: the rule's condition
    is not sufficient. Hollot's plant with a continuous controller: its zero cancels TCP's pole, and its gain is 1 only
    at z.
    """
    positive(N_min=N_min, R_max=R_max, C=C)
    N, R, C = (np.asarray(value, dtype=float) for value in (N_min, R_max, C))
    x = 2 * N / (R * C)
    return np.asarray(90 - np.degrees(x + np.arctan(x)))


def response_bound(
    p0: ArrayLike, a: ArrayLike, b: ArrayLike, frequency: float = 170.0, q0: float = 100.0, Q: float = 200.0
) -> Array:
    """Return the least time that PI needs from p = 0 to a given drop probability: p0/((a - b) (Q - q0) f) (s).

    LRED paper, eqs. (32) to (34), which assume a full buffer throughout. With PI*'s gains it is not full, and the bound
    is loose.
    """
    probability(p0=p0)
    positive(a=a, b=b, frequency=frequency, q0=q0, Q=Q)
    p0, a, b = (np.asarray(value, dtype=float) for value in (p0, a, b))
    if np.any(b >= a):
        raise ValueError(f"b = {b}: must be below a = {a}, or there is no integral action")
    if q0 >= Q:
        raise ValueError(f"Q = {Q:g}: must be above q0 = {q0:g}")
    return np.asarray(p0 / ((a - b) * (Q - q0) * frequency))


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """PI's gains by Hollot's rule (PI*), and the loop they form at the flows and round trip of the design.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    a : float
        Gain on the present error (per packet).
    b : float
        Gain on the error one period ago (per packet).
    z : float
        Zero of the controller, on TCP's pole; there the loop gain is 1 (rad/s).
    K : float
        Gain of its integrator (1/(packet s)).
    frequency : float
        Updates per second.
    w0 : float
        Window at which the flows fill the link (packets).
    p0 : float
        Drop probability there, 2/w0^2 on Hollot's plant.
    valid : bool
        Whether R C/N is at least 2, as the rule assumes: TCP's pole below the queue's.
    stable : bool
        Whether the loop is stable there on Hollot's plant, which requires R C/N above 2.3247.
    gain_margin : float
        Factor by which the gain may grow; below 1, the factor to which it must shrink.
    phase_margin_deg : float
        Phase margin on Hollot's plant with the controller sampled and held.
    phase_margin_continuous_deg : float
        The same without sampling.
    delay_margin : float
        Tolerable increase of the delay (s).
    response_slope : float
        Least response time per unit of drop probability, Q - q0 = 100 packets (s).
    """

    a: float
    b: float
    z: float
    K: float
    frequency: float
    w0: float
    p0: float
    valid: bool
    stable: bool
    gain_margin: float
    phase_margin_deg: float
    phase_margin_continuous_deg: float
    delay_margin: float
    response_slope: float


def design(*, N_min: float, R_max: float, C: float, frequency: float = 170.0) -> Design:
    """Design PI by Hollot's rule.

    The answer has the gains a and b, whether the rule (PI*) is valid here, and the margins of the loop.

    Parameters
    ----------
    N_min : float
        Fewest flows.
    R_max : float
        Longest round-trip time (s), the queue included.
    C : float
        Capacity (packets/s).
    frequency : float
        Updates per second.

    Returns
    -------
    Design
        Gains and margins; ``warnings`` lists the conditions that fail.

    Raises
    ------
    ValueError
        If an argument is not positive and finite.

    Notes
    -----
    `rule`, then Tustin's rule at ``frequency``. The margins are those of `laws.pi`, sampled and held.
    """
    positive(N_min=N_min, R_max=R_max, C=C, frequency=frequency)
    N, R = N_min, R_max
    filling = window(N, R, C)
    K, z = rule(N, R, C)
    with remarks() as warned:
        a, b = tustin(K, z, frequency)
        point = loop.operating_point(N, R, C, HOLLOT_ETA)
        found = loop.Loop(loop.Plant(N, R, C, HOLLOT_ETA, queue_pole=True), laws.pi(a, b, frequency)).margins()
        if filling < 2:
            caution(
                f"R C/N = {filling:.3g} is below 2: the rule is invalid and its gains are meaningless; "
                f"it is valid from R = {2 * N / C:.3g} s on"
            )
        elif not found.stable:
            caution(
                f"R C/N = {filling:.3g}: the rule is valid from 2 on but its loop is stable only above 2.325; here the "
                f"phase margin is {found.phase_margin_deg:.2g} degrees"
            )
    return Design(
        a=a,
        b=b,
        z=z,
        K=K,
        frequency=float(frequency),
        w0=float(point.w0),
        p0=float(point.p0),
        valid=filling >= 2,
        stable=found.stable,
        gain_margin=found.gain_margin,
        phase_margin_deg=found.phase_margin_deg,
        phase_margin_continuous_deg=float(corner_phase_margin_deg(N, R, C)),
        delay_margin=found.delay_margin,
        response_slope=1 / (100 * K),
        warnings=tuple(warned),
    )
