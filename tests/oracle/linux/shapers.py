"""Disciplines around others in open loop: how tc sets them up, and the same here.

Each stands at the root of a device that takes packets without an end. The type of service of a flow decides on its
class.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from oracle.linux import arrivals, points, tc

BE, LE, AF21, EF = 0, 0x04, 0x48, 0xB8
"""Types of service: code points, two bits to the left."""

TOS = (EF, EF, AF21, AF21, AF21, BE, BE, BE, LE, LE)
"""Of each flow."""

DSCPS = {
    **{EF: "EF", AF21: "AF21", BE: "BE", LE: "LE"},
    **{0x20: "CS1", 0x28: "AF11", 0x88: "AF41", 0xB0: "VA", 0xC0: "CS6", 0xE0: "CS7"},
}

RATE = "10 Mbit/s"


@dataclass(frozen=True)
class Shaper:
    """A discipline around others."""

    qdisc: str
    """tc's words after `root handle 10:`."""

    aqm: Mapping[str, Any]
    """Ours."""

    more: Sequence[str] = field(default=())
    """What follows: `class`, `qdisc` or `filter`, and tc's words after the device."""

    tos: Sequence[int] = TOS
    """Of each flow of the open loop."""

    device: Mapping[str, Any] = field(default_factory=dict)
    """What the configuration says of the device, if it is not an ordinary one."""


def _filters(parent: str, of: Mapping[int, str]) -> list[str]:
    """Packets of each type of service to a class."""
    words = f"filter parent {parent} protocol ip prio 1 u32 match ip tos"
    return [f"{words} {tos:#04x} 0xfc flowid {flow}" for tos, flow in of.items()]


TBF = {"name": "tbf", "rate": RATE, "burst": "5000 B", "limit": "60000 B"}
_TBF = "tbf rate 10mbit burst 5000 limit 60000"
_LINUX_CODEL = {"name": "codel", "preset": "linux"}
_FQ_CODEL = {"name": "fq", "preset": "linux"}


def _prio() -> Shaper:
    below = [
        "qdisc parent 10:1 handle 20: prio bands 3 priomap 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "qdisc parent 20:1 handle 31: pfifo limit 20",
        "qdisc parent 20:2 handle 32: bfifo limit 40000",
        "qdisc parent 20:3 handle 33: pfifo limit 10",
    ]
    classes = {
        "first": {"priority": 0, "dscp": ["EF"], "limit": "20 packets"},
        "middle": {"priority": 1, "dscp": ["AF21", "BE"], "limit": "40000 B"},
        "last": {"priority": 2, "dscp": ["LE"], "limit": "10 packets"},
    }
    filters = _filters("20:", {EF: "20:1", AF21: "20:2", BE: "20:2", LE: "20:3"})
    return Shaper(_TBF, {**TBF, "limit": "auto", "aqm": {"name": "prio", "classes": classes}}, [*below, *filters])


def _drr() -> Shaper:
    quanta = {"1": 3000, "2": 1514, "3": 500}
    below = [
        "qdisc parent 10:1 handle 20: drr",
        *(f"class parent 20: classid 20:{i} drr quantum {quantum}" for i, quantum in quanta.items()),
        *(f"qdisc parent 20:{i} handle 3{i}: pfifo limit 20" for i in quanta),
    ]
    classes = {
        "much": {"quantum": "3000 B", "dscp": ["EF"], "limit": "20 packets"},
        "some": {"quantum": "1514 B", "dscp": ["AF21"], "limit": "20 packets"},
        "little": {"quantum": "500 B", "dscp": ["BE", "LE"], "limit": "20 packets"},
    }
    filters = _filters("20:", {EF: "20:1", AF21: "20:2", BE: "20:3", LE: "20:3"})
    return Shaper(
        _TBF, {**TBF, "limit": "auto", "aqm": {"name": "drr_classes", "classes": classes}}, [*below, *filters]
    )


def _police(words: str, ours: Mapping[str, Any]) -> Shaper:
    """A policer in front of a shaper."""
    policer = f"filter egress protocol ip matchall action police {words} conform-exceed drop"
    return Shaper(_TBF, {"name": "police", **ours, "aqm": TBF}, ["qdisc clsact", policer])


