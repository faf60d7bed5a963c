"""The precision that is asked of a result: ``goodput ±1 %, queue_delay_mean ±2 ms``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results.summary import Summary
from aqmlab.results.words import difference, metric_of, name_of

if TYPE_CHECKING:
    from aqmlab.results.result import Result

EXAMPLE = "goodput ±1 %, queue_delay_mean ±2 ms"


_CONDITION = re.compile(r"\s*([^±,]+?)\s*(?:±|\+/-|\+-)\s*([^,]*?)\s*(?:,|$)")


@dataclass(frozen=True, slots=True)
class Condition:
    """A metric, and the half width that its 95 % interval may have.

    `name` is that of `frames.flat`: ``goodput``, ``classes.long.goodput``. `width` is in the metric's unit or, if
    `relative`, a fraction of the true mean. `asked` is the width as it was written.
    """

    name: str
    width: float
    relative: bool
    asked: str

    def allowed(self, mean: float) -> float:
        """Return the half width allowed for this mean.

        A relative width w allows w / (1 + w) of the estimate: an interval so narrow that contains the true mean has the
        estimate within w of it (Law, Simulation Modeling and Analysis, section 9.4.1).
        """
        return self.width / (1 + self.width) * abs(mean) if self.relative else self.width


def conditions(text: str) -> list[Condition]:
    """Parse conditions, separated by commas; raise TypeError for anything but a text, ValueError for a wrong one."""
    if not isinstance(text, str):
        raise TypeError(f"until = {text!r}: must be a text such as '{EXAMPLE}'")
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _CONDITION.match(text, at)
        if not match:
            raise ValueError(f"{text[at:].strip()!r}: must be METRIC ±WIDTH, as in '{EXAMPLE}'")
        found.append(_condition(match[1], match[2]))
        at = match.end()
    if not found:
        raise ValueError(f"{text!r}: must be METRIC ±WIDTH, as in '{EXAMPLE}'")
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice} is given twice: give one width for it")
    return found


def _condition(words: str, width: str) -> Condition:
    name = name_of(words)
    try:
        size, relative = difference(width, metric_of(name))
    except ValueError as error:
        raise ValueError(f"{words} ±{width}: the width {error}") from None
    return Condition(name, size, relative, f"±{width}")


@dataclass(frozen=True, slots=True)
class Precision:
    """The estimate of a condition's metric in a result."""

    condition: Condition
    summary: Summary

    @property
    def holds(self) -> bool:
        """Whether the interval is as narrow as asked; a mean of 0 has no relative width."""
        mean, half = self.summary.mean, self.summary.ci95
        if mean is None or half is None or (self.condition.relative and mean == 0):
            return False
        return half <= self.condition.allowed(mean)

    @property
    def excess(self) -> float:
        """The factor of runs, or of a long run's length, that would do if the deviation stays; infinite if unknown."""
        mean, half = self.summary.mean, self.summary.ci95
        allowed = 0.0 if mean is None else self.condition.allowed(mean)
        return math.inf if half is None or allowed == 0 else (half / allowed) ** 2

    @property
    def least_excess(self) -> float:
        """A factor that is too small with near certainty, given the deviation seen so far."""
        if not math.isfinite(self.excess):
            return 0.0
        from scipy.special import chdtri  # scipy.stats takes a second to import

        freedom = self.summary.n - 1
        return self.excess * freedom / float(chdtri(freedom, 0.001))

    def __str__(self) -> str:
        mean, half = self.summary.mean, self.summary.ci95
        name, asked = self.condition.name, f"asked: {self.condition.asked}"
        metric = metric_of(name)
        if mean is None:
            return f"{name} has no value ({asked})"
        scaled = [f"{value * metric.scale:.4g}" for value in (mean, *([] if half is None else [half]))]
        unit = metric.shown or metric.unit
        shown = f"{name} {' ± '.join(scaled)} {unit if unit != '1' else ''}".rstrip()
        width = f", ±{100 * half / abs(mean):.2g} %" if half and mean and self.condition.relative else ""
        return f"{shown}{width} ({asked})"


def precisions(asked: Iterable[Condition], result: Result) -> list[Precision]:
    """Return the estimate of each condition's metric; raise NoSuchMetric if the result has none of that name."""
    return [Precision(one, result[one.name]) for one in asked]
