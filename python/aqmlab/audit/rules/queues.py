"""How the disciplines are set: ECN, thresholds, targets, and CAKE's round trip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from aqmlab.audit.findings import Evidence, Finding, Grade
from aqmlab.audit.mends import named
from aqmlab.audit.router import Lane, Router, count, shown
from aqmlab.foreign.disciplines import FRAME
from aqmlab.foreign.model import Qdisc

ECN = ("codel", "fq_codel", "pie", "fq_pie", "red", "choke")
"""The disciplines that mark on demand, of which ``fq_codel`` does so by default."""

SLOW = 4e6
"""The rate in bit/s below which a drop frees more time than a mark keeps: there ECN may be off on purpose."""

SMALL = 0.05
"""The part of the bytes below which it does not matter whether a class has ECN."""

MANY = 100_000

FAR = (1.5, 10.0)
"""How many times CAKE's round trip may be shorter, and longer, than that of the path."""

PATIENT = 0.1
"""Seconds of packets at RED's lower threshold from which it is as good as none."""

FEW = 5
"""Packets that RED lets wait in any case, as its average needs some."""

GSO = 65_536
"""Bytes of the largest packet of an offload."""


def leaf_queues(router: Router) -> Iterator[tuple[Lane, Qdisc]]:
    """Yield the disciplines that hold packets behind a shaper."""
    for lane in router.shapers():
        for leaf in router.leaves(lane.root):
            yield lane, leaf


def share(lane: Lane, leaf: Qdisc) -> float:
    """Return the part of a lane's bytes that a discipline inside has sent, 1 if that is not known."""
    whole = count(lane.root.statistics, "bytes")
    return count(leaf.statistics, "bytes") / whole if whole and leaf.statistics else 1.0


def replaced(leaf: Qdisc, words: str) -> dict[str, str]:
    """Return the line that changes options of a discipline."""
    where = f"parent {leaf.parent}" if leaf.parent else "root"
    handle = f" handle {leaf.handle}" if leaf.handle else ""
    return {"tc": f"tc qdisc change dev {leaf.device} {where}{handle} {leaf.kind} {words}"}


def without_ecn(router: Router) -> Iterator[Finding]:
    """Find a discipline that drops where it could mark."""
    off: dict[str, list[tuple[Lane, Qdisc]]] = {}
    for lane, leaf in leaf_queues(router):
        if leaf.kind not in ECN or share(lane, leaf) < SMALL or (lane.rate or SLOW) < SLOW:
            continue
        marks = leaf.options.get("ecn", leaf.kind == "fq_codel" and not leaf.shown)
        if leaf.options.get("noecn") or not marks:
            off.setdefault(lane.device, []).append((lane, leaf))
    for device, each in off.items():
        lane, leaf = each[0]
        section = router.section(device)
        mend = {"tc": "\n".join(replaced(one, _marking(one))["tc"] for _, one in each)}
        if section is not None:
            side = "ingress" if lane.way == "down" else "egress"
            mend = {
                "uci": f"uci set {named(section)}.qdisc_advanced='1'; uci set {named(section)}.{side}_ecn='ECN'; "
                "uci commit sqm; /etc/init.d/sqm restart"
            }
        yield Finding(
            "ecn-off",
            Grade.DOUBTFUL,
            f"ECN is off in {leaf.kind} of {device}: it drops packets of senders that would heed a mark.",
            tuple(Evidence.of(one) for _, one in each),
            mend,
            (*lane.assumed, "some senders negotiate ECN"),
            replace(router.change(lane, {"ecn": True, "noecn": None}, leaf), marked=True),
        )


def _marking(leaf: Qdisc) -> str:
    """Return the words that turn ECN on; RED's line must repeat its values, of which tc shows three."""
    if leaf.kind not in ("red", "choke"):
        return "ecn"
    shown = [f"{name} {leaf.options[name]}" for name in ("limit", "min", "max") if name in leaf.options]
    burst = max(1, round((2 * leaf.options.get("min", 30_000) + leaf.options.get("max", 90_000)) / 3000))
    return " ".join([*shown, f"avpkt 1000 burst {burst} ecn"])


