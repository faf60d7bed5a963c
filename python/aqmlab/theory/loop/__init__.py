"""TCP and an AQM as a control loop: the plant times the control law, its margins, and the stability boundary."""

from aqmlab.theory.loop.linear import (
    Loop,
    Margins,
    OperatingPoint,
    Plant,
    boundary,
    critical_gain,
    operating_point,
)

__all__ = [
    "Loop",
    "Margins",
    "OperatingPoint",
    "Plant",
    "boundary",
    "critical_gain",
    "operating_point",
]
