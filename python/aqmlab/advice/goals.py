"""The goals of `aqmlab tune`: ``p95 delay < 20 ms, goodput`` is a constraint and an objective."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from aqmlab.results.metrics import Metric
from aqmlab.results.summary import Summary
from aqmlab.results.words import metric_of, name_of, quantity

EXAMPLE = "p95 delay < 20 ms, goodput"

_GOAL = re.compile(r"(?:(?P<way>min|max)\s+)?(?P<name>[^<>=]+?)\s*(?:(?P<sign><=?|>=?)\s*(?P<value>[^<>=]+))?")


@dataclass(frozen=True, slots=True)
class Goal:
    """A metric, its name in results, whether more of it is better, and its limit; an objective has none."""

    written: str
    name: str
    more: bool
    limit: float | None = None

    @property
    def metric(self) -> Metric:
        """The metric, whatever it is of."""
        return metric_of(self.name)

    def excess(self, value: float | None) -> float:
        """Return how far a value is beyond the limit, as a fraction of it; 0 within it."""
        assert self.limit is not None
        if value is None:
            return float("inf")
        beyond = self.limit - value if self.more else value - self.limit
        return max(0.0, beyond / abs(self.limit or 1.0))

    def certain(self, summary: Summary) -> bool:
        """Return whether the whole 95 % interval of the mean is within the limit."""
        if summary.mean is None or summary.ci95 is None:
            return False
        return self.excess(summary.mean - summary.ci95 if self.more else summary.mean + summary.ci95) == 0


def goals(text: str) -> tuple[list[Goal], list[Goal]]:
    """Parse constraints and objectives, separated by commas; raise ValueError for wrong ones.

    There are one or two objectives.
    """
    found = [_goal(part.strip()) for part in text.split(",") if part.strip()]
    constraints = [one for one in found if one.limit is not None]
    objectives = [one for one in found if one.limit is None]
    if not 1 <= len(objectives) <= 2:
        count = len(objectives) or "none"
        raise ValueError(f"{text!r}: one or two objectives without a limit are needed, and here {count}: '{EXAMPLE}'")
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{text!r}: {twice} is given twice")
    return constraints, objectives


def check(found: Iterable[Goal], entries: Collection[str], links: Collection[str]) -> None:
    """Raise ValueError for a goal of a traffic entry or a link that there is not."""
    for one in found:
        kind, _, rest = one.name.rpartition(".")[0].partition(".")
        there = {"classes": entries, "links": links}.get(kind)
        if there is not None and rest not in there:
            what = "traffic entry" if kind == "classes" else "link with a queue"
            raise ValueError(f"{one.written!r}: there is no {what} {rest!r}; there are {', '.join(there)}")


def _goal(text: str) -> Goal:
    found = _GOAL.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r}: must be METRIC, min METRIC, max METRIC, METRIC < LIMIT or METRIC > LIMIT")
    name = name_of(found["name"])
    metric = metric_of(name)
    if found["sign"]:
        if found["way"]:
            raise ValueError(f"{text!r}: an objective has no limit: omit {found['way']}, or the limit")
        return Goal(text, name, found["sign"].startswith(">"), _limit(found["value"].strip(), metric, text))
    if not found["way"] and not metric.better:
        raise ValueError(f"{text!r}: neither more nor less is better as such: write min {text} or max {text}")
    return Goal(text, name, found["way"] == "max" or (not found["way"] and metric.better == "more"))


_MOST: Mapping[str, float] = {"fraction": 1.0, "jain": 1.0, "mos": 4.5}
"""The greatest value of metrics of a unit, or of one metric."""


def _limit(value: str, metric: Metric, text: str) -> float:
    parts = value.endswith("%") and metric.unit in ("fraction", "1")
    limit = quantity(value[:-1] if parts else value, metric.unit)
    if limit is None:
        example = {"s": "20 ms", "bit/s": "8 Mbit/s", "fraction": "1 %"}.get(metric.unit, "50")
        raise ValueError(f"{text!r}: the limit of {metric.name} must be like {example}")
    limit /= 100 if parts else 1
    least = -math.inf if metric.name == "rtt_bias" else 0.0
    most = _MOST.get(metric.name, _MOST.get(metric.unit, math.inf))
    if not (math.isfinite(limit) and least <= limit <= most):
        domain = f"from {least:g} to {most:g}" if most < math.inf else f"at least {least:g}"
        raise ValueError(f"{text!r}: the limit of {metric.name} must be a number{'' if least else f', {domain}'}")
    return limit
