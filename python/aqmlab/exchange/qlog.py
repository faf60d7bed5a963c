"""Senders in the file format of qlog, which qvis and other readers open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    from aqmlab.results.result import Result

VERSION = "0.3"
"""The version of qlog, which is that of quinn."""

STEP = "10 ms"
"""The step at which windows are sampled, unless the scenario has one."""

_RECORDED = ("ftp", "transfer", "quic", "stack")
"""The kinds of traffic whose senders have a window all the time."""

_UDP = 28
"""The bytes of the headers of UDP and IP."""

_IN_SECONDS = ("min_rtt", "smoothed_rtt", "latest_rtt", "rtt_variance")
"""The values that quinn writes in s, and qlog defines in ms."""

_NO_THRESHOLD = 1 << 40
"""The least slow-start threshold in bytes that stands for none: Linux begins with 2^31 segments, quinn with 2^64."""

_SEPARATOR = b"\x1e"
"""What precedes each text of a sequence of JSON texts (RFC 7464)."""


def recorded(scenario: Scenario) -> Scenario:
    """Return a scenario whose runs record what the file needs; ValueError if it has no sender that can be recorded."""
    if not any(entry["kind"] in _RECORDED for entry in scenario.resolved["traffic"]):
        raise ValueError(f"no traffic entry has a sender that persists: one of kind {', '.join(_RECORDED)}")
    settings: dict[str, str | bool] = {"record.qlog": True}
    if scenario.resolved["record"]["cwnd"] == "auto":
        settings["record.cwnd"] = STEP
    return scenario.with_(settings)


def text(result: Result) -> bytes:
    """Return `document` as the content of a file ``NAME.qlog``."""
    return json.dumps(document(result), separators=(",", ":"), allow_nan=False).encode() + b"\n"


def document(result: Result) -> dict[str, Any]:
    """Describe the senders of the first run of a result in one file of qlog.

    There is a trace for each end of a connection of ``quic``, with the events that quinn logs, and one for each sender
    of TCP or of ``stack`` that persists, with its sampled windows as ``recovery:metrics_updated`` whenever they have
    changed. Times are in ms from the start of the run. Raise LookupError if the run did not record them.
    """
    head = {"qlog_version": VERSION, "qlog_format": "JSON", "title": result.scenario.title}
    return head | {"traces": [*_of_stacks(result), *_of_windows(result)]}


def _trace(name: str, end: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    common = {"time_format": "relative", "reference_time": 0.0}
    return {"title": name, "vantage_point": {"name": name, "type": end}, "common_fields": common, "events": events}


def _of_stacks(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the traces of what stacks have logged."""
    entries = result.scenario.resolved["traffic"]
    counts = dict.fromkeys(range(len(entries)), 0)
    for entry, logs in result.recordings[result.seeds[0]].logs:
        counts[entry] += 1
        for end, log in zip(("server", "client"), logs, strict=True):
            if log is not None:
                _, _, *events = log.split(_SEPARATOR)  # nothing, and the head of a trace
                yield _trace(f"{entries[entry]['name']}-{counts[entry]}", end, [_event(text) for text in events])


def _event(text: bytes) -> dict[str, Any]:
    """Return an event of quinn 0.11, with times in ms as qlog has them, and without its random connection's name."""
    event = json.loads(text)
    event.pop("group_id", None)
    data = event["data"]
    data |= {name: 1e3 * data[name] for name in _IN_SECONDS if name in data}
    if data.get("ssthresh", 0) >= _NO_THRESHOLD:
        del data["ssthresh"]
    return dict(event)


def _of_windows(result: Result) -> Iterator[dict[str, Any]]:
    """Yield the traces of the senders whose windows were sampled, except those that have logged more."""
    entries = {entry["name"]: entry for entry in result.scenario.resolved["traffic"]}
    frame = result.cwnd_of(result.seeds[0])
    for name, entry in entries.items():
        if entry["kind"] == "quic":
            continue
        segment = _bytes(entry["packet_size"]) - (_bytes(entry["tcp"]["header"]) if "tcp" in entry else _UDP)
        flows = frame.filter(frame["class"] == name).partition_by("flow", maintain_order=True)
        for number, flow in enumerate(flows, 1):
            columns = ("congestion_window", flow["cwnd"]), ("ssthresh", flow["ssthresh"])
            yield _trace(f"{name}-{number}", "server", list(_changes(flow["t"].to_list(), columns, segment)))


def _bytes(text: str) -> float:
    found = _core.in_base_unit(text)
    if not found:
        raise ValueError(f"{text}: no size")
    return found[0]


def _changes(times: list[float], columns: Any, segment: float) -> Iterator[dict[str, Any]]:
    """Yield an event whenever a column has changed, which is in segments."""
    before: dict[str, int] = {}
    for i, t in enumerate(times):
        known = {name: values[i] * segment for name, values in columns}
        now = {name: round(value) for name, value in known.items() if value < _NO_THRESHOLD}
        if data := {name: value for name, value in now.items() if before.get(name) != value}:
            yield {"time": 1e3 * t, "name": "recovery:metrics_updated", "data": data}
        before = now
