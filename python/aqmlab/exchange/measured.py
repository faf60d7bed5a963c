"""Measurements of real networks, to stand beside simulations: the JSON of iperf3 and irtt.

The metrics of a measurement have the names, units and definitions of ours. What a tool does not measure is absent.
"""

from __future__ import annotations

import bz2
import gzip
import json
import os
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.files import read_whole

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics


@dataclass(frozen=True)
class Measured:
    """What a tool measured.

    Parameters
    ----------
    name : str
        The name of the file, and which direction of a bidirectional measurement it is.
    metrics : mapping
        The metrics, by their names in `aqmlab.METRICS`.
    rates : sequence of pair
        The middle of each interval in s, and the goodput in it in bit/s.
    delays : sequence of pair
        The time of each packet in s, and its round-trip time in s.
    """

    name: str
    metrics: Metrics
    rates: Sequence[tuple[float, float]] = field(default=(), repr=False)
    delays: Sequence[tuple[float, float]] = field(default=(), repr=False)


_COMPRESSED: Mapping[bytes, Callable[[bytes], bytes]] = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress}
"""The first bytes of compressed files, and what unpacks them."""


def read(file: str | os.PathLike[str]) -> list[Measured]:
    """Read a file that ``iperf3 -J`` or ``irtt client -o`` wrote, as it is or compressed.

    Parameters
    ----------
    file : str or PathLike
        The file.

    Returns
    -------
    list of Measured
        The measurement; of ``iperf3 --bidir`` one for each direction.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If it is empty, torn, of another format, or the record of a measurement that failed; the message is a line.
    """
    path = Path(file)
    text = _unpacked(path, read_whole(path)).decode(errors="replace").strip()
    wanted = "must be what `iperf3 -J` or `irtt client -o` writes"
    if not text:
        raise ValueError(f"{path}: empty: {wanted}")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        torn = text.startswith("{") and (error.pos >= len(text) - 1 or not text.endswith("}"))
        remedy = "torn: record it again" if torn else f"no JSON: {wanted}"
        raise ValueError(f"{path}:{error.lineno}: {error.msg}: {remedy}") from None
    except RecursionError:
        raise ValueError(f"{path}: nested too deeply: {wanted}") from None
    reader = _reader(document)
    if reader is None:
        raise ValueError(f"{path}: another format: {wanted}")
    try:
        return list(reader(path.name, document))
    except _Failed as error:
        raise ValueError(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise ValueError(f"{path}: {type(error).__name__} {error}: not complete: record it again") from None


class _Failed(Exception):  # noqa: N818  the tool failed, and says so
    """Raised if a file records that the measurement failed, with the reason."""


Reader = Callable[[str, Mapping[str, Any]], Iterator[Measured]]


def _reader(document: object) -> Reader | None:
    if isinstance(document, dict):
        if "round_trips" in document:
            return _irtt
        if "intervals" in document and "start" in document:
            return _iperf3
    return None


def _iperf3(name: str, document: Mapping[str, Any]) -> Iterator[Measured]:
    """Read what ``iperf3 -J`` wrote, whose client is the sender, or with ``-R`` the receiver."""
    if error := document.get("error"):
        raise _Failed(f"iperf3 failed: {error}")
    udp = document["start"]["test_start"]["protocol"] == "UDP"
    end = document["end"]
    for suffix, title in {"": name, "_bidir_reverse": f"{name} (reverse)"}.items():
        # In UDP's sum the packets are those of the receiver.
        total = end.get(f"sum_received{suffix}") or end.get(f"sum{suffix}")
        if total is None:
            continue
        intervals = [one[f"sum{suffix}"] for one in document["intervals"] if f"sum{suffix}" in one]
        kept = [one for one in intervals if not one["omitted"]]
        if not kept:
            raise _Failed("no interval was measured: record it again, for longer than is omitted (-O)")
        metrics: Metrics = {"goodput": float(total["bits_per_second"])}
        if udp:
            metrics["path_loss_ratio"] = total["lost_packets"] / total["packets"] if total["packets"] else None
            metrics["jitter"] = total["jitter_ms"] / 1e3
        else:
            sent = end.get(f"sum_sent{suffix}", {})
            if "retransmits" in sent:
                metrics["retransmits"] = float(sent["retransmits"])
            # Those of the senders here: the reverse direction has none.
            streams = [one for part in document["intervals"] for one in part["streams"] if not suffix]
            times = [one["rtt"] / 1e6 for one in streams if one.get("rtt")]
            if times:
                metrics["rtt_mean"] = sum(times) / len(times)
        rates = [((one["start"] + one["end"]) / 2, float(one["bits_per_second"])) for one in kept]
        yield Measured(title, metrics, rates)


def _unpacked(path: Path, data: bytes) -> bytes:
    """Return the content of a file that may be compressed, as irtt's are by default."""
    unpack = next((unpack for magic, unpack in _COMPRESSED.items() if data.startswith(magic)), None)
    try:
        return unpack(data) if unpack else data
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path}: {error}: torn: record it again") from None


def _irtt(name: str, document: Mapping[str, Any]) -> Iterator[Measured]:
    """Read what ``irtt client -o`` wrote: times in ns, delays of packets that came back."""
    trips = document["round_trips"]
    # Losses are "false", "true" (in an unknown direction), "true_up" and "true_down".
    back = [trip for trip in trips if trip["lost"] == "false"]
    if not back:
        raise _Failed("irtt got no packet back: check its server, and record it again")
    delays = [_sent(trip, trips[0]) for trip in back]
    metrics: Metrics = {**_statistics("rtt", [delay for _, delay in delays])}
    ways = [trip["delay"] for trip in back if "send" in trip["delay"]]
    if any(not 0 <= way["send"] <= way["rtt"] for way in ways):
        name = f"{name} (the clocks are apart: no one-way delays)"
    elif ways:
        metrics |= _statistics("delay", [way["send"] / 1e9 for way in ways])
    metrics["path_loss_ratio"] = 1 - len(back) / len(trips)
    yield Measured(name, metrics, delays=delays)


def _sent(trip: Mapping[str, Any], first: Mapping[str, Any]) -> tuple[float, float]:
    """Return when a packet was sent, in s since the first one, and its round-trip time."""
    clocks = [one["timestamps"]["client"]["send"] for one in (trip, first)]
    which = "monotonic" if "monotonic" in clocks[0] else "wall"
    return (clocks[0][which] - clocks[1][which]) / 1e9, trip["delay"]["rtt"] / 1e9


def _statistics(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the mean, the largest and the percentiles that results have."""
    ranked = sorted(values)
    percentiles = {f"{name}_p{share}": ranked[-(-len(ranked) * share // 100) - 1] for share in (50, 95, 99)}
    return {f"{name}_mean": sum(values) / len(values), **percentiles, f"{name}_max": ranked[-1]}
