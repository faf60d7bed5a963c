"""Checks: numbers with confidence intervals, tested against the bounds that a claim sets for them.

* values, value: a number for each seed, None where a run has none, or one number; unit, least, most: as in `Check`.
* one, other: the quantity that the claim is about, and that with which it is compared; printed: a number in print.
* better: ``lower`` or ``higher``: by at least the tolerance; ``not lower`` or ``not higher``: by at most the tolerance;
  ``equal``: the difference is within it; tolerance: the effect size, in the unit of the numbers or relative.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, Self

from aqmlab.results.student import quantile
from aqmlab.results.summary import Summary
from aqmlab_papers.describe.per_seed import PerSeed, Read

LOOKS = 3
"""The number of times that a claim may be judged, each time with twice as many seeds, until it is decided."""

LEVEL = 0.9805
"""The confidence of each interval, with which the looks at 5, 10 and 20 seeds together err in 5 % of cases.

Pocock (1977) has 0.9779 for three looks at equal distances and a normal distribution. Looks whose seeds double, and
Student's intervals of few seeds, depend less on each other: with 0.9779 they would err in 5.6 % of cases. The 5 % are
those in which any of the intervals errs, so that a verdict may rest on each of them, whatever made it the last.
"""

RELATIVE = "% of it"
"""The unit of a tolerance in percent of the number to which another is compared."""

Better = Literal["lower", "higher", "not lower", "not higher", "equal"]
"""How a number is claimed to compare with another: beyond the tolerance (lower, higher), or within it."""


class Outcome(StrEnum):
    """The result of a check: whether a number is within the bounds of a claim, or a difference too small to count."""

    HOLDS = "holds"
    NEGLIGIBLE = "negligible"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Tolerance:
    """The effect size below which a claim claims nothing, stated before the runs.

    * value: the size.
    * unit: its unit; ``% of it`` is in percent of the number that is compared with.
    * reason: the reason, such as the precision in print or the resolution of a figure.
    * negligible: whether a smaller difference is negligible. It is not where the size is the sentence's own: less than
      "half" is not half, and may count.
    * floor: the least size, in the unit of the numbers, where a percentage of a small number says nothing.
    """

    value: float
    unit: str
    reason: str
    negligible: bool = False
    floor: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.value < math.inf:
            raise ValueError(f"a tolerance of {self.value:g} {self.unit}: must be 0 or more, and finite")

    @property
    def relative(self) -> bool:
        """Whether it is in percent of the number that is compared with."""
        return self.unit == RELATIVE

    def around(self, value: float) -> tuple[float, float]:
        """Return the lower and the upper end of the interval of the tolerance around a ``value``."""
        half = abs(value) * self.over(value).value / 100 if self.relative else self.value
        return value - half, value + half

    def over(self, value: float) -> Self:
        """Return the tolerance of a comparison with a ``value``: a relative one is no less than the floor."""
        if not (self.floor and value):
            return self
        return replace(self, value=max(self.value, 100 * self.floor / abs(value)))

    def bounds(self, better: Better) -> tuple[float, float]:
        """Return the lower and the upper bound of a difference to which the tolerance applies."""
        return {
            "lower": (-math.inf, -self.value),
            "higher": (self.value, math.inf),
            "not lower": (-self.value, math.inf),
            "not higher": (-math.inf, self.value),
            "equal": (-self.value, self.value),
        }[better]

    def __str__(self) -> str:
        return f"{self.value:g}{self.unit and ' ' + self.unit}: {self.reason}"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number with its confidence interval, and the bounds that a claim sets for it.

    * effect: the name of the number: ``goodput of LRED minus that of the best other``.
    * value: the number.
    * half: half of its confidence interval of `LEVEL`; 0 if it is exact, None for one run: then the number alone
      decides.
    * unit: its unit; empty for a pure number.
    * least: the lower bound, inclusive.
    * most: the upper bound, inclusive.
    * counts: the smallest difference that counts, if the claim is that a difference is as large; otherwise None.
    * reads: the runs from which the number was computed, None if they are not known.
    * seeds: the number of seeds that have a value, None if it is exact.
    """

    effect: str
    value: float
    half: float | None
    unit: str = ""
    least: float = -math.inf
    most: float = math.inf
    counts: float | None = None
    reads: frozenset[Read] | None = None
    seeds: int | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.least) or math.isnan(self.most) or self.least > self.most:
            raise ValueError(f"{self.effect}: least = {self.least}, most = {self.most}: must be an interval")
        if math.isinf(self.least) and math.isinf(self.most):
            raise ValueError(f"{self.effect}: has no bounds: give least, most or both")

    @property
    def interval(self) -> tuple[float, float]:
        """The lower and the upper end of the confidence interval."""
        half = self.half or 0.0
        return self.value - half, self.value + half

    @property
    def outcome(self) -> Outcome:
        """Whether the whole interval is within the bounds or outside them; otherwise, or if not finite, ``open``.

        A difference is negligible if the whole interval is below what counts, and fails if the whole interval is on the
        other side of 0.
        """
        if not math.isfinite(self.value):
            return Outcome.OPEN
        low, high = self.interval
        if low >= self.least and high <= self.most:
            return Outcome.HOLDS
        if self.counts is None:
            return Outcome.FAILS if high < self.least or low > self.most else Outcome.OPEN
        if max(-low, high) < self.counts:
            return Outcome.NEGLIGIBLE
        return Outcome.FAILS if self._beyond_zero(-self._claimed) else Outcome.OPEN

    @property
    def leans(self) -> int:
        """1 if a difference has the claimed sign, -1 if it has the other, 0 if its interval includes 0."""
        return self._beyond_zero(self._claimed) - self._beyond_zero(-self._claimed)

    @property
    def _claimed(self) -> int:
        """The sign of the difference that is claimed."""
        return 1 if math.isinf(self.most) else -1

    def _beyond_zero(self, sign: int) -> bool:
        """Check whether the whole interval is on one side of 0."""
        return min(sign * end for end in self.interval) > 0

    @property
    def wanted(self) -> str:
        """The bounds as text: ``>= 0 packets``."""
        unit = f" {self.unit}" if self.unit else ""
        if math.isinf(self.most):
            return f">= {self.least:.4g}{unit}"
        if math.isinf(self.least):
            return f"<= {self.most:.4g}{unit}"
        return f"{self.least:.4g} to {self.most:.4g}{unit}"

    def __str__(self) -> str:
        half = f" ± {self.half:.2g}" if self.half else ""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.effect}: {self.value:.4g}{half}{unit} (claimed: {self.wanted}): {self.outcome}"


