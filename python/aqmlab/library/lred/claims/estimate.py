"""Claims on the estimate of the loss ratio (Fig. 2) and on the cost of the algorithm."""

from __future__ import annotations

import polars

from aqmlab.library.lred.measures import mean_text
from aqmlab.papers import Check, Claim, Evidence, Judgement
from aqmlab.papers.run.seeds import Values

SETTLED = 20.0  # s: the estimate of figure 2 is judged from here on, like all metrics


def settles(evidence: Evidence) -> Judgement:
    """Judge the estimate and the probability from 20 s on."""
    runs = evidence["fig2"]
    bias: Values = []
    spread: Values = []
    swing: Values = []
    for seed in runs.study.seeds:
        frame = runs.series("LRED", seed=seed).filter(polars.col("t") >= SETTLED)
        link = runs.study.scenario.resolved["observe"]
        estimate, p = (frame[f"{link}.{name}.mean"].drop_nulls().to_numpy() for name in ("loss_ratio", "p"))
        bias.append(float(p.mean() / estimate.mean() - 1))
        spread.append(float(estimate.std() / estimate.mean()))
        swing.append(float(p.std() / estimate.std()))
    checks = [
        # A tenth is the precision with which the paper reads its figure, 0.12.
        Check.of("mean of p over that of the estimate, minus 1", bias, least=-0.1, most=0.1),
        Check.of("standard deviation of the estimate over its mean", spread, most=0.1),
        Check.of("standard deviation of p over that of the estimate", swing, least=1),
    ]
    why = (
        f"The load loses {mean_text(runs, 'loss_ratio', 'LRED')}. The estimate is a mean over some 4 s, or ten "
        "thousand packets; p follows the queue of the moment, 0.001 sqrt(L) a packet."
    )
    return Judgement(checks, why)


def complexity(_: Evidence) -> Judgement:
    """Leave the cost in a router unjudged: it requires a router."""
    return Judgement(
        [],
        "What an algorithm costs a router is not in a simulation. LRED draws one number and takes one root an arrival.",
    )


CLAIMS = (
    Claim(
        name="estimate-settles",
        text="In a steady state the estimated loss ratio is close to constant, and the drop probability fluctuates "
        "around it.",
        where="Section 3, Fig. 2",
        judge=settles,
        needs=["fig2"],
        shown=["fig2"],
    ),
    Claim(
        name="complexity",
        text="LRED's complexity is comparable to that of PI, REM and AVQ.",
        where="Abstract",
        judge=complexity,
    ),
)
