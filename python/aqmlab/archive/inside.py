"""The files that an unpacked archive reads: those inside it, and no others."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from aqmlab.archive.layout import PAPER, SCENARIOS
from aqmlab.execute.limits import free_memory
from aqmlab.runs.swept import VARIANTS
from aqmlab.scenario import is_own
from aqmlab.text import texts


def require_inside(folder: Path, names: Sequence[str], trust: bool) -> None:
    """Refuse an archive whose scenarios name a program or a recording outside of it, or a program without `trust`.

    Nothing of the archive is imported or run before this. Raise ValueError, with the file and the reason.
    """
    programs = {name for name in names if name.casefold().endswith((".py", ".pyc", ".so"))}
    for name in names:
        sealed = name.startswith(SCENARIOS)
        read = sealed or name.startswith(f"{VARIANTS}/") or PurePosixPath(name).name == "scenario.toml"
        if not (read and name.endswith(".toml")) or name.startswith(PAPER):
            continue
        path = folder / name
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        if sealed:
            stacks = (entry for entry in document.get("traffic", []) if entry.get("kind") == "stack")
            programs |= {os.path.normpath(PurePosixPath(name).parent / entry["file"]) for entry in stacks}
        for key, text in texts(document):
            if key == "extends":
                raise ValueError(f"{name}: extends = {text!r}: a scenario in an archive is whole")
            named = text.rpartition(":")[0] or text if is_own(text) else text
            if (is_own(text) or (sealed and key == "file")) and not _has(folder, path.parent / named):
                raise ValueError(f"{name}: {key} = {text!r}: not in the archive")
    if programs and not trust:
        raise ValueError(
            f"its runs need {len(programs)} programs that it has: {', '.join(sorted(programs))}: read them, "
            "and repeat the command with --trust if they may run on this machine"
        )


_TEXTS = ("String", "Binary")
"""The types of columns whose cells may have any size: a file may have one text once, and name it in many rows."""


def require_room(folder: Path, names: Sequence[str]) -> None:
    """Refuse an archive with a table that would fill the memory: a few bytes of Parquet may stand for many rows."""
    import polars

    free = free_memory()
    for name in names:
        if name.endswith(".parquet"):
            table = polars.scan_parquet(folder / name)
            schema = table.collect_schema()
            of_texts = [
                polars.col(name).cast(polars.Binary).bin.size().sum()
                for name, form in schema.items()
                if str(form) in _TEXTS
            ]
            rows, *sizes = table.select(polars.len(), *of_texts).collect().row(0)
            if (need := 8 * rows * len(schema) + sum(filter(None, sizes))) > free:
                raise ValueError(f"{name}: a table of {need / 1e9:.1f} GB, and {free / 1e9:.1f} GB of memory are free")


def _has(folder: Path, path: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve()) and path.is_file()
