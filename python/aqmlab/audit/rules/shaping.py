"""Whether anything shapes, and whether it does so below the rate of the link."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.audit.findings import Evidence, Finding, Grade
from aqmlab.audit.mends import rate_lines, set_up
from aqmlab.audit.router import CLASSES, MULTI, SHARE, SQM, Lane, Router, count, marks, shown
from aqmlab.audit.rules import dummynet
from aqmlab.foreign.model import Flows, Qdisc

CLOSE = 0.98
"""The part of the link above which a download's shaper leaves too little for the provider's queue to drain."""

MANY = 10_000
"""Packets after which a counter that is still 0 says something."""

REACHED, GOODPUT, CELLS = 0.88, 0.95, 48 / 53
"""The part of a shaper's rate that TCP's goodput has at least, and about, in frames; and what ATM's cells leave."""

USUAL = 1e9
"""The rate in bit/s of a usual device, below which a link is slower than it."""


def too_fast(lane: Lane, link: float) -> bool:
    """Whether a shaper leaves the queue to the link: at its rate, and for downloads just below it."""
    return lane.rate is not None and (lane.rate >= link or (lane.way == "down" and lane.rate > CLOSE * link))


def above_link(router: Router) -> Iterator[Finding]:
    """Find a shaper at the rate of the link or above: the queue forms behind it."""
    for lane in router.shapers():
        link = router.given.rate(lane.way)
        if link is None or lane.rate is None or not too_fast(lane, link) or lane.root.kind in MULTI:
            continue
        wrong = lane.rate >= link
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
            (Evidence.of(lane.root, *counters(router, lane)),),
            rate_lines(router, lane, SHARE * link),
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
            rate_lines(router, lane, SHARE * goodput / GOODPUT),
            (*lane.assumed, "the measurement went through this router, and lasted longer than its start"),
        )


def counters(router: Router, lane: Lane) -> Iterator[str]:
    """Yield how much a lane has sent, and how often it has held packets back."""
    held, sent = router.held(lane)
    if sent is not None and held is not None:
        yield f"packets {sent}"
        yield f"overlimits {held}"


def unchecked(router: Router) -> Iterator[Finding]:
    """Yield which shapers cannot be compared with the link, and which options would tell."""
    lanes = [lane for lane in (*router.shapers(), *dummynet.lanes(router)) if lane.rate is not None]
    without = [lane for lane in lanes if router.given.rate(lane.way) is None]
    if without:
        options = " and ".join(f"--{way}" for way in ("down", "up") if any(lane.way == way for lane in without))
        told = ", ".join(f"{lane.device} ({shown(lane.rate or 0.0)} {lane.way})" for lane in without)
        yield Finding(
            "above-link",
            Grade.UNKNOWN,
            f"Whether the shaper is below the rate of the link: {told}. Give {options}, the rates of the link itself.",
            tuple(Evidence.of(lane.root) for lane in without),
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
        roots = [lane.root for lane in router.lanes if lane.way == way]
        if any(each.kind == "htb" or (each.kind in CLASSES and not router.classes(each)) for each in roots):
            continue  # its rate is in classes that the files lack
        link = router.given.rate(way)
        if way == "up":
            yield from _upload(router, root, link, rates.get(device), told)
        elif link is not None:
            yield Finding(
                "nothing-shapes",
                Grade.WRONG,
                f"Nothing shapes what comes in at {device}: the queue of downloads forms at the provider.",
                (Evidence.of(root),),
                set_up(router, "down", device),
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
            set_up(router, ways[0], "WAN"),
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
        set_up(router, "up", root.device),
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
        held, sent = router.held(lane)
        if sent is None or sent < MANY or held:
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
        held, sent = router.held(lane)
        if not sent or not held or sent < 10 * MANY or held < sent / 10:
            continue
        if any(count(each.statistics, "drops") + marks(each) for each in chain):
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


RULES = (above_link, unchecked, slower, nothing_shapes, never_full, never_marked)
