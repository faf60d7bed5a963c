"""Open loop: UDP packets at the instants of `arrivals`, and what became of each."""

import base64
import socket
import struct
import time
import zlib
from collections.abc import Mapping
from typing import Any

from oracle.linux import arrivals
from oracle.linux.guest.network import ADDRESS
from oracle.linux.guest.process import be_punctual, quantile, wait_until

PORT = 6001
HEADERS = 14 + 28
"""Ethernet, IP and UDP."""

HEAD = "=Id"
"""Number and time of sending, at a packet's head."""


def replay(conf: Mapping[str, Any], zero: float) -> dict[str, int]:
    if "more" in conf:
        # The runs of the others were stored before this was known.
        be_punctual()
    outlets = []
    # The type of service holds the ECN field, or the code point of each flow.
    for tos in conf.get("tos") or [conf["ecn_field"]] * arrivals.FLOWS:
        outlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        outlet.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
        outlet.connect((ADDRESS, PORT))
        outlets.append(outlet)
    failed = 0
    for number, (t, size, flow) in enumerate(arrivals.arrivals(conf["arrivals"], conf["seed"])):
        wait_until(zero + t)
        head = struct.pack(HEAD, number, time.monotonic())
        try:
            outlets[flow].send(head.ljust(size - HEADERS, b"\0"))
        except OSError:
            failed += 1
    return {"failed": failed}


def collect(conf: Mapping[str, Any], zero: float) -> dict[str, Any]:
    inlet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    inlet.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    inlet.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    inlet.bind((ADDRESS, PORT))
    sent = arrivals.arrivals(conf["arrivals"], conf["seed"])
    end, fate, delays = zero + conf["dur"], bytearray(arrivals.LOST * len(sent), "ascii"), list[float]()
    while time.monotonic() < end:
        inlet.settimeout(max(1e-6, end - time.monotonic()))
        try:
            data, ancillary, _, _ = inlet.recvmsg(2048, 64)
        except TimeoutError:
            break
        number, at = struct.unpack_from(HEAD, data)
        tos = next((value[0] for _, kind, value in ancillary if kind == socket.IP_TOS), 0)
        fate[number] = ord(arrivals.MARKED if tos & 3 == 3 else arrivals.DELIVERED)
        delays.append(1000 * (time.monotonic() - at))
    delays.sort()
    lost, marked = (arrivals.by_flow(fate.decode(), sent, what) for what in (arrivals.LOST, arrivals.MARKED))
    return {
        "sent": len(sent),
        "lost": sum(lost),
        "marked": sum(marked),
        "lost_by_flow": lost,
        "marked_by_flow": marked,
        "delay_mean_ms": sum(delays) / len(delays),
        **{f"delay_p{p}_ms": quantile(delays, p / 100) for p in (50, 95, 99)},
        "fate": base64.b64encode(zlib.compress(bytes(fate), 9)).decode(),
    }
