"""Whether the shaper of downloads sees what comes in."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.audit.findings import Evidence, Finding, Grade
from aqmlab.audit.mends import redirected, set_up
from aqmlab.audit.router import IFB, Router, count

FEW = 100
"""Packets that come in before it says something that an IFB has seen none."""

PAST = 0.1
"""The part of what comes in that may be missing behind without a word: counters begin when queues are set up."""


def unseen(router: Router) -> Iterator[Finding]:
    """Find an IFB to which nothing comes."""
    for lane in router.lanes:
        if lane.device not in router.ifbs():
            continue
        owner = router.owner(lane.device)
        came = count(router.ingress[owner].statistics, "packets") if owner in router.ingress else 0
        passed = count(lane.root.statistics, "packets")
        redirects = any(each.redirect == lane.device for each in router.state.filters)
        title, grade, more = "", Grade.WRONG, []
        if passed >= FEW:
            continue
        if not owner or owner not in router.ingress:
            if not any(each.shown for each in router.state.qdiscs):
                continue
            title = f"No device hands what comes in to {lane.device}: none has an ingress discipline for it."
        elif router.state.filters and not redirects:
            title = f"No filter of {owner} sends what comes in to {lane.device}."
            more = [Evidence.of(router.ingress[owner])]
        elif came >= FEW and lane.root.statistics is not None:
            title = f"{came} packets have come in at {owner}, and {passed} of them went through {lane.device}."
            more = [Evidence.of(router.ingress[owner], f"packets {came}")]
        elif not redirects:
            title = (
                f"Whether what comes in goes through {lane.device} cannot be told: give what "
                f"`tc filter show dev {owner} ingress` prints."
            )
            grade = Grade.UNKNOWN
        if title:
            device = owner or "WAN"
            yield Finding(
                "ingress-unseen",
                grade,
                title,
                (Evidence.of(lane.root, f"packets {passed}"), *more),
                {"tc": "\n".join(redirected(device, lane.device))} if grade is Grade.WRONG else None,
                () if owner else ("WAN stands for the device to the modem",),
                router.unshaped("down") if grade is Grade.WRONG else None,
            )


def past(router: Router) -> Iterator[Finding]:
    """Note where much of what comes in at a device is not counted behind it."""
    for lane in router.lanes:
        owner = router.owner(lane.device) if lane.device in router.ifbs() else ""
        if owner not in router.ingress:
            continue
        came, passed = (count(each.statistics, "packets") for each in (router.ingress[owner], lane.root))
        through = passed + count(lane.root.statistics, "drops")
        if passed >= FEW and through < (1 - PAST) * came:
            yield Finding(
                "ingress-unseen",
                Grade.NOTE,
                f"{came:,} packets have come in at {owner}, and {through:,} of them went through {lane.device} or were "
                "dropped there: the others came before it was set up, or a filter has left them out.",
                (Evidence.of(router.ingress[owner], f"packets {came}"), Evidence.of(lane.root, f"packets {passed}")),
            )


def nowhere(router: Router) -> Iterator[Finding]:
    """Find a redirection whose device, or whose hook, is not there, or which goes to a device without a shaper."""
    devices = {each.name: each for each in router.state.devices}
    shown = any(each.shown for each in router.state.qdiscs)
    known = set(router.devices)
    for one in router.state.filters:
        if not one.redirect or (not IFB.match(one.redirect) and one.redirect in known):
            continue
        to, root = devices.get(one.redirect), router.state.root(one.redirect)
        lane = next((each for each in router.lanes if each.device == one.redirect), None)
        mend = {"tc": "\n".join(redirected(one.device, one.redirect))}
        if to is not None and to.up is False:
            title = f"{one.redirect}, to which {one.device} sends what comes in, is down: it drops all of it."
            mend = {"shell": f"ip link set {one.redirect} up"}
        elif shown and root is None and known - {one.device, "lo"}:
            title = f"{one.device} sends what comes in to {one.redirect}, which has no queue or is not there."
        elif shown and one.device not in router.ingress and one.device in known:
            title = f"{one.device} has a filter to {one.redirect}, and no ingress discipline that would ask it."
        elif lane is not None and lane.rate is None and not router.classes(lane.root) and lane.root.kind != "htb":
            title = f"{one.redirect}, to which {one.device} sends what comes in, has {lane.root.kind} without a rate."
            mend = set_up(router, "down", one.device)
        else:
            continue
        yield Finding(
            "ingress-nowhere",
            Grade.WRONG,
            title,
            (Evidence.of(one), *([Evidence.of(root)] if root else [])),
            mend,
            (),
            router.unshaped("down"),
        )


def only_ipv4(router: Router) -> Iterator[Finding]:
    """Find filters that redirect IPv4 alone."""
    for device in dict.fromkeys(each.device for each in router.state.filters):
        filters = router.filters(device)
        protocols = {each.protocol for each in filters}
        if filters and protocols <= {"ip", "arp", "802_3"}:
            to = filters[0].redirect
            yield Finding(
                "ingress-ipv4-only",
                Grade.DOUBTFUL,
                f"{device} sends IPv4 alone to {to}: IPv6 comes in past the shaper.",
                tuple(map(Evidence.of, filters)),
                {"tc": redirected(device, to)[-1]},
                ("the link has IPv6",),
            )


RULES = (unseen, past, nowhere, only_ipv4)
