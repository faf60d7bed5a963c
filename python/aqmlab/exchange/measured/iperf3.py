"""What ``iperf3 -J`` and ``iperf3 --json-stream`` wrote, of TCP and UDP, with ``-R`` and ``--bidir`` too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.exchange.measured.measurement import Failed, Measured, Transfer

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics


_HEADERS = {False: {1460: 40}, True: {1440: 60, 1220: 60}}
"""Bytes of IP and TCP without timestamps before a segment of that size, of IPv4 and IPv6."""

_WITH_TIMESTAMPS = {False: 52, True: 72}


def joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Make the events of ``--json-stream`` the document of ``-J``."""
    by_name = {event["event"]: event.get("data") for event in events}
    if not {"start", "end"} <= set(by_name) and "error" not in by_name:
        raise Failed("the stream has no end: torn: record it again")
    intervals = [event["data"] for event in events if event["event"] == "interval"]
    return {"start": {}, "end": {}, **by_name, "intervals": intervals}


def read(name: str, document: Mapping[str, Any]) -> Iterator[Measured]:
    """Read a test, whose client is the sender, or with ``-R`` the receiver; of ``--bidir`` each direction."""
    if error := document.get("error"):
        raise Failed(f"iperf3 failed: {error}")
    udp = document["start"]["test_start"]["protocol"] == "UDP"
    end = document["end"]
    for suffix, title in {"": name, "_bidir_reverse": f"{name} (reverse)"}.items():
        # Of UDP, early versions have one sum, with the sender's rate and the receiver's losses.
        received, total = end.get(f"sum_received{suffix}"), end.get(f"sum{suffix}")
        if udp and not (received and received.get("packets")):
            received = total
        if received is None:
            continue
        kept = _kept(document, suffix)
        arrived = _kept(document.get("server_output_json") or {"intervals": []}, suffix)
        if not kept:
            raise Failed("no interval was measured: record it again, for longer than is omitted (-O)")
        metrics: Metrics = {"goodput": float(received["bits_per_second"])}
        if udp:
            lost = received["lost_packets"] / received["packets"] if received["packets"] else None
            if received is total and lost:
                metrics["goodput"] = float(received["bits_per_second"]) * (1 - lost)
            metrics["path_loss_ratio"] = lost
            metrics["jitter"] = received["jitter_ms"] / 1e3
        else:
            sent = end.get(f"sum_sent{suffix}", {})
            if "retransmits" in sent:
                metrics["retransmits"] = float(sent["retransmits"])
            # Those of the senders here: the reverse direction has none.
            streams = [one for part in document["intervals"] for one in part["streams"] if not suffix]
            times = [one["rtt"] / 1e6 for one in streams if one.get("rtt")]
            if times:
                metrics["rtt_mean"] = sum(times) / len(times)
        # What arrived, if the server's account is in the file, rather than what the sender's kernel took over.
        up = not suffix and not document["start"]["test_start"].get("reverse")
        sender = bool(kept[0].get("sender", up))
        if sender and arrived and not arrived[0].get("sender"):
            kept, sender = arrived, False
        rates = [((one["start"] + one["end"]) / 2, float(one["bits_per_second"])) for one in kept]
        yield Measured(
            title,
            metrics,
            rates,
            # After what `-O` leaves out, iperf3 counts from 0 again.
            began=_began(document["start"], max(0.0, _omitted(document, suffix) - kept[0]["start"])),
            transfer=None if udp else _transfer(document, suffix, kept, up, sender),
        )


def _kept(document: Mapping[str, Any], suffix: str) -> list[Mapping[str, Any]]:
    intervals = [one[f"sum{suffix}"] for one in document["intervals"] if f"sum{suffix}" in one]
    return [one for one in intervals if not one["omitted"]]


def _omitted(document: Mapping[str, Any], suffix: str) -> float:
    """Return the seconds that ``-O`` left out."""
    intervals = [one[f"sum{suffix}"] for one in document["intervals"] if f"sum{suffix}" in one]
    return max((float(one["end"]) for one in intervals if one["omitted"]), default=0.0)


def _began(start: Mapping[str, Any], omitted: float) -> float | None:
    stamp = start.get("timestamp", {})
    if "timemillisecs" in stamp:
        return float(stamp["timemillisecs"]) / 1e3 + omitted
    return float(stamp["timesecs"]) + omitted if "timesecs" in stamp else None


def _headers(document: Mapping[str, Any], segment: int) -> int:
    """Return the bytes of IP and TCP before a segment: what the path carries beyond it, or by the address's kind."""
    streams = (one for part in document["intervals"] for one in part["streams"])
    whole = next((int(one["pmtu"]) for one in streams if one.get("pmtu")), 0)
    if 40 <= whole - segment <= 72:
        return whole - segment
    hosts = [one.get("remote_host", "") for one in document["start"].get("connected", ())]
    # An address with both is one of IPv4 in the notation of IPv6; without addresses the segment has to tell.
    longer = ":" in hosts[0] and "." not in hosts[0] if hosts else segment in (1440, 1428, 1220, 1208)
    return _HEADERS[longer].get(segment, _WITH_TIMESTAMPS[longer])


def _transfer(
    document: Mapping[str, Any], suffix: str, kept: Sequence[Mapping[str, Any]], up: bool, sender: bool
) -> Transfer:
    """Return what the sender's kernel said of its connections in each interval, as far as the sender was here."""
    start, end = document["start"], document["end"]
    known = [
        (part[f"sum{suffix}"]["end"], [one for one in part["streams"] if one.get("sender") and one.get("rtt")])
        for part in document["intervals"]
        if f"sum{suffix}" in part and not part[f"sum{suffix}"]["omitted"] and not suffix
    ]
    segment = start.get("tcp_mss_default") or start.get("tcp_mss") or 1448
    sampled = [(t, streams) for t, streams in known if streams]
    return Transfer(
        flows=start["test_start"].get("num_streams", 1),
        segment=segment,
        congestion=end.get("sender_tcp_congestion", ""),
        seconds=kept[-1]["end"] - kept[0]["start"],
        up=up,
        sender=sender,
        headers=_headers(document, segment),
        omitted=_omitted(document, suffix),
        exact="timemillisecs" in start.get("timestamp", {}),
        repeated=[(t, float(sum(one.get("retransmits", 0) for one in streams))) for t, streams in sampled],
        trips=[(t, sum(one["rtt"] for one in streams) / len(streams) / 1e6) for t, streams in sampled],
    )
