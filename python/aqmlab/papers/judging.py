"""What a paper's evidence gives: the data of each figure and table, and the verdict on each claim."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.papers.description import Claim, Curve, Figure, Item, Judgement, Table
from aqmlab.papers.evidence import Evidence
from aqmlab.papers.running import Findings
from aqmlab.papers.verdict import Verdict, verdict

if TYPE_CHECKING:
    import polars


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
            ``claim`` (its name), ``text``, ``where``, ``beyond``, ``verdict``, ``checks`` and ``why``.
        """
        claim = self.claim
        checks = [
            {**asdict(check), "wanted": check.wanted, "outcome": check.outcome} for check in self.judgement.checks
        ]
        head = {name: getattr(claim, name) for name in ("text", "where", "beyond")}
        return {"claim": claim.name, **head, "verdict": self.verdict, "checks": checks, "why": self.judgement.why}


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
    """

    findings: Findings
    drawn: Sequence[Drawn]
    rulings: Sequence[Ruling]
    later: Sequence[Ruling]
    variants: Mapping[str, Sequence[Ruling]]

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


def assess(findings: Findings) -> Assessment:
    """Draw and judge whatever the runs that are there allow.

    Parameters
    ----------
    findings : Findings
        What was run.

    Returns
    -------
    Assessment
        Figures, tables and verdicts. What needs an experiment that has no runs is left out.
    """
    paper, effort = findings.paper, findings.effort
    main = findings.evidence["paper"]
    claims = effort.claims(paper)
    variants = {
        variant.name: _rulings((claim for claim in claims if claim.sensitive), findings.evidence[variant.name])
        for variant in paper.variants
        if variant.name in findings.evidence
    }
    later = findings.evidence.get("later")
    return Assessment(
        findings,
        [drawn(item, main) for item in effort.items(paper) if main.has(item.needs)],
        _rulings(claims, main),
        _rulings((claim for claim in claims if claim.comparative), later) if later else [],
        variants,
    )


def _rulings(claims: Iterable[Claim], evidence: Evidence) -> list[Ruling]:
    return [rule(claim, evidence) for claim in claims if evidence.has(claim.needs)]


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
