"""Files that are either whole or absent."""

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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars

    from aqmlab.kinds import Kind


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file in one step: readers find either the old file or the whole new one.

    Yields a temporary file in the folder of `path`, which is made if needed. The temporary file replaces `path` at the
    end, and is removed on an error.
    """
    temporary = _beside(path)
    try:
        _refuse_special(path)
        yield temporary
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)  # mkstemp grants access to the owner alone
        temporary.replace(path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        _name(error, path, temporary)
        raise


def _beside(path: Path) -> Path:
    """Create an empty temporary file in the folder of `path`, which is made if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    except OSError as error:
        error.filename = os.fspath(path)  # that of the temporary file means nothing to the user
        raise
    os.close(handle)
    return Path(name)


def _refuse_special(path: Path) -> None:
    """Refuse to put a file in the place of a device, a pipe, a socket or a folder."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "must be a regular file", os.fspath(path))


def _name(error: BaseException, path: Path, temporary: Path) -> None:
    """Let an error name a file, not the temporary one; the error of a full disk has no name of a file."""
    if isinstance(error, OSError) and error.filename in (None, os.fspath(temporary)):
        error.filename = os.fspath(path)


def prove(path: Path) -> None:
    """Check that `path` can be written, and leave everything there as it is; raise OSError if it cannot."""
    _refuse_special(path)
    missing = [folder for folder in path.parents if not folder.exists()]
    _beside(path).unlink()
    for folder in missing:
        with suppress(OSError):  # another process has put something there
            folder.rmdir()


@contextmanager
def confined(folder: Path) -> Iterator[None]:
    """Let this thread read only files of a folder, aqmlab and its extensions, whatever scenarios and results name."""
    from aqmlab import _core, plugins

    before = _core.confine([one.resolve() for one in (folder, Path(__file__).parent, *plugins.packages())])
    try:
        yield
    finally:
        _core.confine(before)


def read_whole(path: Path) -> bytes:
    """Read a regular file. Raise OSError for a pipe, a socket, a device or a folder, instead of waiting for data.

    Raise it also for a file that this thread may not read: see `confined`.
    """
    with opened(path) as file:
        return file.read()


def opened(path: Path) -> io.FileIO:
    """Open a regular file as `read_whole` does."""
    from aqmlab import _core

    if not _core.may_read(path):
        raise OSError(errno.EACCES, "not in the archive: not read", os.fspath(path))
    # Check the opened file: `path` may name another file a moment later.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    file = io.FileIO(path, "rb", opener=lambda name, _: os.open(name, flags))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "must be a regular file", os.fspath(path))
    return file


FIGURES = ("figure", "tradeoff")
"""The names of the files of figures, without their formats."""

FIGURE_FORMATS = ("png", "svg", "pdf", "pgf")
"""The formats of figures, which are the endings of their files."""

DEFAULT_FORMATS = FIGURE_FORMATS[:2]
"""The formats in which figures are written if none is chosen."""


def figure_files(names: Iterable[str] = FIGURES, formats: Iterable[str] = FIGURE_FORMATS) -> list[str]:
    """List the files of figures."""
    chosen = list(formats)
    return [f"{name}.{form}" for name in names for form in chosen]


REPORT = "report.html"
"""The report in the folder of a command."""

UNFINISHED = ".unfinished"
"""The suffix of files and folders that are not finished."""


def mark_of(head: Path) -> Path:
    """Return the file that says, while ``head`` is away, that aqmlab writes the files beside it."""
    return head.with_name(f".{head.name}{UNFINISHED}")


@contextmanager
def remaking(head: Path) -> Iterator[None]:
    """Take the head of a folder away while its files are from different runs, and mark the folder as aqmlab's.

    The mark goes when all is written. It stays after an error, and of a killed process, for the command that goes on.
    """
    head.parent.mkdir(parents=True, exist_ok=True)
    mark_of(head).touch()
    head.unlink(missing_ok=True)
    yield
    mark_of(head).unlink(missing_ok=True)


_STALE = 3600.0
"""Seconds after which an unfinished file counts as left by a killed process."""


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file in one step and force it to the disk, making its folder if needed; `data` may come in pieces.

    Until the file is whole, its name matches no pattern for `path`.
    """
    _refuse_special(path)
    # Programs that read a whole folder, such as pandas, skip names that begin with a dot.
    temporary = path.with_name(f".{uuid.uuid4().hex}{UNFINISHED}")
    try:
        write_for_good(temporary, data)
        temporary.replace(path)
        sync(path.parent)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        _name(error, path, temporary)
        raise


def write_for_good(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a new file and force it to the disk, making its folder if needed; `data` may come in pieces."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)
        file.flush()
        os.fsync(file.fileno())


def sync(folder: Path) -> None:
    """Force the names in a folder to the disk. Call it before removing the files from which a new file was made."""
    if not hasattr(os, "O_DIRECTORY"):
        return  # this system cannot open a folder
    handle = os.open(folder, os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_stale(folder: Path) -> None:
    """Remove the unfinished files that killed processes left in a folder, if the folder exists."""
    for path in folder.glob(f".*{UNFINISHED}"):
        with suppress(OSError):  # another process has removed it, or this one may not
            if time.time() - path.lstat().st_mtime > _STALE:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text file in one step."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object from a file; raise ValueError, which names the file, if it is not one."""
    try:
        document = json.loads(read_whole(path).decode())
    except ValueError as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path}: must be a JSON object")
    return document


def json_text(document: Mapping[str, Any]) -> str:
    """Write a document as indented JSON with a final newline; raise ValueError for NaN."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def parquet(frame: polars.DataFrame, kind: Kind) -> bytes:
    """Return a table as the content of a Parquet file, whose metadata has the kind and its version.

    The caller writes the file, because polars does not report a full disk as an OSError.
    """
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata=kind.metadata())
    return buffer.getvalue()
