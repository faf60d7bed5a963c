"""Files that are either whole or not there."""

from __future__ import annotations

import json
import os
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file in one step: whoever looks finds the old one or the whole new one.

    Parameters
    ----------
    path : Path
        The file to write; its folder is made if needed.

    Yields
    ------
    Path
        A file beside it, to write instead; it takes the place of `path` at the end, and goes on an error.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp's are for their owner alone
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(path)  # a full disk does not say which file it has no room for
        raise


UNFINISHED = ".unfinished"
"""How the name of a file ends that `write_whole` has not finished."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step, for good, under a name that no pattern for `path` finds until it is whole.

    Parameters
    ----------
    path : Path
        The file; its folder is made if needed.
    data : bytes
        What it shall contain.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # Who reads a whole folder, as pandas does, leaves names with a dot out.
    temporary = path.with_name(f".{uuid.uuid4().hex}{UNFINISHED}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(path)
        raise


def _sync(folder: Path) -> None:
    """Force the names in a folder to the disk: what a file was made of may go only when the file cannot."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # a system that cannot open a folder
    handle = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step.

    Parameters
    ----------
    path : Path
        The file.
    text : str
        What it shall contain.
    """
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a document that was written as JSON.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    dict
        The document.

    Raises
    ------
    ValueError
        If it is none; the message names the file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ValueError(f"{path}: not a document: must be a JSON object")
    return document


def json_text(document: Mapping[str, Any]) -> str:
    """Write a document as JSON; not-a-number is refused, not written.

    Parameters
    ----------
    document : mapping
        What to write.

    Returns
    -------
    str
        The text, with a line's end.
    """
    return json.dumps(document, indent=2, allow_nan=False) + "\n"
