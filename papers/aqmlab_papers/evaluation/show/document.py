"""The content of a report as a document: all texts and numbers, without the images."""

from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.kinds import EVALUATION
from aqmlab.reports.text import varies
from aqmlab.results.summary import Summary
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline
from aqmlab_papers.evaluation.run import CaseRuns, Evidence
from aqmlab_papers.evaluation.scorecard import Cell, Scorecard, commands
from aqmlab_papers.evaluation.show.figures import Drawn
from aqmlab_papers.evaluation.show.tables import DASH, table
from aqmlab_papers.evaluation.verdict import CORRECTIONS, LEVEL, Verdict

Document = dict[str, Any]

SIGNS = {
    Verdict.BETTER: "\N{BLACK UP-POINTING TRIANGLE}",
    Verdict.WORSE: "\N{BLACK DOWN-POINTING TRIANGLE}",
    Verdict.NONE: "\N{MIDDLE DOT}",
    Verdict.UNTESTED: "",
}
"""The sign of each verdict."""

_FEW = 10
"""The number of seeds below which the report warns of the tests' weakness."""


def document(
    evidence: Evidence, card: Scorecard, figures: Mapping[str, Sequence[Drawn]], command: str, seconds: float
) -> Document:
    """Return the content of a report; `seconds` is the time that the runs took."""
    effort = evidence.effort
    return {
        "schema": EVALUATION.version,
        "version": effort.engine.version,
        "engine_name": str(effort.engine),
        "command": command,
        "seconds": seconds,
        "labels": [one.label for one in effort.disciplines],
        "reference": effort.reference,
        "seeds": effort.seeds,
        "sections": list(effort.sections),
        "correction": card.correction,
        "method": method(evidence, card),
        "tested": card.tested,
        "wanted": evidence.wanted,
        "done": evidence.done,
        "simulated": evidence.simulated,
        "failures": [str(failure) for failure in evidence.failures],
        "scorecard": _summary(evidence, card),
        "guidelines": [_guideline(one, evidence, card, figures.get(one.section, [])) for one in evidence.guidelines],
    }


def method(evidence: Evidence, card: Scorecard) -> list[str]:
    """Return paragraphs on the tests and their errors."""
    effort = evidence.effort
    found = [
        f"Every discipline is compared with {effort.reference}, seed by seed: runs of a seed have the same traffic and "
        "the same round-trip times. Where a section says so, it is compared with itself in another setting. Intervals "
        "are Student's, of 95 %, each for itself.",
        "The null hypothesis of a test is that the mean difference is no larger than the least difference of interest, "
        "which stands in the head of each column; so a small difference is not called better only because many seeds "
        f"resolve it. All {card.tested} tests of this report are one family: {CORRECTIONS[card.correction]}. "
        "Measures that are not tested are no members of it.",
    ]
    if effort.seeds < _FEW:
        freedom = effort.seeds - 1
        found.append(
            f"With {effort.seeds} seeds a test has {freedom} degree{'s' if freedom != 1 else ''} of freedom. Corrected "
            f"for {card.tested} tests, only very regular differences are shown: that none is shown is no evidence of "
            f"equality. --seeds {_FEW} or more shows more."
        )
    return found


def _summary(evidence: Evidence, card: Scorecard) -> list[Document]:
    """Count the verdicts on each discipline in each section."""
    tested = [one for one in evidence.guidelines if any(case.judged for case in one.cases)]
    return [
        {"label": one.label, "cells": [_counts(guideline, card, one.label) for guideline in tested]}
        for one in evidence.effort.disciplines
    ]


def _counts(guideline: Guideline, card: Scorecard, label: str) -> Document:
    counts = card.counts(guideline, label)
    return {
        "section": guideline.section,
        "name": guideline.name,
        "counts": {str(each): counts[each] for each in Verdict},
        "text": _counted(counts),
    }


def _counted(counts: Mapping[Verdict, int]) -> str:
    shown = (Verdict.BETTER, Verdict.WORSE, Verdict.NONE)
    return " ".join(f"{SIGNS[each]}{counts[each]}" for each in shown if counts[each]) or DASH


def _guideline(one: Guideline, evidence: Evidence, card: Scorecard, figures: Sequence[Drawn]) -> Document:
    shown = one.cases if one.kind == "runs" else []
    head = ("section", "name", "title", "heading", "requirement", "about")
    return {
        **{name: getattr(one, name) for name in head},
        "departures": list(one.departures),
        "figures": [{"name": each.name, "text": each.text} for each in figures],
        "cases": [_case(one, case, evidence, card, bool(figures)) for case in shown],
        "table": table(one, evidence),
    }


def _case(guideline: Guideline, case: Case, evidence: Evidence, card: Scorecard, drawn: bool) -> Document:
    runs = evidence.cases[guideline.section, case.name]
    name = f"{guideline.name}-{case.name}".rstrip("-").replace(" ", "-")
    rows = []
    for one in evidence.effort.disciplines:
        cells = card.of(guideline, case, one.label)
        rows.append(
            {
                "label": one.label,
                "anchor": "-".join(f"repeat-{name}-{one.label}".split()),
                "cells": [_cell(cell) for cell in cells],
                "commands": commands(evidence, guideline, case, one.label),
            }
        )
    return {
        "name": case.name,
        "anchor": name,
        "scenario": case.scenario,
        "file": scenario_file(name),
        "judged": case.judged,
        "against": None if case.against is None else " ".join(part for part in case.against if part),
        "measures": [
            {"name": one.name, "unit": one.unit, "better": one.better, "least": f"{one.least:g} {one.unit}".strip()}
            for one in case.measures
        ],
        "rows": rows,
        "left_out": _grouped(runs),
        "drawn": drawn,
    }


def scenario_file(name: str) -> str:
    """Return the name of the file with the scenario of a case, given its anchor."""
    return f"scenarios/{name}.toml"


def _grouped(runs: CaseRuns) -> list[Document]:
    """List the reasons why disciplines were left out, each with the disciplines."""
    reasons: dict[str, list[str]] = {}
    for label, reason in runs.left_out.items():
        reasons.setdefault(reason, []).append(label)
    return [{"reason": reason, "labels": labels} for reason, labels in reasons.items()]


def _cell(cell: Cell) -> Document:
    """Write a cell: a mean or a difference, the sign of the verdict, and the details for the pointer."""
    digits, unit = cell.measure.digits, cell.measure.unit
    own = _estimate(cell.own, digits, signed=False)
    if cell.test is None:
        return {"text": own, "sign": "", "verdict": "", "tip": cell.reason}
    difference = _estimate(cell.test.difference, digits, signed=True)
    reference = _estimate(cell.other, digits, signed=False) if cell.other else DASH
    tip = f"{cell.verdict}: {own} {unit}, compared with {reference} {unit}".replace("  ", " ")
    if cell.p is not None and cell.test.p is not None:
        tip += f"; p = {cell.test.p:.2g}, corrected {cell.p:.2g} (bound {LEVEL:g})"
    if cell.test.reason:
        tip += f"; {cell.test.reason}"
    return {"text": difference, "sign": SIGNS[cell.verdict], "verdict": str(cell.verdict), "tip": tip}


def _estimate(summary: Summary, digits: int, *, signed: bool) -> str:
    if summary.mean is None:
        return DASH
    half = f" ± {summary.ci95:.{digits}f}" if varies(summary.mean, summary.ci95) else ""
    return f"{summary.mean:{'+' if signed else ''}.{digits}f}{half}"
