"""The TCP segments of captures, read in parts, and the conversations between two ends as each point saw them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from aqmlab import _core
from aqmlab.exchange.measured.measurement import Failed
from aqmlab.files import opened

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Whole = NDArray[np.int64]
    Truth = NDArray[np.bool_]

SYN, ACK, TIMES, SACKED = _core.Capture.SYN, _core.Capture.ACK, _core.Capture.TIMES, _core.Capture.SACKED
NO_SCALE = _core.Capture.NO_SCALE

HOW = "`tcpdump -i DEVICE -s 96 -B 65536 -w link.pcap tcp`, begun before a transfer that fills the link for 20 s"

_UNPACKED: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}

_PART = 4 << 20
"""Bytes that are read at once."""

_HALF, _ALL = 1 << 31, 1 << 32


class Unfit(Failed):
    """Raised if nothing follows from a capture; the text has what to record instead."""


@dataclass(frozen=True, eq=False)
class Point:
    """What one interface of a file saw of one direction of a connection, in the order of time.

    ``t`` is in s since 1970. The other columns are those of `_core.Capture`, with whole numbers.
    """

    t: Array
    columns: dict[str, Whole]
    turned: float = 0.0
    """The most seconds by which a time in the file is before an earlier one."""

    def __getitem__(self, name: str) -> Whole:
        return self.columns[name]

    def flagged(self, flag: int) -> Truth:
        """Return which segments have a flag."""
        found: Truth = (self["flags"] & flag) != 0
        return found

    @cached_property
    def bytes(self) -> int:
        """The bytes of payload."""
        return int(self["payload"].sum())


@dataclass(frozen=True, eq=False)
class Conversation:
    """Data from one end to another, and what the other sent back, at one point."""

    file: str
    ends: tuple[tuple[str, int], tuple[str, int]]
    data: Point
    back: Point

    @property
    def up(self) -> bool:
        """Whether the client sends: it began the connection or, if that is not there, has the higher port."""
        for point, is_client in ((self.data, True), (self.back, False)):
            opening = point.flagged(SYN)
            if opening.any():
                return is_client != bool(point.flagged(ACK)[opening][0])
        return self.ends[0][1] >= self.ends[1][1]


def is_capture(path: Path) -> bool:
    """Return whether a file begins as captures do, compressed or not."""
    with opened(path) as file:
        first = file.read(8)
        unpack = _unpacking(first)
        if unpack is None:
            return _core.Capture.begins(first)
        file.seek(0)
        try:
            return _core.Capture.begins(unpack(file).read(4))
        except (OSError, EOFError, zlib.error, lzma.LZMAError):
            return False


def conversations(path: Path, progress: Callable[[float], None] | None = None) -> list[Conversation]:
    """Read a capture: a conversation for each direction of a connection with payload, at each interface.

    Raise OSError if it cannot be read, and `Failed` if it is torn or has no TCP.
    """
    import polars

    capture, parts = _core.Capture(), []
    size = max(1, os.path.getsize(path))
    with opened(path) as file:
        for part in _parts(file):
            try:
                parts.append(polars.DataFrame(capture.feed(part)))
            except ValueError as error:
                raise Unfit(f"{error}: record it again") from None
            if progress:
                progress(min(1.0, file.tell() / size))
    try:
        capture.end()
    except ValueError as error:
        raise Unfit(f"{error}: torn: end tcpdump before the file is copied (-U writes each packet at once)") from None
    if capture.missed > capture.frames / 1000:
        raise Unfit(f"the system missed {capture.missed} packets while it recorded {capture.frames}: record {HOW}")
    table = polars.concat(parts)
    if not len(table):
        raise Unfit(f"no TCP segment in its {capture.frames} frames: record {HOW}")
    return list(_conversations(path.name, table, capture.flows))


def _unpacking(first: bytes) -> Callable[[IO[bytes]], Any] | None:
    return next((unpack for magic, unpack in _UNPACKED.items() if first.startswith(magic)), None)


def _parts(file: Any) -> Iterator[bytes]:
    unpack = _unpacking(file.read(8))
    file.seek(0)
    source = unpack(file) if unpack else file
    while True:
        try:
            part = source.read(_PART)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            raise Unfit(f"{error}: torn: record it again") from None
        if not part:
            return
        yield part


def _conversations(file: str, table: Any, flows: Sequence[Any]) -> Iterator[Conversation]:
    points: dict[tuple[int, int], Point] = {}
    for (interface, flow), rows in table.group_by("interface", "flow", maintain_order=True):
        t = rows["nanos"].to_numpy().astype(np.float64) / 1e9
        order = np.argsort(t, kind="stable")
        columns = {name: rows[name].to_numpy().astype(np.int64)[order] for name in rows.columns if name != "nanos"}
        points[interface, flow] = Point(t[order], columns, float((np.maximum.accumulate(t) - t).max()))
    numbers = {ends: number for number, ends in enumerate(flows)}
    for (interface, flow), point in points.items():
        if point.bytes:
            one, other = flows[flow]
            back = points.get((interface, numbers.get((other, one), -1)))
            nothing = Point(point.t[:0], {name: column[:0] for name, column in point.columns.items()})
            yield Conversation(file, (one, other), point, back or nothing)


def unwrapped(numbers: Whole, start: int) -> Whole:
    """Return 32-bit numbers, of which each is less than half of all from the one before, as distances from a start."""
    steps = np.diff(numbers, prepend=start)
    return np.cumsum((steps + _HALF) % _ALL - _HALF)
