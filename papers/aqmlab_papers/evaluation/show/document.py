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
from aqmlab_papers.evaluation.standards import RFC7928
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
        # Documents of earlier versions have no such key, and are by RFC 7928.
        **({} if effort.standard == RFC7928 else {"rfc": effort.standard.number}),
        "version": effort.engine.version,
        "engine_name": str(effort.engine),
        "command": command,
        "seconds": seconds,
        "labels": [one.label for one in effort.subjects],
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
        f"Every {effort.standard.noun} is compared with {effort.reference}, seed by seed: runs of a seed have the "
        "same traffic and the same round-trip times. Where a section says so, it is compared with itself in another "
        "setting. Intervals are Student's, of 95 %, each for itself.",
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
    """Count the verdicts on each subject in each section."""
    tested = [one for one in evidence.guidelines if any(case.judged for case in one.cases)]
    return [
        {"label": one.label, "cells": [_counts(guideline, card, one.label) for guideline in tested]}
        for one in evidence.effort.subjects
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
        **({"open": list(one.open)} if one.open else {}),
        "figures": [{"name": each.name, "text": each.text} for each in figures],
        "cases": [_case(one, case, evidence, card, bool(figures)) for case in shown],
        "table": table(one, evidence),
    }


def _case(guideline: Guideline, case: Case, evidence: Evidence, card: Scorecard, drawn: bool) -> Document:
    runs = evidence.cases[guideline.section, case.name]
    name = f"{guideline.name}-{case.name}".rstrip("-").replace(" ", "-")
    rows = []
    for one in evidence.effort.subjects:
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
            {
                "name": one.name,
                "unit": one.unit,
                "better": one.better,
                "least": f"{one.least:g} {one.unit}".strip(),
                **({} if one.bound is None else {"bound": f"{one.bound:g} {one.unit}".strip()}),
            }
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
    """List the reasons why subjects were left out, each with the subjects."""
    reasons: dict[str, list[str]] = {}
    for label, reason in runs.left_out.items():
        reasons.setdefault(reason, []).append(label)
    return [{"reason": reason, "labels": labels} for reason, labels in reasons.items()]


def _cell(cell: Cell) -> Document:
    """Write a cell: a mean or a difference, the sign of the verdict, and the details for the pointer."""
    digits, unit = cell.measure.digits, cell.measure.unit
    own = _estimate(cell.own, digits, signed=False)
    bounded = {} if cell.measure.bound is None else {"beyond": own if cell.beyond else ""}
    if cell.test is None:
        return {"text": own, "sign": "", "verdict": "", "tip": cell.reason, **bounded}
    difference = _estimate(cell.test.difference, digits, signed=True)
    reference = _estimate(cell.other, digits, signed=False) if cell.other else DASH
    tip = f"{cell.verdict}: {own} {unit}, compared with {reference} {unit}".replace("  ", " ")
    if cell.p is not None and cell.test.p is not None:
        tip += f"; p = {cell.test.p:.2g}, corrected {cell.p:.2g} (bound {LEVEL:g})"
    if cell.test.reason:
        tip += f"; {cell.test.reason}"
    return {"text": difference, "sign": SIGNS[cell.verdict], "verdict": str(cell.verdict), "tip": tip, **bounded}


def _estimate(summary: Summary, digits: int, *, signed: bool) -> str:
    if summary.mean is None:
        return DASH
    half = f" ± {summary.ci95:.{digits}f}" if varies(summary.mean, summary.ci95) else ""
    return f"{summary.mean:{'+' if signed else ''}.{digits}f}{half}"


def beyond(found: Mapping[str, Any]) -> list[str]:
    """List the means that are beyond a bound of the RFC."""
    return [
        f"{one['section']} {case['name']}".rstrip()
        + f": {row['label']}: {measure['name']} {cell['beyond']} (at most {measure['bound']})"
        for one in found["guidelines"]
        for case in one["cases"]
        for row in case["rows"]
        for measure, cell in zip(case["measures"], row["cells"], strict=True)
        if cell.get("beyond")
    ]


def opened(found: Mapping[str, Any]) -> list[str]:
    """List what the RFC asks for that is not done."""
    return [f"{one['heading']}: {text}" for one in found["guidelines"] for text in one.get("open", ())]
