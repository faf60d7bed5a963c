"""Arithmetic on the values of each seed, which combines only runs of the same seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

Values = list[float | None]
"""A value for each seed, in the order of the seeds; None where a run has none."""

BySeed = Mapping[int, float]
"""Values by seed, without the seeds that have none."""


def difference(one: Sequence[float | None], other: Sequence[float | None]) -> Values:
    """Return ``one - other`` for each seed; None where either is missing."""
    return [None if a is None or b is None else a - b for a, b in zip(one, other, strict=True)]


def ratio(one: Sequence[float | None], other: Sequence[float | None]) -> Values:
    """Return ``one / other`` for each seed; None where either is missing or the divisor is 0."""
    return [None if a is None or not b else a / b for a, b in zip(one, other, strict=True)]


def average(quantities: Iterable[Sequence[float | None]]) -> Values:
    """Return the mean of several quantities for each seed, over the values that exist."""
    found: Values = []
    for seed in zip(*quantities, strict=True):
        known = [value for value in seed if value is not None]
        found.append(sum(known) / len(known) if known else None)
    return found


def paired(combine: Callable[..., float], *values: BySeed) -> list[float]:
    """Combine values of the same seed, for each seed that all of them have, in the order of the seeds."""
    seeds = set(values[0]).intersection(*values[1:])
    return [combine(*(one[seed] for one in values)) for seed in sorted(seeds)]


def mean(values: Iterable[float | None] | BySeed) -> float:
    """Return the mean of the values that exist; NaN if there are none."""
    every: Iterable[float | None] = values.values() if isinstance(values, Mapping) else values
    known = [value for value in every if value is not None]
    return sum(known) / len(known) if known else math.nan


def rounded(value: float | None, digits: int = 3) -> str:
    """Write a number with some significant digits; a dash if there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}g}"
