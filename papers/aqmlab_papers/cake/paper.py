"""Piece of CAKE (Høiland-Jørgensen, Täht, Morton): the description of the paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.cake.choices import CHOICES, VARIANTS
from aqmlab_papers.cake.claims import CLAIMS
from aqmlab_papers.cake.experiments import EXPERIMENTS
from aqmlab_papers.cake.figures import ITEMS

SOURCE = published("cake")

PAPER = Paper(
    name="cake",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Puts a shaper, classes of service, fairness of hosts and flows and a filter for acknowledgements into one "
    "discipline for the uplink and the downlink of a home. Its evaluation was not at hand: the claims are those of "
    "its introduction, and the numbers those of its authors and of a co-worker elsewhere.",
    hero="",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
