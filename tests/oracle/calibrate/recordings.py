"""The recordings of the judge's cases: made by the kernel of `make kernel`, stored, and written as the tools write."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from oracle.calibrate import cases
from oracle.linux import kernel

STORED = Path(__file__).parent / "recordings.jsonl.gz"


def stored() -> dict[int, dict[str, Any]]:
    """The stored recordings, by the number of the case."""
    if not STORED.exists():
        return {}
    with gzip.open(STORED, "rt") as lines:
        return {one["number"]: one for one in map(json.loads, lines)}


def make(numbers: Iterable[int], progress: Callable[[float], None] | None = None) -> None:
    """Let the kernel record cases, and store each batch as soon as it is there."""
    found = stored()
    wanted = sorted(set(numbers) - set(found), key=lambda number: cases.case(number)["rate_mbit"])
    for at in range(0, len(wanted), 2):
        batch = wanted[at : at + 2]
        runs = kernel.run_all([cases.case(number) for number in batch])
        found |= {number: _kept(number, run) for number, run in zip(batch, runs, strict=True)}
        lines = [json.dumps(found[number], separators=(",", ":")) + "\n" for number in sorted(found)]
        STORED.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))
        if progress:
            progress((at + len(batch)) / len(wanted))


def _kept(number: int, run: Mapping[str, Any]) -> dict[str, Any]:
    """What the tools would have seen of a run, in whole numbers."""
    columns = {name: at for at, name in enumerate(run["groups"][0].get("trace_columns", ()))}
    wanted = [columns[name] for name in ("t", "flow", "cwnd", "rtt", "total_retrans", "delivered")]
    return {
        "number": number,
        "trips_us": [None if trip is None else round(trip) for trip in run["probe"]["trips_us"]],
        "bytes": run["receiver"]["bytes"],
        "senders": [[[row[at] for at in wanted] for row in group.get("trace", ())] for group in run["groups"]],
        "drops": run["queue"]["drops"],
    }


START = 1_790_000_000
"""The date at which the recordings pretend to begin, in s since 1970."""


def write(recording: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write what irtt and iperf3 would have written; of several hosts, each has its iperf3."""
    conf = cases.case(recording["number"])
    documents = {"irtt.json": _irtt(recording["trips_us"])}
    for g, group in enumerate(conf["groups"]):
        if group["n"]:
            documents[f"iperf3-{g + 1}.json"] = _iperf3(conf, recording, g)
    files = []
    for name, document in documents.items():
        files.append(folder / name)
        files[-1].write_text(json.dumps(document))
    return files


def _irtt(trips_us: Iterable[float | None]) -> dict[str, Any]:
    trips: list[dict[str, Any]] = []
    for number, trip in enumerate(trips_us):
        sent = round((START + number * cases.PROBE_MS / 1e3) * 1e9)
        stamp = {"wall": sent, "monotonic": sent - START * 10**9}
        delay = {"rtt": round(trip * 1e3)} if trip is not None else {}
        lost = "false" if trip is not None else "true"
        trips.append({"seqno": number, "lost": lost, "delay": delay, "timestamps": {"client": {"send": stamp}}})
    config = {"interval": cases.PROBE_MS * 10**6, "length": cases.PROBE_BYTES - 42}
    return {"version": {"irtt": "0.9.1"}, "config": config, "stats": {}, "round_trips": trips}


def _iperf3(conf: Mapping[str, Any], recording: Mapping[str, Any], group: int) -> dict[str, Any]:
    """The client's document with that of the server in it (`--get-server-output`)."""
    first = round(cases.IDLE / cases.INTERVAL)
    received, flows, seconds = recording["bytes"][group][first:], conf["groups"][group]["n"], cases.loaded(conf)
    sent = list(_intervals(recording["senders"][group], flows, len(received)))
    begin = {
        "timestamp": {"timesecs": START + cases.IDLE, "timemillisecs": (START + cases.IDLE) * 1000},
        "tcp_mss_default": 1448,
        "test_start": {"protocol": "TCP", "num_streams": flows, "duration": seconds, "reverse": 0},
    }
    total = sum(received)
    retransmits = sum(stream["retransmits"] for streams in sent for stream in streams)
    ends = {"start": 0, "end": seconds, "seconds": seconds, "bytes": total, "bits_per_second": total * 8 / seconds}
    return {
        "start": begin,
        "intervals": [
            {"streams": streams, "sum": _interval(k, sum(stream["bytes"] for stream in streams), sender=True)}
            for k, streams in enumerate(sent)
        ],
        "end": {
            "sum_sent": ends | {"retransmits": retransmits, "sender": True},
            "sum_received": ends | {"sender": True},
            "sender_tcp_congestion": "cubic",
        },
        "server_output_json": {
            "start": begin,
            "intervals": [
                {"streams": [], "sum": _interval(k, octet, sender=False)} for k, octet in enumerate(received)
            ],
            "end": {"sum_received": ends | {"sender": True}},
        },
    }


def _interval(number: int, octets: int, sender: bool) -> dict[str, Any]:
    start, step = number * cases.INTERVAL, cases.INTERVAL
    return {
        "start": start,
        "end": start + step,
        "seconds": step,
        "bytes": octets,
        "bits_per_second": octets * 8 / step,
        "omitted": False,
        "sender": sender,
    }


def _intervals(rows: list[list[float]], flows: int, count: int) -> Iterator[list[dict[str, Any]]]:
    """The streams of each interval, from the columns of `_kept`, samples of TCP_INFO."""
    before = dict.fromkeys(range(flows), (0.0, 0.0))
    for number in range(count):
        end = cases.IDLE + (number + 1) * cases.INTERVAL
        streams = []
        for flow in range(flows):
            upto = [row for row in rows if row[1] == flow and row[0] <= end + 1e-3]
            _, _, window, trip, repeated, delivered = upto[-1] if upto else (0, flow, 10, 0, 0, 0)
            streams.append(
                _interval(number, int((delivered - before[flow][1]) * 1448), sender=True)
                | {"retransmits": repeated - before[flow][0], "snd_cwnd": window * 1448, "rtt": trip}
            )
            before[flow] = (repeated, delivered)
        yield streams
