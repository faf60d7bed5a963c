"""The files that an unpacked archive reads: those inside it, and no others."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from aqmlab.archive.layout import SCENARIOS
from aqmlab.scenario import is_own


def require_inside(folder: Path, names: Sequence[str], trust: bool) -> None:
    """Refuse an archive whose scenarios name a program or a recording outside of it, or a program without `trust`.

    Nothing of the archive is imported or run before this. Raise ValueError, with the file and the reason.
    """
    programs = [name for name in names if name.casefold().endswith((".py", ".pyc", ".so"))]
    for name in names:
        sealed = name.startswith(SCENARIOS)
        if not name.endswith(".toml") or not (sealed or PurePosixPath(name).name == "scenario.toml"):
            continue
        path = folder / name
        for key, text in _texts(tomllib.loads(path.read_text(encoding="utf-8"))):
            if key == "extends":
                raise ValueError(f"{name}: extends = {text!r}: a scenario in an archive is whole")
            named = text.rpartition(":")[0] or text if is_own(text) else text
            if (is_own(text) or (sealed and key == "file")) and not _has(folder, path.parent / named):
                raise ValueError(f"{name}: {key} = {text!r}: not in the archive")
    if programs and not trust:
        raise ValueError(
            f"its runs need {len(programs)} programs in Python that it has: {', '.join(programs)}: read them, "
            "and repeat the command with --trust if they may run on this machine"
        )


def _has(folder: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve()) and path.is_file()


def _texts(table: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of a scenario with its key."""
    if isinstance(table, str):
        yield key, table
    elif isinstance(table, dict):
        for name, value in table.items():
            yield from _texts(value, name)
    elif isinstance(table, list):
        for value in table:
            yield from _texts(value, key)
