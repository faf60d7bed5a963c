"""Papers: every figure, table and claim of a paper, from one description.

A paper is a folder of scenarios with a ``paper.py`` that describes experiments, figures, tables and claims in the
vocabulary of `aqmlab.papers.describe.paper`. Five papers are shipped in ``aqmlab/library/``; ``aqmlab reproduce`` takes
them by name, and any other folder by its path.
"""

from aqmlab.papers.describe.paper import (
    RIVALS,
    Aqms,
    Axis,
    Choice,
    Claim,
    Curve,
    Experiment,
    Figure,
    Item,
    Judgement,
    Panel,
    Paper,
    Table,
    Variant,
)
from aqmlab.papers.describe.verdict import Check, Outcome, Verdict, verdict
from aqmlab.papers.run.evidence import At, Evidence, Runs

__all__ = [
    "RIVALS",
    "Aqms",
    "At",
    "Axis",
    "Check",
    "Choice",
    "Claim",
    "Curve",
    "Evidence",
    "Experiment",
    "Figure",
    "Item",
    "Judgement",
    "Outcome",
    "Panel",
    "Paper",
    "Runs",
    "Table",
    "Variant",
    "Verdict",
    "verdict",
]