@dataclass(frozen=True)
class Effect:
    """A number by its name, and the checks of it.

    * name: the name: ``goodput of LRED minus that of the best other``.
    """

    name: str

    def of(
        self,
        values: PerSeed | Iterable[float | None],
        *,
        unit: str | None = None,
        least: float = -math.inf,
        most: float = math.inf,
        counts: float | None = None,
    ) -> Check:
        """Check the mean over seeds of a number, by Student's interval; NaN if no run has a value.

        If only some runs have one, the effect reports how many, and the interval is infinite: what the others lack,
        such as an end, need not be like the rest. The unit is by default that of a `PerSeed`.
        ``counts`` is as in `Check`.
        """
        given = values if isinstance(values, PerSeed) else PerSeed.of(list(values))
        every = list(given.values.values())
        summary = Summary.of(every)
        mean = math.nan if summary.mean is None else summary.mean
        effect, half = self.name, None
        if summary.std is not None:
            half = quantile(LEVEL, summary.n - 1) * summary.std / math.sqrt(summary.n)
        if 0 < summary.n < len(every):
            effect = f"{effect} ({summary.n} of {len(every)} seeds have it)"
            half = math.inf
        unit = given.unit if unit is None else unit
        return Check(
            effect=effect,
            value=mean,
            half=half,
            unit=unit,
            least=least,
            most=most,
            counts=counts,
            reads=given.reads,
            seeds=summary.n,
        )

    def exact(self, value: float, *, unit: str = "", least: float = -math.inf, most: float = math.inf) -> Check:
        """Check a number without a random part, such as a result of theory: its interval has width 0."""
        return Check(effect=self.name, value=value, half=0.0, unit=unit, least=least, most=most)

    def near(self, values: PerSeed, printed: float, tolerance: Tolerance) -> Check:
        """Check that the mean over seeds is a printed number, within a tolerance.

        The tolerance is in the same unit or in percent of the printed number.
        """
        _require(self.name, tolerance, values.unit)
        least, most = tolerance.around(printed)
        return Effect(f"{self.name} (printed: {printed:g})").of(values, least=least, most=most)

    def better(self, one: PerSeed, other: PerSeed, better: Better, tolerance: Tolerance) -> Check:
        """Check how a quantity compares with another, seed by seed: the difference of the first minus the second.

        With a relative tolerance, the difference is in percent of the mean of the second quantity. Raises `ValueError`
        if the tolerance is in another unit, or 0 for ``lower`` or ``higher``: equal numbers would then hold.
        """
        if not tolerance.value and better in ("lower", "higher"):
            raise ValueError(f"{self.name}: {better} by at least 0: state the smallest difference that counts")
        if tolerance.relative:
            tolerance = tolerance.over(other.mean)
        least, most = tolerance.bounds(better)
        counts = tolerance.value if better in ("lower", "higher") and tolerance.negligible else None
        if tolerance.relative:
            return self.excess(one, other, least=least, most=most, counts=counts)
        _require(self.name, tolerance, one.unit)
        return self.of(one - other, least=least, most=most, counts=counts)

    def excess(
        self,
        one: PerSeed,
        other: PerSeed,
        *,
        least: float = -math.inf,
        most: float = math.inf,
        counts: float | None = None,
    ) -> Check:
        """Check by how many percent of the mean of a quantity another exceeds it, seed by seed.

        ``counts`` is as in `Check`.
        """
        found = 100.0 * one.excess(other).mean
        nearest = min(filter(math.isfinite, (least, most)), key=lambda bound: abs(found - bound))
        values = one.excess(other, nearest / 100.0) * 100.0
        return self.of(values, unit="%", least=least, most=most, counts=counts)


def _require(effect: str, tolerance: Tolerance, unit: str) -> None:
    """Raise `ValueError` if a tolerance is in another unit than the numbers to which it applies."""
    if not tolerance.relative and tolerance.value and tolerance.unit != unit:
        raise ValueError(f"{effect}: is in {unit!r}, its tolerance in {tolerance.unit!r}: give it in the same unit")
