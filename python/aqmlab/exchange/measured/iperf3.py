"""What ``iperf3 -J`` and ``iperf3 --json-stream`` wrote, of TCP and UDP, with ``-R`` and ``--bidir`` too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.exchange.measured.measurement import Failed, Measured, Transfer

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics


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
        if kept[0].get("sender") and arrived and not arrived[0].get("sender"):
            kept = arrived
        rates = [((one["start"] + one["end"]) / 2, float(one["bits_per_second"])) for one in kept]
        yield Measured(
            title,
            metrics,
            rates,
            began=_began(document["start"]),
            transfer=None if udp else _transfer(document, suffix, kept),
        )


def _kept(document: Mapping[str, Any], suffix: str) -> list[Mapping[str, Any]]:
    intervals = [one[f"sum{suffix}"] for one in document["intervals"] if f"sum{suffix}" in one]
    return [one for one in intervals if not one["omitted"]]


def _began(start: Mapping[str, Any]) -> float | None:
    stamp = start.get("timestamp", {})
    if "timemillisecs" in stamp:
        return float(stamp["timemillisecs"]) / 1e3
    return float(stamp["timesecs"]) if "timesecs" in stamp else None


def _transfer(document: Mapping[str, Any], suffix: str, kept: Sequence[Mapping[str, Any]]) -> Transfer:
    """Return what the sender's kernel said of its connections in each interval, as far as the sender was here."""
    start, end = document["start"], document["end"]
    known = [
        (part[f"sum{suffix}"]["end"], [one for one in part["streams"] if one.get("sender") and one.get("rtt")])
        for part in document["intervals"]
        if f"sum{suffix}" in part and not part[f"sum{suffix}"]["omitted"] and not suffix
    ]
    sampled = [(t, streams) for t, streams in known if streams]
    return Transfer(
        flows=start["test_start"].get("num_streams", 1),
        segment=start.get("tcp_mss_default") or start.get("tcp_mss") or 1448,
        congestion=end.get("sender_tcp_congestion", ""),
        seconds=kept[-1]["end"] - kept[0]["start"],
        repeated=[(t, float(sum(one.get("retransmits", 0) for one in streams))) for t, streams in sampled],
        trips=[(t, sum(one["rtt"] for one in streams) / len(streams) / 1e6) for t, streams in sampled],
    )
