"""Performance Analysis of Active Queue Management Schemes (Koo, Ahn, Chung): the description of the survey."""

from aqmlab.library.survey.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab.library.survey.claims import CLAIMS
from aqmlab.library.survey.experiments import EXPERIMENTS
from aqmlab.library.survey.figures import ITEMS
from aqmlab.papers import Paper
from aqmlab.references.bibliography import published

SOURCE = published("survey")

PAPER = Paper(
    name="survey",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="A survey that classifies drop tail, RED, BLUE, REM, PI and JoBS, and runs them at one core router of 45 "
    "Mbit/s with ECN for 20 s. It speaks for JoBS, which estimates the windows and round trips of TCP flows and marks "
    "before the buffer would overflow.",
    hero="JoBS",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
    calibration=CALIBRATION,
)
