"""Journals: files to which one process each appends its finished runs, and which are readable after a crash.

A record is ``magic, length, checksum of the payload, checksum of length and checksum, payload``, written at once.
Damage costs only the record that it is in: reading resumes at the next whole head.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import struct
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from zlib import crc32

from aqmlab.kinds import JOURNAL

_MAGIC = b"aqm%d" % JOURNAL.version
_HEAD = struct.Struct("<4sIII")
_LATER = re.compile(rb"aqm[2-9]")
"""The magic of later versions, whose checksum of the head covers it: damage cannot make it from ours."""

_SYNC = 5.0
"""Seconds after which written records are forced to the disk, in case the whole machine fails."""

_IDLE = 3600.0
"""Seconds without a change after which the journal of a process on another machine counts as abandoned."""

_SLACK = 2
"""The most seconds by which a system may misreport when a process was started, whenever its clock is set."""

OPEN, CLOSED = ".journal", ".closed"
"""The suffixes of journals: of those that their process may still write to, and of those that it will not."""

NAME = re.compile(r"(?P<host>.+)-(?P<pid>\d+)-(?P<born>\d+)-[0-9a-f]+(\.journal|\.closed)")
"""The name of a journal, of either kind."""


def record(payload: bytes) -> bytes:
    """Return a journal's record of a payload."""
    checked = struct.pack("<II", len(payload), crc32(payload))
    return _MAGIC + checked + struct.pack("<I", crc32(checked)) + payload


@dataclass
class Content:
    """The content of a journal: the payloads of all whole records, and the number of damaged places.

    A damaged place is at least one record. An unfinished last record is not damage.
    """

    payloads: list[bytes] = field(default_factory=list)
    damaged: int = 0

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Parse the bytes of a journal."""
        content = cls()
        at = 0
        while at < len(data):
            length = _length(data, at)
            end = at + _HEAD.size + (length or 0)
            payload = data[at + _HEAD.size : end]
            if length is not None and end <= len(data) and crc32(payload) == _HEAD.unpack_from(data, at)[2]:
                content.payloads.append(payload)
                at = end
                continue
            following = _next_head(data, at + 1)
            unfinished = end > len(data) if length is not None else data[at:].startswith(_MAGIC[: len(data) - at])
            is_tail = len(data) - at < _HEAD.size or length is not None
            if not (following == len(data) and unfinished and is_tail):
                content.damaged += 1
            at = following
        return content


def _length(data: bytes, at: int) -> int | None:
    """Return the length of the payload of the record that begins at `at`, or None if no record begins there."""
    if len(data) - at < _HEAD.size:
        return None
    magic, length, _, check = _HEAD.unpack_from(data, at)
    return int(length) if magic == _MAGIC and crc32(data[at + 4 : at + 12]) == check else None


def version(data: bytes) -> int:
    """Return the version of a journal's first record; that of damaged data is ours."""
    later = _LATER.match(data) if len(data) >= _HEAD.size else None
    known = later and crc32(data[:12]) == int(_HEAD.unpack_from(data)[3])
    return int(data[3:4]) if known else JOURNAL.version


def _next_head(data: bytes, start: int) -> int:
    """Find the next place where a record begins; the end of the data if there is none."""
    while (at := data.find(_MAGIC, start)) >= 0:
        if _length(data, at) is not None:
            return at
        start = at + 1
    return len(data)


class Journal:
    """The journal that this process writes; its file is made with the first record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path: Path | None = None
        self._handle = -1
        self._synced = 0.0
        self.records = 0

    def append(self, payload: bytes) -> None:
        """Write a record in one piece; raise OSError if there is no room for it."""
        while True:
            path = self._opened()
            self._write(path, record(payload))
            # A process that takes a journal renames it before reading: if it is still there, this record will be read.
            if self._is_there(path):
                break
            self._forget()
        self.records += 1

    def close(self) -> None:
        """Close the journal; another process may then take it."""
        if self._path:
            path = self._path
            os.fsync(self._handle)
            self._forget()
            closed(path)

    def _opened(self) -> Path:
        if self._path is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{_host()}-{os.getpid()}-{_born(os.getpid())}-{uuid.uuid4().hex[:12]}{OPEN}"
            self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o666)
            self._path = path
            self._synced = time.monotonic()
        return self._path

    def _write(self, path: Path, data: bytes) -> None:
        written = -1
        try:
            written = os.write(self._handle, data)
            if time.monotonic() - self._synced > _SYNC:
                os.fsync(self._handle)
                self._synced = time.monotonic()
        except OSError as error:
            error.filename = os.fspath(path)  # the system's error names no file
            raise
        finally:
            if written < len(data):
                self._forget()  # readers would have to search for a record that follows half a record
        if written < len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path))

    def _is_there(self, path: Path) -> bool:
        try:
            return os.stat(path).st_ino == os.fstat(self._handle).st_ino
        except FileNotFoundError:
            return False

    def _forget(self) -> None:
        os.close(self._handle)
        self._path, self._handle, self.records = None, -1, 0


def closed(path: Path) -> None:
    """Rename a journal as one that no process writes to any more; do nothing if it is gone."""
    try:
        path.rename(path.with_suffix(CLOSED))
    except FileNotFoundError:
        return


def is_left(path: Path) -> bool:
    """Return whether the process that wrote a journal has ended.

    For a process on another machine: whether it has written nothing for an hour.
    """
    found = NAME.fullmatch(path.name)
    if not found:
        return False
    if found["host"] == _host():
        return abs(_born(int(found["pid"])) - int(found["born"])) > _SLACK
    try:
        return time.time() - path.stat().st_mtime > _IDLE
    except FileNotFoundError:
        return False


def _host() -> str:
    return re.sub(r"[^\w.-]", "_", socket.gethostname()) or "host"


def _born(pid: int) -> int:
    """Return when a process was started, which distinguishes it from others of the same id; 0 if there is none."""
    import psutil

    try:
        return int(psutil.Process(pid).create_time())
    except psutil.Error:
        return 0
