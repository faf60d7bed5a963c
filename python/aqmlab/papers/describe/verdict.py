"""Verdicts: numbers with intervals against what a claim says of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from aqmlab.results.summary import Summary


class Outcome(StrEnum):
    """What a number says of what is claimed of it."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


class Verdict(StrEnum):
    """What the data say of a claim."""

    REPRODUCED = "reproduced"
    PARTLY = "partly"
    CONTRADICTED = "contradicted"
    NOT_TESTABLE = "not testable"


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number, its 95 % confidence interval, and the interval that a claim says it is in.

    Parameters
    ----------
    effect : str
        What the number is: ``goodput of LRED less that of the best other``.
    value : float
        It.
    ci95 : float or None
        Half its 95 % confidence interval; 0 if it is exact, none of one run: then the number alone decides.
    unit : str
        Its unit; empty for a pure number.
    least : float
        The claim holds if it is not below.
    most : float
        The claim holds if it is not above.
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
            raise ValueError(f"{self.effect}: any number would do; say least or most")

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
        """Check the mean of a number of each seed.

        Parameters
        ----------
        effect : str
            What the number is.
        values : iterable of float or None
            Its value of each seed; none where a run has none.
        unit : str
            Its unit.
        least : float
            The claim holds if the mean is not below.
        most : float
            The claim holds if it is not above.

        Returns
        -------
        Check
            Mean and Student's 95 % interval; NaN if no run has a value. If only some have one the effect says so, and
            one among several decides nothing: its interval is endless.
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
        """Check a number that is not drawn: of theory, or a fact.

        Parameters
        ----------
        effect : str
            What the number is.
        value : float
            It.
        unit : str
            Its unit.
        least : float
            The claim holds if it is not below.
        most : float
            The claim holds if it is not above.

        Returns
        -------
        Check
            With an interval of no width.
        """
        return cls(effect=effect, value=value, ci95=0.0, unit=unit, least=least, most=most)

    @property
    def outcome(self) -> Outcome:
        """Whether the whole interval is where the claim has it, or none of it; else it is open, as without a number."""
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
        """What the claim says, in words: ``>= 0 packets``."""
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
    """Judge by several checks together.

    Parameters
    ----------
    checks : sequence of Check
        The checks.

    Returns
    -------
    Verdict
        Reproduced if all hold; contradicted if some fail and none holds; partly if only some hold; not testable if
        there are none, or all are open: then the intervals are too wide.
    """
    outcomes = {check.outcome for check in checks}
    if outcomes == {Outcome.HOLDS}:
        return Verdict.REPRODUCED
    if Outcome.HOLDS in outcomes:
        return Verdict.PARTLY
    return Verdict.CONTRADICTED if Outcome.FAILS in outcomes else Verdict.NOT_TESTABLE
