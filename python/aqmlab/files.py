"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import stat
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars


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
    temporary = _beside(path)
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


def _beside(path: Path) -> Path:
    """Make an empty file beside another one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    return Path(name)


def prove(path: Path) -> None:
    """Prove that a file can be written, and leave what is there as it is.

    Parameters
    ----------
    path : Path
        The file.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    missing = [folder for folder in path.parents if not folder.exists()]
    _beside(path).unlink()
    for folder in missing:
        with suppress(OSError):  # somebody else has put something there
            folder.rmdir()


def read_whole(path: Path) -> bytes:
    """Read a file, which must be a regular one: nobody waits for what may come through a pipe.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bytes
        Its content.

    Raises
    ------
    OSError
        If it cannot be read, or is a pipe, a socket, a device or a folder.
    """
    # What was opened is what is asked: the file at `path` may be another one a moment later.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    with open(path, "rb", buffering=0, opener=lambda name, _: os.open(name, flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "must be a regular file", os.fspath(path))
        return file.read()


UNFINISHED = ".unfinished"
"""How the name of a file or folder ends that is not finished."""

_STALE = 3600.0
"""Seconds after which what was being written counts as left by a process that was killed."""


def write_whole(path: Path, data: bytes) -> None:
    """Write a file in one step, for good, under a name that no pattern for `path` finds until it is whole.

    Parameters
    ----------
    path : Path
        The file; its folder is made if needed.
    data : bytes
        What it shall contain.
    """
    # Who reads a whole folder, as pandas does, leaves names with a dot out.
    temporary = path.with_name(f".{uuid.uuid4().hex}{UNFINISHED}")
    try:
        write_for_good(temporary, data)
        temporary.replace(path)
        sync(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(path)
        raise


def write_for_good(path: Path, data: bytes) -> None:
    """Write a new file, which is on the disk when this returns.

    Parameters
    ----------
    path : Path
        The file; its folder is made if needed.
    data : bytes
        What it shall contain.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Force the names in a folder to the disk: what a file was made of may go only when the file cannot.

    Parameters
    ----------
    folder : Path
        The folder.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return  # a system that cannot open a folder
    handle = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_stale(folder: Path) -> None:
    """Remove what processes were writing in a folder when they were killed.

    Parameters
    ----------
    folder : Path
        The folder; nothing happens if it is not there.
    """
    for path in folder.glob(f".*{UNFINISHED}"):
        with suppress(OSError):  # somebody else has removed it, or it is not ours to remove
            if time.time() - path.lstat().st_mtime > _STALE:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


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
        document = json.loads(read_whole(path).decode())
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    except RecursionError:
        raise ValueError(f"{path}: not a document: lists in lists without an end") from None
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


def parquet(frame: polars.DataFrame) -> bytes:
    """Write a table as Parquet.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.

    Returns
    -------
    bytes
        The content of a file: polars reports a full disk as an error of its own, so others write it.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()
