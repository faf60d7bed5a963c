"""TCP senders of endless flows and of files, and the probe."""

import math
import random
import selectors
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from oracle.linux.guest import tcp_info
from oracle.linux.guest.network import ADDRESS, PORT
from oracle.linux.guest.process import counters, wait_until

TCP_CONGESTION = 13
PROBE_PORT = 6000

COUNTED = (
    "TCPTimeouts",
    "TCPFastRetrans",
    "TCPLostRetransmit",
    "TCPSlowStartRetrans",
    "TCPLossProbes",
    "TCPLossProbeRecovery",
    "TCPSpuriousRTOs",
    "TCPDSACKRecv",
    "RetransSegs",
    "OutSegs",
)

PROBE_SIZE, HEADERS, STAMP = 200, 14 + 28, 8
"""The probe as HTB counts it; Ethernet, IP and UDP in front of it; the time of sending at its head."""

MARGIN = 0.5
"""Seconds before the end after which no probe is sent: each has time to arrive."""


def starts(conf: Mapping[str, Any], group: int) -> list[float]:
    """When the flows of a group start, in seconds; our runs take the same times."""
    own = conf["groups"][group]
    drawn = random.Random(f"{conf['seed']}/{group}")
    return sorted(drawn.uniform(0, own.get("spread", conf.get("start_jitter", 1.0))) for _ in range(own["n"]))


def send(conf: Mapping[str, Any], zero: float, group: int) -> dict[str, Any]:
    own, end, warm = conf["groups"][group], zero + conf["dur"], zero + conf["warm"]
    begin = own.get("start", 0.0)
    waiting = [begin + t for t in starts(conf, group)]
    selector, data, flows = selectors.EpollSelector(), b"x" * 65536, list[socket.socket]()
    trace = Trace(conf["trace_ms"] / 1000, zero, own["cc"] == "bbr") if "trace_ms" in conf else None
    before: dict[str, int] | None = None
    while (now := time.monotonic()) < end:
        while waiting and now - zero >= waiting[0]:
            waiting.pop(0)
            flows.append(connection(own["cc"], PORT + group, own.get("tos", 0)))
            selector.register(flows[-1], selectors.EVENT_WRITE, [own.get("octets", math.inf)])
        if before is None and now >= warm:
            before = counters(COUNTED, "netstat", "snmp")
        if trace and now >= trace.next:
            trace.sample(now, flows)
        ahead = [
            end,
            *(zero + t for t in waiting[:1]),
            *([warm] if before is None else []),
            *([trace.next] if trace else []),
        ]
        for key, _ in selector.select(max(0, min(ahead) - now)):
            flow: socket.socket = key.fileobj  # type: ignore[assignment]
            try:
                key.data[0] -= flow.send(data[: min(len(data), key.data[0])])
            except BlockingIOError:
                continue
            except OSError:
                key.data[0] = 0
            if not key.data[0]:
                selector.unregister(flow)
                flow.close()
    after = counters(COUNTED, "netstat", "snmp")
    result: dict[str, Any] = {name: after[name] - (before or {}).get(name, 0) for name in after}
    return result | {"trace": trace.rows, "trace_columns": trace.columns} if trace else result


def connection(congestion: str, port: int, tos: int) -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
    made.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, congestion.encode())
    made.connect_ex((ADDRESS, port))
    return made


class Trace:
    """Samples of TCP_INFO: a row a flow, every so often."""

    def __init__(self, step: float, zero: float, bbr: bool) -> None:
        self.columns = ["t", "flow", *tcp_info.KEPT, *(tcp_info.BBR if bbr else ())]
        self.rows: list[list[Any]] = []
        self.next = zero
        self._step, self._zero, self._bbr = step, zero, bbr

    def sample(self, now: float, flows: Sequence[socket.socket]) -> None:
        for flow, connection in enumerate(flows):
            with suppress(OSError):  # not connected yet
                self.rows.append([round(now - self._zero, 6), flow, *tcp_info.sample(connection, self._bbr)])
        self.next += self._step


def probe(conf: Mapping[str, Any], zero: float) -> dict[str, int]:
    """Small packets at equal distances: how long they wait is what an arrival finds."""
    outlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    pad, gap, sent = b"\0" * (PROBE_SIZE - HEADERS - STAMP), conf.get("probe_ms", 20) / 1000, 0
    while zero + sent * gap < zero + conf["dur"] - MARGIN:
        wait_until(zero + sent * gap)
        outlet.sendto(struct.pack("d", time.monotonic()) + pad, (ADDRESS, PROBE_PORT))
        sent += 1
    return {"sent": sent, "sent_after_warm": sum(k * gap >= conf["warm"] for k in range(sent))}
