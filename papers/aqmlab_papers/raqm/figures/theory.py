"""Figure 2, the settling time over the gain, and the table of the text's numbers."""

from collections.abc import Iterator

import numpy as np
import polars

from aqmlab_papers import Axis, Curve, Panel, Runs, figure, table
from aqmlab_papers.raqm.measures import FULL, TARGET
from aqmlab_papers.raqm.theory import R0, STEPS, fastest_gain, periods_to_settle, stability_limit
from aqmlab_papers.theory import raqm
from aqmlab_papers.theory.raqm import map, smoothed


@figure(
    [Panel("", "The bound on alpha r0", Axis("x = r / r0", 0, 2), Axis("c(x)", 0, 12))],
    across=1,
    caption="Computed; the dashed line is the lower bound. At x = 0 and 2 there is no limit.",
)
def fig2() -> Iterator[Curve]:
    """Dynamics of c(x)."""
    x, c = map.c_curve()
    yield Curve("", "c(x)", x, c)
    yield Curve("", "4", [0.0, 2.0], [4.0, 4.0], style="dashed")


@figure(
    [
        Panel("a", "Static gain", Axis("alpha r0", 0, 5), Axis("Periods to 1 % of r0", 1, 200, log=True)),
        Panel("b", "Adaptive gain", Axis("eps", 0, 1), Axis("Periods to 1 % of r0", 1, 200, log=True)),
    ],
    caption=f"The paper's model, (3) and (5), from half the expected rate; no point where it takes over {STEPS} "
    "periods. The analysis leaves out the smoothing (2) that the algorithm has.",
    beyond=True,
)
def convergence() -> Iterator[Curve]:
    """How fast the loop settles, by the gain."""
    for name, weight in (("as analysed", 0.0), ("rate smoothed, f' = 0.1", raqm.PAPER_WEIGHT)):
        gains = np.round(np.arange(0.2, 5.01, 0.1), 3)
        parts = np.round(np.arange(0.05, 1.001, 0.05), 3)
        yield Curve("a", name, gains, [periods_to_settle(m=m, weight=weight) for m in gains.tolist()])
        yield Curve("b", name, parts, [periods_to_settle(eps=eps, weight=weight) for eps in parts.tolist()])


@table(caption="The paper has no table. Its 'about 20' and 'about 0.96' are of the first point of figure 7.")
def numbers(case3b: Runs) -> polars.DataFrame:
    """The numbers that the paper's text gives."""
    x, c = map.c_curve()
    least = int(np.argmin(c))
    first = {TARGET: case3b.points(TARGET)[0]}
    queue = case3b.per_seed("queue_mean", case3b.hero, first).summary
    goodput = case3b.per_seed(polars.col("goodput") / FULL, case3b.hero, first).summary
    rows = [
        ("least c(x)", 4.0, float(c[least]), 0.0),
        ("x of the least c(x)", 1.0, float(x[least]), 0.0),
        ("lower bound of alpha^ times r0", 4.0, raqm.design(r0=R0).alpha_min * R0, 0.0),
        ("least alpha r0 at which r0 is not stable", 4.0, stability_limit(), 0.0),
        ("the same with the rate smoothed as in the simulations", None, smoothed.smoothed_limit(0.1), 0.0),
        ("alpha r0 of the fastest static gain", None, fastest_gain(), 0.0),
        ("case 3, 100 flows, q0 = 20: average queue (packets)", 20.0, queue.mean, queue.ci95),
        ("goodput there (of a full link's)", 0.96, goodput.mean, goodput.ci95),
    ]
    names = ("quantity", "value (paper)", "value", "value ±")
    return polars.DataFrame(
        rows, schema=dict(zip(names, (polars.String, *3 * [polars.Float64]), strict=True)), orient="row"
    )
