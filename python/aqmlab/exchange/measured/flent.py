"""What flent wrote, in all versions of its format: the goodput of the transfers in each direction, and the pings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aqmlab.exchange.measured.measurement import Failed, Measured, Transfer, pings, placed

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics

NEWEST = 4
"""The newest version of the format that is known."""

_STREAM = re.compile(r"(?:TCP|UDP) (upload|download)(?!.* (?:sum|avg|fairness)$)(?!.*::[a-z])")
"""The series of a transfer; not what flent computes of several, nor the parts that a series has beside its rate."""

_PING = re.compile(r"Ping \(ms\) (?!avg)(?!.*::(?:tcp_|owd|ipdv|loss|delay|jitter))")
_UNITS = {"Mbits/s": 1e6, "bits/s": 1.0}

Values = Sequence[float | None]


def read(name: str, document: Mapping[str, Any]) -> Iterator[Measured]:
    """Read a test: a measurement for each direction, and one for each ping."""
    version = int(document.get("version", 1))
    if version > NEWEST:
        raise Failed(f"version {version} of flent's format: known are those up to {NEWEST}")
    about = document["metadata"].get("SERIES_META", {})
    results, times = document["results"], document["x_values"]
    raw = _raw(document, version)
    starts = [one["t"] for values in raw.values() for one in values if "t" in one]
    began = min(starts, default=0.0)
    empty = True
    for way in ("download", "upload"):
        streams = [one for one in results if (is_stream := _STREAM.match(one)) and is_stream[1] == way]
        rates = _together(times, [results[one] for one in streams])
        if rates:
            empty = False
            # Flent adds up what its connections report every step; their segments are Ethernet's with timestamps.
            yield Measured(
                f"{name} ({way})",
                _goodput(rates, [about.get(one, {}) for one in streams]),
                rates,
                began=began,
                transfer=Transfer(len(streams), 1448, "", rates[-1][0] - rates[0][0], way == "upload"),
            )
    for series in filter(_PING.match, results):
        # Before version 4, some have round trips a second in place of ms.
        packets = [one for one in raw.get(series, ()) if version >= NEWEST or "ICMP" in series]
        found = [one for one in packets if one.get("val") is not None]
        delays = [(one["t"] - began, one["val"] / 1e3) for one in found]
        delays = delays or [(t, ms / 1e3) for t, ms in zip(times, results[series], strict=True) if ms is not None]
        if delays:
            empty = False
            ways = [(one["owd_up"] / 1e3, one["val"] / 1e3) for one in found if one.get("owd_up") is not None]
            lost = sum(bool(one.get("lost")) for one in packets)
            known = about.get(series, {}).get("PACKET_LOSS_RATE")
            share = lost / (lost + len(found)) if lost else known
            probes = pings(f"{name} ({series.removeprefix('Ping (ms) ')})", delays, ways, share)
            yield replace(probes, began=began, lost=_lost(packets, found, began, share))
    if empty:
        raise Failed(f"no transfers and no pings: the series of flent are {', '.join(results) or 'none'}")


def _lost(
    packets: Sequence[Mapping[str, Any]], found: Sequence[Mapping[str, Any]], began: float, share: float | None
) -> list[float] | None:
    """Return when lost packets left: as recorded, or by the numbers that lack; None if they are only counted."""
    recorded = [one["t"] - began for one in packets if one.get("lost")]
    if recorded or share == 0:
        return recorded
    if not found or not all("seq" in one for one in found):
        return None
    sent = sorted((int(one["seq"]), float(one["t"]) - began) for one in found)
    numbers = {number for number, _ in sent}
    return placed([one for one in range(sent[0][0], sent[-1][0]) if one not in numbers], sent)


def _raw(document: Mapping[str, Any], version: int) -> Mapping[str, Sequence[Mapping[str, Any]]]:
    if version == 1:
        about = document["metadata"].get("SERIES_META", {})
        return {name: meta["RAW_VALUES"] for name, meta in about.items() if "RAW_VALUES" in meta}
    raw: Mapping[str, Sequence[Mapping[str, Any]]] = document.get("raw_values", {})
    return raw


def _together(times: Sequence[float], streams: Sequence[Values]) -> list[tuple[float, float]]:
    """Return the rate of all streams in bit/s, at the times when at least one is known."""
    points = [(t, [value for value in values if value is not None]) for t, *values in zip(times, *streams, strict=True)]
    return [(t, 1e6 * sum(known)) for t, known in points if known]


def _goodput(rates: Sequence[tuple[float, float]], about: Sequence[Mapping[str, Any]]) -> Metrics:
    """Return the sum of what the tools report for the whole test, otherwise the mean of the series."""
    means = [meta["MEAN_VALUE"] * _UNITS[meta.get("UNITS", "Mbits/s")] for meta in about if meta.get("MEAN_VALUE")]
    mean = sum(rate for _, rate in rates) / len(rates)
    return {"goodput": sum(means) if len(means) == len(about) else mean}
