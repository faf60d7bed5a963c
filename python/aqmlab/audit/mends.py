"""The lines that mend a queue, by the tool that reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable

from aqmlab.advice.configuration import BURST, LEAST_BURST
from aqmlab.audit.router import SHARE, SQM, Lane, Router
from aqmlab.foreign.model import Class, Section, Values

BUCKETS = ("burst", "buffer", "maxburst", "cburst", "cbuffer", "cmaxburst")
"""The words of HTB for what a class may send at once."""

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
    if root.kind == "htb" and lane.rate:
        # All of them: a leaf sends at its own rate without asking the class above it.
        return {"tc": "\n".join(scaled(each, rate / lane.rate) for each in router.classes(root))}
    if root.kind == "tbf":
        # A change without the size table takes it away.
        table = f" stab{_words(root.stab, root.stab)}" if root.stab else ""
        waits = _words(root.options, ("latency", "limit")) or " latency 50ms"
        line = f"tc qdisc change dev {lane.device} root{table} tbf rate {kbit}kbit burst {burst(rate)}{waits}"
        return {"tc": line + _words(root.options, ("peakrate", "mtu", "minburst", "mpu", "overhead", "linklayer"))}
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


def scaled(one: Class, factor: float) -> str:
    """Return the line that multiplies the rate, the ceiling and the bursts of a class of HTB by a factor."""
    given = one.options
    bursts = {name: max(round(given[name] * factor), LEAST_BURST) for name in BUCKETS if name in given}
    rates = {"rate": given["rate"] * factor, "ceil": given.get("ceil", given["rate"]) * factor}
    return htb(one, {**rates, **bursts})


def htb(one: Class, other: Values) -> str:
    """Return the line that changes some words of a class of HTB, with all its words: tc resets those that lack."""
    given = {"ceil": one.options.get("rate", 0.0), **one.options, **other}
    parent = f" parent {one.parent}" if one.parent and one.parent != "root" else ""
    words = _words(given, ("prio", "quantum", "rate", "ceil", *BUCKETS, "mpu", "overhead", "linklayer", "mtu"))
    return f"tc class change dev {one.device}{parent} classid {one.identity} htb{words}"


def _words(given: Values, names: Iterable[str]) -> str:
    """Return options as words of tc, each behind a space, without those that say nothing."""
    return "".join(
        f" {name} {_word(name, given[name])}" for name in names if given.get(name) not in (None, 0, "ethernet")
    )


def _word(name: str, value: float | str) -> str:
    if isinstance(value, str):
        return value
    if name in ("rate", "ceil", "peakrate"):
        return f"{value / 1000:.0f}kbit" if value % 1000 == 0 else f"{value:.0f}bit"
    return f"{value * 1e6:.0f}us" if name == "latency" else f"{value:.0f}"


def burst(rate: float) -> int:
    """Return the burst that HTB and TBF should have."""
    return max(round(rate * BURST / 8), LEAST_BURST)


def named(section: Section) -> str:
    """Return the name of a section of sqm for ``uci``."""
    return f"sqm.{section.name}"
