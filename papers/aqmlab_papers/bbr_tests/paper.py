"""The test cases of the BBR draft: their description."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.bbr_tests.choices import CHOICES, VARIANTS
from aqmlab_papers.bbr_tests.claims import CLAIMS
from aqmlab_papers.bbr_tests.experiments import EXPERIMENTS
from aqmlab_papers.bbr_tests.figures import ITEMS

SOURCE = published("bbr-tests")

PAPER = Paper(
    name="bbr-tests",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Test cases, not a paper: the 22 of the appendix of the working group's draft, for its version 3 of BBR "
    "(`bbr3`) and for Linux's version 1 (`bbr`).",
    hero="",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
