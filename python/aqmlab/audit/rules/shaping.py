"""Whether anything shapes, and whether it does so below the rate of the link."""

from __future__ import annotations

import math
from collections.abc import Iterator

from aqmlab.audit.findings import Evidence, Finding, Grade
from aqmlab.audit.router import CLASSES, SHARE, SQM, Lane, Router, count, marks, shown
from aqmlab.foreign.model import Class, Flows, Qdisc

CLOSE = 0.98
"""The part of the link above which a download's shaper leaves too little for the provider's queue to drain."""

MANY = 10_000
"""Packets after which a counter that is still 0 says something."""

TINY = 0.01
"""The part of the packets that may go past the classes: those of ARP and the like."""

REACHED, GOODPUT, CELLS = 0.88, 0.95, 48 / 53
"""The part of a shaper's rate that TCP's goodput has at least, and about, in frames; and what ATM's cells leave."""

MULTI = ("mq", "mqprio", "multiq")
"""Disciplines that have one inside for each queue of the device."""

USUAL = 1e9
"""The rate in bit/s of a usual device, below which a link is slower than it."""

CLAMPED = (1000, 200_000)
"""The least and the greatest quantum of HTB: what is outside of them the kernel changes."""


def above_link(router: Router) -> Iterator[Finding]:
    """Find a shaper at the rate of the link or above: the queue forms behind it."""
    for lane in router.shapers():
        link = router.given.rate(lane.way)
        if link is None or lane.rate is None or lane.rate <= CLOSE * link or lane.root.kind in MULTI:
            continue
        wrong = lane.rate >= link
        if not wrong and lane.way == "up":
            continue
        title = (
            f"The shaper of {lane.device} has {shown(lane.rate)}, which is not below the link's {shown(link)} "
            f"{lane.way}: the queue forms behind it, where it has no say."
            if wrong
            else f"The shaper of {lane.device} has {shown(lane.rate)} of the link's {shown(link)} down: what has "
            "gathered in the provider's queue hardly drains."
        )
        yield Finding(
            "above-link",
            Grade.WRONG if wrong else Grade.DOUBTFUL,
            title,
            (Evidence.of(lane.root),),
            router.rate_lines(lane, SHARE * link),
            lane.assumed,
            router.change(lane, {}, rates=(lane.rate, SHARE * link)),
        )


def slower(router: Router) -> Iterator[Finding]:
    """Find a shaper that a measurement has not reached: the link, or something else, was slower."""
    for lane in router.shapers():
        measured = [each for each in router.state.flows if each.goodput and (_is_up(each) == (lane.way == "up"))]
        if not measured or lane.rate is None or router.given.rate(lane.way) is not None:
            continue
        best = max(measured, key=lambda each: each.goodput or 0.0)
        cells = "atm" in router.counted(lane) + str(lane.root.options.get("framing", "")).replace("noatm", "")
        goodput, least = best.goodput or 0.0, REACHED * (CELLS if cells else 1.0) * lane.rate
        if goodput >= least:
            continue
        yield Finding(
            "never-reached",
            Grade.DOUBTFUL,
            f"The shaper of {lane.device} has {shown(lane.rate)}, and {best.table['name']} came to {shown(goodput)} of "
            f"goodput; behind a shaper that limits it would be {shown(least)} or more: the queue formed elsewhere.",
            (Evidence.of(lane.root), Evidence(best.place, f"{best.table['name']}: {shown(goodput)}")),
            router.rate_lines(lane, SHARE * goodput / GOODPUT),
            (*lane.assumed, "the measurement went through this router, and lasted longer than its start"),
        )


def _is_up(flows: Flows) -> bool:
    return flows.table.get("from") == "receivers"


