"""What ``iperf3 -J`` and ``iperf3 --json-stream`` wrote, of TCP and UDP, with ``-R`` and ``--bidir`` too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.exchange.measured.measurement import Failed, Measured

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
        intervals = [one[f"sum{suffix}"] for one in document["intervals"] if f"sum{suffix}" in one]
        kept = [one for one in intervals if not one["omitted"]]
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
        rates = [((one["start"] + one["end"]) / 2, float(one["bits_per_second"])) for one in kept]
        yield Measured(title, metrics, rates)
