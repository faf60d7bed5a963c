"""Turn a paper's evidence into the data of each figure and table and a verdict on each claim."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab.execute.engine import PACKETS, Engine
from aqmlab_papers.describe.check import Check, Outcome
from aqmlab_papers.describe.claim import Claim, Judgement
from aqmlab_papers.describe.paper import Curve, Figure, Item, Table
from aqmlab_papers.describe.verdict import Verdict, verdict
from aqmlab_papers.judge.calibration import Calibrated, calibrated
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.runs import Cell
from aqmlab_papers.run.sweep import CONTROL, SIMULATED, Findings

if TYPE_CHECKING:
    import polars

T = TypeVar("T")

_ROOMS = {Path(__file__).parents[1] / room for room in ("describe", "judge", "run", "show")}
"""The folders that are the same for all papers: code outside of them is the paper's own."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """A figure or table with its data.

    ``frame`` has the rows of a table, or the columns ``panel``, ``curve``, ``x`` (or ``category``), ``y``, ``low`` and
    ``high`` of a figure, in the units of its axes. ``curves`` is empty for a table.
    """

    item: Item
    frame: polars.DataFrame
    curves: Sequence[Curve] = ()


@dataclass(frozen=True)
class Ruling:
    """A claim, its verdict in one setting, and the judgement on which the verdict rests.

    ``seeds`` is the least number of seeds of the runs that it reads, None if it reads none. ``tentative`` is true of a
    verdict from one seed or from the fewest points.
    """

    claim: Claim
    verdict: Verdict
    judgement: Judgement
    seeds: int | None = None
    tentative: bool = False

    def document(self) -> dict[str, Any]:
        """Return the claim, its checks and its verdict for JSON; numbers that are not finite become None."""
        claim = self.claim
        head = {name: getattr(claim, name) for name in ("text", "quote", "where", "beyond", "arithmetic")}
        return {
            "claim": claim.name,
            **head,
            "tolerance": str(claim.tolerance) if claim.tolerance else "",
            "verdict": self.verdict,
            "tentative": self.tentative,
            "seeds": self.seeds,
            "checks": [_check(check) for check in self.judgement.checks],
            "beside": [_check(check) for check in self.judgement.beside],
            "need": self.judgement.need,
            "why": self.judgement.why,
        }


def _check(check: Check) -> dict[str, Any]:
    fields = {key: None if _is_endless(value) else value for key, value in asdict(check).items() if key != "reads"}
    return {**fields, "wanted": check.wanted, "outcome": check.outcome}


def _is_endless(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


@dataclass(frozen=True, eq=False)
class Assessment:
    """The contents of a paper's report.

    ``rulings`` are the claims in the paper's own setting, ``later`` the comparative claims against later disciplines,
    and ``variants`` the claims of the sensitivity table by the name of the variant, `CONTROL` first. ``calibrated`` has
    the distances of the settings that were tried from the printed numbers. ``errors`` maps what could not be drawn or
    judged, although its runs exist, to the error.
    """

    findings: Findings
    drawn: Sequence[Drawn]
    rulings: Sequence[Ruling]
    later: Sequence[Ruling]
    variants: Mapping[str, Sequence[Ruling]]
    calibrated: Calibrated | None = None
    simulated: Sequence[Ruling] = ()
    errors: Mapping[str, str] = field(default_factory=dict)

    def counts(self, beyond: bool = False) -> dict[Verdict, int]:
        """Count the verdicts on the paper's claims, or on our own with ``beyond``; arithmetic is not counted."""
        found = [
            ruling.verdict for ruling in self.rulings if ruling.claim.beyond == beyond and not ruling.claim.arithmetic
        ]
        return {one: found.count(one) for one in Verdict}


Watch = Callable[[str, float], None]
"""Called with the name of the current step and the fraction of the work that is done."""


def assess(findings: Findings, watch: Watch | None = None) -> Assessment:
    """Draw and judge whatever the available runs allow.

    Figures, tables and claims whose experiments have no complete set of runs are left out. An exception in the paper's
    code is recorded in the errors and stops nothing else. ``watch`` is called before each figure, table and claim.
    """
    paper, effort = findings.paper, findings.effort
    own, later = findings.evidence["paper"], findings.evidence.get("later")
    main = findings.judging
    items, claims = effort.items(paper), effort.claims(paper)
    varied = {CONTROL, *(variant.name for variant in paper.variants)} if paper.variants else set()
    total = len(items) + len(findings.evidence) * len(claims) + 1
    errors: dict[str, str] = {}
    begun = 0

    def attempt(step: str, make: Callable[[], T]) -> Iterator[T]:
        nonlocal begun
        if watch:
            watch(step, begun / total)
        begun += 1
        try:
            yield make()
        except Exception as error:  # raised by the paper's code: an error in one figure must not stop the others
            frames = traceback.extract_tb(error.__traceback__)
            place = next((one for one in frames if not _ROOMS & set(Path(one.filename).parents)), frames[-1])
            where = f"{Path(place.filename).name}:{place.lineno}"
            errors[step] = f"{type(error).__name__}: {error} ({where})"

    def rulings(chosen: Iterable[Claim], evidence: Evidence, setting: str = "") -> list[Ruling]:
        return [
            ruling
            for claim in chosen
            if evidence.suffices(claim)
            for ruling in attempt(f"claim {claim.name}{setting}", partial(rule, claim, evidence))
        ]

    made = [
        one for item in items if main.has(item.needs) for one in attempt(item.name, partial(_drawn, item, findings))
    ]
    simulated = findings.evidence.get(SIMULATED)
    measured = [claim for claim in claims if simulated is None or any(name in own for name in claim.reads)]
    sensitive = [claim for claim in claims if claim.sensitive]
    judged = rulings(measured, main)
    return Assessment(
        findings,
        made,
        judged if simulated is None else [one for one in judged if _is_decided_by(one, own)],
        rulings([claim for claim in claims if claim.comparative], later, ", later disciplines") if later else [],
        {
            name: rulings(sensitive, evidence, f", {name}")
            for name, evidence in findings.evidence.items()
            if name in varied
        },
        next(attempt("calibration", partial(calibrated, findings)), None),
        rulings(measurable(findings), simulated, ", simulated") if simulated else [],
        errors,
    )


