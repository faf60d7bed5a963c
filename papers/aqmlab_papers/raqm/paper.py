"""RAQM, a rate-based AQM: the description of its paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import PHASES, Paper
from aqmlab_papers.raqm.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab_papers.raqm.claims import CLAIMS
from aqmlab_papers.raqm.experiments import EXPERIMENTS
from aqmlab_papers.raqm.figures import ITEMS

SOURCE = published("raqm")

PAPER = Paper(
    name="raqm",
    title=SOURCE.title,
    source=f"{SOURCE.origin}; extended as 'A stable rate-based algorithm for active queue management', "
    "Computer Communications, 2005",
    about="RAQM measures the rate of arrivals once a second and multiplies its drop probability by an exponential of "
    "the rate's excess over an expected rate; the queue over its target enters as a factor. The paper bounds the gain "
    "by a Lyapunov function and compares RAQM with PI and REM in four cases. As printed the law cannot regulate its "
    "queue: the target vanishes from its equations (claim `target-cancels`), and the queue rests wherever the arrivals "
    "have the link's rate, 6 to 8 packets of 50 in case 1. This one cause contradicts what the paper says of "
    "regulation, response, stability, targets and goodput. `mode-rate` judges its rate law alone.",
    hero="RAQM",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=[*VARIANTS, PHASES],
    calibration=CALIBRATION,
)
