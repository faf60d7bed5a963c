"""What a paper's evidence gives: the data of each figure and table, and the verdict on each claim."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab.papers.describe.paper import Claim, Curve, Figure, Item, Judgement, Table
from aqmlab.papers.describe.verdict import Verdict, verdict
from aqmlab.papers.run.evidence import Evidence
from aqmlab.papers.run.sweep import Findings

if TYPE_CHECKING:
    import polars

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure or table with its data.

    Parameters
    ----------
    item : Figure or Table
        Which.
    frame : polars.DataFrame
        Of a figure ``panel``, ``curve``, ``x`` (or ``category``), ``y``, ``low``, ``high``, in the units of the axes;
        of a table its rows.
    curves : sequence of Curve
        Of a figure.
    """

    item: Item
    frame: polars.DataFrame
    curves: Sequence[Curve] = ()


@dataclass(frozen=True)
class Ruling:
    """A claim and its verdict in a setting.

    Parameters
    ----------
    claim : Claim
        The claim.
    verdict : Verdict
        The verdict.
    judgement : Judgement
        What it rests on.
    """

    claim: Claim
    verdict: Verdict
    judgement: Judgement

    def document(self) -> dict[str, Any]:
        """Give it as JSON has it.

        Returns
        -------
        dict
            ``claim`` (its name), ``text``, ``where``, ``beyond``, ``verdict``, ``checks`` and ``why``; none stands
            for what is not finite.
        """
        claim = self.claim
        checks = [
            {
                **{key: None if _is_endless(value) else value for key, value in asdict(check).items()},
                "wanted": check.wanted,
                "outcome": check.outcome,
            }
            for check in self.judgement.checks
        ]
        head = {name: getattr(claim, name) for name in ("text", "where", "beyond")}
        return {"claim": claim.name, **head, "verdict": self.verdict, "checks": checks, "why": self.judgement.why}


def _is_endless(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


@dataclass(frozen=True, eq=False)
class Assessment:
    """All that a paper's report has.

    Parameters
    ----------
    findings : Findings
        What was run.
    drawn : sequence of Drawn
        Figures and tables.
    rulings : sequence of Ruling
        The claims, in the setting of the paper.
    later : sequence of Ruling
        The claims that compare, against later disciplines.
    variants : mapping
        By the name of a variant the claims of the sensitivity table.
    errors : mapping
        What could not be drawn or judged though its runs are there, and the error: all else is.
    """

    findings: Findings
    drawn: Sequence[Drawn]
    rulings: Sequence[Ruling]
    later: Sequence[Ruling]
    variants: Mapping[str, Sequence[Ruling]]
    errors: Mapping[str, str] = field(default_factory=dict)

    def counts(self, beyond: bool = False) -> dict[Verdict, int]:
        """Count the verdicts.

        Parameters
        ----------
        beyond : bool
            On our own claims instead of the paper's.

        Returns
        -------
        dict
            How many there are of each.
        """
        found = [ruling.verdict for ruling in self.rulings if ruling.claim.beyond == beyond]
        return {one: found.count(one) for one in Verdict}


Watch = Callable[[str, float], None]
"""Told what is being done, and which fraction of it is done."""


def assess(findings: Findings, watch: Watch | None = None) -> Assessment:
    """Draw and judge whatever the runs that are there allow.

    Parameters
    ----------
    findings : Findings
        What was run.
    watch : callable
        Called before each figure, table and claim.

    Returns
    -------
    Assessment
        Figures, tables and verdicts. What needs an experiment that has no runs is left out; what raises an error is
        among its errors.
    """
    paper, effort = findings.paper, findings.effort
    main, later = findings.evidence["paper"], findings.evidence.get("later")
    items, claims = effort.items(paper), effort.claims(paper)
    varied = {variant.name for variant in paper.variants}
    total = len(items) + len(findings.evidence) * len(claims)
    errors: dict[str, str] = {}
    begun = 0

    def attempt(what: str, make: Callable[[], T]) -> Iterator[T]:
        nonlocal begun
        if watch:
            watch(what, begun / total)
        begun += 1
        try:
            yield make()
        except Exception as error:  # of the paper's own code: one figure's must not cost all others
            # Of the frames the third is the paper's: this one calls drawn or rule, which calls it.
            place = traceback.extract_tb(error.__traceback__)[:3][-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            errors[what] = f"{type(error).__name__}: {error} ({where})"

    def rulings(own: Iterable[Claim], evidence: Evidence, setting: str = "") -> list[Ruling]:
        return [
            ruling
            for claim in own
            if evidence.has(claim.needs)
            for ruling in attempt(f"claim {claim.name}{setting}", partial(rule, claim, evidence))
        ]

    made = [one for item in items if main.has(item.needs) for one in attempt(item.name, partial(drawn, item, main))]
    sensitive = [claim for claim in claims if claim.sensitive]
    return Assessment(
        findings,
        made,
        rulings(claims, main),
        rulings([claim for claim in claims if claim.comparative], later, ", later disciplines") if later else [],
        {
            name: rulings(sensitive, evidence, f", {name}")
            for name, evidence in findings.evidence.items()
            if name in varied
        },
        errors,
    )


def rule(claim: Claim, evidence: Evidence) -> Ruling:
    """Judge a claim.

    Parameters
    ----------
    claim : Claim
        The claim.
    evidence : Evidence
        The runs that it needs, at least.

    Returns
    -------
    Ruling
        The verdict, by its checks.
    """
    judgement = claim.judge(evidence)
    return Ruling(claim, verdict(judgement.checks), judgement)


def drawn(item: Item, evidence: Evidence) -> Drawn:
    """Make the data of a figure or table.

    Parameters
    ----------
    item : Figure or Table
        Which.
    evidence : Evidence
        The runs that it needs, at least.

    Returns
    -------
    Drawn
        It, with its data.

    Raises
    ------
    ValueError
        If a curve is of a panel that the figure does not have, or its numbers are not as many as its points.
    """
    if isinstance(item, Table):
        return Drawn(item, item.rows(evidence))
    curves = list(item.curves(evidence))
    return Drawn(item, _tidy(item, curves), curves)


def _tidy(figure: Figure, curves: Sequence[Curve]) -> polars.DataFrame:
    import polars

    frames = []
    letters = {panel.letter for panel in figure.panels}
    for curve in curves:
        where = f"{figure.name}, panel {curve.panel!r}, {curve.name}"
        if curve.panel not in letters:
            raise ValueError(f"{where}: the panels are {', '.join(map(repr, sorted(letters)))}")
        count = len(curve.x)
        for told in (curve.y, curve.low, curve.high):
            if told is not None and len(told) != count:
                raise ValueError(f"{where}: {len(told)} numbers for {count} points")
        text = count > 0 and isinstance(curve.x[0], str)
        nothing = [None] * count
        frames.append(
            polars.DataFrame(
                [
                    polars.Series("panel", [curve.panel] * count, polars.String),
                    polars.Series("curve", [curve.name] * count, polars.String),
                    polars.Series("x", nothing if text else list(curve.x), polars.Float64, strict=False),
                    polars.Series("category", list(curve.x) if text else nothing, polars.String),
                    polars.Series("y", list(curve.y), polars.Float64, strict=False),
                    polars.Series("low", nothing if curve.low is None else list(curve.low), polars.Float64),
                    polars.Series("high", nothing if curve.high is None else list(curve.high), polars.Float64),
                ]
            )
        )
    return polars.concat(frames) if frames else polars.DataFrame()
