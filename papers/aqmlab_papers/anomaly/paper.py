"""Ending the anomaly (Høiland-Jørgensen and others): the description of the paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.anomaly.choices import CHOICES, VARIANTS
from aqmlab_papers.anomaly.claims import CLAIMS
from aqmlab_papers.anomaly.experiments import EXPERIMENTS
from aqmlab_papers.anomaly.figures import ITEMS

SOURCE = published("anomaly")

PAPER = Paper(
    name="anomaly",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Gives an access point of Wi-Fi a queue for each flow of each station, and turns of equal airtime. Its "
    "evaluation was not at hand: the claims are those of its abstract and of the patch for Linux, with its numbers.",
    hero="",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
