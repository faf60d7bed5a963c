"""The page of an archive for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aqmlab.archive.layout import SEALED
from aqmlab.reports.template import rendered

_FIRST = ("report.html", "index.html", "figure.png")
"""The files that a reader opens first."""


def page(head: Mapping[str, Any], files: Iterable[str]) -> str:
    """Return the page as HTML, with a link to each file."""
    names = sorted(files)
    return rendered(
        "archive.html",
        title=head["title"],
        made=f"{head['kind'].capitalize()} of aqmlab {head['version']}, {head['date']}",
        command=head["command"],
        has_figures=False,
        head=head,
        first=[name for name in _FIRST if name in names],
        results=[name for name in names if not name.startswith(SEALED)],
        own=[name for name in names if name.startswith(SEALED)],
    )
