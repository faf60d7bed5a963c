"""Results of crusader: an upload, a download and both at once, one after the other, and pings throughout.

After a magic number and a version there is one document in MessagePack, compressed as frames of Snappy. Bytes of each
connection are counted where they arrive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from aqmlab.exchange.measured.measurement import BEGINNING, Failed, Measured, Transfer, pings

MAGIC = (0x5372AB82AE7C59CB).to_bytes(8, "little")
"""The first bytes of its files."""

VERSIONS = (1, 2)
"""Those of its format that are MessagePack."""

STEP = 0.1
"""Seconds of a bin of the rate, or more where bytes were counted less often."""

_WITH_TIMESTAMPS = {False: 52, True: 72}
_ETHERNET = 1500


def read(name: str, content: bytes) -> Iterator[Measured]:
    """Read a result: a measurement for each direction, for each of both at once, and for the pings."""
    document = _document(content)
    overload = " (the server was overloaded)" if document.get("server_overload") else ""
    empty = True
    for group in document["stream_groups"]:
        points = _delivered([stream["data"] for stream in group["streams"]])
        every = max(STEP, _seconds(document["config"]["bandwidth_interval"]))
        rates = list(_rates(points, every, _seconds(document["config"]["load_duration"])))
        if not rates:
            continue
        empty = False
        way = "download" if group["download"] else "upload"
        headers = _WITH_TIMESTAMPS[bool(document["ipv6"])]
        yield Measured(
            f"{name} ({'both: ' if group['both'] else ''}{way}{overload})",
            {"goodput": sum(rate for _, rate in rates) / len(rates)},
            rates,
            began=0.0,
            # What both directions at once leave of each other is no transfer that the link alone limits.
            transfer=None
            if group["both"]
            else Transfer(
                flows=len(group["streams"]),
                segment=_ETHERNET - headers,
                congestion="",
                seconds=every * len(rates),
                up=not group["download"],
                headers=headers,
                arrivals=[point for point in points if point[0] < rates[0][0] + BEGINNING],
            ),
        )
    if document["pings"]:
        empty = False
        yield _probes(f"{name} (pings)", document["pings"])
    if empty:
        raise Failed("no transfers and no pings in this result of crusader")


def _document(content: bytes) -> Mapping[str, Any]:
    try:
        import cramjam
        import msgpack
    except ImportError as error:
        raise Failed("a result of crusader needs cramjam and msgpack: pip install 'aqmlab[crusader]'") from error
    version = int.from_bytes(content[8:16], "little")
    if len(content) >= 16 and version not in VERSIONS:
        raise Failed(f"version {version} of crusader's format: known are 1 and 2: open and save it with crusader 0.3")
    try:
        document = msgpack.unpackb(bytes(cramjam.snappy.decompress(content[16:])))
    except (cramjam.DecompressionError, ValueError) as error:
        raise Failed(f"{error}: torn: record it again") from None
    if not isinstance(document, dict):
        raise Failed("no result of crusader in it: record it again")
    return document


def _seconds(duration: Mapping[str, int]) -> float:
    return float(duration["secs"]) + float(duration["nanos"]) / 1e9


def _delivered(streams: Sequence[Sequence[Mapping[str, Any]]]) -> list[tuple[float, float]]:
    """Return the bytes of all connections that had arrived, at the times when one of them was counted."""
    counted = sorted(
        (_seconds(point["time"]), place, point["bytes"]) for place, each in enumerate(streams) for point in each
    )
    last, points = [0] * len(streams), []
    for t, place, octets in counted:
        last[place] = octets
        points.append((t, float(sum(last))))
    return points


def _rates(points: Sequence[tuple[float, float]], every: float, longest: float) -> Iterator[tuple[float, float]]:
    """Yield the middle of each bin and the rate in it, from the first bytes on and as long as there is load."""
    import numpy as np

    begin = next((t for (t, before), (_, after) in pairwise(points) if after > before), None)
    if begin is None:
        return
    count = int((min(points[-1][0] - begin, longest)) / every + 1e-6)
    edges = begin + every * np.arange(count + 1)
    times, delivered = np.array(points).T
    octets = np.diff(np.interp(edges, times, delivered))
    yield from zip((edges[:-1] + every / 2).tolist(), (octets * 8 / every).tolist(), strict=True)


def _probes(name: str, packets: Sequence[Mapping[str, Any]]) -> Measured:
    """Return the pings; one that reached the server alone has a way but no round trip."""
    sent = [(_seconds(one["sent"]), one["latency"]) for one in packets]
    back = [(t, latency) for t, latency in sent if latency and latency["total"] is not None]
    if not back:
        raise Failed("crusader got no ping back: check its server, and record it again")
    delays = [(t, _seconds(latency["total"])) for t, latency in back]
    ways = [(_seconds(latency["up"]), trip) for (_, latency), (_, trip) in zip(back, delays, strict=True)]
    found = pings(name, delays, ways, 1 - len(back) / len(sent))
    gone = [t for t, latency in sent if not latency or latency["total"] is None]
    return replace(found, lost=gone, began=0.0)
