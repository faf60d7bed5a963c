"""The findings of a reproduction as one document, from which reports and pages are made without new runs."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from aqmlab import _core
from aqmlab.execute.engine import PACKETS
from aqmlab.figures.model import Figure as Drawing
from aqmlab.kinds import FINDINGS
from aqmlab.runs.plan import Study
from aqmlab.scenario import cables
from aqmlab_papers.describe import library
from aqmlab_papers.describe.claim import Claim
from aqmlab_papers.describe.paper import Experiment, Item, Paper, Table
from aqmlab_papers.judge.calibration import Calibrated
from aqmlab_papers.judge.findings import Assessment, Drawn, Ruling, measurable
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.runs import Cell, Runs
from aqmlab_papers.run.sweep import Findings
from aqmlab_papers.show.texts import files, heading

Document = dict[str, Any]


def document(
    assessment: Assessment, sheets: Mapping[str, Drawing], command: str, seconds: float | None = None
) -> Document:
    """Collect all findings in one document for JSON, in which None stands for a number that is not finite.

    ``items`` are the figures and tables, each with title, caption, files, the claims that it shows, and the rows of a
    table; ``left_out`` are those that lack runs or raised an error. ``claims`` are as from `Ruling.document`, each with
    the figures that show it; ``not_judged`` are the others. ``sensitivity`` and ``later`` have the verdicts in other
    settings, `CONTROL` first in ``sensitivity``. ``measured`` has the claims on another engine beside those on the
    packet engine. ``calibration`` has the settings that were tried, empty if none were.
    ``experiments`` has all parameters. ``errors`` has what could not be drawn or judged.

    ``sheets`` has the sheets of the figures by name; ``command`` is the command line for the reader to repeat;
    ``seconds`` is the time that the runs took, or None if it was not measured.
    """
    findings = assessment.findings
    paper, effort, errors = findings.paper, findings.effort, assessment.errors
    main, later = findings.evidence["paper"], findings.evidence.get("later")
    drawn = {one.item.name: one for one in assessment.drawn}
    judged = {ruling.claim.name for ruling in assessment.rulings}
    head = {name: getattr(paper, name) for name in ("title", "source", "about", "hero")}
    found = {
        "schema": FINDINGS.version,
        "paper": paper.name,
        **head,
        "version": _core.__version__,
        "engine": effort.engine.version,
        "engine_name": str(effort.engine),
        "command": command,
        "seconds": seconds,
        "seeds": sorted({seed for runs in main.values() for seed in runs.seeds}),
        "quick": effort.quick,
        "only": sorted(effort.only),
        "effort": effort.document(),
        "wanted": findings.wanted,
        "done": findings.done,
        "simulated": findings.simulated,
        "interrupted": findings.interrupted,
        "counts": assessment.counts(),
        "counts_beyond": assessment.counts(beyond=True),
        "items": [
            _item(drawn[one.name], sheets.get(one.name), paper.claims)
            for one in effort.items(paper)
            if one.name in drawn
        ],
        "left_out": [
            {
                "name": one.name,
                "heading": heading(one),
                "title": one.title,
                "missing": errors.get(one.name) or _missing(one, findings),
            }
            for one in effort.items(paper)
            if one.name not in drawn
        ],
        "claims": [_ruling(ruling) for ruling in assessment.rulings],
        "not_judged": [
            {
                "claim": claim.name,
                "text": claim.text,
                "where": claim.where,
                "missing": errors.get(f"claim {claim.name}") or _missing(claim, findings),
            }
            for claim in effort.claims(paper)
            if claim.name not in judged
        ],
        "sensitivity": [
            {"variant": name, "claims": [_ruling(ruling) for ruling in rulings], **_extent(evidence)}
            for name, rulings in assessment.variants.items()
            for evidence in [findings.evidence[name]]
        ],
        "later": {
            "rivals": _rivals(later),
            "claims": [_ruling(ruling) for ruling in assessment.later] if later else [],
            **_extent(later),
        },
        "measured": _measured(assessment),
        "choices": [asdict(choice) for choice in paper.choices],
        "calibration": _calibration(assessment.calibrated),
        "experiments": [
            _experiment(paper, one, main[one.name], findings.more.get(one.name, {}))
            for one in paper.experiments
            if one.name in main
        ],
        "errors": dict(errors),
        "failures": [str(failure) for failure in findings.failures],
        "elsewhere": paper.later,
    }
    tidy: Document = json.loads(json.dumps(_finite(found)))
    return tidy


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(inside) for key, inside in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(inside) for inside in value]
    return value


def _item(one: Drawn, sheet: Drawing | None, claims: Iterable[Claim]) -> Document:
    item = one.item
    head = {name: getattr(item, name) for name in ("name", "title", "caption", "beyond")}
    found = {**head, "heading": heading(item), "claims": [claim.name for claim in claims if item.name in claim.shown]}
    if not isinstance(item, Table):
        return {"kind": "figure", **found, "files": files(item), "small": sheet.small_print if sheet else ""}
    rows = [list(row) for row in one.frame.rows()]
    return {
        "kind": "table",
        **found,
        "files": files(item),
        "columns": one.frame.columns,
        "rows": rows,
        "digits": item.digits,
    }


def _missing(one: Item | Claim, findings: Findings) -> str:
    paper, engine, evidence = findings.paper, findings.effort.engine.name, findings.judging
    measured = paper.measured(engine).experiments if paper.simulated else {}
    if paper.simulated and not measured.keys() & {*one.needs}:
        return (
            f"not measured on {engine}: the paper has it from simulations or from theory, and so has `aqmlab reproduce`"
        )
    lacking = []
    for name in one.needs:
        if name in evidence and not evidence[name].whole:
            sweep = evidence[name].sweep
            lacking.append(f"{sweep.wanted - sweep.done} of {sweep.wanted} runs of {name} are missing")
        elif name in evidence:
            continue
        elif name in measured:
            lacking.append(f"{name} was not measured on {engine}: --full does it")
        elif paper.simulated:
            lacking.append(f"the simulation {name} is not in the store: `aqmlab reproduce {paper.name}` does it")
        else:
            lacking.append(f"{name} was not run")
    return ", ".join(lacking) or "a number that decides it is of simulated runs"


def _measured(assessment: Assessment) -> Document:
    """Return the claims about what the paper measured: what it prints, and the rulings by simulation and by an engine.

    It is empty for a paper that is simulated.
    """
    findings = assessment.findings
    paper, engine = findings.paper, findings.effort.engine
    if paper.simulated is None:
        return {}
    described = paper.measured(engine.name)
    rulings = [{one.claim.name: one for one in some} for some in (assessment.simulated, assessment.rulings)]
    return {
        "engines": [str(PACKETS), str(engine)],
        "why": described.why,
        "claims": [
            {
                "claim": claim.name,
                "text": claim.text,
                "where": claim.where,
                "quote": claim.quote,
                "printed": described.printed.get(claim.name, ""),
                "rulings": [_ruling(some[claim.name]) if claim.name in some else None for some in rulings],
            }
            for claim in measurable(findings)
        ],
    }


def _ruling(ruling: Ruling) -> Document:
    return {**ruling.document(), "shown": list(ruling.claim.shown)}


def _calibration(found: Calibrated | None) -> Document:
    """Return the settings that were tried, each with its values of the printed numbers and its distance from them."""
    if found is None:
        return {}
    calibration = found.calibration
    return {
        "why": calibration.why,
        "printed": [
            {name: getattr(one, name) for name in ("name", "value", "unit", "where")} for one in calibration.printed
        ],
        "tried": [
            {
                "name": one.name,
                "values": [None if each is None else each.mean for each in one.ours],
                "halves": [None if each is None else each.summary.ci95 for each in one.ours],
                "has": [each is not None for each in one.ours],
                "distance": one.distance,
                "chosen": one.name == calibration.chosen,
            }
            for one in found.tried
        ],
    }


def _extent(evidence: Evidence | None) -> Document:
    """Return the seeds of a setting, and whether it has few points."""
    if evidence is None:
        return {"seeds": [], "quick": False}
    return {"seeds": sorted({seed for one in evidence.values() for seed in one.seeds}), "quick": evidence.quick}


def _rivals(evidence: Evidence | None) -> list[str]:
    return list(dict.fromkeys(label for runs in (evidence or {}).values() for label in runs.others))


def _experiment(paper: Paper, experiment: Experiment, runs: Runs, more: Mapping[Cell, int]) -> Document:
    study = runs.study
    label, first = next(iter(study.variants.items()))
    return {
        "name": experiment.name,
        "title": experiment.title,
        "scenario": library.scenario_name(paper, experiment.scenario),
        "seeds": runs.seeds,
        "more": [{"aqm": aqm, "point": point, "seeds": seeds} for (aqm, point), seeds in sorted(more.items())],
        "wanted": runs.wanted,
        "done": runs.done,
        "varies": _varies(study),
        "first": label,
        "toml": toml(first.resolved),
        "aqms": {label: _observed(one.resolved) for label, one in study.variants.items()},
    }


def _observed(resolved: Mapping[str, Any]) -> Document:
    """Return the queue discipline of the observed link."""
    if "aqm" in resolved:
        return dict(resolved["aqm"])
    return dict(cables(resolved)[resolved["observe"]]["aqm"])


def _varies(study: Study) -> Document:
    points = zip(*study.design.points, strict=True)
    return {path: list(dict.fromkeys(values)) for path, values in zip(study.design.paths, points, strict=False)}


def toml(table: Mapping[str, Any], path: str = "", each: bool = False) -> str:
    """Write a resolved scenario as TOML with all its defaults; reading it yields the same scenario.

    ``path`` is the name of the table with those of its parents; ``each`` writes an element of an array of tables.
    """
    lines = [f"[[{path}]]" if each else f"[{path}]"] if path else []
    inner = {}
    for key, value in table.items():
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            inner[f"{path}.{key}" if path else key] = value
        else:
            lines.append(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    parts = ["\n".join(lines) + "\n"] if lines else []
    for name, value in inner.items():
        parts += [toml(value, name)] if isinstance(value, dict) else [toml(one, name, each=True) for one in value]
    return "\n".join(parts)
