"""Figure 1 and Table 1: the drop functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.library.impact.measures import APPROXIMATED, GENTLE, HERO, RED, TD
from aqmlab.library.impact.theory import MODELLED
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel, Table
from aqmlab.theory.drops import POLICIES, Policy

if TYPE_CHECKING:
    import polars


def functions(evidence: Evidence) -> Iterator[Curve]:
    """Draw figure 1: the evolution of RED's drop function."""
    del evidence
    average = np.linspace(0, 200, 401)
    shapes = {
        "1993: max_p 0.02": Policy(30, 90, 0.02),
        "1997: max_p 0.1": Policy(30, 90, 0.1),
        "2000: gentle": Policy(30, 90, 0.1, gentle=True),
    }
    for name, policy in shapes.items():
        yield Curve("", name, average, policy.drop(average))


def design_space(evidence: Evidence) -> polars.DataFrame:
    """Classify the disciplines by the queue they use (instant or average) and by jumps in their drop function."""
    import polars

    del evidence
    printed = {
        TD: ("instantaneous", "sharp"),
        RED: ("average", "sharp"),
        APPROXIMATED: ("average", "smooth"),
        GENTLE: ("average", "smooth"),
        HERO: ("instantaneous", "smooth"),
    }
    names = {label: name for label, (_, name) in MODELLED.items()} | {GENTLE: "gentle RED"}
    rows = []
    for label, (queue, function) in printed.items():
        policy = POLICIES[names[label]]
        # An edge: one more packet changes the probability by more than a tenth.
        jump = float(np.max(np.diff(policy.drop(np.arange(0.0, 202)))))
        rows.append(
            {
                "mechanism": label,
                "queue size (paper)": queue,
                "queue size": "average" if policy.w < 1 else "instantaneous",
                "dropping function (paper)": function,
                "dropping function": "sharp" if jump > 0.1 else "smooth",
                "weight w": policy.w,
                "largest step of p by one packet": jump,
            }
        )
    return polars.DataFrame(rows)


FIGURE_1 = Figure(
    name="fig1",
    title="The evolution of the RED dropping functions",
    panels=[Panel("", "Drop function", Axis("Average queue (packets)", 0, 200), Axis("Drop probability", 0, 1))],
    curves=functions,
    caption="Thresholds 30 and 90, which are not those of the printed sketches.",
    across=1,
)

TABLE_1 = Table(
    name="table1",
    title="The design space",
    rows=design_space,
    caption="Ours is computed from the disciplines as they are run: a function is sharp if one more "
    "packet adds a tenth or more to the drop probability. The testbed's GRED is sharp RED in name only.",
)