def red(router: Router) -> Iterator[Finding]:
    """Thresholds of RED that make no sense."""
    every = [(lane, leaf) for lane in router.lanes for leaf in router.leaves(lane.root)]
    for lane, leaf in every:
        own = leaf.options
        if leaf.kind != "red" or "min" not in own or "max" not in own:
            continue
        least, most, limit = own["min"], own["max"], own.get("limit")
        average, steep = own.get("avpkt"), own.get("probability")
        wrong = Grade.WRONG
        if least >= most:
            told = f"min {least} is not below max {most}: it drops nothing, and then everything"
        elif limit and limit < most:
            told = f"limit {limit} is below max {most}: the queue is full before RED drops what it should"
        elif average and not 64 <= average <= FRAME * 1.1:
            told = f"avpkt {average} is no mean length of packets: the average moves too fast or too slowly"
        elif steep is not None and not 0.005 <= steep <= 0.5:
            told, wrong = (
                f"probability {steep:g} is far from 0.02 to 0.1: it hardly drops, or drops in runs",
                Grade.DOUBTFUL,
            )
        elif lane.rate and least > FEW * FRAME and least * 8 / lane.rate > PATIENT:
            told = f"min {least} is {least * 8e3 / lane.rate:.0f} ms at {shown(lane.rate)}: it does nothing before"
            wrong = Grade.DOUBTFUL
        else:
            continue
        rate = lane.rate or router.given.rate(lane.way)
        low = max(round((rate or 10e6) * 0.01 / 8), FEW * FRAME)
        values = {"min": low, "max": 3 * low, "limit": 12 * low, "avpkt": 1000, "burst": -(-5 * low // 3000)}
        words = " ".join(f"{name} {value}" for name, value in values.items())
        yield Finding(
            "red-thresholds",
            wrong,
            f"RED of {lane.device}: {told}.",
            (Evidence.of(leaf),),
            replaced(leaf, f"{words} probability 0.02 bandwidth {(rate or 10e6) / 1000:.0f}kbit ecn"),
            () if rate else ("the link has 10 Mbit/s: give --up",),
            None if least >= most or (limit and limit < most) else router.change(lane, values, leaf),
        )


def round_trip(router: Router) -> Iterator[Finding]:
    """CAKE's round trip far from that of the path."""
    rtt = router.given.rtt
    for lane in router.shapers():
        own = lane.root.options.get("rtt", 0.1)
        if rtt is None or lane.root.kind not in ("cake", "cake_mq"):
            continue
        short, long = rtt > FAR[0] * own, own > FAR[1] * rtt and own > 0.1
        if short or long:
            does = (
                "it drops before a sender can react: goodput is lost" if short else "queues last longer than they need"
            )
            yield Finding(
                "cake-rtt",
                Grade.DOUBTFUL,
                f"CAKE of {lane.device} expects round trips of {own * 1e3:g} ms where the path has {rtt * 1e3:g} ms: "
                f"{does}.",
                (Evidence.of(lane.root),),
                {"tc": f"tc qdisc change dev {lane.device} root {lane.root.kind} rtt {max(rtt, 0.001) * 1e3:g}ms"},
                lane.assumed,
                router.change(lane, {"rtt": rtt}),
            )


def short_target(router: Router) -> Iterator[Finding]:
    """Find a target of CoDel's below the time of one packet."""
    for lane, leaf in leaf_queues(router):
        target, rate = leaf.options.get("target"), lane.rate
        if leaf.kind not in ("codel", "fq_codel") or not target or not rate:
            continue
        packet = FRAME * 8 / rate
        if target < packet:
            better = 1.5 * packet
            yield Finding(
                "short-target",
                Grade.DOUBTFUL,
                f"The target of {leaf.kind} of {lane.device} is {target * 1e3:.3g} ms, and one packet takes "
                f"{packet * 1e3:.3g} ms at {shown(rate)}: RFC 8289 asks for at least one and a half.",
                (Evidence.of(leaf),),
                replaced(leaf, f"target {better * 1e6:.0f}us interval {max(0.1, 0.1 + better - 0.005) * 1e3:.0f}ms"),
                lane.assumed,
                router.change(lane, {"target": better}, leaf),
            )


def unsplit(router: Router) -> Iterator[Finding]:
    """Find merged packets of an offload that a slow link sends in one piece."""
    for lane in router.shapers():
        if lane.root.kind in ("cake", "cake_mq") and lane.root.options.get("no-split-gso") and lane.rate:
            seconds = GSO * 8 / lane.rate
            if seconds > 0.005:
                yield Finding(
                    "no-split-gso",
                    Grade.DOUBTFUL,
                    f"CAKE of {lane.device} does not split what offloads have merged: 64 KiB keep the link for "
                    f"{seconds * 1e3:.0f} ms at {shown(lane.rate)}.",
                    (Evidence.of(lane.root),),
                    {"tc": f"tc qdisc change dev {lane.device} root {lane.root.kind} split-gso"},
                    (*lane.assumed, "offloads are on: `ethtool -k` tells"),
                )


def unmarked(router: Router) -> Iterator[Finding]:
    """Classes of service that no packet asks for."""
    for lane in router.shapers():
        tins = (lane.root.statistics or {}).get("tins", ())
        words = [word for word in ("diffserv3", "diffserv4", "diffserv8") if lane.root.options.get(word)]
        sent = [count(tin, "sent_packets") for tin in tins]
        if words and len(sent) > 2 and sum(sent) > MANY and sum(sent) - max(sent) == 0:
            yield Finding(
                "classes-unused",
                Grade.UNKNOWN,
                f"All {sum(sent)} packets of {lane.device} are in one class of {words[0]}: whether any should be "
                "marked cannot be told here; besteffort does the same with less work.",
                (Evidence.of(lane.root),),
            )


RULES = (without_ecn, red, round_trip, short_target, unsplit, unmarked)
