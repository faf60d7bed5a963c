"""RAQM's section 2: the bound on the gain, its theorems, and the settling time of the loop."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.raqm.reading import FULL, told
from aqmlab.papers import Axis, Check, Claim, Curve, Evidence, Figure, Judgement, Panel, Table

if TYPE_CHECKING:
    import polars

GAINS = (0.5, 1.0, 2.0, 3.0, 3.8, 3.99)
"""Gains alpha r0 in the paper's range, 0 to 4."""

R0 = 10e6 / 8
"""The expected rate in the simulations (bytes/s)."""

STEPS = 200
"""Number of periods to follow: the length of the paper's simulations at T = 1 s."""


def c_curve(_: Evidence) -> Iterator[Curve]:
    """Draw the bound on the gain."""
    from aqmlab.theory.raqm import map

    x, c = map.c_curve()
    yield Curve("", "c(x)", x, c)
    yield Curve("", "4", [0.0, 2.0], [4.0, 4.0], style="dashed")


def convergence(_: Evidence) -> Iterator[Curve]:
    """Draw the number of periods until the rate converges, by the gain."""
    from aqmlab.theory import raqm

    for name, weight in (("as analysed", 0.0), ("rate smoothed, f' = 0.1", raqm.PAPER_WEIGHT)):
        gains = np.round(np.arange(0.2, 5.01, 0.1), 3)
        parts = np.round(np.arange(0.05, 1.001, 0.05), 3)
        yield Curve("a", name, gains, [_periods(m=m, weight=weight) for m in gains.tolist()])
        yield Curve("b", name, parts, [_periods(eps=eps, weight=weight) for eps in parts.tolist()])


def _periods(*, m: float | None = None, eps: float | None = None, weight: float = 0.0) -> float:
    """Return the periods from half of r0 to within 1 % of it, NaN if more than `STEPS`."""
    from aqmlab.theory.raqm import smoothed

    taken = smoothed.steps_to_settle(m=m, eps=eps, weight=weight, most=STEPS)
    return float("nan") if taken is None else float(taken)


def numbers(evidence: Evidence) -> polars.DataFrame:
    """List the numbers of the paper's text, and ours."""
    import polars

    from aqmlab.theory import raqm
    from aqmlab.theory.raqm import map, smoothed

    printed = raqm.design(r0=R0)
    runs = evidence["case3b"]
    goodput, queue = (
        runs.mean(metric, runs.hero, scale=scale) for metric, scale in (("goodput", 1 / FULL), ("queue_mean", 1.0))
    )
    rows = [
        ("least c(x)", 4.0, float(np.min(map.c_curve()[1])), 0.0),
        ("x of the least c(x)", 1.0, float(map.c_curve()[0][int(np.argmin(map.c_curve()[1]))]), 0.0),
        ("lower bound of alpha^ times r0", 4.0, printed.alpha_min * R0, 0.0),
        ("least alpha r0 at which r0 is not stable", 4.0, _limit(), 0.0),
        ("the same with the rate smoothed as in the simulations", None, smoothed.smoothed_limit(0.1), 0.0),
        ("alpha r0 of the fastest static gain", None, _fastest(), 0.0),
        ("case 3, 100 flows, all targets: average queue (packets)", 20.0, queue.mean, queue.ci95),
        ("goodput there (of a full link's)", 0.96, goodput.mean, goodput.ci95),
    ]
    return polars.DataFrame(
        {
            "quantity": [row[0] for row in rows],
            "value (paper)": [row[1] for row in rows],
            "value": [row[2] for row in rows],
            "value ±": [row[3] for row in rows],
        },
        schema_overrides={"value (paper)": polars.Float64, "value ±": polars.Float64},
    )


def _limit() -> float:
    """Return the least gain, to 0.01, from which a small distance to r0 no longer shrinks."""
    from aqmlab.theory.raqm import map

    gains = np.arange(0.01, 8, 0.01)
    return float(gains[np.argmax([abs(map.factor(m)) >= 1 - 1e-9 for m in gains.tolist()])])


def _fastest() -> float:
    """Return the gain, to 0.01, that shrinks a small distance to r0 most."""
    from aqmlab.theory.raqm import map

    gains = np.arange(0.01, 4, 0.01)
    return float(gains[np.argmin([abs(map.factor(m)) for m in gains.tolist()])])


def bound(_: Evidence) -> Judgement:
    """Search for the least bound, and for limits at the ends."""
    from aqmlab.theory.raqm import map

    x, c = map.c_curve()
    ends = [float(map.c(edge)) for edge in (1e-6, 1e-12)]
    checks = [
        Check.exact("least c(x) less 4, over x in (0, 2)", float(np.min(c)) - 4, least=-1e-9, most=1e-9),
        Check.exact("where it is", float(x[int(np.argmin(c))]), least=0.999, most=1.001),
        # Unbounded at 0: c grows by 2 ln 1e6 on the last six decades.
        Check.exact("c(1e-12) less c(1e-6)", ends[1] - ends[0], least=10),
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
    steps = ", ".join(f"{m:g}: {told(_periods(m=m), 4)}" for m in GAINS)
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
            "periods to 1 % with eps = .95 less with .5, as analysed",
            float(taken[near, 0.0] - taken[half, 0.0]),
            unit="periods",
            most=0,
        ),
        Check.exact(
            "the same with the rate smoothed, near r0: parts that a period leaves, the one less the other",
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


FIGURE_2 = Figure(
    name="fig2",
    title="Dynamics of c(x)",
    panels=[Panel("", "The bound on alpha r0", Axis("x = r / r0", 0, 2), Axis("c(x)", 0, 12))],
    curves=c_curve,
    across=1,
    caption="Computed; the dashed line is the lower bound. At x = 0 and 2 there is no limit.",
)

CONVERGENCE = Figure(
    name="convergence",
    title="How fast the loop settles, by the gain",
    panels=[
        Panel("a", "Static gain", Axis("alpha r0", 0, 5), Axis("Periods to 1 % of r0", 1, 200, log=True)),
        Panel("b", "Adaptive gain", Axis("eps", 0, 1), Axis("Periods to 1 % of r0", 1, 200, log=True)),
    ],
    curves=convergence,
    caption=f"The paper's model, (3) and (5), from half the expected rate; no point where it takes over {STEPS} "
    "periods. The analysis leaves out the smoothing (2) that the algorithm has.",
    beyond=True,
)

NUMBERS = Table(
    name="numbers",
    title="The numbers that the paper's text gives",
    rows=numbers,
    needs=["case3b"],
    caption="The paper has no table. Its `about 20` and `about 0.96` are of one point of figure 7; our queue hardly "
    "depends on the target, and the mean is over all.",
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
