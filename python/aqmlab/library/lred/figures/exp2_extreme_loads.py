"""Figure 6, experiment 2: two extreme loads; the table of printed numbers."""

from __future__ import annotations

import polars

from aqmlab.library.lred import theory
from aqmlab.library.lred.figures.queues import Column, queues_over_time
from aqmlab.library.lred.measures import CORRECTED, LITERAL, PRINTED
from aqmlab.papers import Evidence, Table
from aqmlab.theory import lred


def numbers(evidence: Evidence) -> polars.DataFrame:
    """List the paper's numbers on its simulations and its example, and ours."""
    measured = {
        "Loss ratio, experiment 2, light": (PRINTED["exp2-light"], evidence["exp2-light"].mean("loss_ratio", "LRED")),
        "Loss ratio, experiment 2, heavy": (PRINTED["exp2-heavy"], evidence["exp2-heavy"].mean("loss_ratio", "LRED")),
        "Loss ratio, figure 2": (0.12, evidence["fig2"].mean("loss_ratio", "LRED")),
    }
    rows: list[dict[str, str | float | None]] = [
        {"Number": name, "Value (paper)": value, "Value": ours.mean, "Value ±": ours.ci95}
        for name, (value, ours) in measured.items()
    ]
    star = float(lred.beta_star(theory.EXAMPLE.N, theory.EXAMPLE.R, theory.C))
    rows.append({"Number": "beta* of the example", "Value (paper)": theory.BETA, "Value": star, "Value ±": None})
    floats = dict.fromkeys(("Value (paper)", "Value", "Value ±"), polars.Float64)
    return polars.DataFrame(rows, schema_overrides=floats)


FIGURE_6 = queues_over_time(
    "fig6",
    "Experiment 2: queue length under two extreme loads",
    [
        Column("a", "light, 80 flows of 550 ms", "exp2-light-time"),
        Column("b", "heavy, 800 flows of 70 ms", "exp2-heavy-time", besides={LITERAL: CORRECTED}),
    ],
    "PI* is as the paper designs it, in (b) outside the design's rule, and beside it with 0.7 s, within it.",
)

NUMBERS = Table(
    name="numbers",
    title="The numbers that the paper prints, and ours",
    rows=numbers,
    needs=["exp2-light", "exp2-heavy", "fig2"],
    digits=3,
    beyond=True,
    caption="The load of figure 2 is chosen by its number; the others are found.",
)
