"""L4S Tests (Heist, Morton): the description of the measurements."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.l4s_tests.choices import CHOICES, VARIANTS
from aqmlab_papers.l4s_tests.claims import CLAIMS
from aqmlab_papers.l4s_tests.experiments import EXPERIMENTS
from aqmlab_papers.l4s_tests.figures import ITEMS

SOURCE = published("l4s-tests")

PAPER = Paper(
    name="l4s-tests",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Measurements, not a paper: two long flows of CUBIC or TCP Prague, the scalable control of L4S, with equal "
    "and different round trips behind DualPI2, a FIFO, FQ-CoDel and CodelAF, and Prague beside CUBIC or Reno in "
    "shared queues that mark by RFC 3168. They speak against L4S as it was in 2020.",
    hero="",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
