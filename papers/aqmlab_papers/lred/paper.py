"""LRED, an AQM by measured loss ratio: the description of its paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.lred.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab_papers.lred.claims import CLAIMS
from aqmlab_papers.lred.experiments import EXPERIMENTS
from aqmlab_papers.lred.figures import ITEMS
from aqmlab_papers.lred.hosts import HOSTS

SOURCE = published("lred")

PAPER = Paper(
    name="lred",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="LRED drops with the loss ratio that it has measured lately, corrected in proportion to the queue's "
    "distance from a target and to the root of that ratio. The measurement takes the place of PI's and REM's "
    "integrators, so that a new load's drop probability is there after a few measurement periods, whatever it is.",
    hero="LRED",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
    calibration=CALIBRATION,
    measurements=[HOSTS],
)
