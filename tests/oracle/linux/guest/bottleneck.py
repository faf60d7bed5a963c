"""The discipline under test: its counters, and its backlog over time."""

import json
import re
import socket
import struct
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from oracle.linux.guest.network import BOTTLENECK, HANDLE, ROUTER
from oracle.linux.guest.process import quantile, wait_until

FILTERS = "ffff:"
"""The handle of `clsact`, which counts what filters drop."""

STEP = 0.005
"""Seconds between samples of the backlog."""

OWN = ("ecn_mark", "marked", "marks", "pdrop", "early", "other", "drop_overlimit", "overlimit", "dropped")
"""Counters that some disciplines have besides those of all."""

# Of linux/rtnetlink.h, linux/pkt_sched.h and linux/gen_stats.h.
RTM_GETQDISC, NLM_F_REQUEST, NLM_F_DUMP = 38, 0x1, 0x300
NLMSG_DONE, RTM_NEWQDISC = 3, 36
TCA_STATS2, TCA_STATS_QUEUE = 7, 3
TC_HANDLE = 0x100000


def watch(conf: Mapping[str, Any], zero: float) -> dict[str, Any]:
    """Counters from the warm-up's end on, and the backlog sampled; for `trace_ms` also the samples, from time zero."""
    if conf.get("fresh"):
        # Before the senders begin, but with no idle time from which an algorithm could learn.
        wait_until(zero - 0.1)
        subprocess.run(["tc", "qdisc", "del", "dev", BOTTLENECK, "root"], check=True)
        root = ["tc", "qdisc", "add", "dev", BOTTLENECK, "root", "handle", HANDLE]
        subprocess.run([*root, *conf["qdisc"].split()], check=True)
    step, warm, end = conf.get("step", STEP), zero + conf["warm"], zero + conf["dur"]
    backlog = Backlog()
    traced: list[tuple[float, int, int, int]] = []
    if "trace_ms" in conf:
        traced = [(time.monotonic() - zero, *backlog.sample()) for _ in _every(step, zero, warm)]
    wait_until(warm)
    first = counters()
    samples = [(time.monotonic() - zero, *backlog.sample()) for _ in _every(step, warm, end)]
    wait_until(end)
    last = counters()
    result = _summary(samples, conf["rate_mbit"]) | {
        **{key: last.get(key, 0) - first.get(key, 0) for key in ("packets", "bytes", "drops")},
        "extra": {key: last[key] - first.get(key, 0) for key in OWN if key in last},
        "last": {key: value for key, value in last.items() if isinstance(value, int | float | str)},
    }
    return result | {"trace": traced + samples} if "trace_ms" in conf else result


def _every(step: float, begin: float, end: float) -> Iterator[None]:
    k = 1
    while begin + k * step < end:
        wait_until(begin + k * step)
        yield
        k += 1


def _summary(samples: Sequence[tuple[float, int, int, int]], rate_mbit: float) -> dict[str, float]:
    packets, octets = ([sample[i] for sample in samples] for i in (1, 2))
    mean = sum(packets) / len(packets)
    ms = 8 / rate_mbit / 1000
    return {
        "q_mean": mean,
        "q_std": (sum((q - mean) ** 2 for q in packets) / len(packets)) ** 0.5,
        "q_p95": quantile(sorted(packets), 0.95),
        "backlog_mean": sum(octets) / len(octets),
        "delay_mean_ms": sum(octets) / len(octets) * ms,
        "delay_p95_ms": quantile(sorted(octets), 0.95) * ms,
    }


def counters() -> dict[str, Any]:
    """What tc says; of a discipline that this tc does not know, what all have."""
    command = ["tc", "-n", ROUTER, "-s", "-j", "qdisc", "show", "dev", BOTTLENECK]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    try:
        found = {each.get("handle"): dict(each) for each in json.loads(said)}
        policed = found.get(FILTERS, {"drops": 0})["drops"]
        return found[HANDLE] | {"drops": found[HANDLE]["drops"] + policed}
    except ValueError:
        command.remove("-j")
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    own = said[said.index(f" {HANDLE} ") :]
    found = re.search(r"Sent (\d+) bytes (\d+) pkt \(dropped (\d+), overlimits (\d+)", own)
    assert found, said
    return dict(zip(("bytes", "packets", "drops", "overlimits"), map(int, found.groups()), strict=True))


class Backlog:
    """Packets and bytes that wait, and drops so far, asked over netlink: tc itself would take most of the run."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self._socket.bind((0, 0))
        self._device = socket.if_nametoindex(BOTTLENECK)

    def sample(self) -> tuple[int, int, int]:
        request = struct.pack("=IHHII", 16 + 20, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, 1, 0)
        self._socket.send(request + struct.pack("=BBHiIII", 0, 0, 0, self._device, 0, 0, 0))
        found = None
        while True:
            data, at = self._socket.recv(65536), 0
            while at < len(data):
                length, kind = struct.unpack_from("=IH", data, at)
                if kind == NLMSG_DONE:
                    assert found, f"no discipline {HANDLE} at {BOTTLENECK}"
                    return found
                if kind == RTM_NEWQDISC:
                    _, _, _, device, handle, _, _ = struct.unpack_from("=BBHiIII", data, at + 16)
                    if (device, handle) == (self._device, TC_HANDLE):
                        found = _queue(data, at + 36, at + length) or found
                at += length + 3 & ~3


def _queue(data: bytes, at: int, end: int) -> tuple[int, int, int] | None:
    for kind, begin, stop in _attributes(data, at, end):
        if kind == TCA_STATS2:
            for inner, where, _ in _attributes(data, begin, stop):
                if inner == TCA_STATS_QUEUE:
                    packets, octets, drops = struct.unpack_from("=III", data, where)
                    return packets, octets, drops
    return None


def _attributes(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    while at < end:
        length, kind = struct.unpack_from("=HH", data, at)
        yield kind & 0x3FFF, at + 4, at + length
        at += length + 3 & ~3
