"""A link from measurements of it: its rate, round trip, buffer, and which queue discipline it has."""

from aqmlab.calibrate.calibration import Calibration, calibrate
from aqmlab.calibrate.interval import Interval
from aqmlab.calibrate.recording import Unusable

__all__ = ["Calibration", "Interval", "Unusable", "calibrate"]
