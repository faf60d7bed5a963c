"""RED+Tail, a queue for short flows beside Adaptive RED for long ones: the description of its paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.redtail.choices import CALIBRATION, CHOICES, VARIANTS
from aqmlab_papers.redtail.claims import CLAIMS
from aqmlab_papers.redtail.experiments import EXPERIMENTS
from aqmlab_papers.redtail.figures import ITEMS
from aqmlab_papers.redtail.measures import HERO

SOURCE = published("redtail")

PAPER = Paper(
    name="redtail",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Short flows (web, UDP) and long ones (FTP) have a virtual queue each in one shared buffer: drop-tail, "
    "served the faster the longer it is, and Adaptive RED. A second proposal moves Adaptive RED's thresholds, so that "
    "the drop probability stays in a band and the queue takes up the load.",
    hero=HERO,
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    calibration=CALIBRATION,
    variants=VARIANTS,
)
