"""Student's t distribution, as far as confidence intervals need it.

SciPy has it too, but importing SciPy takes longer than many a simulation.
"""

from __future__ import annotations

import math
from functools import cache


def central_probability(t: float, freedom: int) -> float:
    """Return the probability that Student's t lies between -t and t >= 0, with `freedom` >= 1 degrees of freedom."""
    # For whole degrees of freedom it is a finite sum in the angle atan(t / sqrt freedom) (Abramowitz and Stegun
    # 26.7.3 and 26.7.4); all its terms are positive, so adding them loses no precision.
    angle = math.atan2(t, math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    terms = []
    for k in range(1 + odd, freedom, 2):
        terms.append(term)
        term *= square * k / (k + 1)
    total = math.sin(angle) * math.fsum(terms)
    return (angle + total) * 2 / math.pi if odd else total


@cache
def quantile(probability: float, freedom: int) -> float:
    """Return the t for which Student's t lies between -t and t with a probability in [0, 1).

    For a 95 % confidence interval the probability is 0.95.
    """
    log_peak = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - 0.5 * math.log(freedom * math.pi)
    # The probability is a concave function of t: from 0, Newton's steps never pass the solution.
    t = 0.0
    while True:
        slope = 2 * math.exp(log_peak - (freedom + 1) / 2 * math.log1p(t * t / freedom))
        step = (probability - central_probability(t, freedom)) / slope
        t += step
        if step <= 1e-13 * t:
            return t
