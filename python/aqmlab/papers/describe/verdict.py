"""Verdicts: numbers with confidence intervals, tested against the bounds of a claim."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from aqmlab.results.summary import Summary


class Outcome(StrEnum):
    """The result of a check: whether a number is within the bounds of a claim."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    CONTRADICTED = "contradicted"
    NOT_TESTABLE = "not testable"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number with its 95 % confidence interval, and the bounds that a claim sets for it.

    Parameters
    ----------
    effect : str
        The name of the number: ``goodput of LRED minus that of the best other``.
    value : float
        The number.
    ci95 : float or None
        Half of its 95 % confidence interval; 0 if it is exact, None for one run: then the number alone decides.
    unit : str
        Its unit; empty for a pure number.
    least : float
        The lower bound, inclusive.
    most : float
        The upper bound, inclusive.
    """

    effect: str
    value: float
    ci95: float | None
    unit: str = ""
    least: float = -math.inf
    most: float = math.inf

    def __post_init__(self) -> None:
        if math.isnan(self.least) or math.isnan(self.most) or self.least > self.most:
            raise ValueError(f"{self.effect}: least = {self.least}, most = {self.most}: must be an interval")
        if math.isinf(self.least) and math.isinf(self.most):
            raise ValueError(f"{self.effect}: has no bounds: give least, most or both")

    @classmethod
    def of(
        cls,
        effect: str,
        values: Iterable[float | None],
        *,
        unit: str = "",
        least: float = -math.inf,
        most: float = math.inf,
    ) -> Self:
        """Check the mean over seeds of a number.

        Parameters
        ----------
        effect : str
            The name of the number.
        values : iterable of float or None
            Its value for each seed; None where a run has no value.
        unit : str
            Its unit.
        least : float
            The lower bound of the mean, inclusive.
        most : float
            The upper bound of the mean, inclusive.

        Returns
        -------
        Check
            The mean and Student's 95 % interval; NaN if no run has a value. If only some runs have one, the effect
            reports how many; a single value among several runs gets an infinite interval and decides nothing.
        """
        every = list(values)
        summary = Summary.of(every)
        mean = math.nan if summary.mean is None else summary.mean
        half = summary.ci95
        if 0 < summary.n < len(every):
            effect = f"{effect} ({summary.n} of {len(every)} seeds have it)"
            half = math.inf if half is None else half
        return cls(effect=effect, value=mean, ci95=half, unit=unit, least=least, most=most)

    @classmethod
    def exact(
        cls, effect: str, value: float, *, unit: str = "", least: float = -math.inf, most: float = math.inf
    ) -> Self:
        """Check a number without a random part: a result of theory, or a fact.

        Parameters
        ----------
        effect : str
            The name of the number.
        value : float
            The number.
        unit : str
            Its unit.
        least : float
            The lower bound, inclusive.
        most : float
            The upper bound, inclusive.

        Returns
        -------
        Check
            The check, with an interval of width 0.
        """
        return cls(effect=effect, value=value, ci95=0.0, unit=unit, least=least, most=most)

    @property
    def outcome(self) -> Outcome:
        """Whether the whole interval is within the bounds or outside them; otherwise, or if not finite, ``open``."""
        if not math.isfinite(self.value):
            return Outcome.OPEN
        half = self.ci95 or 0.0
        low, high = self.value - half, self.value + half
        if low >= self.least and high <= self.most:
            return Outcome.HOLDS
        if high < self.least or low > self.most:
            return Outcome.FAILS
        return Outcome.OPEN

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
        half = f" ± {self.ci95:.2g}" if self.ci95 else ""
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.effect}: {self.value:.4g}{half}{unit} (claimed: {self.wanted}): {self.outcome}"


def verdict(checks: Sequence[Check]) -> Verdict:
    """Judge a claim by its checks.

    Parameters
    ----------
    checks : sequence of Check
        The checks.

    Returns
    -------
    Verdict
        Reproduced if all hold; contradicted if some fail and none holds; partly if only some hold; not testable if
        there are none, or if all are open because their intervals are too wide.
    """
    outcomes = {check.outcome for check in checks}
    if outcomes == {Outcome.HOLDS}:
        return Verdict.REPRODUCED
    if Outcome.HOLDS in outcomes:
        return Verdict.PARTLY
    return Verdict.CONTRADICTED if Outcome.FAILS in outcomes else Verdict.NOT_TESTABLE
