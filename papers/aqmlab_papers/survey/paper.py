"""Performance Analysis of Active Queue Management Schemes (Koo, Ahn, Chung): the description of the survey."""

from aqmlab.references.bibliography import published
from aqmlab_papers import PHASES, Paper
from aqmlab_papers.survey.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab_papers.survey.claims import CLAIMS
from aqmlab_papers.survey.experiments import EXPERIMENTS
from aqmlab_papers.survey.figures import ITEMS
from aqmlab_papers.survey.hosts import HOSTS

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
    variants=[*VARIANTS, PHASES],
    calibration=CALIBRATION,
    measurements=[HOSTS],
)
