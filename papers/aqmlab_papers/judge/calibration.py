"""The distances of the settings that were tried for a paper from the numbers that it prints."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aqmlab_papers.describe.calibration import SHIPPED, Calibration
from aqmlab_papers.describe.per_seed import PerSeed
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.sweep import CALIBRATION, CONTROL, Findings


@dataclass(frozen=True)
class Tried:
    """A setting that was tried.

    ``ours`` has our value of each printed number, None for one that the setting does not have; ``distance`` is the root
    mean square of ln(ours / printed) over the others: infinite if one of ours is 0 or has no value, NaN without others.
    """

    name: str
    ours: Sequence[PerSeed | None]
    distance: float


@dataclass(frozen=True)
class Calibrated:
    """A paper's calibration, with all settings that were tried, the shipped one first."""

    calibration: Calibration
    tried: Sequence[Tried]


def calibrated(findings: Findings) -> Calibrated | None:
    """Compare the settings that were tried with the printed numbers; None if there are none, or runs are missing."""
    calibration = findings.paper.calibration
    if calibration is None:
        return None
    settings: Mapping[str, Evidence | None] = {
        SHIPPED: findings.evidence.get(CONTROL),
        **{one.name: findings.evidence.get(CALIBRATION + one.name) for one in calibration.tried},
    }
    tried = [_tried(calibration, name, evidence) for name, evidence in settings.items() if evidence is not None]
    complete = len(tried) == len(settings) and all(any(one.ours) for one in tried)
    return Calibrated(calibration, tried) if complete else None


def _tried(calibration: Calibration, name: str, evidence: Evidence) -> Tried:
    ours = [
        one.read(evidence[one.experiment]) if evidence.has([one.experiment]) else None for one in calibration.printed
    ]
    logs = [
        math.log(found.mean / one.value) if found.mean > 0 else math.inf
        for one, found in zip(calibration.printed, ours, strict=True)
        if found is not None
    ]
    distance = math.sqrt(math.fsum(log**2 for log in logs) / len(logs)) if logs else math.nan
    return Tried(name, ours, distance)
