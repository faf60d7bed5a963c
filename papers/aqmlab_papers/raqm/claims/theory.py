"""Claims of section 2: the bound on the gain, the theorems, the settling time of the loop."""

import warnings
from itertools import pairwise

import numpy as np

from aqmlab.theory.domain import ValidityWarning
from aqmlab_papers import Effect, Judgement, claim
from aqmlab_papers.raqm.theory import GAINS, STEPS, periods_to_settle
from aqmlab_papers.theory.raqm import map, smoothed, theorems


@claim(
    "The stable point, for the system defined by Eqs. (3)-(5), is unique",
    "Section 2.2, Lemmas 1 and 2",
    "convergence",
    arithmetic=True,
)
def lemmas() -> Judgement:
    """The expected rate is a point of rest of the law and the flows, and the only one."""
    ends = [abs(float(map.orbit(2.0, x, STEPS)[-1]) - 1) for x in np.linspace(0.05, 4, 80)]
    check = Effect("greatest |r / r0 - 1| after 200 periods, from 80 rates, alpha = 2 / r0").exact(max(ends), most=1e-6)
    return Judgement([check], "The law (3) rests only where its exponent is 0. The reference to (10) means (6).")


@claim("RAQM is stable iff 0 < alpha < alpha^", "Section 2.2, Theorem 1", "convergence numbers")
def theorem_1() -> Judgement:
    """RAQM is stable just if alpha is below alpha^(r_k)."""
    gains = np.arange(0.25, 8.01, 0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)  # gains above 4 are intended
        scan = theorems.theorem_1(gains)
    x = np.delete(np.linspace(0.02, 1.98, 99), 49)
    misled = [(float(gains[row]), float(x[column])) for row, column in np.argwhere(scan.misled)]
    settled = [smoothed.steps_to_settle(m=m, x=start, most=STEPS) is not None for m, start in misled]
    every = [smoothed.steps_to_settle(m=m, most=10000) is not None for m in (*GAINS, 4.05, 4.5, 8.0)]
    right = [found == (m <= 4) for m, found in zip((*GAINS, 4.05, 4.5, 8.0), every, strict=True)]
    return Judgement(
        [
            Effect("in every period: share of gains that reach r0 just if alpha <= 4 / r0").exact(
                float(np.mean(right)), least=1
            ),
            Effect("in one period: share of pairs 4 / r0 < alpha < alpha^(r_k) that reach r0").exact(
                float(np.mean(settled)), least=1
            ),
        ],
        "If alpha < alpha^(r_k) must hold in every period it is alpha <= 4 / r0, the least alpha^, and the "
        f"theorem stands. As a condition on the present rate it covers the next step alone: {len(misled)} "
        "pairs then end in a cycle.",
        [
            Effect("share of rates and gains at which V falls just if alpha < alpha^").exact(
                float(np.mean(scan.decreases == scan.below)), least=1
            )
        ],
    )


@claim(
    "The bigger value of alpha, the faster convergence rate will be obtained",
    "Section 2.2, Theorem 2",
    "convergence numbers",
)
def theorem_2() -> Judgement:
    """The bigger alpha is, the faster RAQM converges."""
    periods = {m: periods_to_settle(m=m, most=1000) for m in GAINS}
    return Judgement(
        [
            Effect(f"time from r0 / 2 to 1 % of r0, alpha r0 = {bigger:g} minus {smaller:g}").exact(
                periods[bigger] - periods[smaller], unit="periods", most=-1
            )
            for smaller, bigger in pairwise(GAINS)
        ],
        "Near r0 a period leaves |1 - alpha r0 / 2| of the distance, which falls up to alpha r0 = 2 and grows beyond. "
        f"The periods needed are {', '.join(f'{count:.0f} with {m:g}' for m, count in periods.items())}.",
    )


@claim("the absolute value of V(k+1) - V(k) will decrease when alpha grows", "Section 2.2, proof of Theorem 2")
def theorem_2_proof() -> Judgement:
    """The change of V in a period becomes smaller as alpha grows, which makes RAQM faster."""
    rates = np.delete(np.linspace(0.02, 1.98, 99), 49)
    parts = np.linspace(0.01, 0.99, 99)
    change = np.array([np.abs(theorems.v_difference(x, parts * map.c(x))) for x in rates])
    falls, grows = np.diff(change, axis=1) < 0, np.diff(change, axis=1) > 0
    half = ", ".join(f"{abs(float(theorems.v_difference(0.5, m))):.3f} with {m:g}" for m in (0.5, 2.77, 4))
    return Judgement(
        [Effect("share of rates at which it falls throughout").exact(float(np.mean(falls.all(axis=1))), least=1)],
        "The change grows up to alpha r0 = 2 ln(x) / (x - 1), where the next rate is r0, and falls from there to 0 at "
        f"alpha^: at r0 / 2 it is {half} (in r0^2). A smaller fall of V is slower, so that the proof has it backwards. "
        "That the change grows throughout, which may have been meant, is beside.",
        [Effect("share of rates at which it grows throughout").exact(float(np.mean(grows.all(axis=1))), least=1)],
    )


@claim(
    "c(x) > 4 …; when x is close to 1, c(x) has limited value of 4; … close to 0 or 2 … +∞",
    "Section 2.4, Fig. 2",
    "fig2 numbers",
    arithmetic=True,
)
def bound() -> Judgement:
    """c(x) is above 4 but at x = 1, where it is 4, and has no limit at 0 and 2."""
    x, c = map.c_curve()
    ends = [float(map.c(edge)) for edge in (1e-6, 1e-12)]
    return Judgement(
        [
            Effect("least c(x) minus 4, over x in (0, 2)").exact(float(np.min(c)) - 4, least=-1e-9, most=1e-9),
            Effect("where it is").exact(float(x[int(np.argmin(c))]), least=0.999, most=1.001),
            Effect("c(1e-12) minus c(1e-6)").exact(ends[1] - ends[0], least=10),
            Effect("greatest |c(x) - c(2 - x)|").exact(float(np.max(np.abs(c - c[::-1]))), most=1e-6),
        ],
        "c(x) is 4 artanh(u) / u with u = x - 1: even in u, 4 at 0, a logarithm at both ends.",
    )
