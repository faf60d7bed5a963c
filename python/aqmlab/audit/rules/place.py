"""Whether the queue forms where the discipline is, and not at another place before or behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aqmlab.audit.findings import Change, Evidence, Finding, Grade, Queue
from aqmlab.audit.mends import named
from aqmlab.audit.router import LAN, SQM, Lane, Router, kbit, sections, shown
from aqmlab.foreign.disciplines import FRAME
from aqmlab.foreign.model import Class, Qdisc
from aqmlab.foreign.ways import queue_length

LONG, SHORT = 0.25, 0.1
"""Seconds that a queue without a discipline may take to drain: beyond the first is wrong, below the second fine."""

FIFOS = ("pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop")


def double(router: Router) -> Iterator[Finding]:
    """Two shapers one behind the other."""
    for lane in router.shapers():
        below = _below(router, lane.device)
        for other in router.shapers(lane.way):
            if other.device not in below:
                continue
            yield Finding(
                "two-shapers",
                Grade.DOUBTFUL,
                f"Packets pass two shapers, that of {lane.device} ({shown(lane.rate or 0)}) and that of {other.device} "
                f"below it ({shown(other.rate or 0)}): the slower one holds them, and one of the two does nothing.",
                (Evidence.of(lane.root), Evidence.of(other.root)),
                {"tc": f"tc qdisc del dev {other.device} root"},
            )
        inner = [each for each in router.state.below(lane.root) if each.kind in ("cake", "tbf") and _rate(each)]
        if lane.root.kind in ("htb", "hfsc", "tbf") and inner:
            yield Finding(
                "two-shapers",
                Grade.DOUBTFUL,
                f"{inner[0].kind} inside {lane.root.kind} of {lane.device} shapes again: whichever is slower holds the "
                "packets, and the other does nothing.",
                (Evidence.of(lane.root), *map(Evidence.of, inner)),
                {
                    "tc": "\n".join(
                        f"tc qdisc replace dev {each.device} parent {each.parent} "
                        f"{'cake unlimited' if each.kind == 'cake' else 'fq_codel'}"
                        for each in inner
                    )
                },
            )


def _rate(qdisc: Qdisc) -> float | None:
    return qdisc.options.get("bandwidth") or qdisc.options.get("rate")


def _below(router: Router, device: str) -> set[str]:
    """Return the devices that a virtual device sends by, as its name and the network's configuration tell."""
    found = set()
    if "." in device:
        found.add(device.partition(".")[0])
    for each in sections(router, "network.interface"):
        if device == f"pppoe-{each.name}":
            found.add(each.options.get("device", each.options.get("ifname", "")))
    for each in sections(router, "network.device"):
        if each.options.get("name") == device:
            found |= {*each.options.get("ports", "").split(), each.options.get("ifname", "")}
    return found - {"", device} | {base.partition(".")[0] for base in found if "." in base}


def unmanaged(router: Router) -> Iterator[Finding]:
    """Find a long queue behind a shaper that only drops what does not fit."""
    for lane in router.shapers():
        if lane.rate is None:
            continue
        for place, words, packets, said in _fifos(router, lane):
            seconds = packets * FRAME * 8 / lane.rate
            if seconds <= SHORT:
                continue
            target = place.identity if isinstance(place, Class) else place.parent
            where = f"parent {target} " if target else "root "
            yield Finding(
                "unmanaged-queue",
                Grade.WRONG if seconds > LONG else Grade.DOUBTFUL,
                f"{words} of {lane.device} lets {seconds * 1e3:.0f} ms of packets wait at {shown(lane.rate)} and drops "
                "none before it is full.",
                (Evidence.of(place),),
                {"tc": f"tc qdisc replace dev {lane.device} {where}fq_codel"}
                if place is not lane.root
                else _instead(lane),
                (*lane.assumed, *said),
                Change(
                    lane.way,
                    Queue("pfifo", {"limit": round(packets)}, lane.rate, router.counted(lane)),
                    Queue("fq_codel", {"ecn": True}, lane.rate, router.counted(lane)),
                ),
            )


def _instead(lane: Lane) -> dict[str, str]:
    kbit = f"{(lane.rate or 0) / 1000:.0f}kbit"
    return {"tc": f"tc qdisc replace dev {lane.device} root cake bandwidth {kbit}"}


