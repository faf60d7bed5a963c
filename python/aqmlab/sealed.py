"""Files with checksums, which are verified when the files are read back.

A document ends with the checksum of everything before it. Files that were saved together share one document, their
head: it lists each file by name, with its checksum. A file that is damaged, exchanged or left from another call is
detected before any other library reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from aqmlab.files import UNFINISHED, json_text, read_whole, remove_stale, sync, write_for_good

if TYPE_CHECKING:
    import polars

    from aqmlab.kinds import Kind

T = TypeVar("T")

_TAIL = re.compile(rb'(?P<text>.*[{,]\n  "sha256": ")(?P<sum>[0-9a-f]{64})"\n}\n', re.DOTALL)


def checksum(data: bytes, name: str = "") -> str:
    """Return the SHA-256, in hexadecimal, of a file's content and, if the content does not include it, its name."""
    return hashlib.sha256(name.encode() + data).hexdigest()


def sealed(document: Mapping[str, Any]) -> bytes:
    """Write a document as JSON that ends with its checksum; `unsealed` reads it."""
    text = json_text(document).encode().removesuffix(b"}\n").rstrip()
    text += b',\n  "sha256": "' if document else b'\n  "sha256": "'
    return text + checksum(text).encode() + b'"\n}\n'


def unsealed(path: Path, kind: Kind, remedy: str) -> dict[str, Any]:
    """Read a document that `sealed` wrote.

    Raise ValueError if the checksum is missing or differs, or if the document is of a later version than ours of this
    kind; `remedy` describes how to recreate the file.
    """
    data = read_whole(path)
    found = _TAIL.fullmatch(data)
    if not found or checksum(found["text"]).encode() != found["sum"]:
        raise ValueError(
            f"{path}: {'its checksum differs' if found else 'no checksum at its end'}: "
            f"damaged, or from another version of aqmlab; to recreate it: {remedy}"
        )
    document: dict[str, Any] = json.loads(data)
    del document["sha256"]
    kind.require_readable(path, document, f"to recreate it: {remedy}")
    return document


@dataclass(frozen=True)
class Stored:
    """A file that was saved together with others. `sum` is its checksum, and `remedy` describes how to recreate it."""

    path: Path
    sum: str
    remedy: str

    def read(self) -> bytes:
        """Return the content; raise ValueError if the file is missing or differs from the one saved."""
        try:
            data = read_whole(self.path)
        except FileNotFoundError:
            raise ValueError(f"{self.path}: missing; to recreate it: {self.remedy}") from None
        if checksum(data) != self.sum:
            raise ValueError(
                f"{self.path}: not the file that was saved with the others: damaged, or from another call; "
                f"to recreate it: {self.remedy}"
            )
        return data

    def frame(self, kind: Kind) -> polars.DataFrame:
        """Read the file as Parquet.

        Raise ValueError as `require` does.
        """
        import polars

        return self._checked(kind, polars.read_parquet)

    def require(self, kind: Kind) -> None:
        """Check a Parquet file without reading its rows.

        Raise ValueError if it differs from the one saved or is of a later version than ours of this kind, or if polars
        cannot read it.
        """
        import polars

        self._checked(kind, polars.read_parquet_schema)

    def _checked(self, kind: Kind, read: Callable[[io.BytesIO], T]) -> T:
        import polars

        data = self.read()
        try:
            metadata = polars.read_parquet_metadata(io.BytesIO(data))
            kind.require_readable_table(self.path, metadata, f"to recreate it: {self.remedy}")
            return read(io.BytesIO(data))
        except polars.exceptions.PolarsError as error:
            raise ValueError(
                f"{self.path}: unreadable by this version of polars: {error}; to recreate it: {self.remedy}"
            ) from error


