"""The contents of a folder of results: its kind, its runs with their scenarios, and its verdicts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from aqmlab import plugins
from aqmlab.archive.layout import Record, counted
from aqmlab.kinds import ADVICE, COMPARISON, HEADS, RESULT, SWEEP, TUNED

if TYPE_CHECKING:
    import polars

    from aqmlab.execute.engine import Engine
    from aqmlab.execute.task import Outcome, Task
    from aqmlab.scenario import Scenario

_ROOMS = {
    RESULT.head: "results",
    COMPARISON.head: "results",
    SWEEP.head: "sweep",
}
"""The module of this room for each head of a folder of results; `plugins` knows those of the others."""

_RACES = {ADVICE: "advise", TUNED: "tune"}
"""The commands whose folders have no result that can be sealed, by the file of their answer."""


@dataclass(frozen=True)
class Given:
    """Where the runs of a reproduction or an evaluation are, if not where the command keeps them, and a paper's folder.

    The latter is that of a paper of the user's own.
    """

    store: Path | None = None
    paper: Path | None = None


@dataclass(frozen=True)
class Facts:
    """The facts that the results of a folder state.

    ``kind`` and ``title`` are for people, ``command`` is the command line that wrote the folder if it is known, and
    ``version`` that of aqmlab. ``engines`` has the version of each engine that performed runs, by its name, as far as
    the results know it. ``verdicts`` has the verdict on each claim, by its name.
    """

    kind: str
    title: str
    version: str
    engines: Mapping[str, str]
    command: str = ""
    source: str = ""
    verdicts: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the part of the head of an archive that follows from its results."""
        return {
            "kind": self.kind,
            "title": self.title,
            "source": self.source,
            "command": self.command,
            "version": self.version,
            "engines": dict(self.engines),
            "verdicts": counted(self.verdicts.values()),
        }


@dataclass(frozen=True)
class Contents:
    """The part of an archive besides the files of the folder; ``files`` are added, by their paths in the archive."""

    facts: Facts
    records: Sequence[Record]
    files: Mapping[str, bytes | Path]


@dataclass(frozen=True)
class Remade:
    """What the runs lead to: the verdicts, None if there are none to give, and the files by name."""

    verdicts: Mapping[str, str] | None
    files: Iterable[tuple[str, bytes]]


Claimed = tuple[int, str, str, str]
"""A run by its seed, engine, key and file: see `Record`."""

Measured = Mapping[str, Any]
"""All that was measured in a run, by name: numbers, None, texts, and lists and tables of these."""

Watch = Callable[[str, float], None]
"""Called with the name of the current step and the fraction of it that is done."""


def table_digest(frame: polars.DataFrame) -> str:
    """Return the SHA-256 of a table: names and values, each number with all its digits, however a file stores them."""
    return hashlib.sha256(frame.write_csv(null_value="null").encode()).hexdigest()


class OtherVersion(ValueError):  # noqa: N818  the archive is all right
    """Raised for runs of another version of aqmlab, which this one cannot judge."""


class Kind(Protocol):
    """What the module of a kind offers; a folder is that of results, or of an unpacked archive."""

    def facts(self, folder: Path) -> Facts:
        """Return the facts that the results state; raise ValueError if a file is damaged."""

    def contents(self, folder: Path, given: Given) -> Contents:
        """Read a folder of results; raise ValueError if a file is damaged or runs are missing."""

    def runs(self, folder: Path) -> Iterable[Claimed]:
        """Return the runs that the results of an unpacked archive claim to have.

        Raise ValueError if a number of the results is not that of their runs.
        """

    def is_of(self, folder: Path, record: Record, scenario: Scenario) -> bool:
        """Return whether a scenario is that of a run."""

    def measured(self, folder: Path, records: Sequence[Record]) -> list[Measured]:
        """Return what an unpacked archive has of each run; raise ValueError if it lacks some."""

    def task(self, folder: Path, record: Record, scenario: Scenario, engine: Engine) -> Task:
        """Return the task that measures a run again."""

    def again(self, task: Task, scenario: Scenario, outcome: Outcome) -> Measured:
        """Return all that a task measured."""

    def remade(self, folder: Path, names: Sequence[str], watch: Watch | None) -> Remade:
        """Judge and draw again what the runs of an unpacked archive, with files of these names, lead to.

        Raise ValueError if its runs are not those of its verdicts.
        """


def head(folder: Path) -> str:
    """Return the name of the head of a folder of results; raise ValueError if it has none, or several."""
    if folder.is_file():
        raise ValueError(f"{os.fspath(folder)}: a file; give its folder, {os.fspath(folder.parent)}")
    found = [name for name in HEADS if (folder / name).is_file()]
    if len(found) == 1:
        return found[0]
    for name in _RACES:
        if not found and (folder / name).is_file():
            raise ValueError(
                f"{os.fspath(folder)}: the answer of `aqmlab {_RACES[name]}`, which no archive holds; seal takes a "
                "folder that --out of run, compare, sweep, reproduce or evaluate wrote"
            )
    several = f"has the results of several commands, {' and '.join(found)}: repeat one of them with another --out"
    has = several if found else f"has none of {', '.join(HEADS)}"
    raise ValueError(f"{os.fspath(folder)}: {has}; give a folder that --out wrote")


def kind(name: str) -> Kind:
    """Return the module for a head; raise ValueError if it comes with a distribution that is not installed."""
    added = plugins.entries("aqmlab.archives")
    if name not in _ROOMS and name not in added:
        raise ValueError(f"{name}: {plugins.missing('papers', 'its kind of results')}")
    return cast("Kind", import_module(f"aqmlab.archive.{_ROOMS[name]}" if name in _ROOMS else added[name]))
