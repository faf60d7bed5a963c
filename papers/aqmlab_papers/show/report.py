"""The report of a paper: one HTML file with claims, figures, tables and all parameters, readable without a network."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.figures.model import Figure
from aqmlab.files import write_text
from aqmlab.reports.figure import embedded
from aqmlab.reports.template import rendered
from aqmlab.text import span
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.show.document import Document
from aqmlab_papers.show.texts import (
    MEANING,
    PRINTED,
    certainty,
    check_line,
    depends,
    distance,
    estimate,
    lasted,
    number,
    repeated,
    table,
)

_SECTIONS = {
    "verdicts": "Verdicts",
    "measured": "Measured and simulated",
    "figures": "Figures and tables, with their claims",
    "claims": "Other claims",
    "beyond": "Beyond the paper",
    "later": "Against later disciplines",
    "calibration": "Calibration",
    "choices": "Choices where the paper is silent or wrong",
    "parameters": "Every parameter",
    "missing": "Left out",
    "elsewhere": "Left for later",
}
"""The titles of the sections; the template of each is ``paper/NAME.html``."""

_DEPENDS = {True: "yes", False: "no", None: "not known"}
"""The words for whether a verdict depends on the values of parameters that the paper does not state."""

_MOST_VALUES = 40
"""The largest number of values listed for a parameter that varies."""


def save(found: Document, sheets: Mapping[str, Figure], file: Path) -> None:
    """Write the report of a paper, from its document and the sheets of its figures by name, to an HTML file."""
    write_text(file, text(found, sheets))


def text(found: Document, sheets: Mapping[str, Figure]) -> str:
    """Return the report of a paper as HTML; the arguments are as for `save`."""
    claims = [_claim(one) for one in found["claims"]]
    places = _places(claims, [one["name"] for one in found["items"]])
    items, items_beyond = (
        [
            {**_item(one, sheets), "judged": [claim for claim in claims if places[claim["claim"]] == one["name"]]}
            for one in found["items"]
            if one["beyond"] == more
        ]
        for more in (False, True)
    )
    others, others_beyond = (
        [one for one in claims if not places[one["claim"]] and one["beyond"] == more] for more in (False, True)
    )
    contents = {
        "verdicts": claims,
        "measured": found["measured"],
        "figures": items,
        "claims": others,
        "beyond": others_beyond + items_beyond,
        "later": found["later"]["claims"],
        "calibration": found["calibration"],
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
        claims=others,
        claims_beyond=others_beyond,
        items=items,
        items_beyond=items_beyond,
        meaning=MEANING,
        matrix=_matrix(found),
        measured=_measured(found["measured"]),
        later=_later(found["later"]),
        calibration=_calibration(found["calibration"]),
        experiments=[_experiment(one) for one in found["experiments"]],
    )


def _places(claims: Iterable[Document], items: Sequence[str]) -> dict[str, str]:
    """Return for each claim the first figure or table that shows it; empty if none in the report does."""
    return {one["claim"]: next((name for name in one["shown"] if name in items), "") for one in claims}


def _made(found: Document) -> str:
    """Describe the origin of the report."""
    source = f"{found['source']}. " if found["source"] else ""
    quick = ", quick" if found["quick"] else ""
    quick += f"; engine {found['engine_name']}" if found["measured"] else ""
    time = f", {lasted(found['seconds'])}" if found["seconds"] is not None else ""
    seeds = repeated(found)
    return f"{source}{seeds[0].upper()}{seeds[1:]}{quick}; {found['done']} runs{time}; aqmlab {found['version']}"


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


def _matrix(found: Document) -> Document:
    """Tabulate the verdicts on each claim in each setting; None stands for a claim that was not judged in it."""
    settings = [("As chosen", found["claims"]), ("Later disciplines", found["later"]["claims"])]
    settings += [(variant["variant"], variant["claims"]) for variant in found["sensitivity"]]
    varied = [{one["claim"]: one["verdict"] for one in variant["claims"]} for variant in found["sensitivity"]]
    shown = [(name, {one["claim"]: one for one in claims}) for name, claims in settings if claims]
    rows = []
    for claim in found["claims"]:
        name = claim["claim"]
        cells = [_claim(one[name]) | {"tip": _tip(one[name])} if name in one else None for _, one in shown]
        rows.append({**claim, "cells": cells, "depends": _DEPENDS[depends([one.get(name) for one in varied])]})
    others = [one for one in (found["later"], *found["sensitivity"]) if one["claims"]]
    return {
        "settings": [name for name, _ in shown],
        "rows": rows,
        "seeds": _seeds(others[0]["seeds"]) if others else "",
        "quick": any(one["quick"] for one in others),
    }


def _measured(found: Document) -> Document:
    """Add the texts of each engine's ruling, and the checks that are shown where none decides."""
    if not found:
        return {}
    claims = [{**one, "rulings": [each and _claim(each) for each in one["rulings"]]} for one in found["claims"]]
    return {**found, "claims": claims}


def _calibration(found: Document) -> Document:
    """Write the values of each setting that was tried, with their intervals and distances, as texts."""
    if not found:
        return {}
    rows = [
        {
            "name": one["name"],
            "chosen": one["chosen"],
            "distance": distance(one),
            "values": [
                number(value, 3) + (f" ± {number(half, 2)}" if half else "")
                for value, half in zip(one["values"], one["halves"], strict=True)
            ],
        }
        for one in found["tried"]
    ]
    return {**found, "rows": rows}


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
