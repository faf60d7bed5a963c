"""Claims on all six disciplines: sections 2 and 3 (Table 1)."""

from __future__ import annotations

import polars

from aqmlab.papers import Check, Claim, Evidence, Judgement


def avoidance(evidence: Evidence) -> Judgement:
    """Count the packets that each discipline drops or marks while the buffer has room."""
    runs = evidence["schemes"]
    acts = polars.col("drops_early") + polars.col("marks")
    checks = []
    for label in runs.labels:
        found = runs.each(acts, label).values()
        bound = {"most": 0.0} if label == "DropTail" else {"least": 1.0}
        checks.append(
            Check.of(f"packets that {label} drops or marks while there is room", found, unit="packets", **bound)
        )
    return Judgement(checks, "Drop tail acts only when its buffer is full; every other tells some senders before.")


CLAIMS = (
    Claim(
        name="avoidance",
        text="RED, BLUE, REM, PI and JoBS act before congestion, drop tail only on it.",
        where="Sections 2, 3, Table 1",
        judge=avoidance,
        needs=["schemes"],
        shown=["table1"],
    ),
)
