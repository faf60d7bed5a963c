"""Whether classes and queues of a device add up to the shaper that was meant."""

from __future__ import annotations

import math
from collections.abc import Iterator

from aqmlab.audit.findings import Evidence, Finding, Grade
from aqmlab.audit.mends import htb
from aqmlab.audit.router import CLASSES, MULTI, Lane, Router, count, shown
from aqmlab.foreign.model import Class

TINY = 0.01
"""The part of the packets that may go past the classes: those of ARP and the like."""

CLAMPED = (1000, 200_000)
"""The least and the greatest quantum of HTB, within which the kernel keeps it."""


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
                            htb(each, {"rate": each.options["rate"] * own / total})
                            for each in inside
                            if "rate" in each.options
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
                    {"tc": htb(one, {"rate": ceiling, "burst": one.options.get("cburst", one.options.get("burst"))})},
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
                {"tc": "\n".join(htb(each, {"quantum": 1514}) for each in clamped)},
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
    """Return the lines for one shaper, for kernels with ``cake_mq`` and for others."""
    kbit = f"{rate / 1000:.0f}kbit"
    return {
        "tc": f"tc qdisc replace dev {lane.device} root cake_mq bandwidth {kbit}  # from Linux 7.0 on\n"
        f"tc qdisc replace dev {lane.device} root cake bandwidth {kbit}  # before"
    }


RULES = (unclassified, tree, several_shapers)
