"""Write a page from an evaluation: ``python -m aqmlab_papers.evaluation.show.pages FOLDER PAGE [SECTION...]``."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.files import write_text
from aqmlab.kinds import EVALUATION
from aqmlab.reports.image import small_copy
from aqmlab.reports.pages import table
from aqmlab.sealed import unsealed
from aqmlab_papers.evaluation.show.document import SIGNS
from aqmlab_papers.evaluation.show.files import DOCUMENT
from aqmlab_papers.evaluation.show.tables import DASH, NONE
from aqmlab_papers.evaluation.verdict import Verdict

Document = Mapping[str, Any]


def write(folder: Path, page: Path, sections: Collection[str] = ()) -> None:
    """Write a page from the folder of an evaluation, with its figures in a folder of the page's name.

    ``sections`` are those whose figures are included, by default all. Raises `ValueError` if the evaluation is missing
    or not whole.
    """
    found = unsealed(folder / DOCUMENT, EVALUATION, f"aqmlab evaluate --out {folder}")
    if found["failures"] or found["sections"]:
        raise ValueError(f"{folder}: not all sections were evaluated without a failure; aqmlab evaluate does the rest")
    images = page.with_suffix("")
    shutil.rmtree(images, ignore_errors=True)
    shown: dict[str, Sequence[Document]] = {}
    for one in found["guidelines"]:
        shown[one["section"]] = one["figures"] if not sections or one["section"] in sections else []
        for figure in shown[one["section"]]:
            small_copy(folder / f"{figure['name']}.png", images / f"{figure['name']}.png")
    write_text(page, text(found, shown, images.name))


def text(found: Document, shown: Mapping[str, Sequence[Document]], images: str) -> str:
    """Return the page as Markdown; ``shown`` has the figures of each section, which are in the folder ``images``."""
    labels = ", ".join(f"`{label}`" for label in found["labels"])
    parts = [
        f"# RFC 7928: {len(found['labels'])} disciplines",
        "*Generated from an evaluation by `make evaluation`; [the reading](README.md) is by hand.*",
        f"`{found['command']}` made it: {labels}; {found['seeds']} seeds, {found['done']} runs.",
        "## Scorecard",
        f"Numbers of measures that are {_legend()} compared with `{found['reference']}`; in 4.5 and 4.6 compared with "
        "the same discipline without ECN, and without fair queueing.",
        _scorecard(found),
        *found["method"],
        *(part for one in found["guidelines"] for part in _section(one, shown[one["section"]], images)),
    ]
    return "\n\n".join(parts) + "\n"


def _legend() -> str:
    signs = (Verdict.BETTER, Verdict.WORSE, Verdict.NONE)
    return ", ".join(f"{SIGNS[each]} {each}" for each in signs)


def _scorecard(found: Document) -> str:
    rows = found["scorecard"]
    head = ["", *(f"[{cell['section']}](#{_anchor(cell['section'], found)})" for cell in rows[0]["cells"])]
    return table(head, [[f"`{row['label']}`", *(cell["text"] for cell in row["cells"])] for row in rows])


def _anchor(section: str, found: Document) -> str:
    """Return the anchor that Markdown gives to the heading of a section."""
    heading = next(one["heading"] for one in found["guidelines"] if one["section"] == section)
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _section(one: Document, figures: Sequence[Document], images: str) -> list[str]:
    parts = [f"## {one['heading']}", f"*{one['requirement'].capitalize()}.* {one['about']}"]
    parts += [f"Departure: {departure}" for departure in one["departures"]]
    for case in one["cases"]:
        parts += _case(case)
    if one["table"]:
        code = one["table"]["code"]
        rows = [
            [_code(cell) if place in code else cell for place, cell in enumerate(row)] for row in one["table"]["rows"]
        ]
        parts.append(table(one["table"]["columns"], rows))
    for figure in figures:
        parts += [f"![{one['heading']}]({images}/{figure['name']}.png)", f"*{figure['text']}*"]
    return parts


def _code(names: str) -> str:
    """Write names as code."""
    return names if names in (DASH, NONE) else ", ".join(f"`{name}`" for name in names.split(", "))


def _case(case: Document) -> list[str]:
    named = f"**{case['name'][0].upper()}{case['name'][1:]}.** " if case["name"] else ""
    against = f", compared with the same discipline in {case['against']}" if case["against"] else ""
    state = "" if case["judged"] else "; measured, not tested"
    heads = [
        f"{measure['name']}{' (' + measure['unit'] + ')' if measure['unit'] else ''}, {measure['better']} is better, "
        f"beyond {measure['least']}"
        for measure in case["measures"]
    ]
    rows = [
        [f"`{row['label']}`", *(f"{cell['text']} {cell['sign']}".strip() for cell in row["cells"])]
        for row in case["rows"]
        if any(cell["text"] != "-" for cell in row["cells"])
    ]
    return [f"{named}`{case['scenario']}`{against}{state}.", table(["", *heads], rows)]


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
