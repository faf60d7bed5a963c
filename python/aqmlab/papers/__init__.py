"""Papers: every figure, table and claim of theirs, from one description each.

A paper is a folder of scenarios with a ``paper.py`` that says what is run, drawn and claimed, in the words of
`aqmlab.papers.describe.paper`. The five that the laboratory is for are under ``scenarios/``; ``aqmlab reproduce`` takes
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
