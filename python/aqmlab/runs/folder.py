"""The folders that ``--out`` of run, compare and sweep writes, recognised by their heads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from aqmlab.kinds import COMPARISON, RESULT, SWEEP
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import Result
from aqmlab.runs.swept import Sweep

_KINDS: Mapping[str, type[Result | Comparison | Sweep]] = {
    RESULT.head: Result,
    COMPARISON.head: Comparison,
    SWEEP.head: Sweep,
}

HEADS = tuple(_KINDS)
"""The files by which a folder is known to hold a result, a comparison or a sweep."""


def head(path: Path) -> Path:
    """Return the head of a folder, or the file itself; raise ValueError if the folder has none of `HEADS`, or several.

    Raise `FileNotFoundError` if there is nothing at `path`.
    """
    if not path.is_dir():
        path.stat()
        return path
    heads = [name for name in HEADS if (path / name).exists()]
    if len(heads) != 1:
        has = f"has {' and '.join(heads)}: name one of them" if heads else f"has none of {', '.join(HEADS)}"
        raise ValueError(f"{os.fspath(path)}: {has}; give a folder that --out wrote, or a file that --json printed")
    return path / heads[0]


def load(path: Path) -> Result | Comparison | Sweep:
    """Read what ``--out`` wrote, given the folder or its head.

    Raise ValueError if a file is damaged or something else, `FileNotFoundError` if there is nothing at `path`.
    """
    found = head(path)
    if found.name not in HEADS:
        name = os.fspath(path)
        raise ValueError(f"{name}: must be a folder that --out of run, compare or sweep wrote")
    return _KINDS[found.name].load(found.parent)
