"""The contents of a folder of results: its kind, its runs with their scenarios, and its verdicts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from aqmlab.archive.layout import Record

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics
    from aqmlab.scenario import Scenario

KINDS = {
    "result.json": "results",
    "comparison.json": "results",
    "sweep.json": "sweep",
    "findings.json": "reproduction",
    "evaluation.json": "evaluation",
}
"""The module of this room for each head of a folder of results."""


@dataclass(frozen=True)
class Contents:
    """The part of an archive besides the files of the folder.

    ``kind`` and ``title`` are for people, ``command`` is the command line that wrote the folder if it is known, and
    ``version`` that of the engine. ``files`` are added, by their paths in the archive. ``verdicts`` has the verdict on
    each claim, by its name.
    """

    kind: str
    title: str
    version: str
    records: Sequence[Record]
    files: Mapping[str, bytes | Path]
    command: str = ""
    source: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)


Claimed = tuple[int, str, str, str]
"""A run by its seed, engine, key and file: see `Record`."""


class Kind(Protocol):
    """What the module of a kind offers."""

    def contents(self, folder: Path, store: Path | None) -> Contents:
        """Read a folder of results; ``store`` is where its runs are, if they are not where the command keeps them.

        Raise ValueError if a file is damaged or runs are missing.
        """

    def metrics(self, folder: Path, records: Sequence[Record]) -> list[Metrics]:
        """Return the metrics that an unpacked archive has of each run; raise ValueError if it lacks some."""

    def runs(self, folder: Path) -> Iterable[Claimed]:
        """Return the runs that the results of an unpacked archive claim to have.

        Raise ValueError if a number of the results is not that of their runs.
        """

    def is_of(self, folder: Path, record: Record, scenario: Scenario) -> bool:
        """Return whether a scenario is that of a run; true where this version of aqmlab cannot know."""

    def verdicts(self, folder: Path) -> tuple[Mapping[str, str], Mapping[str, str]] | None:
        """Return the verdicts that an unpacked archive states, and those that its runs lead to; None without any.

        Raise ValueError if its runs are not those of its verdicts.
        """


def head(folder: Path) -> str:
    """Return the name of the head of a folder of results; raise ValueError if it has none, or several."""
    found = [name for name in KINDS if (folder / name).is_file()]
    if len(found) == 1:
        return found[0]
    has = f"has {' and '.join(found)}: seal one of them alone" if found else f"has none of {', '.join(KINDS)}"
    raise ValueError(f"{os.fspath(folder)}: {has}; give a folder that --out wrote")


def kind(name: str) -> Kind:
    """Return the module for a head."""
    return cast("Kind", import_module(f"aqmlab.archive.{KINDS[name]}"))
