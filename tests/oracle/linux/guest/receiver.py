"""What arrives: goodput of each flow, ECN marks, and the probe's delay."""

import selectors
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

from oracle.linux.guest.network import ADDRESS, PORT
from oracle.linux.guest.process import counters, quantile
from oracle.linux.guest.senders import PROBE_PORT

FIELDS = ("InCEPkts", "InECT0Pkts", "InECT1Pkts", "InNoECTPkts")
ACKS = "OutSegs"


def receive(conf: Mapping[str, Any], zero: float) -> dict[str, Any]:
    groups, end, warm = range(len(conf["groups"])), zero + conf["dur"], zero + conf["warm"]
    selector, received, delays = selectors.EpollSelector(), list[list[int]](), list[float]()
    for g in groups:
        selector.register(listener(PORT + g), selectors.EVENT_READ, ("listen", g))
    inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inlet.bind((ADDRESS, PROBE_PORT))
    inlet.setblocking(False)
    selector.register(inlet, selectors.EVENT_READ, ("probe", 0))
    buffer = bytearray(1 << 20)
    before: dict[str, int] | None = None
    while (now := time.monotonic()) < end:
        if before is None and now >= warm:
            before = _counters()
        for key, _ in selector.select(max(0, end - now)):
            (what, number), now = key.data, time.monotonic()
            source: socket.socket = key.fileobj  # type: ignore[assignment]
            if what == "listen":
                flow, _ = source.accept()
                flow.setblocking(False)
                received.append([number, 0])
                selector.register(flow, selectors.EVENT_READ, ("flow", len(received) - 1))
            elif what == "probe":
                (sent,) = struct.unpack_from("d", source.recv(2048))
                if sent >= warm:
                    delays.append(now - sent)
            else:
                octets = source.recv_into(buffer, len(buffer), socket.MSG_TRUNC)
                if not octets:
                    selector.unregister(source)
                elif now >= warm:
                    received[number][1] += octets
    after = _counters()
    counted = {name: after[name] - (before or {}).get(name, 0) for name in after}
    rates = [(g, octets * 8 / (conf["dur"] - conf["warm"]) / 1e6) for g, octets in received]
    each = [rate for _, rate in rates]
    return {
        "ecn": {name: counted[name] for name in FIELDS},
        "acks": counted[ACKS],
        "goodput_mbit": sum(each),
        "flows": len(each),
        "jain": sum(each) ** 2 / (len(each) * sum(rate**2 for rate in each)) if any(each) else None,
        "group_goodput": [sum(rate for h, rate in rates if h == g) for g in groups],
        "probe": _delays(delays),
    }


def _counters() -> dict[str, int]:
    return counters((*FIELDS, ACKS), "netstat", "snmp")


def listener(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((ADDRESS, port))
    made.listen(4096)
    made.setblocking(False)
    return made


def _delays(seconds: list[float]) -> dict[str, float | None]:
    ms = sorted(1000 * each for each in seconds)
    quantiles = {f"p{p}_ms": quantile(ms, p / 100) if ms else None for p in (50, 95, 99)}
    return {"n": len(ms), "mean_ms": sum(ms) / len(ms) if ms else None, **quantiles}
