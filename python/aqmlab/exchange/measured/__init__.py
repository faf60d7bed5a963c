"""Measurements of real networks, to stand beside simulations: of iperf3, irtt, flent and crusader, and captures.

The metrics of a measurement have the names, units and definitions of ours. What a tool does not measure is absent.
"""

from __future__ import annotations

import bz2
import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from aqmlab.exchange.measured import autorate, captured, crusader, flent, iperf3, irtt
from aqmlab.exchange.measured.measurement import Failed, Measured, Reader, Transfer
from aqmlab.files import read_whole

__all__ = ["Measured", "Transfer", "read"]

_COMPRESSED: Mapping[bytes, Callable[[bytes], bytes]] = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress}
"""The first bytes of compressed files, and what unpacks them."""

_WANTED = (
    "must be what `iperf3 -J` or `--json-stream`, `irtt client -o`, flent, crusader or tcpdump writes, or that in gzip "
    "or bzip2"
)


def read(file: str | os.PathLike[str]) -> list[Measured]:
    """Read a file of iperf3, irtt, flent, crusader, cake-autorate or tcpdump.

    It may be compressed. It has one measurement; of ``iperf3 --bidir`` and cake-autorate one a direction, of flent
    and crusader one for each direction and each ping, of a capture one for each pair of hosts.
    Raise OSError if it cannot be read, and ValueError with a line of text if it is empty, torn, of another format, or
    the record of a measurement that failed.
    """
    path = Path(file)
    if captured.is_capture(path):
        return captured.read([path])
    content = read_whole(path)
    if content.startswith(crusader.MAGIC):
        return _complete(path, lambda: crusader.read(path.name, content))
    text = _unpacked(path, content).decode("utf-8-sig", errors="replace").strip()
    if not text:
        raise ValueError(f"{path}: empty: {_WANTED}")
    if autorate.is_log(text):
        return _complete(path, lambda: autorate.read(path.name, text))
    try:
        documents = list(_values(text))
    except json.JSONDecodeError as error:
        torn = text.startswith("{") and (error.pos >= len(text) - 1 or not text.endswith("}"))
        remedy = "torn: record it again" if torn else f"no JSON: {_WANTED}"
        raise ValueError(f"{path}:{error.lineno}: {error.msg}: {remedy}") from None
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply: {_WANTED}") from None
    return _complete(path, lambda: _read(path.name, documents))


def _read(name: str, documents: list[object]) -> Iterator[Measured]:
    document = _one(documents)
    reader = _reader(document)
    if reader is None or not isinstance(document, dict):
        raise Failed(f"another format: {_WANTED}")
    return reader(name, document)


def _complete(path: Path, read: Callable[[], Iterator[Measured]]) -> list[Measured]:
    """Return all that a reader finds; raise ValueError with the name of the file if something lacks."""
    try:
        return list(read())
    except Failed as error:
        raise ValueError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path}: {type(error).__name__} {error}: not complete: record it again") from None


def _values(text: str) -> Iterator[object]:
    """Yield the JSON values of a text one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, end = decoder.raw_decode(text, at)
        yield value
        at = end + len(text) - end - len(text[end:].lstrip())


def _one(documents: list[object]) -> object:
    """Return the document of a file, which may be written as a stream of events."""
    events = [one for one in documents if isinstance(one, dict) and "event" in one]
    if events:
        return iperf3.joined(events)
    if len(documents) > 1:
        raise Failed(f"{len(documents)} documents: keep one of them, as in a file of each measurement")
    return documents[0]


def _reader(document: object) -> Reader | None:
    if isinstance(document, dict):
        if "round_trips" in document:
            return irtt.read
        if "intervals" in document and "start" in document:
            return iperf3.read
        if "results" in document and "x_values" in document:
            return flent.read
    return None


def _unpacked(path: Path, data: bytes) -> bytes:
    """Return the content of a file that may be compressed, as those of irtt and flent are by default."""
    unpack = next((unpack for magic, unpack in _COMPRESSED.items() if data.startswith(magic)), None)
    try:
        return unpack(data) if unpack else data
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: {error}: torn: record it again") from None
