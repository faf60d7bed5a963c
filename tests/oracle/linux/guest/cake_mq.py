"""Sets up `cake_mq` in the router's namespace over netlink: the tc of the guest does not know it.

usage: python -m oracle.linux.guest.cake_mq cake_mq bandwidth 10mbit besteffort
"""

import re
import socket
import struct
import sys

from oracle.linux.guest.bottleneck import NLM_F_REQUEST, RTM_NEWQDISC, TC_HANDLE
from oracle.linux.guest.network import BOTTLENECK

# Of linux/netlink.h and linux/pkt_sched.h.
NLM_F_ACK, NLM_F_EXCL, NLM_F_CREATE = 0x4, 0x200, 0x400
TC_H_ROOT = 0xFFFFFFFF
TCA_KIND, TCA_OPTIONS, TCA_CAKE_BASE_RATE64, TCA_CAKE_DIFFSERV_MODE = 1, 2, 2, 3
MODES = ("diffserv3", "diffserv4", "diffserv8", "besteffort", "precedence")
"""In the kernel's order."""


def add(bandwidth: str, mode: str) -> None:
    """Add it at the root of the bottleneck."""
    found = re.fullmatch(r"(\d+)mbit", bandwidth)
    assert found, bandwidth
    rate = _attribute(TCA_CAKE_BASE_RATE64, struct.pack("=Q", int(found[1]) * 125_000))
    tins = _attribute(TCA_CAKE_DIFFSERV_MODE, struct.pack("=I", MODES.index(mode)))
    body = struct.pack("=BBHiIII", 0, 0, 0, socket.if_nametoindex(BOTTLENECK), TC_HANDLE, TC_H_ROOT, 0)
    body += _attribute(TCA_KIND, b"cake_mq\0") + _attribute(TCA_OPTIONS, rate + tins)
    flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_EXCL | NLM_F_CREATE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as asked:
        asked.send(struct.pack("=IHHII", 16 + len(body), RTM_NEWQDISC, flags, 1, 0) + body)
        (error,) = struct.unpack_from("=i", asked.recv(65536), 16)
    if error:
        raise OSError(-error, f"cake_mq {bandwidth} {mode}")


def _attribute(kind: int, data: bytes) -> bytes:
    """Return an attribute, filled up to a multiple of four bytes."""
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


if __name__ == "__main__":
    add(sys.argv[3], sys.argv[4])
