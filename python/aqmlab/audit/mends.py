"""The lines that mend a queue, by the tool that reads them."""

from __future__ import annotations

import math

from aqmlab.advice.configuration import BURST, LEAST_BURST
from aqmlab.audit.router import SHARE, SQM, Lane, Router
from aqmlab.foreign.model import Section

RESTART = "/etc/init.d/sqm enable; /etc/init.d/sqm restart"


def rate_lines(router: Router, lane: Lane, rate: float) -> dict[str, str]:
    """Return the lines that give a shaper another rate, by tool."""
    kbit = f"{math.floor(rate / 1000)}"
    section = router.section(lane.device)
    if section is not None:
        return {"uci": f"uci set {named(section)}.{SQM[lane.way]}='{kbit}'; uci commit sqm; /etc/init.d/sqm restart"}
    root = lane.root
    if root.kind in ("cake", "cake_mq"):
        return {"tc": f"tc qdisc change dev {lane.device} root {root.kind} bandwidth {kbit}kbit"}
    tops = [each for each in router.classes(root) if each.parent in ("", "root", root.handle)]
    if root.kind == "htb" and tops:
        top = tops[0].identity
        line = f"tc class change dev {lane.device} classid {top} htb rate {kbit}kbit ceil {kbit}kbit"
        return {"tc": f"{line} burst {burst(rate)} cburst {burst(rate)}"}
    if root.kind == "tbf":
        return {"tc": f"tc qdisc change dev {lane.device} root tbf rate {kbit}kbit burst {burst(rate)} latency 50ms"}
    return {"tc": f"tc qdisc replace dev {lane.device} root cake bandwidth {kbit}kbit"}


def set_up(router: Router, way: str, device: str) -> dict[str, str]:
    """Return the lines that shape a direction as `aqmlab advise` would, if the rate of the link is known."""
    rate, _ = router.link_rate(way)
    if rate is None:
        return {"shell": "aqmlab advise --down RATE --up RATE --rtt TIME"}
    kbit = math.floor(rate * SHARE / 1000)
    section = router.section(device)
    if section is not None:
        return {"uci": f"uci set {named(section)}.{SQM[way]}='{kbit}'; uci commit sqm; {RESTART}"}
    layer = f" {router.given.layer}" if router.given.layer else ""
    words = f"cake bandwidth {kbit}kbit besteffort"
    if way == "up":
        return {"tc": f"tc qdisc replace dev {device} root {words} dual-srchost nat{layer}"}
    lines = (*redirected(device), f"tc qdisc replace dev ifb0 root {words} dual-dsthost nat ingress{layer}")
    return {"tc": "\n".join(lines)}


def redirected(device: str, ifb: str = "ifb0") -> tuple[str, ...]:
    """Return the lines that send what comes in at a device through an IFB."""
    return (
        f"ip link add {ifb} type ifb 2> /dev/null",
        f"ip link set {ifb} up",
        f"tc qdisc replace dev {device} handle ffff: ingress",
        f"tc filter replace dev {device} parent ffff: protocol all pref 10 matchall "
        f"action mirred egress redirect dev {ifb}",
    )


def burst(rate: float) -> int:
    """Return the burst that HTB and TBF should have."""
    return max(round(rate * BURST / 8), LEAST_BURST)


def named(section: Section) -> str:
    """Return the name of a section of sqm for ``uci``."""
    return f"sqm.{section.name or '@queue[0]'}"