def _is_decided_by(ruling: Ruling, own: Evidence) -> bool:
    """Check whether each deciding number is of runs of ``own``: a verdict of simulated runs is not a measured one."""
    return all(name in own for check in ruling.judgement.checks for name, *_ in check.reads or ())


def measurable(findings: Findings) -> list[Claim]:
    """List the claims about experiments that another engine can repeat."""
    paper, effort = findings.paper, findings.effort
    if paper.simulated is None:
        return []
    names = paper.measured(effort.engine.name).experiments
    return [claim for claim in effort.claims(paper) if any(name in names for name in claim.reads)]


def rule(claim: Claim, evidence: Evidence) -> Ruling:
    """Judge a claim by evidence that has at least the experiments that it needs."""
    judgement = claim.judge(evidence)
    seeds = min((len(evidence[name].study.seeds) for name in claim.reads if name in evidence), default=None)
    decided = verdict(judgement.checks, judgement.need)
    return Ruling(claim, decided, judgement, seeds, seeds is not None and (evidence.quick or seeds < 2))


def undecided(findings: Findings) -> dict[str, set[Cell]]:
    """List the cells of experiments whose runs leave a part of a claim of the paper's own setting open.

    They are those from which the part was computed, or, if that is not known, those of every experiment of the claim.
    A claim is left out if seeds lack the numbers of its open parts, which further seeds do not change, or if it cannot
    be judged: `assess` reports its error.
    """
    main = findings.evidence["paper"]
    found: dict[str, set[Cell]] = {}
    for claim in findings.effort.claims(findings.paper):
        if claim.reads and main.suffices(claim):
            with suppress(Exception):  # raised by the paper's code
                for check in filter(_narrows, rule(claim, main).judgement.checks):
                    all_of_it = ((name, None, ()) for name in claim.reads if name in main)
                    for name, label, at in all_of_it if check.reads is None else check.reads:
                        found.setdefault(name, set()).update(main[name].cells(label, dict(at)))
    return found


def _narrows(check: Check) -> bool:
    """Check whether a check is open for the width of its interval, and not for a lack of values."""
    return check.outcome == Outcome.OPEN and math.isfinite(check.value) and check.half != math.inf


def drawn(item: Item, evidence: Evidence) -> Drawn:
    """Compute the data of a figure or table from evidence that has at least the experiments that it needs.

    Raises `ValueError` if a curve names a panel that the figure lacks, or has fewer or more values than points.
    """
    if isinstance(item, Table):
        return Drawn(item, item.rows(evidence))
    curves = list(item.curves(evidence))
    return Drawn(item, _tidy(item, curves), curves)


_OURS = ("bars", "line", "points", "steps")
"""The styles of curves that are drawn from runs; the others are printed, or a model's."""


def _drawn(item: Item, findings: Findings) -> Drawn:
    """Compute the data of a figure or table; beside another engine's curves those of the stored simulations."""
    here = drawn(item, findings.judging)
    simulated = findings.evidence.get(SIMULATED)
    if not isinstance(item, Figure) or simulated is None:
        return here

    def named(curves: Iterable[Curve], engine: Engine) -> list[Curve]:
        return [replace(one, name=f"{one.name}, {engine}") if one.style in _OURS else one for one in curves]

    curves = named(here.curves, findings.effort.engine)
    if simulated.has(item.needs):
        curves += [one for one in named(drawn(item, simulated).curves, PACKETS) if one.style in _OURS]
    return Drawn(item, _tidy(item, curves), curves)


def _tidy(figure: Figure, curves: Sequence[Curve]) -> polars.DataFrame:
    import polars

    frames = []
    letters = [letter for panel in figure.panels for letter in panel.letters]
    if len(set(letters)) < len(letters):
        raise ValueError(f"{figure.name}: two panels or axes have one letter: {', '.join(map(repr, letters))}")
    for curve in curves:
        where = f"{figure.name}, panel {curve.panel!r}, {curve.name}"
        if curve.panel not in letters:
            raise ValueError(f"{where}: the panels are {', '.join(map(repr, sorted(letters)))}")
        count = len(curve.x)
        for numbers in (curve.y, curve.low, curve.high):
            if numbers is not None and len(numbers) != count:
                raise ValueError(f"{where}: {len(numbers)} numbers for {count} points")
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
