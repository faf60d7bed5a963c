"""TCP and an AQM as a control loop: the plant times the control law, its margins, and the stability boundary."""

from aqmlab.theory.loop.linear import (
    Equilibrium,
    Loop,
    Margins,
    OperatingPoint,
    Plant,
    boundary,
    characteristic,
    critical_gain,
    equilibrium,
    operating_point,
)

__all__ = [
    "Equilibrium",
    "Loop",
    "Margins",
    "OperatingPoint",
    "Plant",
    "boundary",
    "characteristic",
    "critical_gain",
    "equilibrium",
    "operating_point",
]
