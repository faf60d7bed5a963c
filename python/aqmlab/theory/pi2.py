"""PI2 as a control loop: squaring the controller's output makes its gain independent of the load.

Symbols are those of `aqmlab.theory.delay_control`.

>>> round(slope(0.01), 6)
0.2
"""

from __future__ import annotations

from math import sqrt

from aqmlab.theory import delay_control
from aqmlab.theory.delay_control import Controller, Design
from aqmlab.theory.domain import positive
from aqmlab.theory.laws import ControlLaw

__all__ = ["design", "law", "slope"]


def slope(p: float) -> float:
    """Return the change of the drop probability per change of the controller's output p': 2 p' = 2 sqrt(p)."""
    positive(p=p)
    return 2 * sqrt(p)


def law(alpha: float, beta: float, t_update: float, C: float, p0: float, lag: float) -> ControlLaw:
    """Return PI2's law at an equilibrium: `delay_control.control_law` with the slope 2 p'."""
    return delay_control.control_law(alpha, beta, t_update, C, slope(p0), lag)


def design(
    *,
    N_min: float,
    R_max: float,
    C: float,
    target: float = 0.02,
    t_update: float = 0.032,
    alpha: float = 0.3125,
    beta: float = 3.125,
    N_max: float | None = None,
    R_min: float | None = None,
    phase_margin: float = 45.0,
) -> Design:
    """Assess PI2's gains, and find better ones.

    The answer has the margins with the fewest flows at the longest round trip, the least ones over all flows and round
    trips, and gains for a wanted phase margin.

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
    See `delay_control.assess`. With p0' = sqrt(1.5) N/(R C) the product of the plant's gain C^2/(1.5 N), the slope
    2 p0' and 1/C is 2 / (sqrt(1.5) R): it contains neither flows nor capacity.
    """
    controller = Controller(slope, (), t_update, target)
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
