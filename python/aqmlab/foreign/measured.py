"""The traffic of a measurement: what iperf3, irtt and flent sent, as entries of a scenario."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.foreign.disciplines import octets, rate, time
from aqmlab.foreign.model import Flows, Place, State, Unread, Unreadable

Document = Mapping[str, Any]

_CONTROLS = ("cubic", "bbr", "dctcp", "prague", "reno")
_BACK = {"from": "receivers", "to": "senders"}
_FLENT: Mapping[str, tuple[int, int]] = {
    **{f"tcp_{n}down": (n, 0) for n in (1, 2, 4, 6, 8, 12)},
    **{f"tcp_{n}up": (0, n) for n in (1, 2, 4, 6, 8, 12)},
    **{"tcp_download": (1, 0), "tcp_upload": (0, 1), "bidirectional": (1, 1), "rrul": (4, 4), "rrul_be": (4, 4)},
}
"""Tests of flent: the numbers of downloads and of uploads."""


def is_measurement(document: object) -> bool:
    """Whether JSON is that of iperf3, irtt or flent."""
    return isinstance(document, dict) and (
        ("start" in document and "intervals" in document)
        or ("round_trips" in document and "config" in document)
        or ("x_values" in document and "metadata" in document)
    )


def read(name: str, document: Document) -> State:
    """Read the traffic; its results are not a scenario's."""
    place = Place(name)
    try:
        if "intervals" in document:
            flows, left = list(_iperf3(document)), "the results: `aqmlab run --beside` shows them beside a run"
        elif "round_trips" in document:
            flows, left = list(_irtt(document)), "the delays: `aqmlab run --beside` shows them beside a run"
        else:
            flows, left = list(_flent(place, document)), "the results: `aqmlab run --beside` shows them beside a run"
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(place, f"{type(error).__name__} {error}: not complete: record it again") from None
    made = tuple(Flows(place, each, _goodput(document, each)) for each in flows)
    return State(flows=made, unread=(Unread(place, left),))


def _goodput(document: Document, flow: Document) -> float | None:
    """Return the goodput in bit/s of an entry of TCP, if the measurement has it."""
    if flow.get("kind", "ftp") != "ftp":
        return None
    up = flow.get("from") == _BACK["from"]
    if "intervals" in document:
        end = document.get("end", {})
        back = "sum_received_bidir_reverse" if not up and "sum_received_bidir_reverse" in end else "sum_received"
        bits = end.get(back, {}).get("bits_per_second")
        return float(bits) if bits else None
    results, name = document.get("results", {}), "TCP upload" if up else "TCP download"
    series = results.get(f"{name} sum") or results.get(name) or []
    known = [float(each) for each in series if each is not None]
    return 1e6 * sum(known) / len(known) if known else None


def _iperf3(document: Document) -> Iterator[dict[str, Any]]:
    test = document["start"]["test_start"]
    both = "sum_sent_bidir_reverse" in document.get("end", {})
    table: dict[str, Any] = {"count": int(test.get("num_streams", 1))}
    if str(test["protocol"]).upper() == "UDP":
        bits = float(test.get("target_bitrate") or 1e6)
        table |= {
            "kind": "cbr",
            "rate": rate(bits),
            "packet_size": octets(min(float(test.get("blksize", 1448)) + 28, 1500)),
        }
    else:
        control = str(document.get("end", {}).get("sender_tcp_congestion", "cubic"))
        table |= {"kind": "ftp", "start": "uniform(0 s, 1 s)"}
        table["tcp"] = control if control in (*_CONTROLS, "bbr3") and control != "reno" else "linux"
    # What a client sends goes up; with -R it comes down.
    if both or test.get("reverse"):
        yield {"name": "iperf3-down", **table}
    if both or not test.get("reverse"):
        yield {"name": "iperf3-up", **table, **_BACK}


def _irtt(document: Document) -> Iterator[dict[str, Any]]:
    config = document["config"]["params"]
    interval, size = float(config["interval"]) / 1e9, float(config.get("length", 0)) + 28
    yield {"name": "irtt", "kind": "ping", "interval": time(interval), "packet_size": octets(size)}


def _flent(place: Place, document: Document) -> Iterator[dict[str, Any]]:
    test = str(document["metadata"]["NAME"])
    if test not in _FLENT:
        raise Unreadable(place, f"flent's test {test}: must be one of {', '.join(_FLENT)}")
    down, up = _FLENT[test]
    if down:
        yield {"name": "downloads", "count": down}
    if up:
        yield {"name": "uploads", "count": up, **_BACK}
    yield {"name": "ping", "kind": "ping"}