def _htb(tree: Sequence[tuple[str, str | None, Mapping[str, Any]]], of: Mapping[int, str], leaf: str) -> Shaper:
    """Classes with their number, that of the parent, and tc's words with values; `leaf` is the discipline in leaves."""
    parents = {parent for _, parent, _ in tree}
    more, classes = [], {}
    for number, parent, words in tree:
        said = " ".join(f"{key} {value}" for key, value in words.items())
        more.append(f"class parent 10:{parent or ''} classid 10:{number} htb {said}")
        ours = {OURS[key][0]: OURS[key][1](str(value)) for key, value in words.items()}
        if parent:
            ours["parent"] = f"c{parent}"
        if number not in parents:
            more.append(f"qdisc parent 10:{number} handle {int(number) + 100}: {leaf}")
            below = tc.discipline(leaf)
            ours |= {"aqm": below.aqm, "limit": below.buffer}
            ours["dscp"] = [DSCPS[tos] for tos, flow in of.items() if flow == f"10:{number}"]
        classes[f"c{number}"] = ours
    return Shaper("htb", {"name": "htb", "classes": classes}, [*more, *_filters("10:", of)])


OURS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "rate": ("rate", tc.rate),
    "ceil": ("ceil", tc.rate),
    "burst": ("burst", tc.octets),
    "cburst": ("cburst", tc.octets),
    "prio": ("priority", int),
    "quantum": ("quantum", tc.octets),
}
"""tc's words of a class of HTB, and our keys. Its bursts are whole multiples of what 64 ns send."""

_FLAT = [
    ("1", None, {"rate": "3mbit", "burst": 3000, "cburst": 3000, "quantum": 1514}),
    ("2", None, {"rate": "2mbit", "ceil": "4mbit", "burst": 1600, "cburst": 2000, "quantum": 1514}),
    ("3", None, {"rate": "5mbit", "burst": 2000, "cburst": 2000, "quantum": 1514}),
]
_BORROW = [
    ("1", None, {"rate": "10mbit", "burst": 2000, "cburst": 2000}),
    ("10", "1", {"rate": "2mbit", "ceil": "10mbit", "burst": 2000, "cburst": 2000, "prio": 0, "quantum": 1514}),
    ("20", "1", {"rate": "5mbit", "ceil": "10mbit", "burst": 4000, "cburst": 2000, "prio": 1, "quantum": 3028}),
    ("30", "1", {"rate": "1mbit", "ceil": "10mbit", "burst": 2000, "cburst": 2000, "prio": 1, "quantum": 1514}),
    ("40", "1", {"rate": "1mbit", "ceil": "5mbit", "burst": 2000, "cburst": 2000, "prio": 2, "quantum": 1514}),
]
_DEEP = [
    ("1", None, {"rate": "10mbit", "burst": 2000, "cburst": 2000}),
    ("2", "1", {"rate": "6mbit", "ceil": "8mbit", "burst": 3000, "cburst": 2000}),
    ("3", "1", {"rate": "4mbit", "ceil": "10mbit", "burst": 2000, "cburst": 2000}),
    ("20", "2", {"rate": "4mbit", "ceil": "8mbit", "burst": 2000, "cburst": 2000, "quantum": 1514}),
    ("21", "2", {"rate": "1mbit", "ceil": "6mbit", "burst": 2000, "cburst": 3000, "quantum": 2000}),
    ("30", "3", {"rate": "1mbit", "ceil": "10mbit", "burst": 2000, "cburst": 2000, "quantum": 1514}),
    ("31", "3", {"rate": "2mbit", "ceil": "4mbit", "burst": 2000, "cburst": 2000, "prio": 1, "quantum": 1514}),
]


def _cake_mq(tins: str, rate_mbit: int, perturbation: int, queues: Mapping[int, int]) -> Shaper:
    """Four transmit queues, to which types of service go as our hash with this perturbation spreads their flows."""
    ours = {"name": "cake_mq", "bandwidth": f"{rate_mbit} Mbit/s", "diffserv": tins, "perturbation": perturbation}
    spread = [
        f"filter egress protocol ip prio 1 u32 match ip tos {tos:#04x} 0xfc action skbedit queue_mapping {queue}"
        for tos, queue in queues.items()
    ]
    words = f"cake_mq bandwidth {rate_mbit}mbit {tins}"
    return Shaper(words, ours, ["qdisc clsact", *spread], list(queues), {"queues": 4})


_SPREAD = dict(zip(DSCPS, (0, 2, 0, 0, 0, 1, 0, 2, 1, 3), strict=True))
"""Where the flows of the open loop go with perturbation 1; `crates/netsim/src/packet.rs` says what is hashed."""

