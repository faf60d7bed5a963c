"""Figure 2, the settling time over the gain, and the table of the text's numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.raqm.measures import FULL
from aqmlab.library.raqm.theory import R0, STEPS, fastest_gain, periods_to_settle, stability_limit
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table

if TYPE_CHECKING:
    import polars


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
        yield Curve("a", name, gains, [periods_to_settle(m=m, weight=weight) for m in gains.tolist()])
        yield Curve("b", name, parts, [periods_to_settle(eps=eps, weight=weight) for eps in parts.tolist()])


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
        ("least alpha r0 at which r0 is not stable", 4.0, stability_limit(), 0.0),
        ("the same with the rate smoothed as in the simulations", None, smoothed.smoothed_limit(0.1), 0.0),
        ("alpha r0 of the fastest static gain", None, fastest_gain(), 0.0),
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
