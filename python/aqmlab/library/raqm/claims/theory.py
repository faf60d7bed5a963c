"""Claims of section 2: the bound on the gain, the theorems, the settling time of the loop."""

from __future__ import annotations

import warnings

import numpy as np

from aqmlab.library.raqm.theory import GAINS, STEPS, periods_to_settle
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import rounded


def bound(_: Evidence) -> Judgement:
    """Search for the least bound, and for limits at the ends."""
    from aqmlab.theory.raqm import map

    x, c = map.c_curve()
    ends = [float(map.c(edge)) for edge in (1e-6, 1e-12)]
    checks = [
        Check.exact("least c(x) minus 4, over x in (0, 2)", float(np.min(c)) - 4, least=-1e-9, most=1e-9),
        Check.exact("where it is", float(x[int(np.argmin(c))]), least=0.999, most=1.001),
        # Unbounded at 0: c grows by 2 ln 1e6 on the last six decades.
        Check.exact("c(1e-12) minus c(1e-6)", ends[1] - ends[0], least=10),
        Check.exact("greatest |c(x) - c(2 - x)|", float(np.max(np.abs(c - c[::-1]))), most=1e-6),
    ]
    return Judgement(checks, "c(x) is 4 artanh(u) / u with u = x - 1: even in u, 4 at 0, a logarithm at both ends.")


def lemmas(_: Evidence) -> Judgement:
    """Start from many rates, and check that all end at the expected one."""
    from aqmlab.theory.raqm import map

    ends = [abs(float(map.orbit(2.0, x, STEPS)[-1]) - 1) for x in np.linspace(0.05, 4, 80)]
    check = Check.exact("greatest |r / r0 - 1| after 200 periods, from 80 rates, alpha = 2 / r0", max(ends), most=1e-6)
    return Judgement([check], "The law (3) rests only where its exponent is 0, and that is r0 alone.")


def theorem_1(_: Evidence) -> Judgement:
    """Scan rates and gains for a falling V, and follow those above 4 / r0."""
    from aqmlab.theory.domain import ValidityWarning
    from aqmlab.theory.raqm import smoothed, theorems

    gains = np.arange(0.25, 8.01, 0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ValidityWarning)  # gains above 4 are intended
        scan = theorems.theorem_1(gains)
    agree = float(np.mean(scan.decreases == scan.below))
    x = np.delete(np.linspace(0.02, 1.98, 99), 49)
    misled = [(float(gains[row]), float(x[column])) for row, column in np.argwhere(scan.misled)]
    settled = [smoothed.steps_to_settle(m=m, x=start, most=STEPS) is not None for m, start in misled]
    below = [smoothed.steps_to_settle(m=m, most=1000) is not None for m in GAINS]
    checks = [
        Check.exact("share of rates and gains at which V falls just if alpha < alpha^", agree, least=1),
        Check.exact("share of gains below 4 / r0 that reach r0", float(np.mean(below)), least=1),
        Check.exact("share of those with 4 / r0 < alpha < alpha^(r_k) that reach r0", float(np.mean(settled)), least=1),
    ]
    return Judgement(
        checks,
        f"V falls in the next step just where alpha < alpha^(r_k), but alpha^ depends on the rate. Of "
        f"{len(misled)} pairs above its lower bound 4 / r0, {sum(settled)} come to r0: the others end in a cycle about "
        "it. Stable are the gains below 4 / r0.",
    )


def theorem_2(_: Evidence) -> Judgement:
    """Search for two gains of which the larger is slower."""
    from aqmlab.theory.raqm import theorems

    pairs = theorems.theorem_2(GAINS)
    steps = ", ".join(f"{m:g}: {rounded(periods_to_settle(m=m), 4)}" for m in GAINS)
    fine = theorems.theorem_2([0.25, 0.5, 1.0, 1.5, 2.0])
    checks = [
        Check.exact("pairs of gains up to 2 / r0 of which the bigger takes longer", float(len(fine)), most=0),
        Check.exact("pairs of gains up to 4 / r0 of which the bigger takes longer", float(len(pairs)), most=0),
    ]
    return Judgement(
        checks,
        f"Near r0 a period leaves |1 - alpha r0 / 2| of the distance, which falls up to alpha r0 = 2 and grows again "
        f"beyond. Periods from r0 / 2 to 1 % of r0, by alpha r0: {steps} (- for over {STEPS}).",
    )


def adaptive(_: Evidence) -> Judgement:
    """Compare gains close to the bound with half of it."""
    from aqmlab.theory import raqm
    from aqmlab.theory.raqm import smoothed

    near, half = 0.95, 0.5
    weight = raqm.PAPER_WEIGHT
    taken = {
        (eps, f): smoothed.steps_to_settle(eps=eps, weight=f, most=1000) or 1000
        for eps in (near, half)
        for f in (0.0, weight)
    }
    radii = {eps: smoothed.smoothed_radius(4 * eps, weight) for eps in (near, half)}
    checks = [
        Check.exact("part of a distance that a period leaves, eps = .95", abs(1 - 2 * near), most=1 - 1e-9),
        Check.exact(
            "periods to 1 % with eps = .95 minus with .5, as analysed",
            float(taken[near, 0.0] - taken[half, 0.0]),
            unit="periods",
            most=0,
        ),
        Check.exact(
            "the same with the rate smoothed, near r0: parts that a period leaves, the one minus the other",
            radii[near] - radii[half],
            most=1e-9,
        ),
    ]
    return Judgement(
        checks,
        f"In the paper's analysis a period leaves |1 - 2 eps| of the distance: eps = .5 settles in "
        f"{taken[half, 0.0]} periods, .95 in {taken[near, 0.0]}. The smoothing of the simulations, which the analysis "
        f"leaves out, makes all eps from .26 to .96 alike near r0 ({taken[half, weight]} and {taken[near, weight]} "
        "periods).",
    )


CLAIMS = [
    Claim(
        name="lemmas",
        text="The expected rate is a point of rest of the law and the flows, and the only one.",
        where="Lemmas 1 and 2",
        judge=lemmas,
        shown=["convergence"],
    ),
    Claim(
        name="theorem-1",
        text="RAQM is stable just if alpha is below alpha^(r_k).",
        where="Theorem 1",
        judge=theorem_1,
        shown=["convergence", "numbers"],
    ),
    Claim(
        name="theorem-2",
        text="The bigger alpha is, the faster RAQM converges.",
        where="Theorem 2",
        judge=theorem_2,
        shown=["convergence", "numbers"],
    ),
    Claim(
        name="bound",
        text="c(x) is above 4 but at x = 1, where it is 4, and has no limit at 0 and 2.",
        where="Section 2.4, Fig. 2",
        judge=bound,
        shown=["fig2", "numbers"],
    ),
    Claim(
        name="adaptive-gain",
        text="alpha a little below alpha^ keeps stability and fast convergence at once.",
        where="Section 2.4",
        judge=adaptive,
        shown=["convergence"],
    ),
]
