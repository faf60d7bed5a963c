"""Papers: every figure, table and claim of a paper, from one description.

A paper is a folder of scenarios with a ``paper.py`` that describes experiments, figures, tables and claims in the
vocabulary of `aqmlab.papers.describe.paper`. Five papers are shipped in ``aqmlab/library/``; ``aqmlab reproduce`` takes
them by name, and any other folder by its path.
"""

from aqmlab.papers.describe.calibration import Calibration, Printed, Variant
from aqmlab.papers.describe.check import Check, Outcome, Tolerance
from aqmlab.papers.describe.claim import Claim, Judgement, claim, claims
from aqmlab.papers.describe.measurement import Measurement
from aqmlab.papers.describe.paper import (
    RIVALS,
    Aqms,
    Axis,
    Choice,
    Curve,
    Experiment,
    Figure,
    Item,
    Panel,
    Paper,
    Table,
)
from aqmlab.papers.describe.per_seed import PerSeed
from aqmlab.papers.describe.verdict import Verdict, verdict
from aqmlab.papers.run.evidence import Evidence
from aqmlab.papers.run.runs import At, Runs

__all__ = [
    "RIVALS",
    "Aqms",
    "At",
    "Axis",
    "Calibration",
    "Check",
    "Choice",
    "Claim",
    "Curve",
    "Evidence",
    "Experiment",
    "Figure",
    "Item",
    "Judgement",
    "Measurement",
    "Outcome",
    "Panel",
    "Paper",
    "PerSeed",
    "Printed",
    "Runs",
    "Table",
    "Tolerance",
    "Variant",
    "Verdict",
    "claim",
    "claims",
    "verdict",
]