def _fifos(router: Router, lane: Lane) -> Iterator[tuple[Qdisc | Class, str, float, tuple[str, ...]]]:
    """Yield the queues that only have a limit: their line, their name, the packets they hold, and assumptions."""
    root = lane.root
    waiting, stated = queue_length(router.state, lane.device)
    said = () if stated else (f"{lane.device} lets {waiting} packets wait, as devices of its sort do: `ip link` tells",)
    inside = list(router.state.below(root))
    for leaf in inside:
        if leaf.kind in FIFOS and not any(router.state.below(leaf)):
            limit = leaf.options.get("limit")
            if limit is not None:
                yield leaf, leaf.kind, limit / FRAME if leaf.kind == "bfifo" else limit, ()
            else:
                yield leaf, leaf.kind, waiting, said
    if root.kind == "tbf" and not inside:
        limit = root.options.get("limit") or (root.options.get("latency", 0) * (lane.rate or 0) / 8)
        yield root, "The queue of tbf", limit / FRAME, ()
    if root.kind == "htb":
        classes = router.classes(root)
        inner = {each.parent for each in classes}
        for one in classes:
            bare = not one.leaf and router.state.inside(lane.device, one.identity) is None
            if bare and one.identity not in inner:
                yield one, f"Class {one.identity}, without a discipline inside,", waiting, said


def home_side(router: Router) -> Iterator[Finding]:
    """Find a shaper on the side of the home, which also slows what stays at home."""
    for section in router.sqm:
        device = section.options.get("interface", "")
        if section.options.get("enabled") != "1" or not re.match(r"(br-)?lan", device):
            continue
        down, up = (kbit(section, SQM[way]) for way in ("down", "up"))
        swapped = 0 < up < down
        yield Finding(
            "home-side",
            Grade.WRONG if swapped else Grade.DOUBTFUL,
            f"sqm is on {device}, the side of the home: "
            + (
                f"what leaves there are downloads, which get the upload's {up / 1e6:g} Mbit/s."
                if swapped
                else "it also slows what stays at home, and misses the router's own traffic."
            ),
            (Evidence(section.at("interface"), f"option interface '{device}'"),),
            {
                "uci": f"uci set {named(section)}.interface='WAN'; uci commit sqm; "
                "/etc/init.d/sqm restart  # WAN: the device to the modem"
            },
        )
    if not router.sqm:
        outside = [each for each in router.shapers() if not LAN.match(each.device)]
        for lane in router.shapers("down"):
            if lane.device.startswith("br-") and not outside:
                yield Finding(
                    "home-side",
                    Grade.DOUBTFUL,
                    f"The shaper is on {lane.device}, the side of the home: it also slows what stays at home, and "
                    "uploads are not shaped at all.",
                    (Evidence.of(lane.root),),
                    {"shell": "aqmlab advise --down RATE --up RATE --rtt TIME"},
                    lane.assumed,
                )


def offloaded(router: Router) -> Iterator[Finding]:
    """Offloading by hardware takes packets past every shaper of the router."""
    for section in sections(router, "firewall.defaults"):
        on = [section.options.get(name) == "1" for name in ("flow_offloading", "flow_offloading_hw")]
        ways = list(dict.fromkeys(each.way for each in router.shapers()))
        wanted = ways or any(each.options.get("enabled") == "1" for each in router.sqm)
        if all(on) and wanted:
            yield Finding(
                "hardware-offload",
                Grade.WRONG,
                "Flow offloading by hardware is on: the packets of a connection go past the shaper once it stands.",
                (Evidence(section.at("flow_offloading_hw"), "option flow_offloading_hw '1'"),),
                {
                    "uci": "uci set firewall.@defaults[0].flow_offloading_hw='0'; uci commit firewall; "
                    "/etc/init.d/firewall restart"
                },
                ("the hardware does offload: a driver without it ignores the option",),
                router.unshaped("down" if "down" in ways or not ways else "up"),
            )


def autorate(router: Router) -> Iterator[Finding]:
    """Find a program that changes CAKE's rate where another discipline refuses it."""
    for one in router.state.shapers:
        root = router.state.root(one.device)
        if one.least is None or root is None or root.kind == "cake":
            continue
        yield Finding(
            "autorate-refused",
            Grade.WRONG,
            f"cake-autorate changes the rate of cake on {one.device}, which has {root.kind}: the kernel refuses every "
            "change, and the program does not tell.",
            (Evidence(one.place, one.text or f"device {one.device}"), Evidence.of(root)),
            {"tc": f"tc qdisc replace dev {one.device} root cake bandwidth {(one.rate or one.least) / 1000:.0f}kbit"},
        )


RULES = (double, unmanaged, home_side, offloaded, autorate)
