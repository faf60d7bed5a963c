"""The equilibrium: what the target does, where RAQM rests, and the period of measurement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.raqm.measures import FLOWS, Q0, TARGET, at, balance, p_k
from aqmlab.library.raqm.theory import GROUPS, at_rest
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import polars


def table(evidence: Evidence) -> polars.DataFrame:
    """List queue, loss and utilisation of each case, with those of the model."""
    import polars

    rows = []
    for case in GROUPS:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            queue, loss, used = (
                runs.mean(name, runs.hero, at(flows)) for name in ("queue_mean", "loss_ratio", "utilisation")
            )
            model = at_rest(case, flows)
            held = Summary.of(list(p_k(runs, at(flows)).values())).mean or 0.0
            lost, busy = loss.mean or 0.0, used.mean or 0.0
            rows.append(
                {
                    "case": f"{case[-1]}, {flows:g} flows",
                    "p_k": held,
                    "regime": "clipped" if held > 0.9 else "idle" if held < 1e-4 else "unclipped",
                    "regime (model)": model.regime,
                    "q": queue.mean,
                    "q ±": queue.ci95,
                    "q (model)": model.q,
                    "l q0": lost * Q0,
                    "l": lost,
                    "l (model)": model.loss,
                    "U": busy,
                    "U (model)": model.U,
                    "U + l": busy + lost,
                }
            )
    return polars.DataFrame(rows, schema_overrides={"q ±": polars.Float64})


def periods(evidence: Evidence) -> polars.DataFrame:
    """List the effects of the measurement period."""
    import polars

    runs = evidence["period"]
    rows = []
    for period in runs.points("aqm.period"):
        where = {"aqm.period": period}
        queue, spread, loss, used = (
            runs.mean(name, runs.hero, where) for name in ("queue_mean", "queue_std", "loss_ratio", "utilisation")
        )
        rows.append(
            {
                "T (s)": period,
                "mean queue": queue.mean,
                "mean queue ±": queue.ci95,
                "standard deviation": spread.mean,
                "standard deviation ±": spread.ci95,
                "l": loss.mean,
                "U": used.mean,
                "U + l": (used.mean or 0.0) + (loss.mean or 0.0),
            }
        )
    return polars.DataFrame(
        rows, schema_overrides={"mean queue ±": polars.Float64, "standard deviation ±": polars.Float64}
    )


def regulation(evidence: Evidence) -> Iterator[Curve]:
    """Draw the mean queue, and the balance, over the target."""
    for name in ("case3b", "corrected"):
        runs = evidence[name]
        for label in runs.labels:
            yield runs.curve("a", "queue_mean", label, TARGET)
    yield Curve("a", "q = q0", [20.0, 90.0], [20.0, 90.0], style="dashed")
    for name in ("case3b", "corrected"):
        runs = evidence[name]
        for label in runs.labels:
            points = [
                (q0, np.mean(list(runs.each(balance(), label, {TARGET: q0}).values()))) for q0 in runs.points(TARGET)
            ]
            yield Curve("b", label, [q0 for q0, _ in points], [float(one) for _, one in points])
    yield Curve("b", "U + l = 1", [20.0, 90.0], [1.0, 1.0], style="dashed")


REGULATION = Figure(
    name="regulation",
    title="What the target does, with the literal and the corrected rate",
    panels=[
        Panel(
            "a", "Mean queue", Axis("Target queue length q0 (packets)", 20, 90), Axis("Mean queue (packets)", 0, 100)
        ),
        Panel("b", "Balance of bytes", Axis("Target queue length q0 (packets)", 20, 90), Axis("U + l", 0.95, 1.1)),
    ],
    curves=regulation,
    needs=["case3b", "corrected"],
    caption="Case 3 with 100 flows. The corrected rate is r0 = C / (1 - l) with the measured l of early drops.",
    beyond=True,
)

BALANCE = Table(
    name="balance",
    title="Where RAQM rests",
    rows=table,
    needs=[*GROUPS],
    caption="The last 100 s. U + l = 1 in the unclipped regime, q = l q0 in the clipped one; in the idle one the flows "
    "halve together, which the model does not know, and RAQM drops next to nothing.",
    digits=3,
    beyond=True,
)

PERIODS = Table(
    name="periods",
    title="The period of measurement",
    rows=periods,
    needs=["period"],
    caption="Case 3 with 100 flows, the last 100 s; the queue in packets.",
    digits=3,
    beyond=True,
)