def nothing_shapes(router: Router) -> Iterator[Finding]:
    """Without a shaper the queue forms in the modem; a discipline before it never sees one."""
    wan = router.wan()
    if router.state.shapers:
        return
    if wan is None:
        yield from _nowhere(router)
        return
    device, said = wan
    root = router.state.root(device)
    assert root is not None
    told = (said,) if said else ()
    rates = {each.name: each.rate for each in router.state.devices}
    for way in ("up", "down"):
        if router.shapers(way) or any(each.options.get(SQM[way], "0") != "0" for each in router.sqm):
            continue  # what a tool was to do is compared by the rules on configurations
        if any(lane.way == way and lane.root.kind in CLASSES for lane in router.lanes):
            continue
        link = router.given.rate(way)
        if way == "up":
            yield from _upload(router, root, link, rates.get(device), told)
        elif link is not None:
            yield Finding(
                "nothing-shapes",
                Grade.WRONG,
                f"Nothing shapes what comes in at {device}: the queue of downloads forms at the provider.",
                (Evidence.of(root),),
                router.set_up("down", device),
                (*told, "the files have every device's queue"),
                router.unshaped("down"),
            )
        elif router.shapers("up"):
            yield Finding(
                "nothing-shapes",
                Grade.UNKNOWN,
                f"Nothing shapes what comes in at {device}; whether the download needs it cannot be told: give --down.",
                (Evidence.of(root),),
                assumed=told,
            )


def _nowhere(router: Router) -> Iterator[Finding]:
    """Yield a finding if no device shapes, though which one is to the link is not known."""
    queued = [each for each in router.every_root() if router.queued(each.device)]
    ways = [way for way in ("up", "down") if router.given.rate(way) is not None]
    if queued and ways and not router.shapers():
        yield Finding(
            "nothing-shapes",
            Grade.WRONG,
            f"None of {', '.join(each.device for each in queued)} shapes: the queue forms in the modem and at the "
            "provider.",
            tuple(map(Evidence.of, queued)),
            router.set_up(ways[0], "WAN"),
            ("WAN stands for the device to the modem", "the files have every device's queue"),
            router.unshaped(ways[0]),
        )


def _upload(
    router: Router, root: Qdisc, link: float | None, device_rate: float | None, told: tuple[str, ...]
) -> Iterator[Finding]:
    idle = _idle(router, root)
    seen = f" It has sent {idle} packets, and never held, dropped or marked one." if idle else ""
    if link is None and not idle and told:
        yield Finding(
            "nothing-shapes",
            Grade.UNKNOWN,
            f"{root.kind} of {root.device} has no rate: whether its queue or another one fills depends on the link "
            "behind it: give --up and --down.",
            (Evidence.of(root),),
            assumed=told,
        )
        return
    if device_rate is not None and link is not None and device_rate <= link:
        return
    faster = "" if device_rate else f"{root.device} is faster than the link behind it: `ethtool {root.device}` tells"
    if link is None:
        grade = Grade.DOUBTFUL if not told else Grade.UNKNOWN
        title = (
            f"{root.kind} of {root.device} has no rate: if the link is slower than {root.device}, uploads wait in the "
            f"modem.{seen}"
        )
    else:
        grade = Grade.WRONG if device_rate or link < USUAL else Grade.UNKNOWN
        title = f"{root.kind} of {root.device} has no rate, and the link has {shown(link)} up: " + (
            f"uploads wait in the modem, which no discipline here sees.{seen}"
            if grade is Grade.WRONG
            else f"whether {root.device} is faster cannot be told: `ethtool {root.device}` tells.{seen}"
        )
    yield Finding(
        "nothing-shapes",
        grade,
        title,
        (Evidence.of(root),),
        router.set_up("up", root.device),
        tuple(each for each in (*told, faster) if each),
        router.unshaped("up") if grade is Grade.WRONG else None,
    )


def _idle(router: Router, root: Qdisc) -> int:
    """Return the packets that a queue has sent if it has sent many and none ever waited for long, otherwise 0."""
    all_of = [root, *router.state.below(root)]
    sent = count(root.statistics, "packets")
    busy = sum(count(each.statistics, "drops", "overlimits", "backlog") + marks(each) for each in all_of)
    return sent if sent >= MANY and not busy else 0


