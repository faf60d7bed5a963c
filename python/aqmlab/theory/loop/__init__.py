"""TCP and an AQM as a control loop: the plant times the control law, its margins, and the stability boundary."""

from aqmlab.theory.loop.linear import Loop, boundary, critical_gain
from aqmlab.theory.loop.margins import Margins
from aqmlab.theory.loop.plant import OperatingPoint, Plant, operating_point

__all__ = [
    "Loop",
    "Margins",
    "OperatingPoint",
    "Plant",
    "boundary",
    "critical_gain",
    "operating_point",
]
