"""The report of a paper: one HTML file with claims, figures, tables and all parameters, readable without a network."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.figures.model import Figure
from aqmlab.files import write_text
from aqmlab.papers.describe.verdict import Verdict
from aqmlab.papers.show.document import Document
from aqmlab.papers.show.texts import PRINTED, certainty, check_line, estimate, lasted, number, table
from aqmlab.reports.figure import embedded
from aqmlab.reports.template import rendered
from aqmlab.text import span

_SECTIONS = {
    "claims": "Claims",
    "figures": "Figures and tables",
    "beyond": "Beyond the paper",
    "sensitivity": "Sensitivity to unstated parameters",
    "later": "Against later disciplines",
    "choices": "Choices where the paper is silent or wrong",
    "parameters": "Every parameter",
    "missing": "Left out",
    "elsewhere": "Left to the live engine",
}
"""The titles of the sections; the template of each is ``paper/NAME.html``."""

_MOST_VALUES = 40
"""The largest number of values listed for a parameter that varies."""


def save(found: Document, sheets: Mapping[str, Figure], file: Path) -> None:
    """Write the report of a paper, from its document and the sheets of its figures by name, to an HTML file."""
    write_text(file, text(found, sheets))


def text(found: Document, sheets: Mapping[str, Figure]) -> str:
    """Return the report of a paper as HTML; the arguments are as for `save`."""
    claims, claims_beyond = (
        [_claim(one) for one in found["claims"] if one["beyond"] == more] for more in (False, True)
    )
    items, items_beyond = (
        [_item(one, sheets) for one in found["items"] if one["beyond"] == more] for more in (False, True)
    )
    contents = {
        "claims": claims,
        "figures": items,
        "beyond": claims_beyond + items_beyond,
        "sensitivity": found["sensitivity"],
        "later": found["later"]["claims"],
        "choices": found["choices"],
        "parameters": found["experiments"],
        "missing": found["left_out"] + found["not_judged"] + found["failures"],
        "elsewhere": found["elsewhere"],
    }
    return rendered(
        "paper.html",
        title=found["title"],
        made=_made(found),
        command=found["command"],
        has_figures=bool(sheets),
        sections={name: title for name, title in _SECTIONS.items() if contents[name]},
        paper=found,
        verdicts=list(Verdict),
        headings={one["name"]: one["heading"] for one in found["items"]},
        claims=claims,
        claims_beyond=claims_beyond,
        items=items,
        items_beyond=items_beyond,
        sensitivity=_sensitivity(found),
        later=_later(found["later"]),
        experiments=[_experiment(one) for one in found["experiments"]],
    )


def _made(found: Document) -> str:
    """Describe the origin of the report."""
    source = f"{found['source']}. " if found["source"] else ""
    quick = ", quick" if found["quick"] else ""
    time = f", {lasted(found['seconds'])}" if found["seconds"] is not None else ""
    return f"{source}{_seeds(found['seeds'])}{quick}; {found['done']} runs{time}; aqmlab {found['version']}"


def _seeds(seeds: Sequence[int]) -> str:
    return f"Seed{'s' if len(seeds) > 1 else ''} {span(tuple(seeds))}" if seeds else "Nothing drawn by chance"


def _claim(one: Document) -> Document:
    """Add the texts of a claim's checks and of its state."""
    checks, beside = (
        [{**check, "estimate": estimate(check), "bounds": _bounds(check)} for check in one[kind]]
        for kind in ("checks", "beside")
    )
    return {**one, "certainty": certainty(one), "checks": checks, "beside": beside}


def _bounds(check: Document) -> str:
    wanted = str(check["wanted"])
    return wanted.replace(">=", "\N{GREATER-THAN OR EQUAL TO}").replace("<=", "\N{LESS-THAN OR EQUAL TO}")


def _item(one: Document, sheets: Mapping[str, Figure]) -> Document:
    """Add the HTML of a figure, or the cells of a table, each with its class."""
    if one["kind"] == "figure":
        return {**one, "figure": embedded(sheets[one["name"]], one["name"])}
    head, rows = table(one["columns"], one["rows"], one["digits"])
    columns = ([row[one["columns"].index(name)] for row in one["rows"]] for name in head)
    classes = [_class(name, values) for name, values in zip(head, columns, strict=True)]
    lines = [list(zip(line, classes, strict=True)) for line in (head, *rows)]
    return {**one, "small": "", "head": lines[0], "cells": lines[1:]}


def _class(name: str, values: Iterable[object]) -> str:
    """Return the class of a column: values printed in the paper, or texts, or both; empty for our numbers."""
    printed = ["printed"] if name.endswith(PRINTED) else []
    texts = ["text"] if any(isinstance(value, str) for value in values) else []
    return " ".join(printed + texts)


def _sensitivity(found: Document) -> Document:
    """Tabulate the verdicts on each claim in each setting; None stands for a claim that was not judged again."""
    variants = found["sensitivity"]
    if not variants:
        return {}
    settings = [{one["claim"]: one for one in claims} for claims in (found["claims"], *(v["claims"] for v in variants))]
    names = dict.fromkeys(one["claim"] for variant in variants for one in variant["claims"])
    return {
        "seeds": _seeds(variants[0]["seeds"]),
        "quick": variants[0]["quick"],
        "variants": [variant["variant"] for variant in variants],
        "rows": {
            name: [
                _claim(setting[name]) | {"tip": _tip(setting[name])} if name in setting else None
                for setting in settings
            ]
            for name in names
        },
    }


def _tip(one: Document) -> str:
    return "\n".join(check_line(check) for check in one["checks"])


def _later(later: Document) -> Document:
    """Assign the checks of each claim to the later disciplines that they mention, the others to a last column."""
    rivals = later["rivals"]
    rows = []
    for one in map(_claim, later["claims"]):
        cells = [[check for check in one["checks"] if _mentions(check["effect"], rival)] for rival in rivals]
        rest = [check for check in one["checks"] if not any(check in checks for checks in cells)]
        rows.append((one, [*cells, rest]))
    head = ["Claim", *rivals, "Among all"]
    if not any(cells[-1] for _, cells in rows):
        head, rows = head[:-1], [(one, cells[:-1]) for one, cells in rows]
    return {"seeds": _seeds(later["seeds"]), "quick": later["quick"], "head": head, "rows": rows}


def _mentions(effect: str, label: str) -> bool:
    """Check whether a text names a discipline, rather than one whose name contains it: CoDel is not FQ-CoDel."""
    return re.search(rf"(?<![\w*-]){re.escape(label)}(?![\w*-])", effect) is not None


def _experiment(one: Document) -> Document:
    """Write the seeds, the values and the settings of an experiment as texts."""
    return {
        **one,
        "seeds": _seeds(one["seeds"]),
        "varies": {path: _values(values) for path, values in one["varies"].items()},
        "aqms": {label: _settings(aqm) for label, aqm in one["aqms"].items()},
    }


def _values(values: Sequence[object]) -> str:
    more = f", … ({len(values)} in all)" if len(values) > _MOST_VALUES else ""
    return ", ".join(number(value, 9) for value in values[:_MOST_VALUES]) + more


def _settings(aqm: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in aqm.items())
