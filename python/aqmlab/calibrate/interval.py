"""What an estimate states: an interval, or why it cannot tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Interval:
    """A value, and the ends between which it is with a probability of 90 %."""

    value: float
    low: float
    high: float

    def document(self) -> dict[str, float]:
        """Return what ``--json`` prints."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Told:
    """An interval, or None and the reason for which the measurement cannot tell."""

    interval: Interval | None
    because: str = ""

    def document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {"interval": self.interval and self.interval.document(), "because": self.because}
