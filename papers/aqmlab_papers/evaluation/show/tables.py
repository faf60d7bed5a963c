"""The sections that are tables: sensitivity to parameters, cost, and what an operator sets."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from aqmlab.results.summary import Summary
from aqmlab_papers.evaluation.describe.discipline import Discipline
from aqmlab_papers.evaluation.describe.guideline import Guideline
from aqmlab_papers.evaluation.describe.sensitivity import FACTORS, numbers
from aqmlab_papers.evaluation.run import Evidence
from aqmlab_papers.run.complexity import Complexity, complexity

DASH, NONE = "-", "none"
"""The texts for an unknown value, and for one that does not exist."""

_MOST = 3
"""The most parameters of a discipline in the table of sensitivity."""

Lines = dict[str, Any]
"""A table: ``columns``, their heads; ``rows``, the texts of each line, of which the first is a discipline; ``code``,
the places of the columns with names of parameters and presets."""


def table(guideline: Guideline, evidence: Evidence) -> Lines | None:
    """Return the table of a section that has one."""
    made: Mapping[str, Callable[[Guideline, Evidence], Lines]] = {
        "sensitivity": _sensitivity,
        "cost": _cost,
        "operator": _operator,
    }
    return made[guideline.kind](guideline, evidence) if guideline.kind in made else None


def _disciplines(evidence: Evidence) -> Sequence[Discipline]:
    """Return the subjects of RFC 7928, which alone has such sections."""
    return cast(Sequence[Discipline], evidence.effort.subjects)


def _sensitivity(guideline: Guideline, evidence: Evidence) -> Lines:
    """Tabulate delay and goodput with each parameter halved, as it is, and doubled; the most influential come first."""
    rows = []
    for one in _disciplines(evidence):
        own = []
        for number, (path, value) in enumerate(numbers(one).items()):
            places = [(guideline.section, f"{number + 1} x {factor:g}") for factor in FACTORS]
            runs = [evidence.cases[place] for place in places if place in evidence.cases]
            if len(runs) < len(FACTORS):
                continue
            default = evidence.cases[runs[0].case.against or ("", "")]
            texts, reach = [path.removeprefix("aqm."), _plain(value)], 0.0
            for measure in runs[0].case.measures:
                low, middle, high = (
                    Summary.of(list(each.values(measure, one.label).values())).mean
                    for each in (runs[0], default, runs[1])
                )
                texts.append(" / ".join(_number(each, measure.digits) for each in (low, middle, high)))
                known = [each for each in (low, middle, high) if each is not None]
                reach = max(reach, (max(known) - min(known)) / measure.least if known else 0.0)
            own.append((reach, [one.label, *texts]))
        own.sort(key=lambda pair: -pair[0])
        rows += [texts for _, texts in own[:_MOST]]
    factors = f"x {FACTORS[0]:g} / as it is / x {FACTORS[1]:g}"
    names = [f"{measure.axis}: {factors}" for measure in guideline.cases[0].measures]
    return {"columns": ["Discipline", "Parameter", "Value", *names], "rows": rows, "code": [0, 1]}


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _number(value: float | None, digits: int) -> str:
    return DASH if value is None else f"{value:.{digits}f}"


def _cost(_: Guideline, evidence: Evidence) -> Lines:
    known = complexity()
    rows = [_cost_of(one, known) for one in _disciplines(evidence)]
    flows = sorted(known.queue)
    heads = [f"Instructions, {count} flows" for count in flows]
    columns = ["Discipline", *heads, "State (bytes)", "Decides at", "Timer", "Randomness"]
    return {"columns": columns, "rows": rows, "code": [0]}


def _cost_of(one: Discipline, known: Complexity) -> list[str]:
    cost = known.costs.get(one.name)
    if one.name == "droptail":
        counts = [f"{count:.0f} (the queue)" for _, count in sorted(known.queue.items())]
    elif cost:
        counts = [f"{count:.0f}" for _, count in sorted(cost.instructions.items())]
    else:
        counts = [DASH] * len(known.queue)
    state = str(cost.bytes) if cost else DASH
    doc = "" if one.foreign else " ".join(str(one.entry["doc"]).split())
    return [one.label, *counts, state, *(_said(doc, what) for what in ("Decides at", "Timer", "Randomness"))]


def _said(doc: str, what: str) -> str:
    found = re.search(rf"{what}: (.+?)(?:\.(?: |$)|;)", doc)
    return found[1] if found else DASH


def _operator(_: Guideline, evidence: Evidence) -> Lines:
    rows = []
    for one in _disciplines(evidence):
        if one.foreign:
            rows.append([one.label, *[DASH] * 4])
            continue
        knob = one.knob
        following = [key for key, value in one.table.items() if value == "auto"]
        presets: Sequence[Mapping[str, Any]] = one.entry.get("presets", [])
        rows.append(
            [
                one.label,
                knob.path.removeprefix("aqm.") if knob else NONE,
                ", ".join(following) or NONE,
                str(len(one.entry["parameters"])),
                ", ".join(str(preset["name"]) for preset in presets) or NONE,
            ]
        )
    columns = ["Discipline", "Sets the delay", "Follow unless set", "Parameters", "Presets"]
    return {"columns": columns, "rows": rows, "code": [0, 1, 2, 4]}
