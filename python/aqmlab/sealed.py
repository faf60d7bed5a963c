"""Files that are read back: each with a checksum, and with what tells it from all others of its kind.

A document ends with the checksum of all that stands before it. Files that were saved together have one document as
their head: it lists each by its name, with its checksum. What is damaged, exchanged or left from another call is
refused, and no other library sees it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from aqmlab.files import UNFINISHED, json_text, read_whole, remove_stale, sync, write_for_good

if TYPE_CHECKING:
    import polars

_TAIL = re.compile(rb'(?P<said>.*[{,]\n  "sha256": ")(?P<sum>[0-9a-f]{64})"\n}\n', re.DOTALL)


def checksum(data: bytes, name: str = "") -> str:
    """Tell a file from all others.

    Parameters
    ----------
    data : bytes
        Its content.
    name : str
        What it is the content of, if that is not in the content.

    Returns
    -------
    str
        SHA-256 of both, in hexadecimal digits.
    """
    return hashlib.sha256(name.encode() + data).hexdigest()


def sealed(document: Mapping[str, Any]) -> bytes:
    """Write a document as JSON that ends with its checksum.

    Parameters
    ----------
    document : mapping
        What to write.

    Returns
    -------
    bytes
        The content of the file, for `unsealed`.
    """
    said = json_text(document).encode().removesuffix(b"}\n").rstrip()
    said += b',\n  "sha256": "' if document else b'\n  "sha256": "'
    return said + checksum(said).encode() + b'"\n}\n'


def unsealed(path: Path, cure: str) -> dict[str, Any]:
    """Read a document that `sealed` wrote.

    Parameters
    ----------
    path : Path
        The file.
    cure : str
        How to make it anew.

    Returns
    -------
    dict
        The document.

    Raises
    ------
    ValueError
        If it is damaged, or has no checksum.
    """
    data = read_whole(path)
    found = _TAIL.fullmatch(data)
    if not found or checksum(found["said"]).encode() != found["sum"]:
        raise ValueError(
            f"{path}: not as it was saved: {'its checksum differs' if found else 'no checksum at its end'}; "
            f"it is damaged, or of another version of aqmlab; to make it anew: {cure}"
        )
    document: dict[str, Any] = json.loads(data)
    del document["sha256"]
    return document


@dataclass(frozen=True)
class Stored:
    """A file that was saved together with others.

    Parameters
    ----------
    path : Path
        The file.
    sum : str
        Its checksum.
    cure : str
        How to make it anew.
    """

    path: Path
    sum: str
    cure: str

    def read(self) -> bytes:
        """Read it.

        Returns
        -------
        bytes
            Its content.

        Raises
        ------
        ValueError
            If it is not what was saved.
        """
        try:
            data = read_whole(self.path)
        except FileNotFoundError:
            raise ValueError(f"{self.path}: missing; to make it anew: {self.cure}") from None
        if checksum(data) != self.sum:
            raise ValueError(
                f"{self.path}: not what was saved with the rest: it is damaged, or of another call; "
                f"to make it anew: {self.cure}"
            )
        return data

    def frame(self) -> polars.DataFrame:
        """Read it as a table.

        Returns
        -------
        polars.DataFrame
            What the Parquet file holds.

        Raises
        ------
        ValueError
            If it is not what was saved.
        """
        import polars

        data = self.read()
        try:
            return polars.read_parquet(io.BytesIO(data))
        except polars.exceptions.PolarsError as error:
            raise ValueError(
                f"{self.path}: this polars cannot read it: {error}; to make it anew: {self.cure}"
            ) from error


@dataclass(frozen=True)
class Saved:
    """Files that were saved together.

    Parameters
    ----------
    path : Path
        The head.
    document : dict
        What it says.
    files : mapping
        The others, by their names.
    cure : str
        How to make all anew.
    """

    path: Path
    document: dict[str, Any]
    files: Mapping[str, Stored]
    cure: str

    @classmethod
    def load(cls, path: Path, cure: str) -> Self:
        """Find what `Saving` wrote.

        Parameters
        ----------
        path : Path
            The head.
        cure : str
            How to make all anew.

        Returns
        -------
        Saved
            The files, which are checked when they are read, and by `check`.

        Raises
        ------
        ValueError
            If the head is not what was saved.
        """
        document = unsealed(path, cure)
        files = {name: Stored(path.parent / name, sum_, cure) for name, sum_ in document.pop("files", {}).items()}
        return cls(path, document, files, cure)

    def check(self) -> None:
        """Look at every file.

        Raises
        ------
        ValueError
            If one of them is not there, or not what was saved.
        """
        for file in self.files.values():
            file.read()

    def text(self, name: str) -> str:
        """Read a text.

        Parameters
        ----------
        name : str
            The name of the file.

        Returns
        -------
        str
            Its content.

        Raises
        ------
        ValueError
            If it is not what was saved, or nothing of that name was.
        """
        if name not in self.files:
            raise self.refused(f"no {name} was saved with it")
        return self.files[name].read().decode()

    def refused(self, reason: str) -> ValueError:
        """Say why what was saved cannot be used.

        Parameters
        ----------
        reason : str
            Why.

        Returns
        -------
        ValueError
            What to raise.
        """
        return ValueError(f"{self.path}: of another version of aqmlab ({reason}); to make it anew: {self.cure}")


class Saving:
    """Writes files that belong together, in the place of those that were saved there before.

    They are written beside and take their places when all of them are there, the head last: on an error everything
    is as it was. Who is killed in the midst of that leaves a head whose checksums are not those of its files. Used as a
    context manager.

    Parameters
    ----------
    folder : Path
        Where to; other files there are left alone.
    own : mapping
        By subfolder, or "" for the folder itself, the names of files that belong to an earlier call: those that are not
        written again go.
    """

    def __init__(self, folder: Path, own: Mapping[str, re.Pattern[str]]) -> None:
        self._folder = folder
        self._own = own
        self._beside = folder / f".{uuid.uuid4().hex}{UNFINISHED}"
        self._written: list[str] = []
        self._sums: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._folder.mkdir(parents=True, exist_ok=True)
        remove_stale(self._folder)
        return self

    def add(self, name: str, data: bytes) -> None:
        """Write a file.

        Parameters
        ----------
        name : str
            Its name, below the folder.
        data : bytes
            What it shall contain.
        """
        try:
            write_for_good(self._beside / name, data)
        except OSError as error:
            error.filename = os.fspath(self._folder / name)  # and not that of a file that is gone when this is read
            raise
        self._written.append(name)
        self._sums[name] = checksum(data)

    def seal(self, name: str, document: Mapping[str, Any]) -> None:
        """Write the head of all files in its folder, or below, that have none yet.

        Parameters
        ----------
        name : str
            Its name, below the folder.
        document : mapping
            What it shall say besides.
        """
        folder = PurePosixPath(name).parent
        below = [file for file in self._sums if PurePosixPath(file).is_relative_to(folder)]
        sums = {PurePosixPath(file).relative_to(folder).as_posix(): self._sums.pop(file) for file in below}
        self.add(name, sealed({**document, "files": sums}))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._put_in_place()
        finally:
            shutil.rmtree(self._beside, ignore_errors=True)

    def _put_in_place(self) -> None:
        """Move the files into their places, those before them aside, and all of them back on an error."""
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
                if not (self._beside / name).exists():  # it is in its place
                    (self._folder / name).unlink(missing_ok=True)
            for path, kept in aside.items():
                kept.replace(path)
            if isinstance(error, OSError):
                error.filename, error.filename2 = os.fspath(target), None
            raise
        for path in aside:
            with suppress(OSError):  # it is the folder itself, or others have files there
                path.parent.rmdir()
        sync(self._folder)

    def _earlier(self) -> Iterator[Path]:
        """Give what an earlier call wrote and this one did not."""
        written = set(self._written)
        for below, own in self._own.items():
            folder = self._folder / below
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                if own.fullmatch(path.name) and (PurePosixPath(below) / path.name).as_posix() not in written:
                    yield path
