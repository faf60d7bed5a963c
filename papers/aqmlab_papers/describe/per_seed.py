"""Quantities with one value for each seed, which are combined only with values of the same seed.

* other, quantities: further quantities; claimed: the excess against which the result is tested, as a part.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Self

from aqmlab.results.summary import Summary

Read = tuple[str, str, frozenset[tuple[str, float | str]]]
"""Runs that were read: the experiment, the label of the discipline, and values of parameters that select points."""

_FACTORS = {
    ("s", "ms"): 1e3,
    ("fraction", "%"): 1e2,
    ("", "%"): 1e2,
    ("bit/s", "Mbit/s"): 1e-6,
    ("bit/s", "kbit/s"): 1e-3,
    ("bit/s", "kB/s"): 1 / 8e3,
    ("Mbit/s", "kB/s"): 125.0,
}
"""The factors from one unit to another; those back follow."""


@dataclass(frozen=True, eq=False)
class PerSeed:
    """A quantity with one value for each seed.

    Sums, differences, products and ratios combine values of the same seed; a seed for which either side has no value
    has none in the result. The result has the unit of the first operand, and none if it is a ratio of like units.

    * values: the value by seed; None where a run has none.
    * unit: the unit; empty for a pure number.
    * name: the name of the quantity.
    * reads: the runs from which it was computed, None if they are not known.
    """

    values: Mapping[int, float | None]
    unit: str = ""
    name: str = field(default="", kw_only=True)
    reads: frozenset[Read] | None = field(default=None, kw_only=True)

    @classmethod
    def of(
        cls,
        values: Mapping[int, float | None] | Sequence[float | None],
        unit: str = "",
        name: str = "",
        reads: frozenset[Read] | None = None,
    ) -> Self:
        """Create a quantity from values by seed, or from those of the seeds 1, 2, ...; NaN stands for None."""
        found = values if isinstance(values, Mapping) else dict(enumerate(values, 1))
        return cls({seed: _known(value) for seed, value in sorted(found.items())}, unit, name=name, reads=reads)

    @property
    def known(self) -> list[float]:
        """The values of the seeds that have one, in the order of the seeds."""
        return [value for value in self.values.values() if value is not None]

    @property
    def mean(self) -> float:
        """The mean over the seeds that have a value; NaN if none has."""
        found = self.summary.mean
        return math.nan if found is None else found

    @property
    def summary(self) -> Summary:
        """Mean, standard deviation and 95 % confidence interval over the seeds."""
        return Summary.of(list(self.values.values()))

    def to(self, unit: str) -> Self:
        """Convert to another unit: ``ms`` for a quantity in s. Raises `ValueError` if no factor is known."""
        if unit == self.unit:
            return self
        factor = _FACTORS.get((self.unit, unit))
        if factor is None:
            back = _FACTORS.get((unit, self.unit))
            if back is None:
                raise ValueError(f"{self.name or 'quantity'}: cannot be converted from {self.unit!r} to {unit!r}")
            factor = 1 / back
        return replace(self * factor, unit=unit)

    def called(self, name: str, unit: str | None = None) -> Self:
        """Return the same values, not converted, with another name, and another unit if one is given."""
        return replace(self, name=name, unit=self.unit if unit is None else unit)

    def each(self, change: Callable[[float], float | None], unit: str | None = None) -> Self:
        """Return what ``change`` makes of the value of each seed that has one."""
        return replace(self._with(0.0, lambda value, _: change(value)), unit=self.unit if unit is None else unit)

    def excess(self, other: PerSeed, claimed: float = 0.0) -> PerSeed:
        """Return the difference from another quantity, as a part of that quantity's mean, for the seeds that both have.

        The mean of the ratios of each seed would be above the ratio of the means: of two quantities with the same
        scattered values, each would exceed the other. The values returned have the ratio of the means, less 1, as their
        mean, and the scatter of x - (1 + claimed) y: Student's interval excludes the claimed excess if and only if it
        excludes 0 for this difference (Fieller 1954). They are None where either side has none, or if the mean is 0.
        """
        one, other = self + other * 0.0, other + self * 0.0  # None where either is
        if not other.mean:
            return replace(one * math.nan, unit="")
        left = one - other * (1.0 + claimed)
        return replace((left - left.mean + one.mean - other.mean) * (1 / abs(other.mean)), unit="")

    @staticmethod
    def average(quantities: Iterable[PerSeed]) -> PerSeed:
        """Average quantities seed by seed: None if one lacks a value; unit and name are those of the first."""
        return _merged(quantities, lambda known: math.fsum(known) / len(known))

    @staticmethod
    def least(quantities: Iterable[PerSeed]) -> PerSeed:
        """Take the least of several quantities seed by seed, as `average` does."""
        return _merged(quantities, min)

    @staticmethod
    def most(quantities: Iterable[PerSeed]) -> PerSeed:
        """Take the greatest of several quantities seed by seed, as `average` does."""
        return _merged(quantities, max)

    def __add__(self, other: PerSeed | float) -> Self:
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other: PerSeed | float) -> Self:
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other: PerSeed | float) -> Self:
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other: PerSeed | float) -> Self:
        found = self._with(other, lambda a, b: a / b if b else None)
        return replace(found, unit="") if isinstance(other, PerSeed) and other.unit == self.unit else found

    def __radd__(self, other: float) -> Self:
        return self + other

    def __rsub__(self, other: float) -> Self:
        return -self + other

    def __rmul__(self, other: float) -> Self:
        return self * other

    def __rtruediv__(self, other: float) -> Self:
        return replace(self._with(other, lambda a, b: b / a if a else None), unit="")

    def __neg__(self) -> Self:
        return self * -1.0

    def __abs__(self) -> Self:
        return self._with(0.0, lambda a, _: abs(a))

    def __str__(self) -> str:
        half = self.summary.ci95
        spread = f" ± {_digits(half, 2)}" if half else ""
        return f"{_digits(self.mean, 3)}{spread}{self.unit and ' ' + self.unit}"

    def __format__(self, form: str) -> str:
        """Write mean, interval and unit; with a form such as ``.3g`` the mean alone."""
        return format(self.mean, form) if form else str(self)

    def _with(self, other: PerSeed | float, combine: Callable[[float, float], float | None]) -> Self:
        """Combine with a number, or with the values of the same seeds, of all seeds that both have."""
        if isinstance(other, PerSeed):
            pairs = {seed: (value, other.values[seed]) for seed, value in self.values.items() if seed in other.values}
        else:
            pairs = {seed: (value, other) for seed, value in self.values.items()}
        found = {seed: None if a is None or b is None else _known(combine(a, b)) for seed, (a, b) in pairs.items()}
        return replace(self, values=found, reads=_read(self, *([other] if isinstance(other, PerSeed) else [])))


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)


def _merged(quantities: Iterable[PerSeed], merge: Callable[[list[float]], float]) -> PerSeed:
    """Merge the values of each seed, None if one lacks a value; raise `ValueError` if there is no quantity."""
    every = list(quantities)
    if not every:
        raise ValueError("there are no quantities to merge")
    seeds = reduce(set.intersection, (set(one.values) for one in every))
    found: dict[int, float | None] = {}
    for seed in sorted(seeds):
        known = [value for one in every if (value := one.values[seed]) is not None]
        found[seed] = merge(known) if len(known) == len(every) else None
    return replace(every[0], values=found, reads=_read(*every))


def _read(*quantities: PerSeed) -> frozenset[Read] | None:
    """Return what several quantities were computed from, None if that of one is not known."""
    known = [one.reads for one in quantities if one.reads is not None]
    return frozenset().union(*known) if len(known) == len(quantities) else None


def _digits(value: float, digits: int) -> str:
    """Write a number with some significant digits and no exponent for numbers of an ordinary size."""
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e12 else f"{value:.{digits}g}"
