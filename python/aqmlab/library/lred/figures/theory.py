"""The table of gains: the bound of Theorem 2, margins, and PI*'s gains for each experiment."""

from __future__ import annotations

import polars

from aqmlab.library.lred.theory import BETA, EXAMPLE, FREQUENCY, LOADS, C
from aqmlab.papers import Evidence, Table
from aqmlab.theory import lred, pi


def gains(_: Evidence) -> polars.DataFrame:
    """List each experiment's loop: the bound of Theorem 2, margins, PI*'s gains."""
    rows = []
    for load in (EXAMPLE, *LOADS):
        a, b = pi.tustin(*pi.rule(load.N, load.R, C), FREQUENCY)
        found = lred.design(N_min=load.N, R_max=load.R, C=C, beta=BETA)
        rows.append(
            {
                "Experiment": load.name,
                "N-": load.N,
                "R+ (s)": load.R,
                "p0 by (6)": found.p0,
                "beta* (paper)": BETA if load is EXAMPLE else None,
                "beta*": found.beta_star,
                "0.001 / beta*": BETA / found.beta_star,
                "Margin (degrees)": found.phase_margin_deg,
                "with queue pole (degrees)": found.phase_margin_queue_pole_deg,
                "R+ C / N-": load.R * C / load.N,
                "PI* a": a,
                "PI* b": b,
            }
        )
    return polars.DataFrame(rows, schema_overrides={"beta* (paper)": polars.Float64})


GAINS = Table(
    name="gains",
    title="The gain 0.001 against Theorem 2 in each experiment, and PI*'s gains there",
    rows=gains,
    digits=3,
    beyond=True,
    caption="Margins of the paper's plant, and of Hollot's with the queue's pole. Where p0 by (6) is above 1, it "
    "is no probability, and what follows from it is meaningless.",
)
