"""LRED: limits on its gain, and the loop at a given gain.

Symbols, beside those of `aqmlab.theory`:

* beta: LRED's gain (per packet).
* merged: whether w(t - R) is approximated by w(t) in the product, as in the paper; otherwise the gain is smaller.

>>> round(design(N_min=300, R_max=0.35, C=2500).beta_star, 6)
0.000931
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory import loop
from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, positive, remarks, window
from aqmlab_papers.theory.lred import proportional
from aqmlab_papers.theory.lred.proportional import Account

Array = NDArray[np.float64]


def gain(N: ArrayLike, R: ArrayLike, C: ArrayLike, beta: ArrayLike = 0.001, eta: float = 1.5) -> Array:
    """Return the increase of LRED's drop probability per packet of queue, assuming an exact estimate.

    Hc = beta sqrt(p0) = beta sqrt(eta) N / (R C), per packet. Eqs. (6), (26) to (29); invalid where p0 exceeds 1.
    """
    positive(N=N, R=R, C=C, beta=beta, eta=eta)
    N, R, C, beta = (np.asarray(value, dtype=float) for value in (N, R, C, beta))
    return np.asarray(beta * np.sqrt(eta) * N / (R * C))


def y(N: ArrayLike, R: ArrayLike, C: ArrayLike, beta: ArrayLike = 0.001, eta: float = 1.5) -> Array:
    """Return twice the square of the frequency at which LRED's loop gain is 1: y (rad^2/s^2).

    Eq. (30): sqrt(A^2 + B) - A with A = (2 N)^2/(R^4 C^2), B = 4 beta^2 C^2/(eta R^2).
    """
    return proportional.y(N, R, C, gain(N, R, C, beta, eta), eta)


def beta0(N: ArrayLike, R: ArrayLike, C: ArrayLike, eta: float = 1.5, merged: bool = True) -> Array:
    """Return the gain at which LRED's loop is marginally stable: beta0 (per packet).

    Eq. (31) is x tan(x) = 2 N/(R C) in x = w R, and beta0 = sqrt(eta) x^2 / (R C cos x). Unmerged, x tan(x/2) = N/(R C)
    and beta0 = sqrt(eta) x^2 / (R C).
    """
    return np.asarray(loop.critical_gain(N, R, C, eta, merged) / gain(N, R, C, 1.0, eta))


def beta_bound(N: ArrayLike, R: ArrayLike, C: ArrayLike, eta: float = 1.5) -> Array:
    """Return the gain up to which `y` increases with R: sqrt(2 eta) (2 N)^2 / (R C)^3 (per packet).

    Lemma 5. An artefact of the proof: `beta0` falls with R and rises with N without it.
    """
    positive(N=N, R=R, C=C, eta=eta)
    N, R, C = (np.asarray(value, dtype=float) for value in (N, R, C))
    return np.asarray(np.sqrt(2 * eta) * (2 * N) ** 2 / (R * C) ** 3)


def beta_star(N_min: ArrayLike, R_max: ArrayLike, C: ArrayLike, eta: float = 1.5) -> Array:
    """Return the gain up to which Theorem 2 guarantees stability from N_min and up to R_max: min(beta0, beta_bound)."""
    positive(N_min=N_min, R_max=R_max)
    return np.minimum(beta0(N_min, R_max, C, eta), beta_bound(N_min, R_max, C, eta))


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """Limits on LRED's gain at the fewest flows and the longest round trip, and the loop at a given gain.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    beta0 : float
        Gain (per packet) at which the loop is marginally stable on LRED's plant, eq. (31).
    beta_bound : float
        Gain up to which Lemma 5 holds.
    beta_star : float
        Gain up to which Theorem 2 guarantees stability: the smaller of the two.
    beta : float
        The gain that is evaluated.
    guaranteed : bool
        Whether Theorem 2 covers beta: it is at most beta_star, and p0 is a probability.
    w0 : float
        Window (packets) at which N flows fill the link.
    p0 : float
        Drop probability there by the square-root law, eq. (6).
    crossover : float
        Frequency at which the loop gain is 1 on LRED's plant, at beta (rad/s).
    phase_margin_deg : float
        Phase margin on LRED's plant, at beta.
    phase_margin_queue_pole_deg : float or None
        The same with the queue's pole, as in Hollot's plant; None where the loop gain is below 1 at all frequencies.
    phase_margin_star_deg : float
        Phase margin on LRED's plant, at beta_star.
    phase_margin_queue_pole_star_deg : float or None
        The same with the queue's pole.
    beta0_without_merging : float
        beta0 without approximating w(t - R) by w(t).
    """

    beta0: float
    beta_bound: float
    beta_star: float
    beta: float
    guaranteed: bool
    w0: float
    p0: float
    crossover: float
    phase_margin_deg: float
    phase_margin_queue_pole_deg: float | None
    phase_margin_star_deg: float
    phase_margin_queue_pole_star_deg: float | None
    beta0_without_merging: float


def design(*, N_min: float, R_max: float, C: float, beta: float = 0.001, eta: float = 1.5) -> Design:
    """Bound LRED's gain beta, and give its margins.

    The bounds are beta0, that of Lemma 5, and beta*, at the fewest flows and the longest round trip.

    Parameters
    ----------
    N_min : float
        Fewest flows.
    R_max : float
        Longest round-trip time (s), the queue included.
    C : float
        Capacity (packets/s).
    beta : float
        The gain to evaluate (per packet).
    eta : float
        3/(2b), b packets per ACK.

    Returns
    -------
    Design
        Gains, bounds and margins; ``warnings`` lists the conditions that fail.

    Raises
    ------
    ValueError
        If an argument is not positive and finite.

    Notes
    -----
    Theorem 2 and eq. (31). The plants are those of `loop.Plant`.
    """
    positive(N_min=N_min, R_max=R_max, C=C, beta=beta, eta=eta)
    N, R = N_min, R_max
    window(N, R, C)
    with remarks() as warned:
        point = loop.operating_point(N, R, C, eta)
        limit, bound = float(beta0(N, R, C, eta)), float(beta_bound(N, R, C, eta))
        star = min(limit, bound)
        plain, pole = (loop.Plant(N, R, C, eta, queue_pole=with_pole) for with_pole in (False, True))
        at_beta, at_beta_pole, at_star, at_star_pole = (
            loop.Loop(plant, float(gain(N, R, C, b, eta))).margins() for b in (beta, star) for plant in (plain, pole)
        )
        if beta > star:
            caution(
                f"beta = {beta:g} is {beta / star:.3g} times beta* = {star:.4g}: Theorem 2 guarantees nothing; "
                f"{_verdict(at_beta)} on LRED's plant, {_verdict(at_beta_pole)} with the queue's pole"
            )
    return Design(
        beta0=limit,
        beta_bound=bound,
        beta_star=star,
        beta=float(beta),
        guaranteed=bool(beta <= star and point.p0 < 1),
        w0=float(point.w0),
        p0=float(point.p0),
        crossover=float(np.sqrt(y(N, R, C, beta, eta) / 2)),
        phase_margin_deg=float(90 - np.degrees(proportional.lag(N, R, C, gain(N, R, C, beta, eta), eta))),
        phase_margin_queue_pole_deg=_or_none(at_beta_pole.phase_margin_deg),
        phase_margin_star_deg=at_star.phase_margin_deg,
        phase_margin_queue_pole_star_deg=_or_none(at_star_pole.phase_margin_deg),
        beta0_without_merging=float(beta0(N, R, C, eta, merged=False)),
        warnings=tuple(warned),
    )


def check_lemma5(N: ArrayLike, R: ArrayLike, C: float, beta: ArrayLike, eta: float = 1.5) -> Account:
    """Scan Lemma 5: `y` falls with N, rises with beta, and rises with R if and only if beta is below `beta_bound`.

    Its slack is the smallest change of ln y in the claimed direction, between neighbouring points in N and in beta, and
    from (1 - 1e-6) R to (1 + 1e-6) R.
    """
    region = proportional.grid({"N": N, "R": R, "beta": beta})
    values = y(**region, C=C, eta=eta)
    claim = "y falls with N and rises with beta, and rises with R just where beta < beta_bound"
    along = proportional.monotony(claim, values, region, {"N": -1, "R": 0})
    step = 1e-6
    change = np.log(y(region["N"], region["R"] * (1 + step), C, region["beta"], eta)) - np.log(
        y(region["N"], region["R"] * (1 - step), C, region["beta"], eta)
    )
    rises = region["beta"] < beta_bound(region["N"], region["R"], C, eta)
    across = proportional.account(claim, np.where(rises, change, -change), region)
    return min(along, across, key=lambda found: found.slack)


def check_corner(N: ArrayLike, R: ArrayLike, C: float, eta: float = 1.5) -> Account:
    """Scan whether `beta0` rises with N and falls with R, which puts its minimum at the fewest flows and longest R.

    Its slack is the smallest change of ln beta0 between neighbouring points, in the claimed direction. Ours.
    """
    region = proportional.grid({"N": N, "R": R})
    return proportional.monotony(
        "beta0 rises with N and falls with R", beta0(region["N"], region["R"], C, eta), region, {"R": -1}
    )


def check_theorem2(N: ArrayLike, R: ArrayLike, C: float, beta: ArrayLike, eta: float = 1.5) -> Account:
    """Scan Theorem 2: LRED's loop is stable at every N, R and beta of a region.

    Its slack is the distance of the rightmost root of eq. (13) to the left of the imaginary axis, times R.
    """
    region = proportional.grid({"N": N, "R": R, "beta": beta})
    Hc = gain(**region, C=C, eta=eta)
    root = proportional.rightmost_root(region["N"], region["R"], C, Hc, eta)
    return proportional.account("LRED's loop is stable", -root.real * region["R"], region)


def _verdict(found: loop.Margins) -> str:
    margin = found.phase_margin_deg
    margins = f"phase margin {margin:.3g} degrees" if np.isfinite(margin) else "gain below 1"
    return f"{'stable' if found.stable else 'unstable'} ({margins})"


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
