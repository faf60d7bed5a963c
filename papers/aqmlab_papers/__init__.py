"""Papers: every figure, table and claim of a paper, from one description.

A paper is a folder of scenarios with a ``paper.py`` that describes experiments, figures, tables and claims in the
vocabulary of `aqmlab_papers.describe.paper`. ``aqmlab reproduce`` takes it by the name of its entry point in the group
``aqmlab.papers``, as the five papers of this package are, or by its path. All papers here have one layout:

``paper.py``
    ``PAPER``: title, source, summary, and the parts below put together.
``experiments.py``
    ``EXPERIMENTS``: the runs, their scenarios, disciplines and varied parameters.
``choices.py``
    ``CHOICES`` and ``VARIANTS``: our values of the parameters that the paper does not state, and other values.
``measures.py``
    Labels, printed numbers, and the quantities that figures and claims read from the runs.
``theory.py``
    The paper's model as far as figures and claims need it; absent in a paper without one.
``figures/``
    One module for each subject with its figures and tables; ``ITEMS`` lists them in the paper's order.
``claims/``
    One module for each subject with its claims and their judges; ``CLAIMS`` lists them in the paper's order. Our own
    claims are in ``BEYOND`` of a module. Modules of the same name in ``figures`` and ``claims`` have the same subject.
``*.toml``
    The scenarios; ``_*.toml`` are no scenarios, but what several of them extend.
"""

from aqmlab_papers.describe.calibration import Calibration, Printed, Variant
from aqmlab_papers.describe.check import Check, Outcome, Tolerance
from aqmlab_papers.describe.claim import Claim, Judgement, claim, claims
from aqmlab_papers.describe.measurement import Measurement
from aqmlab_papers.describe.paper import (
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
from aqmlab_papers.describe.per_seed import PerSeed
from aqmlab_papers.describe.verdict import Verdict, verdict
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.runs import At, Runs

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
