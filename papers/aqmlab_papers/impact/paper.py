"""The study of tail drop, RED, GRED and GRED-I: its description."""

from aqmlab.references.bibliography import published
from aqmlab_papers import PHASES, Paper
from aqmlab_papers.impact.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab_papers.impact.claims import CLAIMS
from aqmlab_papers.impact.experiments import EXPERIMENTS
from aqmlab_papers.impact.figures import ITEMS
from aqmlab_papers.impact.measures import HERO
from aqmlab_papers.impact.testbed import TESTBED

SOURCE = published("impact")

PAPER = Paper(
    name="impact",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Compares tail drop, RED, gentle RED (GRED) and gentle RED of the instantaneous queue (GRED-I) on a testbed "
    "of routers, by simulation and by a model: goodput, the loss of UDP, delay, and losses in a row. It finds little "
    "use in RED, blames averaging together with the drop function's edge, and speaks for GRED-I.",
    hero=HERO,
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=[*VARIANTS, PHASES],
    calibration=CALIBRATION,
    later="Figures 4, 5, 6 (right) and 8 are of a testbed, and simulated here with a copy of its traffic, fitted to "
    "its printed levels; `aqmlab reproduce impact --engine linux` repeats experiments 1 to 8 with real hosts.",
    measurements=[TESTBED],
)