@dataclass(frozen=True)
class Saved:
    """Files that were saved together: the head's path and document, and the other files by name.

    `remedy` describes how to recreate all of them.
    """

    path: Path
    document: dict[str, Any]
    files: Mapping[str, Stored]
    remedy: str

    @classmethod
    def load(cls, path: Path, kind: Kind, remedy: str) -> Self:
        """Read the head that `Saving` wrote; raise ValueError if it is another one, or of a later version.

        The other files are verified by `check`, and when they are read.
        """
        document = unsealed(path, kind, remedy)
        files = {name: Stored(path.parent / name, sum_, remedy) for name, sum_ in document.pop("files", {}).items()}
        return cls(path, document, files, remedy)

    def check(self) -> None:
        """Verify every file; raise ValueError if one is missing or differs from the one saved."""
        for file in self.files.values():
            file.read()

    def text(self, name: str) -> str:
        """Read a text file by name; raise ValueError if no such file was saved, or it differs from the one saved."""
        if name not in self.files:
            raise self.unusable(f"no {name} was saved with it")
        return self.files[name].read().decode()

    def unusable(self, reason: str) -> ValueError:
        """Return the error to raise when the saved files cannot be used."""
        return ValueError(f"{self.path}: from another version of aqmlab ({reason}); to recreate it: {self.remedy}")


class Saving:
    """A context manager that writes files that belong together, replacing those that were saved there before.

    The files are written in a temporary folder and moved into place when all of them exist, the head last. On an error
    everything is restored. A process killed during the move leaves a head whose checksums do not match its files.

    `replaced` maps a subfolder, or "" for the folder itself, to the pattern of the names of earlier files. Those that
    an earlier head lists and that are not written again are removed; other files are the user's, and are kept.
    """

    def __init__(self, folder: Path, replaced: Mapping[str, re.Pattern[str]]) -> None:
        self._folder = folder
        self._replaced = replaced
        self._beside = folder / f".{uuid.uuid4().hex}{UNFINISHED}"
        self._written: list[str] = []
        self._sums: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        remove_stale(self._folder)
        return self

    def add(self, name: str, data: bytes) -> None:
        """Write a file; `name` is its path below the folder."""
        try:
            write_for_good(self._beside / name, data)
        except OSError as error:
            error.filename = os.fspath(self._folder / name)  # the temporary file will be gone when this is read
            raise
        self._written.append(name)
        self._sums[name] = checksum(data)

    def seal(self, name: str, document: Mapping[str, Any]) -> None:
        """Write the head, with `document`, of the files in its folder and below that have no head yet."""
        folder = PurePosixPath(name).parent
        below = [file for file in self._sums if PurePosixPath(file).is_relative_to(folder)]
        sums = {PurePosixPath(file).relative_to(folder).as_posix(): self._sums.pop(file) for file in below}
        data = sealed({**document, "files": sums})
        self.add(name, data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._put_in_place()
        finally:
            shutil.rmtree(self._beside, ignore_errors=True)

    def _put_in_place(self) -> None:
        """Move the earlier files aside and the new ones into place; on an error, move all of them back."""
        *files, head = self._written
        aside: dict[Path, Path] = {}
        target = self._folder
        try:
            for name in self._written:
                (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
            for number, path in enumerate([*self._earlier(), *(self._folder / name for name in files)]):
                target = path
                if path.is_file():
                    aside[path] = path.replace(self._beside / f"{number}.earlier")
            for name in (*files, head):
                target = self._folder / name
                (self._beside / name).replace(target)
        except BaseException as error:
            for name in files:
                if not (self._beside / name).exists():  # it has been moved
                    (self._folder / name).unlink(missing_ok=True)
            for path, kept in aside.items():
                kept.replace(path)
            if isinstance(error, OSError):
                error.filename, error.filename2 = os.fspath(target), None
            raise
        for path in aside:
            with suppress(OSError):  # it is the folder itself, or has other files in it
                path.parent.rmdir()
        sync(self._folder)

    def _earlier(self) -> Iterator[Path]:
        """Yield the files that an earlier call wrote and this one did not."""
        written, listed = set(self._written), set(_listed(self._folder, self._written[-1]))
        for below, names in self._replaced.items():
            folder = self._folder / below
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                name = (PurePosixPath(below) / path.name).as_posix()
                if names.fullmatch(path.name) and name in listed and name not in written:
                    yield path


def _listed(folder: Path, head: str) -> Iterator[str]:
    """Yield the files that an earlier head lists, and those that these list in turn if they are heads."""
    with suppress(OSError, ValueError, AttributeError):  # missing or damaged: then nothing is known to be ours
        data = read_whole(folder / head)
        if _TAIL.fullmatch(data):
            for name in json.loads(data).get("files", {}):
                below = (PurePosixPath(head).parent / name).as_posix()
                yield below
                if name.endswith(".json"):
                    yield from _listed(folder, below)
