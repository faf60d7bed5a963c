"""The findings on a machine as plain text and as a document."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.execute.preflight import Finding, Verdict


def text(found: Iterable[Finding], verdicts: Iterable[Verdict]) -> str:
    """Lay out findings by group, the remedy below each that needs one, and a line for each verdict at the end."""
    found = list(found)
    width = max(len(one.name) for one in found)
    blocks = [
        "\n".join([group, *(line for one in members for line in _lines(one, width))])
        for group, members in groupby(found, lambda one: one.group)
    ]
    return "\n\n".join([*blocks, "\n".join(map(line, verdicts))])


def line(verdict: Verdict) -> str:
    """Write whether an engine is ready: ``linux, virtual time: not ready: kernel; fix: make kernel``."""
    if refusing := [*verdict.missing, *verdict.spoiling]:
        return f"{verdict.engine}: not ready: {_names(refusing)}; fix: {_fixes(refusing)}"
    if verdict.delaying:
        return f"{verdict.engine}: ready, but packets may be late: {_names(verdict.delaying)}; fix as above"
    return f"{verdict.engine}: ready"


def document(found: Iterable[Finding], verdicts: Iterable[Verdict]) -> dict[str, Any]:
    """Return findings and verdicts as a dictionary for JSON."""
    return {
        "findings": [asdict(one) for one in found],
        "engines": [
            {
                "engine": verdict.engine,
                "ready": verdict.ready,
                "missing": [one.name for one in verdict.missing],
                "spoiling": [one.name for one in verdict.spoiling],
                "delaying": [one.name for one in verdict.delaying],
            }
            for verdict in verdicts
        ],
    }


def _lines(one: Finding, width: int) -> list[str]:
    first = f"  {one.state:<7}  {one.name.ljust(width)}  {printable(one.found)}"
    if not one.fix:
        return [first]
    indent = " " * (width + 13)
    return [first, f"{indent}{one.spoils}", f"{indent}fix: {printable(one.fix)}"]


def _names(found: Sequence[Finding]) -> str:
    return ", ".join(one.name for one in found)


def _fixes(found: Sequence[Finding]) -> str:
    """Join the remedies, each once."""
    return printable("; ".join(dict.fromkeys(one.fix for one in found)))
