"""The lines for FreeBSD's dummynet, and the names of its values on OPNsense's pages.

# Sources
ipfw(8) of FreeBSD 14, on pipes, schedulers, queues and their sysctls; OPNsense's manual, "Shaper", on its pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aqmlab.advice.kernel import base
from aqmlab.advice.routers.router import FULL, Lines, Router, full_packets, micros, octets, weight

if TYPE_CHECKING:
    from aqmlab.advice.configuration import Configuration, Half

MOST = 20480
"""The largest ``limit`` of a scheduler, in packets."""

SLOTS, KIBS = 100, 1024
"""The longest queue of a pipe without a sysctl: packets, and KiB."""

_SCHEDULERS = {"fq_codel": "FlowQueue-CoDel", "fq_pie": "FlowQueue-PIE"}


def _write(configuration: Configuration) -> Lines:
    name = configuration.kernel
    ways = (("up", 1, configuration.up), ("down", 2, configuration.down))
    lines = ["WAN=em0  # the device to the modem", "kldload -n dummynet"]
    for sysctl, least, word in (("slot", SLOTS, ""), ("byte", KIBS * 1024, "Kbytes")):
        needed = [_room(half) for *_, half in ways if name not in _SCHEDULERS and bool(word) == _counts_bytes(half)]
        if needed and (most := max(needed) * (1024 if word else 1)) > least:
            lines.append(f"sysctl net.inet.ip.dummynet.pipe_{sysctl}_limit={most}")
    for way, number, half in ways:
        lines.append(f"# {way}: {half.payload} kbit/s, {100 * half.share:.0f} % of the link rate")
        pipe = f"dnctl pipe {number} config bw {half.payload}Kbit/s"
        if name in _SCHEDULERS:
            lines += [
                pipe,
                f"dnctl sched {number} config pipe {number} type {name} {_words(name, half)}",
                f"dnctl queue {number} config sched {number}",
            ]
        else:
            room = f"{_room(half)}{'Kbytes' if _counts_bytes(half) else ''}"
            lines.append(" ".join([pipe, "queue", room, *([_words(name, half)] if name != "bfifo" else [])]))
    # Otherwise a packet that leaves dummynet is let through without the firewall's other rules.
    lines.append("sysctl net.inet.ip.fw.one_pass=0")
    target = "queue" if name in _SCHEDULERS else "pipe"
    lines += [
        "ipfw -q delete 100 101 2> /dev/null",
        f"ipfw add 100 {target} 1 ip from any to any out xmit $WAN",
        f"ipfw add 101 {target} 2 ip from any to any in recv $WAN",
    ]
    return Lines("\n".join(lines), (*_pages(configuration), *_NOTES))


_NOTES = (
    "The rules are for ipfw. With pf load dummynet and use `dnqueue` or `dnpipe` in a rule: pf.conf(5). Before "
    "FreeBSD 14 write ipfw for dnctl. A firewall of ipfw that was not on before denies everything that no rule allows.",
    FULL,
)


def _counts_bytes(half: Half) -> bool:
    return half.buffer.endswith(" B")


def _room(half: Half) -> int:
    """Return the buffer of a pipe, in packets or KiB."""
    if _counts_bytes(half):
        return max(round(base(half.buffer) / 1024), 1)
    return int(half.buffer.removesuffix(" packets"))


def _words(name: str, half: Half) -> str:
    """Return the words of a discipline."""
    inner = "aqm." if name in _SCHEDULERS else ""
    ecn = "ecn" if half.values[f"{inner}ecn"] else "noecn"
    if name == "red":
        # Both thresholds are in bytes, as the queue is.
        least, most = octets(half, "min_bytes"), octets(half, "max_bytes")
        return f"red {2.0 ** -weight(half):.8g}/{least}/{most}/{half.values['max_p']:g}{' ecn' if ecn == 'ecn' else ''}"
    words = [*([] if inner else [name]), f"target {micros(half, f'{inner}target')}us"]
    if name.endswith("codel"):
        words.append(f"interval {micros(half, f'{inner}interval')}us")
    else:
        gains = (f"{word} {base(half.values[f'{inner}{word}']):g}" for word in ("alpha", "beta"))
        words += [f"tupdate {micros(half, f'{inner}t_update')}us", *gains, "ts"]
    words.append(ecn)
    if inner:
        words.append(f"limit {_limit(half)} flows {half.values['flows']}")
    return " ".join(words)


def _limit(half: Half) -> int:
    return min(_room(half) if not _counts_bytes(half) else full_packets(base(half.buffer)), MOST)


def _pages(configuration: Configuration) -> tuple[str, ...]:
    """Return the values by their names on OPNsense's page of pipes, whose times are in ms."""
    name = configuration.kernel
    if not name.endswith("codel"):
        return ("OPNsense writes its shaper itself: enter the values under Firewall, Shaper, as far as it has them.",)
    inner = "aqm." if name in _SCHEDULERS else ""
    scheduler = f"scheduler type {_SCHEDULERS[name]}" if inner else "Enable CoDel"
    found = []
    for way, half in (("down", configuration.down), ("up", configuration.up)):
        times = (
            f"(FQ-)CoDel {key} {max(round(micros(half, f'{inner}{key}') / 1000), 1)}" for key in ("target", "interval")
        )
        limit = f", FQ-CoDel limit {_limit(half)}, flows {half.values['flows']}" if inner else ""
        found.append(f"{way}: bandwidth {half.payload} kbit/s, {scheduler}, {', '.join(times)}, ECN checked{limit}")
    return (
        f"OPNsense, Firewall, Shaper, a pipe for each direction, {'; '.join(found)}. pfSense has the same values under "
        "Firewall, Traffic Shaper, Limiters. Both replace what is typed in a shell.",
    )


ROUTER = Router(
    "freebsd",
    "FreeBSD (OPNsense, pfSense)",
    "freebsd.sh",
    ("fq_codel", "codel", "fq_pie", "pie", "red", "bfifo"),
    "ipfw(8)",
    _write,
)
