"""Whether queues hit limits that are not meant to be felt."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.audit.findings import Evidence, Finding, Grade
from aqmlab.audit.router import Router, count, shown
from aqmlab.audit.rules.queues import leaf_queues, replaced
from aqmlab.foreign.disciplines import FRAME
from aqmlab.foreign.model import Qdisc

KERNEL = 2
"""Bytes of memory that the kernel takes for a byte of a packet, about."""

RTT = 0.02
"""The round trip in s without --rtt: a short one, so that a limit that is too small for it is so in any case."""

SEVERAL = 20
"""Packets at a limit that are no accident."""

ROOM = 32 * 2**20
"""Bytes of fq_codel's memory, as it has by itself."""


def overflowing(router: Router) -> Iterator[Finding]:
    """Packets that fq_codel has dropped because it was full."""
    for lane, leaf in leaf_queues(router):
        full, memory = (count(leaf.statistics, name) for name in ("drop_overlimit", "drop_overmemory"))
        drops = count(leaf.statistics, "drops")
        if full + memory < max(SEVERAL, drops / 100):
            continue
        option = "memory_limit" if memory >= full else "limit"
        value = ROOM if option == "memory_limit" else 10240
        words = f"{option} {'32Mb' if option == 'memory_limit' else value}"
        yield Finding(
            "overflow",
            Grade.WRONG if full + memory > drops / 2 else Grade.DOUBTFUL,
            f"{full + memory} of the {max(drops, full + memory)} packets that {leaf.kind} of {lane.device} has dropped "
            f"did not fit into its {option.replace('_', ' ')}: it drops by size, not by the time that packets wait.",
            (Evidence.of(leaf, f"drop_overlimit {full}", f"drop_overmemory {memory}"),),
            replaced(leaf, words),
            lane.assumed,
            router.change(lane, {option: value}, leaf),
        )


def small(router: Router) -> Iterator[Finding]:
    """Find a limit below what a flow needs in flight."""
    for lane, leaf in leaf_queues(router):
        if not lane.rate:
            continue
        trip = router.given.rtt or RTT
        needed = lane.rate * trip / 8
        said = () if router.given.rtt else (f"round trips of {RTT * 1e3:g} ms: give --rtt",)
        least = _least(leaf, needed)
        if least is None:
            continue
        option, value, has = least
        yield Finding(
            "small-limit",
            Grade.DOUBTFUL,
            f"{leaf.kind} of {lane.device} has room for {has / 1e3:.0f} kB, and a flow at {shown(lane.rate)} and "
            f"{trip * 1e3:g} ms has {needed / 1e3:.0f} kB on its way: bursts are cut before the discipline acts.",
            (Evidence.of(leaf),),
            replaced(leaf, f"{option} {value}"),
            (*lane.assumed, *said),
            router.change(lane, {option: value}, leaf),
        )


def _least(leaf: Qdisc, needed: float) -> tuple[str, int, float] | None:
    """Return the option that is too small, a value that is not, and the bytes of packets that it lets wait."""
    limit, memory = leaf.options.get("limit"), leaf.options.get("memory_limit")
    if leaf.kind in ("fq_codel", "fq_pie", "codel", "pie"):
        if limit and limit * FRAME < needed:
            return "limit", max(10240, round(2 * needed / FRAME)), limit * FRAME
        if memory and memory / KERNEL < needed:
            return "memory_limit", max(ROOM, round(2 * KERNEL * needed)), memory / KERNEL
    elif leaf.kind in ("pfifo", "bfifo") and limit:
        has = limit * (FRAME if leaf.kind == "pfifo" else 1)
        if has < needed / 8:
            value = round(needed / (FRAME if leaf.kind == "pfifo" else 1))
            return "limit", value, has
    return None


def cake_full(router: Router) -> Iterator[Finding]:
    """CAKE's memory was all used."""
    for lane in router.shapers():
        used, limit = (count(lane.root.statistics, name) for name in ("memory_used", "memory_limit"))
        if limit and used >= 0.95 * limit:
            yield Finding(
                "memory-full",
                Grade.DOUBTFUL,
                f"CAKE of {lane.device} has used all of its memory ({used / 1e6:.1f} of {limit / 1e6:.1f} MB) at least "
                "once: it then drops by size from the longest queue.",
                (Evidence.of(lane.root, f"memory used {used} of {limit}"),),
                {"tc": f"tc qdisc change dev {lane.device} root {lane.root.kind} memlimit {_mb(2 * limit)}"},
                lane.assumed,
            )


def _mb(octets: float) -> str:
    return f"{max(octets / 2**20, 8):.0f}mb"


RULES = (overflowing, small, cake_full)
