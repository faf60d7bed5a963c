"""The scorecard as a table for the terminal."""

import textwrap
from collections.abc import Mapping
from typing import Any

from aqmlab.text import columns, printable
from aqmlab_papers.evaluation.show.document import SIGNS, beyond
from aqmlab_papers.evaluation.standards import standard_of
from aqmlab_papers.evaluation.verdict import CORRECTIONS, Verdict

_WIDTH = 110


def scorecard(found: Mapping[str, Any]) -> str:
    """Return the counts of the verdicts on each subject by section, and what the signs mean."""
    standard, rows = standard_of(found), found["scorecard"]
    sections = [cell["section"] for cell in rows[0]["cells"]] if rows else []
    parts = []
    # As many sections beside each other as a line has room for.
    across = max(1, (_WIDTH - max((len(row["label"]) for row in rows), default=0)) // 13)
    for first in range(0, len(sections), across):
        part = slice(first, first + across)
        lines = [["", *sections[part]]]
        lines += [[printable(row["label"]), *(cell["text"] for cell in row["cells"][part])] for row in rows]
        parts.append(columns(lines))
    meaning = ", ".join(f"{SIGNS[each]} {each}" for each in (Verdict.BETTER, Verdict.WORSE, Verdict.NONE))
    seeds = f"{found['seeds']} seed{'s' if found['seeds'] > 1 else ''}"
    told = (
        f"{meaning}, compared with {found['reference']} (in {standard.own[0]} with {standard.own[1]}); numbers of "
        f"measures. {found['tested']} tests, {seeds}: {CORRECTIONS[found['correction']]}."
    )
    notes = [f"Beyond a bound of the RFC: {line}" for line in beyond(found)]
    if some := ", ".join(one["section"] for one in found["guidelines"] if one.get("open")):
        notes.append(f"Open, for the reasons in the report: {some}")
    return "\n\n".join([*parts, textwrap.fill(told, _WIDTH), *notes, *_left_out(found)])


def _left_out(found: Mapping[str, Any]) -> list[str]:
    """List the cases that no subject could have, such as those that the engine cannot perform."""
    return [
        f"Left out: {' '.join(part for part in (one['section'], case['name']) if part)}: {printable(out['reason'])}"
        for one in found["guidelines"]
        for case in one["cases"]
        for out in case["left_out"]
        if len(out["labels"]) == len(found["labels"])
    ]