def never_full(router: Router) -> Iterator[Finding]:
    """Find a shaper that has never held a packet back, and was never the bottleneck."""
    for lane in router.shapers():
        chain: list[Qdisc | Class] = [lane.root, *router.state.below(lane.root), *router.classes(lane.root)]
        sent = count(lane.root.statistics, "packets")
        if lane.root.statistics is None or sent < MANY or any(count(each.statistics, "overlimits") for each in chain):
            continue
        link = router.given.rate(lane.way)
        if link is not None and lane.rate is not None and lane.rate >= link:
            continue  # `above_link` has said why
        yield Finding(
            "never-full",
            Grade.DOUBTFUL,
            f"The shaper of {lane.device} has passed {sent} packets and never held one back: it was never the "
            "bottleneck, as its rate is above the link's, or the traffic goes elsewhere.",
            (Evidence.of(lane.root, f"packets {sent}", "overlimits 0"),),
            {"shell": "run a speed test, then save again what `tc -s -d qdisc show` prints"},
            lane.assumed,
        )


def never_marked(router: Router) -> Iterator[Finding]:
    """Find a bottleneck that has never dropped nor marked."""
    for lane in router.shapers():
        chain = [lane.root, *router.state.below(lane.root)]
        sent = count(lane.root.statistics, "packets")
        held = max(count(each.statistics, "overlimits") for each in chain)
        if sent < 10 * MANY or held < sent / 10 or any(count(e.statistics, "drops") + marks(e) for e in chain):
            continue
        yield Finding(
            "never-marked",
            Grade.DOUBTFUL,
            f"The shaper of {lane.device} has held back {held} times in {sent} packets, and nothing was ever dropped "
            "or marked: either no sender has filled the link, or its packets wait where nobody looks.",
            (Evidence.of(lane.root, f"packets {sent}", f"overlimits {held}", "dropped 0"),),
            {"shell": "run a speed test, then save again what `tc -s -d qdisc show` prints"},
            lane.assumed,
        )


def unclassified(router: Router) -> Iterator[Finding]:
    """Packets of no class go past HTB's shaper, and HFSC drops them."""
    for lane in router.lanes:
        root = lane.root
        if root.kind not in CLASSES:
            continue
        default = str(root.options.get("default", "0")).removeprefix("0x").lstrip("0") or "0"
        classes = router.classes(root)
        known = {each.identity.partition(":")[2].lstrip("0") for each in classes}
        missing = default == "0" or (bool(classes) and default not in known)
        direct, sent = (
            int(root.options.get("direct_packets_stat", 0) or 0),
            count(root.statistics, "packets"),
        )
        many = direct > max(TINY * sent, 100)
        leaf = next((each for each in reversed(classes) if not _inner(each, classes)), None)
        target = leaf.identity.partition(":")[2] if leaf else "10"
        line = f"tc qdisc del dev {lane.device} root; tc qdisc add dev {lane.device} root handle {root.handle or '1:'} "
        mend = {"tc": f"{line}{root.kind} default {target}  # then its classes again"}
        if root.kind == "hfsc" and missing:
            title = f"hfsc of {lane.device} has no class for packets that no filter has: it drops them."
            yield Finding("unclassified", Grade.WRONG, title, (Evidence.of(root),), mend)
        elif root.kind == "htb" and many:
            title = f"{direct} of {sent or '?'} packets of {lane.device} went past the shaper: they were of no class."
            yield Finding("unclassified", Grade.WRONG, title, (Evidence.of(root),), mend, (), router.unshaped(lane.way))
        elif root.kind == "htb" and missing:
            what = (
                f"its default class {root.handle}{default} is not there"
                if default != "0"
                else "it has no default class"
            )
            title = f"htb of {lane.device}: {what}: packets that no filter has go past the shaper."
            filters = any(each.device == lane.device and each.target for each in router.state.filters)
            grade = Grade.DOUBTFUL if filters or not sent or not direct else Grade.WRONG
            yield Finding("unclassified", grade, title, (Evidence.of(root),), mend)


def _inner(one: Class, classes: list[Class]) -> bool:
    return any(each.parent == one.identity for each in classes)


