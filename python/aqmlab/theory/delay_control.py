"""Proportional-integral control of the queueing delay: what PIE and PI2 share.

Both add ``alpha (d(k) - target) + beta (d(k) - d(k-1))`` to a state every ``t_update`` seconds, with d the queueing
delay; they differ in how the drop probability follows from the state.

Symbols, beside those of `aqmlab.theory`:

* alpha: gain on the difference of delay and target (Hz), positive; beta: on the change of the delay in a period (Hz).
* t_update: period of the update (s).
* slope: change of the drop probability per change of the state, at the equilibrium.
* lag: age of the measured delay (s): the target if it is the sojourn time of the packet that leaves, 0 if it is the
  present queue over the rate.
* target: target of the queueing delay (s), below R_max.
* N_max: most flows; by default those with windows of 2 packets at R_max.
* R_min: shortest round-trip time (s), the queue included; by default a tenth of R_max, or slightly more than the
  target.
* phase_margin: the wanted phase margin (degrees), in (0, 90).
* controller: PIE or PI2, without its gains.
* open_loop: a loop whose phase begins at -90 degrees and whose gain falls.
* phase_margins: phase margins (degrees), below 90; 0 is the boundary of stability.

>>> law = control_law(alpha=0.3125, beta=3.125, t_update=0.032, C=1250, slope=0.2)
>>> round(float(abs(law(1e-3j))), 6)  # nearly K / w with K = alpha slope / (C t_update)
1.5625
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi, sqrt

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory import laws, loop
from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, remarks, window

Array = NDArray[np.float64]

ETA = 1.5
"""w0^2 p0 with one packet per ACK, as in `aqmlab analyse`."""

LEAST_WINDOW = 2.0
"""Below this window (packets) time-outs dominate, and the model ends."""

_FLOWS, _ROUND_TRIPS = 12, 5
"""The size of the grid on which a range is examined."""


def control_law(
    alpha: float, beta: float, t_update: float, C: float, slope: float, lag: float = 0.0
) -> laws.ControlLaw:
    """Return the law from the queue to the drop probability.

    PI's law with a = slope (alpha + beta) / C and b = slope beta / C, times e^(-s lag). RFC 8033, section 4.2, and RFC
    9332, section A.1, with the hold of a period. The packet that leaves at t and has waited d arrived at t - d, when
    the queue was C d: a small change of d at t is that of q / C at t - d.
    """
    positive(alpha=alpha, t_update=t_update, C=C, slope=slope)
    not_negative(beta=beta, lag=lag)
    per_packet = slope / C
    law = laws.pi(per_packet * (alpha + beta), per_packet * beta, 1 / t_update)
    values = {"slope": slope, "alpha": alpha, "beta": beta, "T": t_update, "C": C, "lag": lag}
    return laws.ControlLaw(
        "slope e^(-s lag) (alpha + beta (1 - e^(-sT))) / (C s T)",
        values,
        lambda s: law(s) * np.exp(-s * lag),
        law.left_out,
        delay=t_update + lag,
    )


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """The loop of given gains at one load and over a range of loads, and gains for a wanted phase margin.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    alpha : float
        Assessed gain on the difference of delay and target (Hz).
    beta : float
        Assessed gain on the change of the delay in a period (Hz).
    w0 : float
        Window with the fewest flows at the longest round trip (packets).
    p0 : float
        Drop probability there, 1.5/w0^2.
    slope : float
        Change of the drop probability per unit of the controller's output there.
    stable : bool
        Whether the loop is stable there.
    gain_margin : float
        Factor by which the gains may grow there; below 1, the factor to which they must shrink.
    phase_margin_deg : float
        Phase margin there.
    delay_margin : float
        Tolerable increase of the delay there (s).
    n_max : float
        Largest number of flows examined.
    rtt_min : float
        Shortest round-trip time examined, queueing delay included (s).
    stable_in_range : bool
        Whether the loop is stable for all examined flows and round trips.
    least_phase_margin_deg : float
        Least phase margin in that range.
    least_gain_margin : float
        Least gain margin in that range.
    most_gain_margin : float
        Largest gain margin in that range; far above the least one, the controller is slow there.
    worst_n : float
        Flows at the least gain margin.
    worst_rtt : float
        Round-trip time at the least gain margin (s).
    worst_p0 : float
        Drop probability at the least gain margin.
    alpha_design : float
        alpha with which the phase margin in the range is at least the wanted one (Hz).
    beta_design : float
        beta with which it is (Hz).
    gain_margin_design : float
        Least gain margin of these two in the range.
    """

    alpha: float
    beta: float
    w0: float
    p0: float
    slope: float
    stable: bool
    gain_margin: float
    phase_margin_deg: float
    delay_margin: float
    n_max: float
    rtt_min: float
    stable_in_range: bool
    least_phase_margin_deg: float
    least_gain_margin: float
    most_gain_margin: float
    worst_n: float
    worst_rtt: float
    worst_p0: float
    alpha_design: float
    beta_design: float
    gain_margin_design: float


@dataclass(frozen=True)
class Controller:
    """A controller of the delay, without its gains.

    Parameters
    ----------
    slope : callable
        Change of the drop probability per change of the state, as a function of the drop probability.
    edges : tuple of float
        Drop probabilities from which the slope is larger by a jump.
    t_update : float
        Period of the update (s).
    lag : float
        Age of the measured delay (s).
    """

    slope: Callable[[float], float]
    edges: tuple[float, ...]
    t_update: float
    lag: float

    def loop(self, alpha: float, beta: float, N: float, R: float, C: float) -> loop.Loop:
        """Return the loop of given gains with a load.

        The plant is the complete linear part of the fluid model, with w(t) and w(t-R) apart.
        """
        plant = loop.Plant(N, R, C, ETA, queue_pole=True, merged=False)
        return loop.Loop(plant, control_law(alpha, beta, self.t_update, C, self.slope(plant.p0), self.lag))


def assess(
    controller: Controller,
    alpha: float,
    beta: float,
    *,
    N_min: float,
    R_max: float,
    C: float,
    target: float,
    N_max: float | None,
    R_min: float | None,
    phase_margin: float,
) -> Design:
    """Assess gains over a range of loads, and find gains for a wanted phase margin.

    The zero of the wanted gains is that of RFC 9332, section A.1, 1 / (3 R_max): alpha / (beta + alpha / 2) = t_update
    / (3 R_max). Windows below 2 packets are not examined.
    """
    positive(N_min=N_min, R_max=R_max, C=C, target=target)
    filling = window(N_min, R_max, C)
    if target >= R_max:
        raise ValueError(f"R_max = {R_max:g} s: must be above the target, {target:g} s, which it includes")
    if not 0 < phase_margin < 90:
        raise ValueError(f"phase_margin = {phase_margin:g} degrees: must be in (0, 90)")
    shortest = max(R_max / 10, min(1.1 * target, R_max)) if R_min is None else R_min
    if not target < shortest <= R_max:
        raise ValueError(f"R_min = {shortest:g} s: must be above the target, {target:g} s, and at most R_max")
    most = max(N_min, R_max * C / LEAST_WINDOW) if N_max is None else N_max
    if most < N_min:
        raise ValueError(f"N_max = {most:g}: must be at least N_min = {N_min:g}")
    with remarks() as warned:
        corner = controller.loop(alpha, beta, N_min, R_max, C)
        p0 = float(corner.plant.p0)  # type: ignore[attr-defined]
        found = corner.margins()
        if p0 >= 1:
            caution(f"no loop at a drop probability of {p0:.3g}: the margins are meaningless")
        loads = _loads(controller, N_min, most, shortest, R_max, C)
        rule = (controller.t_update / (3 * R_max), 1 - controller.t_update / (6 * R_max))
        bare = [controller.loop(*rule, *load, C) for load in loads]
        limits = np.array([largest_gains(one, [phase_margin, 0.0]) for one in bare])
        gain, boundary = limits.min(axis=0)
        margins = [controller.loop(alpha, beta, *load, C).margins() for load in loads]
        gains = [one.gain_margin for one in margins]
        worst = int(np.argmin(gains))
        N, R = loads[worst]
        unstable = sum(not one.stable for one in margins)
        if unstable:
            caution(
                f"unstable at {unstable} of {len(loads)} loads examined: with alpha = {alpha:g}, beta = {beta:g} the "
                f"gain is {1 / gains[worst]:.3g} times too high for {N:.3g} flows at {1e3 * R:.3g} ms"
            )
        if controller.t_update > R_max / 2:
            caution(f"t_update = {controller.t_update:g} s: more than half of R_max; sampling limits the gains")
    return Design(
        alpha=alpha,
        beta=beta,
        w0=filling,
        p0=p0,
        slope=controller.slope(p0),
        stable=found.stable,
        gain_margin=found.gain_margin,
        phase_margin_deg=found.phase_margin_deg,
        delay_margin=found.delay_margin,
        n_max=float(most),
        rtt_min=float(shortest),
        stable_in_range=not unstable,
        least_phase_margin_deg=min(one.phase_margin_deg for one in margins),
        least_gain_margin=gains[worst],
        most_gain_margin=max(gains),
        worst_n=float(N),
        worst_rtt=float(R),
        worst_p0=float(ETA * (N / (R * C)) ** 2),
        alpha_design=float(gain * rule[0]),
        beta_design=float(gain * rule[1]),
        gain_margin_design=float(boundary / gain),
        warnings=tuple(warned),
    )


def largest_gains(open_loop: loop.Loop, phase_margins: Sequence[float]) -> list[float]:
    """Return the factors on the gain of a loop at which its phase margins are given ones.

    For each, 1 / ``|T|`` at the first frequency where the phase is that much above -180 degrees.
    """
    w = np.geomspace(1e-3, 60, 2000) / open_loop.delay
    T = open_loop.response(w)
    phase = np.unwrap(np.angle(T))
    phase -= 2 * pi * np.round((phase[0] + pi / 2) / (2 * pi))
    loud = np.log(np.abs(T))
    found = []
    for phase_margin in phase_margins:
        line = np.radians(phase_margin) - pi
        k = int(np.argmax(phase < line))
        part = (phase[k - 1] - line) / (phase[k - 1] - phase[k])
        found.append(float(np.exp(-(loud[k - 1] + part * (loud[k] - loud[k - 1])))))
    return found


def _loads(
    controller: Controller, N_min: float, N_max: float, R_min: float, R_max: float, C: float
) -> list[tuple[float, float]]:
    """Return flows and round trips to examine: a grid, and the loads at which the slope jumps."""
    loads = [(N_min, R_max)]
    for R in np.geomspace(R_min, R_max, _ROUND_TRIPS):
        most = min(N_max, R * C / LEAST_WINDOW)
        if most < N_min:
            continue
        jumps = [R * C * sqrt(edge / ETA) * (1 + 1e-9) for edge in controller.edges]
        flows = [*np.geomspace(N_min, most, _FLOWS), *(N for N in jumps if N_min < N < most)]
        loads += [(float(N), float(R)) for N in flows]
    return loads
