"""PIE as a control loop: the gain that its table of factors leaves at each drop probability, and its design.

Symbols are those of `aqmlab.theory.delay_control`, and:

* docsis: whether the factors go on rising from p = 0.1 on, as in RFC 8034.
* share: drop probability of a packet over PIE's p, where p is that of a mean packet.

>>> factor(0.005)
0.125
>>> round(design(N_min=10, R_max=0.1, C=1250).gain_margin, 2)
2.67
"""

from __future__ import annotations

from aqmlab.theory import delay_control
from aqmlab.theory.delay_control import Controller, Design
from aqmlab.theory.domain import not_negative, positive
from aqmlab.theory.laws import ControlLaw

__all__ = ["design", "factor", "law"]

_TUNING = ((1e-6, 1 / 2048), (1e-5, 1 / 512), (1e-4, 1 / 128), (1e-3, 1 / 32), (1e-2, 1 / 8), (0.1, 1 / 2), (1.0, 1.0))
"""Each factor with the drop probability below which it applies: RFC 8033, section 4.2."""

_BEYOND = ((1.0, 2.0), (10.0, 8.0))
"""RFC 8034's, which p may exceed 1 for: in place of 1 from 0.1 on."""


def factor(p: float, docsis: bool = False) -> float:
    """Return the factor on PIE's gains at a drop probability.

    1/2048 below 1e-6, …, 1/2 below 0.1, and 1 from there; with ``docsis`` 2 from 0.1, 8 from 1 and 32 from 10 on. RFC
    8033, section 4.2; RFC 8034, section 4.2. Raises ValueError if p is negative.
    """
    not_negative(p=p)
    table = (*_TUNING[:-1], *_BEYOND) if docsis else _TUNING
    return next((part for below, part in table if p < below), 32.0 if docsis else 1.0)


def law(
    alpha: float,
    beta: float,
    t_update: float,
    C: float,
    p0: float,
    lag: float = 0.0,
    docsis: bool = False,
    share: float = 1.0,
) -> ControlLaw:
    """Return PIE's law at an equilibrium: `delay_control.control_law` with the slope ``share factor(p0 / share)``."""
    positive(share=share, p0=p0)
    slope = share * factor(p0 / share, docsis)
    found = delay_control.control_law(alpha, beta, t_update, C, slope, lag)
    left_out = (
        "PIE's rule to drop nothing below half the target: a large swing may last although small ones fade",
        "the change of PIE's gains from one band of p to the next, and the limit on the rise of p",
        *found.left_out,
    )
    return ControlLaw(found.formula, found.values, found.response, left_out, found.delay)


def design(
    *,
    N_min: float,
    R_max: float,
    C: float,
    target: float = 0.015,
    t_update: float = 0.015,
    alpha: float = 0.125,
    beta: float = 1.25,
    timestamps: bool = False,
    N_max: float | None = None,
    R_min: float | None = None,
    phase_margin: float = 45.0,
) -> Design:
    """Assess PIE's gains, and find better ones.

    The answer has the margins with the fewest flows at the longest round trip, the least ones over all flows and round
    trips, which include the loads where PIE's table of factors has its jumps, and gains for a wanted phase margin.

    Parameters
    ----------
    N_min : float
        Fewest flows.
    R_max : float
        Longest round-trip time (s), the queue included.
    C : float
        Capacity (packets/s).
    target : float
        Target of the queueing delay (s).
    t_update : float
        Period of the update (s).
    alpha : float
        Gain on the difference of delay and target (Hz).
    beta : float
        Gain on the change of the delay in a period (Hz).
    timestamps : bool
        Whether the delay is measured by the packets that leave, as in Linux, and hence is as old as it is long.
    N_max : float
        Most flows; by default those with windows of 2 packets at ``R_max``.
    R_min : float
        Shortest round-trip time (s), the queue included; by default a tenth of ``R_max``, or slightly more than the
        target.
    phase_margin : float
        The wanted phase margin (degrees), in (0, 90).

    Returns
    -------
    Design
        Margins and gains; ``warnings`` lists the conditions that fail.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    See `delay_control.assess`. Within a band of p the gain is constant while the flows' response falls with the square
    root of p: the margins are least at the lower end of a band, where the factor has just jumped.
    """
    controller = Controller(factor, tuple(edge for edge, _ in _TUNING[:-1]), t_update, target if timestamps else 0.0)
    return delay_control.assess(
        controller,
        alpha,
        beta,
        N_min=N_min,
        R_max=R_max,
        C=C,
        target=target,
        N_max=N_max,
        R_min=R_min,
        phase_margin=phase_margin,
    )