def tree(router: Router) -> Iterator[Finding]:
    """Rates of HTB's classes that do not add up."""
    for lane in router.lanes:
        if lane.root.kind != "htb":
            continue
        classes = router.classes(lane.root)
        for one in classes:
            inside = [each for each in classes if each.parent == one.identity]
            own = one.options.get("rate")
            total = math.fsum(each.options.get("rate", 0) for each in inside)
            if own and total > 1.01 * own:
                yield Finding(
                    "children-beyond-parent",
                    Grade.WRONG,
                    f"The classes in {one.identity} of {lane.device} have {shown(total)} together, more than its "
                    f"{shown(own)}: each sends at its own rate without asking, so that all together exceed the shaper.",
                    (Evidence.of(one), *map(Evidence.of, inside)),
                    {
                        "tc": "\n".join(
                            f"tc class change dev {lane.device} parent {one.identity} classid {each.identity} htb "
                            f"rate {each.options.get('rate', 0) * own / total / 1000:.0f}kbit "
                            f"ceil {each.options.get('ceil', own) / 1000:.0f}kbit"
                            for each in inside
                        )
                    },
                )
            top = one.parent in ("", "root", lane.root.handle)
            ceiling = one.options.get("ceil")
            if top and own and ceiling and ceiling > 1.01 * own:
                yield Finding(
                    "ceiling-without-lender",
                    Grade.DOUBTFUL,
                    f"Class {one.identity} of {lane.device} has a ceiling of {shown(ceiling)} above its rate of "
                    f"{shown(own)}, and no parent to borrow from: {shown(own)} is all that it sends.",
                    (Evidence.of(one),),
                    {
                        "tc": f"tc class change dev {lane.device} classid {one.identity} htb "
                        f"rate {ceiling / 1000:.0f}kbit ceil {ceiling / 1000:.0f}kbit"
                    },
                )
        leaves = [each for each in classes if not _inner(each, classes)]
        clamped = [each for each in leaves if each.options.get("quantum") in CLAMPED]
        if len(leaves) > 1 and clamped:
            least, most = CLAMPED
            yield Finding(
                "quantum",
                Grade.DOUBTFUL,
                f"{len(clamped)} classes of {lane.device} have a quantum at HTB's bound, which their rates and r2q do "
                "not mean: what they borrow is shared unevenly, or in bursts.",
                tuple(map(Evidence.of, clamped)),
                {
                    "tc": "\n".join(
                        f"tc class change dev {lane.device} parent {each.parent} classid {each.identity} htb "
                        f"rate {each.options.get('rate', 0) / 1000:.0f}kbit quantum 1514"
                        for each in clamped
                    )
                },
                (f"the kernel keeps a quantum from {least} to {most} bytes",),
            )


def several_shapers(router: Router) -> Iterator[Finding]:
    """Queues of a device that each shape to the whole rate are together several times as fast."""
    for lane in router.lanes:
        root = lane.root
        inside = [each for each in router.state.below(root) if each.options.get("bandwidth")]
        rates = {each.options["bandwidth"] for each in inside}
        if root.kind in MULTI and len(inside) > 1:
            one = max(rates)
            link = router.given.rate(lane.way)
            if link is not None and lane.rate is not None and lane.rate < link:
                continue
            yield Finding(
                "shaper-for-each-queue",
                Grade.WRONG,
                f"{lane.device} has {len(inside)} queues with a shaper of {shown(one)} each, which know nothing of "
                f"each other: together they let {shown(lane.rate or one)} pass.",
                (Evidence.of(root), *map(Evidence.of, inside)),
                _one_cake(lane, one),
                () if link is not None else (f"{shown(one)} is meant for the whole device",),
                router.change(lane, {}, inside[0], (lane.rate, one)) if link is not None else None,
            )
        elif root.kind == "cake_mq" and rates - {root.options.get("bandwidth")}:
            yield Finding(
                "shaper-for-each-queue",
                Grade.WRONG,
                f"The queues of cake_mq of {lane.device} have other rates than cake_mq itself: they do not share one.",
                (Evidence.of(root), *map(Evidence.of, inside)),
                _one_cake(lane, root.options.get("bandwidth") or max(rates)),
            )


def _one_cake(lane: Lane, rate: float) -> dict[str, str]:
    """Return the lines for one shaper, for kernels with cake_mq and for others."""
    kbit = f"{rate / 1000:.0f}kbit"
    return {
        "tc": f"tc qdisc replace dev {lane.device} root cake_mq bandwidth {kbit}  # from Linux 7.0 on\n"
        f"tc qdisc replace dev {lane.device} root cake bandwidth {kbit}  # before"
    }


RULES = (above_link, slower, nothing_shapes, never_full, never_marked, unclassified, tree, several_shapers)
