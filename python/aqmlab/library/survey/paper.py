"""Performance Analysis of Active Queue Management Schemes (Koo, Ahn, Chung): the description of the survey."""

from aqmlab.library.survey.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab.library.survey.claims import CLAIMS
from aqmlab.library.survey.experiments import EXPERIMENTS
from aqmlab.library.survey.figures import ITEMS
from aqmlab.papers import Paper

PAPER = Paper(
    name="survey",
    title="Performance Analysis of Active Queue Management Schemes for IP Network",
    source="J. Koo, S. Ahn, J. Chung; ICCS 2004, LNCS 3036, pp. 349-356",
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
