"""TCP BBR over Wi-Fi 6 (Shrestha and others): the description of the paper."""

from aqmlab.references.bibliography import published
from aqmlab_papers import Paper
from aqmlab_papers.wifi_bbr.choices import CHOICES, VARIANTS
from aqmlab_papers.wifi_bbr.claims import CLAIMS
from aqmlab_papers.wifi_bbr.experiments import EXPERIMENTS
from aqmlab_papers.wifi_bbr.figures import ITEMS

SOURCE = published("wifi-bbr")

PAPER = Paper(
    name="wifi-bbr",
    title=SOURCE.title,
    source=SOURCE.origin,
    about="Measures BBRv3 beside CUBIC at home, over Wi-Fi 6, behind a FIFO, FQ-CoDel and CAKE. Only its abstract was "
    "at hand, and that of the authors' earlier paper: the claims are theirs, the network is ours.",
    hero="",
    experiments=EXPERIMENTS,
    items=ITEMS,
    claims=CLAIMS,
    choices=CHOICES,
    variants=VARIANTS,
)
