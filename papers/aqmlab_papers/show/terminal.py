"""Terminal output for papers: the list of papers, and the outcome of a reproduction."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.files import REPORT
from aqmlab_papers.describe.verdict import Verdict
from aqmlab_papers.run.estimate import Estimate
from aqmlab_papers.show.texts import FINDINGS, certainty, decisive, lasted

if TYPE_CHECKING:
    from aqmlab_papers.reproduction import Reproduction

_WIDTH = 110
_TOP = "  "


def listed(estimates: Sequence[Estimate], quick: Sequence[Estimate], cores: int) -> str:
    """List papers, one paragraph each, with their figures, tables and claims and the estimated time of each.

    ``quick`` has the estimates of the same papers with ``--quick``; it is empty if ``estimates`` has them already.
    """
    parts = []
    for number, one in enumerate(estimates):
        paper = one.paper
        todo = work(one, cores)
        if quick:
            todo += (
                f"; --quick: {quick[number].missing} of {quick[number].runs}, {_time(quick[number].seconds / cores)}"
            )
        head = textwrap.wrap(f"{paper.name}: {paper.title}", _WIDTH, subsequent_indent=_TOP)
        rows = [(item.name, _time(one.items[item.name] / cores), item.title) for item in paper.items]
        claims = [(claim.name, _time(one.claims[claim.name] / cores), claim.text) for claim in paper.claims]
        parts.append(
            "\n".join(
                [*head, f"{_TOP}{todo}", "", *_laid(rows, _TOP, True), "", f"{_TOP}claims", *_laid(claims, _TOP, True)]
            )
        )
    return "\n\n".join(parts)


def work(one: Estimate, cores: int) -> str:
    """Describe the missing runs of a paper: ``30 of 66 runs to do, 12 min``."""
    return f"{one.missing} of {one.runs} runs to do, {_time(one.seconds / cores)}"


def _laid(rows: Sequence[tuple[str, str, str]], indent: str = "", right: bool = False) -> list[str]:
    """Lay out rows in three columns and wrap the last."""
    lines = []
    first, second = (max((len(row[column]) for row in rows), default=0) for column in (0, 1))
    for name, middle, text in rows:
        head = f"{indent}{name.ljust(first)}  {middle.rjust(second) if right else middle.ljust(second)}  "
        width = max(_WIDTH, len(head) + 40)
        lines += textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * len(head))
    return lines


def _time(seconds: float) -> str:
    """Format a duration, rounded to the precision of an estimate."""
    if seconds == 0:
        return "0 s"
    if seconds < 1:
        return "< 1 s"
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5970 else f"{seconds / 3600:.1f} h"


def verdicts(claims: Sequence[Mapping[str, Any]]) -> str:
    """Lay out the claims of a document: name (a star marks our own), verdict, and the check that decides it.

    The document is that of `aqmlab_papers.show.document.document`. A claim without checks has its reason instead.
    """
    rows = []
    for claim in claims:
        name = claim["claim"] + ("*" if claim["beyond"] else "")
        text = ": ".join(part for part in (certainty(claim), decisive(claim)) if part)
        rows.append((name, claim["verdict"], text or claim["why"]))
    return "\n".join(_laid(rows))


def counted(claims: Iterable[Mapping[str, Any]]) -> str:
    """Count verdicts: ``12 claims of the paper: 8 reproduced, 2 partly, 2 contradicted``; then those on our claims.

    Claims that no run could contradict come last: archives have a verdict on each of them too.
    """
    every = list(claims)
    parts = []
    for beyond, whose in ((False, "of the paper"), (True, "beyond it")):
        chosen = [claim["verdict"] for claim in every if claim["beyond"] == beyond and not claim["arithmetic"]]
        summary = ", ".join(f"{chosen.count(verdict)} {verdict}" for verdict in Verdict if verdict in chosen)
        if chosen:
            parts.append(f"{len(chosen)} claim{'s' if len(chosen) > 1 else ''} {whose}: {summary}")
    if count := sum(claim["arithmetic"] for claim in every):
        parts.append(f"{count} of arithmetic")
    return "; ".join(parts)


def runs(one: Reproduction) -> str:
    """Describe in one line the number of runs, and the times for the runs and for the drawing."""
    found = one.findings
    parts = [f"{found.done} runs" if found.done == found.wanted else f"{found.done} of {found.wanted} runs"]
    if found.simulated:
        parts.append(f"simulated in {lasted(one.running)} ({lasted(one.working)} of CPU time)")
    else:
        parts.append(f"all in the store, found in {lasted(one.running)}")
    if one.drawing:
        parts.append(f"judged and drawn in {lasted(one.drawing)}")
    return ", ".join(parts)


def files(document: Mapping[str, Any]) -> str:
    """List the files in the folder of a report: ``report.html, findings.json, 14 figures, 3 tables``."""
    kinds = [item["kind"] for item in document["items"]]
    counts = [
        f"{kinds.count(kind)} {kind}{'s' if kinds.count(kind) > 1 else ''}"
        for kind in ("figure", "table")
        if kind in kinds
    ]
    return ", ".join([REPORT, FINDINGS, *counts])
