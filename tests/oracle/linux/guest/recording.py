"""What tools at the two ends of a link would record of it: bytes that arrive in each interval, and echoes of probes."""

import selectors
import socket
import struct
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from oracle.linux.guest.network import ADDRESS, PORT
from oracle.linux.guest.process import wait_until
from oracle.linux.guest.receiver import listener
from oracle.linux.guest.senders import HEADERS, MARGIN, PROBE_PORT, connection

HEAD = "=Id"
"""Number and time of sending, at a probe's head."""


def receive(conf: Mapping[str, Any], zero: float) -> dict[str, Any]:
    """Bytes of each group in each interval of `record` seconds; probes are sent back as they are."""
    step, groups, end = conf["record"], range(len(conf["groups"])), zero + conf["dur"]
    counted = [[0] * round(conf["dur"] / step) for _ in groups]
    selector = selectors.EpollSelector()
    for g in groups:
        selector.register(listener(PORT + g), selectors.EVENT_READ, ("listen", g))
    echo = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    echo.bind((ADDRESS, PROBE_PORT))
    selector.register(echo, selectors.EVENT_READ, ("probe", 0))
    buffer = bytearray(1 << 20)
    while time.monotonic() < end:
        for key, _ in selector.select(max(0, end - time.monotonic())):
            (what, group), source = key.data, key.fileobj
            assert isinstance(source, socket.socket)
            if what == "listen":
                flow, _ = source.accept()
                flow.setblocking(False)
                selector.register(flow, selectors.EVENT_READ, ("flow", group))
            elif what == "probe":
                echo.sendto(*source.recvfrom(2048))
            elif octets := source.recv_into(buffer, len(buffer), socket.MSG_TRUNC):
                counted[group][min(int((time.monotonic() - zero) / step), len(counted[group]) - 1)] += octets
            else:
                selector.unregister(source)
                source.close()
    return {"bytes": counted}


def transfer(conf: Mapping[str, Any], zero: float, group: int) -> dict[str, Any]:
    """Send the `transfers` of a group, (time, bytes) each, over connections of their own."""
    own, end, data = conf["groups"][group], zero + conf["dur"], b"x" * 65536
    waiting, left, selector = list(own["transfers"]), dict[socket.socket, int](), selectors.EpollSelector()
    while (now := time.monotonic()) < end:
        while waiting and now - zero >= waiting[0][0]:
            flow = connection(own["cc"], PORT + group, 0)
            left[flow] = waiting.pop(0)[1]
            selector.register(flow, selectors.EVENT_WRITE)
        ahead = min([end, *(zero + t for t, _ in waiting[:1])])
        for key, _ in selector.select(max(0, ahead - now)):
            flow = key.fileobj  # type: ignore[assignment]
            with suppress(BlockingIOError):
                left[flow] -= flow.send(data[: left[flow]])
            if not left[flow]:
                selector.unregister(flow)
                flow.close()
                del left[flow]
    return {}


def probe(conf: Mapping[str, Any], zero: float) -> dict[str, Any]:
    """Send a probe every `probe_ms`; of each when it left and its round trip in us, or none if it was lost."""
    outlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    outlet.connect((ADDRESS, PROBE_PORT))
    gap, size = conf["probe_ms"] / 1000, conf["probe_bytes"]
    count = int((conf["dur"] - MARGIN) / gap)
    trips: list[float | None] = [None] * count
    for k in range(count):
        wait_until(zero + k * gap)
        outlet.send(struct.pack(HEAD, k, time.monotonic()).ljust(size - HEADERS, b"\0"))
        _collect(outlet, zero + (k + 1) * gap, trips)
    _collect(outlet, zero + conf["dur"], trips)
    return {"trips_us": trips}


def _collect(outlet: socket.socket, until: float, trips: list[float | None]) -> None:
    while (left := until - time.monotonic()) > 0:
        outlet.settimeout(left)
        with suppress(TimeoutError):
            number, sent = struct.unpack_from(HEAD, outlet.recv(2048))
            trips[number] = round((time.monotonic() - sent) * 1e6, 1)
