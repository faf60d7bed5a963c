"""The operating points of the LRED paper's experiments, and its bounds of response times."""

from typing import NamedTuple

from aqmlab.theory import pi, rem
from aqmlab_papers.lred.measures import ROUND_TRIPS

C = 2500.0  # packets/s: 10 Mbit/s of 500 bytes
BETA = 0.001  # the paper's gain, 1/packet
FREQUENCY = 170.0  # of PI's updates, Hz
REM_PERIOD, REM_ALPHA = 0.002, 0.1  # of REM's updates (s), and the weight of its queue


class Load(NamedTuple):
    """An experiment's fewest flows and longest round trip (s), for which the paper designs PI*."""

    name: str
    N: float
    R: float


LOADS = (
    *(Load(f"Experiment 1, {count} flows", count, trip) for count, trip in ROUND_TRIPS.items()),
    Load("Experiment 2, light", 80, 0.55),
    Load("Experiment 2, heavy", 800, 0.10),
    Load("Experiment 3", 400, 0.45),
    Load("Experiments 4 and 5", 100, 0.45),
    Load("Experiment 6", 200, 0.60),
)

EXAMPLE = Load("Example of section 5.1", 300, 0.35)
PI_GAINS = 1.822e-5, 1.816e-5


def response_bound(label: str, loss: float, count: int) -> float:
    """Return the paper's lower bound of a response time (s)."""
    if label.startswith("REM"):
        return float(rem.response_bound(loss))
    a, b = PI_GAINS if label == "PI" else pi.tustin(*pi.rule(count, ROUND_TRIPS[count], C), FREQUENCY)
    return float(pi.response_bound(loss, a, b, FREQUENCY))
