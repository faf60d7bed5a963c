"""To switch or not to switch to TCP Prague? (Sarpkaya and others): the description of the paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.partial_l4s.choices import CHOICES, VARIANTS
from aqmlab_papers.partial_l4s.claims import CLAIMS
from aqmlab_papers.partial_l4s.experiments import EXPERIMENTS
from aqmlab_papers.partial_l4s.figures import ITEMS

SOURCE = published("partial-l4s")

PAPER = Paper(
    name="partial-l4s",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Measures, on a testbed, the share that one flow of TCP Prague gets beside one of CUBIC or BBR, in queues "
    "that know of L4S and in queues that do not, and asks whether a user gains who switches to Prague alone.",
    hero="",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
