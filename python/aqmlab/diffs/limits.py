"""Limits of differences: with ``rtt_p95 +10 %`` a metric may rise by a tenth, with ``goodput -5 %`` one may fall.

A limit is passed if the mean difference is beyond it and, where there are several runs, the 95 % interval of the
difference excludes 0: a change that may be one of the seeds alone fails no check. It is also passed if the second has
no value where the first has one, because nothing completes any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aqmlab.results.metrics import Metric
from aqmlab.results.words import difference, metric_of, name_of

if TYPE_CHECKING:
    from aqmlab.diffs.diff import Change

EXAMPLE = "rtt_p95 +10 %"

_LIMIT = re.compile(r"(?P<name>.+?)\s+(?P<sign>[+-])\s*(?P<amount>[\d.].*)")


@dataclass(frozen=True, slots=True)
class Limit:
    """The most by which a metric may rise, or fall: in its unit, or as a fraction of its first value."""

    written: str
    name: str
    rises: bool
    amount: float
    relative: bool

    @property
    def metric(self) -> Metric:
        """The metric, whatever it is of."""
        return metric_of(self.name)

    def is_passed(self, change: Change) -> bool:
        """Return whether a change is beyond the limit, and no accident of the seeds."""
        if change.first.mean is None:
            return False
        if change.difference is None:
            return True
        beyond = change.difference if self.rises else -change.difference
        allowed = self.amount * (abs(change.first.mean) if self.relative else 1.0)
        return beyond > max(allowed, change.ci95 or 0.0)


@dataclass(frozen=True, slots=True)
class Passed:
    """A limit that a change has passed; `label` is empty for the change of a single result."""

    limit: Limit
    label: str
    change: Change

    def __str__(self) -> str:
        metric = self.limit.metric
        unit = metric.shown or metric.unit
        first, second = (
            None if one.mean is None else metric.text(one.mean) for one in (self.change.first, self.change.second)
        )
        values = f"{first} to {second or 'no value'}"
        where = f"{self.label}: " if self.label else ""
        return f"{where}{self.limit.name} from {values}{f' {unit}' if unit else ''}: beyond {self.limit.written!r}"


def limit(text: str) -> Limit:
    """Parse ``METRIC +AMOUNT`` or ``METRIC -AMOUNT``; a percentage is one of the first value.

    Raise ValueError for other texts.

    Examples
    --------
    >>> limit("p95 delay +2 ms")
    Limit(written='p95 delay +2 ms', name='queue_delay_p95', rises=True, amount=0.002, relative=False)
    """
    found = _LIMIT.fullmatch(text.strip())
    if not found:
        raise ValueError(f"{text!r}: must be METRIC +AMOUNT or METRIC -AMOUNT, like {EXAMPLE!r} or 'goodput -1 Mbit/s'")
    name = name_of(found["name"])
    try:
        value, relative = difference(found["amount"].strip(), metric_of(name))
    except ValueError as error:
        raise ValueError(f"{text!r}: the amount {error}") from None
    return Limit(text.strip(), name, found["sign"] == "+", value, relative)


def passed(one: Limit, metrics: Mapping[str, Mapping[str, Change]]) -> Iterator[Passed]:
    """Yield where a limit is passed, of the changes by label and name; raise ValueError if the first has no value."""
    changes = {label: each[one.name] for label, each in metrics.items() if one.name in each}
    if all(change.first.mean is None for change in changes.values()):
        raise ValueError(f"{one.written!r}: the first has no {one.name}")
    for label, change in changes.items():
        if one.is_passed(change):
            yield Passed(one, label, change)
