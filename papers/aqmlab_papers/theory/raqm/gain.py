"""RAQM's law, the bound on its gain, and gains to choose below it; equation numbers are the paper's.

Symbols, beside those of `aqmlab.theory`:

* r, r0: rate and expected rate (bytes/s).
* alpha: gain (s/byte).
* arrivals: bytes that arrived in each period, including dropped ones; T: period (s).
* weight: f' = e^(-T/f), in [0, 1); the paper's 0.1 with T = 1 s is f = 0.434 s.
"""

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab.theory.answer import Answer
from aqmlab.theory.domain import caution, not_negative, positive, remarks
from aqmlab_papers.theory.raqm.map import c, factor
from aqmlab_papers.theory.raqm.smoothed import smoothed_radius

Array = NDArray[np.float64]

# f' in the paper's simulations.
PAPER_WEIGHT = 0.1


def rate_estimate(arrivals: ArrayLike, T: float, weight: float, r: float = 0.0) -> Array:
    """Return the smoothed arrival rate of each period, eq. (2): r_k = (1 - f') I_k / T + f' r_(k-1) (bytes/s)."""
    positive(T=T)
    not_negative(arrivals=arrivals, r=r)
    _old_weight(weight)
    found = []
    for bytes_ in np.atleast_1d(np.asarray(arrivals, dtype=float)):
        r = (1 - weight) * float(bytes_) / T + weight * r
        found.append(r)
    return np.array(found)


def next_probability(p: ArrayLike, r: ArrayLike, r0: float, alpha: ArrayLike) -> Array:
    """Return the drop probability after one period: p_k = p_(k-1) e^(alpha (r_k - r0)), at most 1.

    Eq. (3), with the limit of figure 1. In print the exponent lacks alpha. p = 0 stays 0.
    """
    not_negative(p=p, r=r)
    positive(r0=r0, alpha=alpha)
    p, r, alpha = (np.asarray(value, dtype=float) for value in (p, r, alpha))
    return np.asarray(np.where(p > 0, np.minimum(1, p * np.exp(np.minimum(700, alpha * (r - r0)))), 0.0))


def alpha_hat(r: ArrayLike, r0: float) -> Array:
    """Return the gain below which the next rate is closer to the expected rate than the present one.

    c(r/r0) / r0 (s/byte), eqs. (11) and (13); defined below 2 r0, from where every gain moves the rate closer.
    """
    positive(r=r, r0=r0)
    r = np.asarray(r, dtype=float)
    if not np.all(r < 2 * r0):
        raise ValueError(f"r = {r} bytes/s: must be below 2 r0 = {2 * r0:g} bytes/s, or alpha^ is not defined")
    return c(r / r0) / r0


def alpha_fastest(r: ArrayLike, r0: float) -> Array:
    """Return the gain for which the model's next rate equals the expected rate.

    2 ln(r/r0) / (r - r0) (s/byte), 2/r0 at r0: eq. (9) with r_(k+1) = r0. Ours.
    """
    positive(r=r, r0=r0)
    x = np.asarray(r, dtype=float) / r0
    off = x - 1
    return np.asarray(np.where(off == 0, 2.0, 2 * np.log(x) / np.where(off == 0, 1, off)) / r0)


@dataclass(frozen=True, kw_only=True)
class Design(Answer):
    """RAQM's gains for a link and a rate.

    Parameters
    ----------
    warnings : tuple of str
        Conditions of the formulas that fail here, and the consequence.
    alpha_min : float
        Smallest bound on alpha over all rates, 4/r0 (s/byte); below it the model converges from every rate.
    alpha_hat : float or None
        Bound on alpha at r (s/byte), 4/r0 at r0; None from 2 r0 on.
    alpha : float
        The adaptive gain at r, eps alpha_hat (s/byte); eps alpha_min where alpha_hat is not defined.
    alpha_initial : float
        The paper's initial gain, 2/r0 (s/byte).
    alpha_fastest : float
        The gain for which the model's next rate is r0 (s/byte).
    m : float
        alpha r0.
    factor : float
        Factor per period on a small distance from r0, with alpha constant: 1 - m/2.
    factor_adaptive : float
        The same with alpha = eps alpha_hat at each rate: 1 - 2 eps.
    factor_smoothed : float
        Magnitude of the factor with the rate smoothed by the paper's f' = 0.1.
    stable : bool
        Whether alpha is below alpha_min: the model then converges to r0 at constant alpha.
    """

    alpha_min: float
    alpha_hat: float | None
    alpha: float
    alpha_initial: float
    alpha_fastest: float
    m: float
    factor: float
    factor_adaptive: float
    factor_smoothed: float
    stable: bool


def design(*, r0: float, r: float | None = None, eps: float = 0.9) -> Design:
    """Bound RAQM's gain.

    The answer has the bound alpha^, its smallest value 4/r0, the gains below it, and their speed of convergence.

    Parameters
    ----------
    r0 : float
        Expected rate (bytes/s), the link's in the paper.
    r : float or None
        The rate (bytes/s) at which to take the adaptive gain; r0 by default.
    eps : float
        The adaptive gain as a fraction of the bound, in (0, 1].

    Returns
    -------
    Design
        Gains, factors and warnings.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    (11), (13), section 2.4 of the paper; its model of TCP is the square-root law.
    """
    positive(r0=r0, eps=eps)
    if eps > 1:
        raise ValueError(f"eps = {eps:g}: must be in (0, 1]")
    r = r0 if r is None else r
    positive(r=r)
    with remarks() as warned:
        bound = float(alpha_hat(r, r0)) if r < 2 * r0 else None
        if bound is None:
            caution(
                f"r = {r:g} bytes/s is outside (0, 2 r0) = (0, {2 * r0:g}): alpha^ is not defined (any gain brings "
                "the rate nearer); alpha is eps times its lower bound 4/r0 instead"
            )
        least = 4 / r0
        alpha = eps * (least if bound is None else bound)
        smooth = smoothed_radius(4 * eps, PAPER_WEIGHT)
        if eps > 0.5:
            caution(
                f"eps = {eps:g} > 0.5 converges more slowly than 0.5, which takes a period near r0: factor "
                f"{1 - 2 * eps:.3g} (with the rate smoothed by f' = {PAPER_WEIGHT:g}, {smooth:.3g} against "
                f"{smoothed_radius(2, PAPER_WEIGHT):.3g})"
            )
        if bound is not None and least <= alpha < bound:
            caution(
                f"alpha = {alpha:.4g} s/byte is in [4/r0, alpha^) = [{least:.4g}, {bound:.4g}): it brings the rate "
                "nearer now, and drives it away from r0 later if it is held"
            )
    return Design(
        alpha_min=least,
        alpha_hat=bound,
        alpha=alpha,
        alpha_initial=2 / r0,
        alpha_fastest=float(alpha_fastest(r, r0)),
        m=alpha * r0,
        factor=factor(alpha * r0),
        factor_adaptive=1 - 2 * eps,
        factor_smoothed=smooth,
        stable=alpha < least,
        warnings=tuple(warned),
    )


def _old_weight(weight: float) -> None:
    if not (isfinite(weight) and 0 <= weight < 1):
        raise ValueError(f"weight = {weight:g}: must be in [0, 1)")