SHAPERS = {
    "tbf": Shaper(_TBF, TBF),
    "tbf_peak": Shaper(
        "tbf rate 10mbit burst 30000 peakrate 20mbit mtu 2000 limit 60000",
        {**TBF, "burst": "30000 B", "peak_rate": "20 Mbit/s", "mtu": "2000 B"},
    ),
    "tbf_codel": Shaper(
        _TBF,
        {**TBF, "aqm": _LINUX_CODEL, "limit": "100 packets"},
        ["qdisc parent 10:1 handle 20: codel limit 100"],
    ),
    "tbf_fq_codel": Shaper(
        _TBF,
        {**TBF, "aqm": _FQ_CODEL, "limit": "200 packets"},
        ["qdisc parent 10:1 handle 20: fq_codel limit 200"],
    ),
    "tbf_prio": _prio(),
    "tbf_drr": _drr(),
    "police": _police("rate 12mbit burst 20000", {"rate": "12 Mbit/s", "burst": "20000 B"}),
    "police_small": _police("rate 6mbit burst 1600", {"rate": "6 Mbit/s", "burst": "1600 B"}),
    "police_peak": _police(
        "rate 8mbit burst 30000 peakrate 12mbit mtu 2000",
        {"rate": "8 Mbit/s", "burst": "30000 B", "peak_rate": "12 Mbit/s", "peak_burst": "2000 B"},
    ),
    "htb_flat": _htb(_FLAT, {EF: "10:1", AF21: "10:2", BE: "10:3", LE: "10:3"}, "pfifo limit 20"),
    "htb_borrow": _htb(_BORROW, {EF: "10:10", AF21: "10:20", BE: "10:30", LE: "10:40"}, "pfifo limit 20"),
    "htb_deep": _htb(_DEEP, {EF: "10:20", AF21: "10:21", BE: "10:30", LE: "10:31"}, "pfifo limit 20"),
    "htb_fq_codel": _htb(_BORROW, {EF: "10:10", AF21: "10:20", BE: "10:30", LE: "10:40"}, "fq_codel limit 200"),
    "cake_mq": _cake_mq("besteffort", 10, 1, _SPREAD),
    "cake_mq_tins": _cake_mq("diffserv3", 10, 1, _SPREAD),
}

# Of TCP, three flows in three queues, and of four flows one apart.
_THREE = _cake_mq("besteffort", 100, 9, {EF: 0, AF21: 1, BE: 2})
_APART = _cake_mq("besteffort", 100, 38, {EF: 0, BE: 2})


def _open() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, shaper in SHAPERS.items():
        for pattern in arrivals.SHORT:
            yield (
                f"open_{name}_{pattern}",
                {
                    "rate_mbit": 10,
                    "qdisc": shaper.qdisc,
                    "more": list(shaper.more),
                    "aqm": dict(shaper.aqm),
                    "tos": list(shaper.tos),
                    **shaper.device,
                    "groups": [{"n": 0, "rtt_ms": 0, "cc": "cubic"}],
                    "dur": 10,
                    "warm": 0,
                    "step": 0.05,
                    "probe": False,
                    "arrivals": pattern,
                },
            )


def _closed() -> Iterator[tuple[str, dict[str, Any]]]:
    """TCP behind a shaper; of several groups each has a class."""
    two, three = points.group(2, "cubic"), [{**points.group(1, "cubic"), "tos": tos} for tos in (EF, AF21, BE)]
    apart = [{**points.group(1, "cubic"), "tos": EF}, {**points.group(3, "cubic"), "tos": BE}]
    for name, groups, of in (("cake_mq_cubic", three, _THREE), ("cake_mq_apart", apart, _APART)):
        fast = {"rate_mbit": 100, "dur": 20, "warm": 5, **of.device}
        yield f"behind_{name}", points.dumbbell(of.qdisc, *groups, **fast, more=list(of.more), aqm=dict(of.aqm))
    for name, shaper, groups in (
        ("tbf_cubic", "tbf", [two]),
        ("tbf_reno", "tbf", [points.group(2, "reno")]),
        ("tbf_codel_cubic", "tbf_codel", [two]),
        ("tbf_fq_codel_mix", "tbf_fq_codel", [two, points.group(1, "bbr")]),
        ("tbf_prio_cubic", "tbf_prio", three),
        ("tbf_drr_cubic", "tbf_drr", three),
        ("police_cubic", "police", [two]),
        ("police_peak_reno", "police_peak", [points.group(2, "reno")]),
        ("htb_flat_cubic", "htb_flat", three),
        ("htb_borrow_cubic", "htb_borrow", three),
        ("htb_fq_codel_cubic", "htb_fq_codel", three),
    ):
        of = SHAPERS[shaper]
        yield (
            f"behind_{name}",
            points.dumbbell(of.qdisc, *groups, dur=30, warm=5, more=list(of.more), aqm=dict(of.aqm)),
        )


OPEN, CLOSED = dict(_open()), dict(_closed())
"""The points of reference-shapers.jsonl."""
