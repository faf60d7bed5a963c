"""RAQM, a rate-based AQM: the description of its paper."""

from aqmlab.library.raqm.choices import CHOICES, VARIANTS
from aqmlab.library.raqm.claims import CLAIMS
from aqmlab.library.raqm.experiments import EXPERIMENTS
from aqmlab.library.raqm.figures import ITEMS
from aqmlab.papers import Paper

PAPER = Paper(
    name="raqm",
    title="Design and Analysis of a Rate-based Algorithm for Active Queue Management",
    source="C. Wang, B. Li, Y. T. Hou, K. Sohraby, W. Tang; the print at hand has neither venue nor year",
    about="RAQM measures the rate of arrivals once a second and multiplies its drop probability by an exponential of "
    "the rate's excess over an expected rate; the queue over its target enters as a factor. The paper bounds the gain "
    "by a Lyapunov function and compares RAQM with PI and REM in four cases.",
    hero="RAQM",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
