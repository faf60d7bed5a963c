"""The files that `make setup` builds."""

from __future__ import annotations

import errno
from pathlib import Path

PAGE = "index.html"
"""The page: one file, with the engine inside."""

WIDGET = "widget.js"
"""The module that shows the page in a cell of a notebook."""

FOLDER = Path(__file__).parent


def built(name: str) -> Path:
    """Return the path of a built file; raise `FileNotFoundError`, with the command that builds it, if it is missing."""
    file = FOLDER / name
    if not file.is_file():
        problem = "missing: `make setup` builds it, or tells what it needs for that"
        raise FileNotFoundError(errno.ENOENT, problem, str(file))
    return file
