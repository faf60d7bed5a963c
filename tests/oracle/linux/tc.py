"""A queue discipline in tc's words as one of ours: its preset `linux`, with what tc was told."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from oracle import toml
from oracle.dumbbell import NotYet

Settings = Mapping[str, Any]

INSIDE = "aqm."
"""Begins the keys of the algorithm on each queue of `fq`."""


@dataclass(frozen=True)
class Discipline:
    """A discipline of ours, and the buffer that it has."""

    aqm: Settings
    buffer: str


@dataclass(frozen=True)
class Kind:
    """What one of tc's disciplines is here."""

    base: Settings
    """What it has without a word."""

    limit: Callable[[str], str]
    """What tc's `limit` counts."""

    buffer: str
    """The buffer without one."""

    words: Mapping[str, tuple[str, Callable[[str], Any]]] = field(default_factory=dict)
    """Words with a value: our key, and how the value is read."""

    flags: Mapping[str, Settings] = field(default_factory=dict)
    """Words that stand alone."""

    @property
    def known(self) -> list[str]:
        return sorted({"limit", *self.words, *self.flags})


DISTRIBUTIONS = ("/usr/lib/x86_64-linux-gnu/tc", "/usr/lib/tc", "/usr/share/tc")
"""Where Debian's iproute2 has netem's tables."""


def path(words: str) -> Settings:
    """The keys of a link that mean netem's words in one direction; packets may overtake each other, as with netem."""
    settings: dict[str, Any] = {"overtaking": True, "reverse_delays": "0 s: 0 s"}
    given = words.split()
    while given:
        word, values = given.pop(0), []
        while given and given[0][0].isdigit():
            values.append(given.pop(0))
        if word == "delay":
            settings["delay"] = time(values[0])
            if values[1:]:
                settings["jitter"] = {"deviation": time(values[1])}
        elif word == "distribution":
            settings["jitter"] |= {"law": "table", "file": _table(given.pop(0))}
        elif word in ("loss", "duplicate"):
            settings[word] = _fraction(values[0])
        elif word == "reorder":
            settings["reorder"] = {"probability": _fraction(values[0])}
        elif word == "gap":
            settings["reorder"] |= {"gap": int(values[0])}
        else:
            raise NotYet(f"netem {words}: {word} is not known here")
    return settings


def _table(name: str) -> str:
    found = [file for folder in DISTRIBUTIONS if (file := Path(folder, f"{name}.dist")).exists()]
    if not found:
        raise NotYet(f"{name}.dist: not in {', '.join(DISTRIBUTIONS)}; Debian's iproute2 has it")
    return str(found[0])


def _fraction(percent: str) -> float:
    return float(percent.removesuffix("%")) / 100


def discipline(words: str) -> Discipline:
    """What tc's words after `handle` mean."""
    name, *rest = words.split()
    kind = KINDS.get(name)
    if kind is None:
        raise NotYet(f"{words}: {name} has no counterpart here; those that have one: {', '.join(KINDS)}")
    settings: Settings = kind.base
    buffer = kind.buffer
    given = iter(rest)
    for word in given:
        if word in kind.flags:
            settings = _added(settings, kind.flags[word])
            continue
        if word not in kind.known:
            raise NotYet(f"{words}: {word} of {name} is not known here; known: {', '.join(kind.known)}")
        value = next(given, None)
        if value is None:
            raise ValueError(f"{words}: {word} needs a value")
        if word == "limit":
            buffer = kind.limit(value)
        else:
            key, read = kind.words[word]
            settings = _added(settings, {key: read(value)})
    return Discipline(_nested(_derived(name, settings)), buffer)


def _derived(name: str, settings: Settings) -> Settings:
    """Settings with those that tc computes from others, in whole numbers."""
    if name == "sfb" and "bin_size" in settings and "max" not in settings:
        return {**settings, "max": (settings["bin_size"] * 5 + 1) // 4}
    if name == "sfb" and "max" in settings and "bin_size" not in settings:
        return {**settings, "bin_size": (settings["max"] * 4 + 3) // 5}
    return settings


def _added(settings: Settings, more: Settings) -> Settings:
    """Settings with others, which replace those of the same name, except the words of a framing, which add up."""
    if "framing" in more:
        more = {"framing": " ".join([*settings.get("framing", "").split(), more["framing"]])}
    return {**settings, **more}


def _nested(settings: Settings) -> Settings:
    """The algorithm inside as the text that `fq` takes."""
    inner = {key.removeprefix(INSIDE): value for key, value in settings.items() if key.startswith(INSIDE)}
    if not inner:
        return settings
    text = ",".join(f"{key}={toml.value(value).strip(chr(34))}" for key, value in inner.items() if key != "name")
    own = {key: value for key, value in settings.items() if not key.startswith(INSIDE)}
    return own | {"aqm": f"{inner['name']}:{text}"}


def packets(text: str) -> str:
    return f"{int(text)} packets"


def octets(text: str) -> str:
    """A size as tc reads it: `30k` is 30 times 1024 bytes."""
    found = re.fullmatch(r"([\d.]+)([kmg]?)b?", text.lower())
    if not found:
        raise ValueError(f"{text}: not a size of tc's, like 1514, 30k or 1mb")
    return f"{int(float(found[1]) * 1024 ** ('kmg'.find(found[2]) + 1 if found[2] else 0))} B"


def time(text: str) -> str:
    """A time as tc reads it: without a unit in microseconds."""
    found = re.fullmatch(r"([\d.]+)(s|ms|us)?", re.sub("secs?$", "s", text.lower()))
    if not found:
        raise ValueError(f"{text}: not a time of tc's, like 5ms, 100us or 1s")
    return f"{found[1]} {found[2] or 'us'}"


def rate(text: str) -> str:
    """A rate as tc reads it: without a unit in bit/s."""
    found = re.fullmatch(r"([\d.]+)([kmg]?)(?:bit)?", text.lower())
    if not found:
        raise ValueError(f"{text}: not a rate of tc's, like 10mbit")
    return f"{float(found[1]) * 1000 ** ('kmg'.find(found[2]) + 1 if found[2] else 0):.0f} bit/s"


def sixteenths(text: str) -> str:
    """PIE's gains: tc counts in sixteenths of a Hz."""
    return f"{int(text) / 16} Hz"


def hertz(text: str) -> str:
    return f"{float(text)} Hz"


def percent(text: str) -> float:
    return float(text.removesuffix("%"))


def _ecn(key: str = "ecn") -> Mapping[str, Settings]:
    return {"ecn": {key: True}, "noecn": {key: False}}


_TXQUEUELEN = 1000
"""Packets that a device of the guest lets wait, which is the limit of what has none of its own."""

_DEVICE = f"{_TXQUEUELEN} packets"

_RED = {
    "max": ("max_bytes", octets),
    "min": ("min_bytes", octets),
    "avpkt": ("mean_packet", octets),
    "burst": ("burst", int),
    "probability": ("max_p", float),
    "bandwidth": ("bandwidth", rate),
}
_BELOW_HTB = {"ages": False}
"""A class of HTB asks no empty queue for a packet, from which RED would learn that the link rests."""

_DIFFSERV = ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8")
_FLOWMODES = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
_CELLS = ("noatm", "atm", "ptm")
_FRAMINGS = (
    *("raw", "conservative", "ethernet", "ether-vlan", "docsis", "pppoe-ptm", "bridged-ptm"),
    *(f"{kind}-{mux}" for kind in ("ipoa", "bridged", "pppoe") for mux in ("vcmux", "llcsnap")),
    *("pppoa-vcmux", "pppoa-llc"),
)

KINDS: Mapping[str, Kind] = {
    "pfifo": Kind({"name": "droptail"}, packets, _DEVICE),
    "bfifo": Kind({"name": "droptail"}, octets, f"{_TXQUEUELEN * 1514} B"),
    "pfifo_head_drop": Kind({"name": "headdrop"}, packets, _DEVICE),
    "codel": Kind(
        {"name": "codel", "preset": "linux"},
        packets,
        _DEVICE,
        {"target": ("target", time), "interval": ("interval", time), "ce_threshold": ("ce_threshold", time)},
        _ecn(),
    ),
    "fq_codel": Kind(
        {"name": "fq", "preset": "linux", "aqm.name": "codel", "aqm.preset": "linux", "aqm.ecn": True},
        packets,
        "10240 packets",
        {
            "target": ("aqm.target", time),
            "interval": ("aqm.interval", time),
            "ce_threshold": ("aqm.ce_threshold", time),
            "flows": ("flows", int),
            "quantum": ("quantum", octets),
            "drop_batch": ("drop_batch", int),
            "memory_limit": ("memory_limit", octets),
        },
        _ecn("aqm.ecn"),
    ),
    "pie": Kind(
        {"name": "pie", "preset": "linux"},
        packets,
        _DEVICE,
        {
            "target": ("target", time),
            "tupdate": ("t_update", time),
            "alpha": ("alpha", sixteenths),
            "beta": ("beta", sixteenths),
        },
        {**_ecn(), "dq_rate_estimator": {"delay": "departures"}},
    ),
    "fq_pie": Kind(
        {"name": "fq", "preset": "pie", "aqm.name": "pie", "aqm.preset": "linux"},
        packets,
        "10240 packets",
        {
            "target": ("aqm.target", time),
            "tupdate": ("aqm.t_update", time),
            "alpha": ("aqm.alpha", sixteenths),
            "beta": ("aqm.beta", sixteenths),
            "flows": ("flows", int),
            "quantum": ("quantum", octets),
            "memory_limit": ("memory_limit", octets),
        },
        {**_ecn("aqm.ecn"), "dq_rate_estimator": {"aqm.delay": "departures"}},
    ),
    # `adaptive` changes nothing: today's tc says it in a way in which the kernel does not read it; see `ared`.
    "red": Kind(
        {"name": "red", "preset": "linux", **_BELOW_HTB},
        octets,
        "400000 B",
        _RED,
        {
            **_ecn(),
            "harddrop": {"hard_drop": True},
            "nodrop": {"nodrop": True},
            # The kernel looks for it where tc no longer puts it, so that nothing adapts (see `aqmlab show ared`).
            "adaptive": {},
        },
    ),
    "sfb": Kind(
        {"name": "sfb", "preset": "linux"},
        packets,
        _DEVICE,
        {
            "rehash": ("rehash", lambda text: f"{int(text)} ms"),
            "db": ("db", lambda text: f"{int(text)} ms"),
            "target": ("bin_size", int),
            "max": ("max", int),
            "increment": ("increment", float),
            "decrement": ("decrement", float),
            "penalty_rate": ("penalty_rate", float),
            "penalty_burst": ("penalty_burst", int),
        },
    ),
    # The thresholds of CHOKe are in packets, where RED's are in bytes.
    "choke": Kind(
        {"name": "choke", "preset": "linux", **_BELOW_HTB},
        packets,
        _DEVICE,
        _RED | {"min": ("min_th", int), "max": ("max_th", int)},
        _ecn(),
    ),
    "sfq": Kind(
        {"name": "sfq", "preset": "linux"},
        packets,
        "127 packets",
        {
            "depth": ("depth", int),
            "flows": ("flows", int),
            "divisor": ("divisor", int),
            "quantum": ("quantum", octets),
            "redflowlimit": ("red_limit", octets),
            "min": ("red_min", octets),
            "max": ("red_max", octets),
            "avpkt": ("avpkt", octets),
            "burst": ("burst", int),
            "probability": ("probability", float),
        },
        {**_ecn("red_ecn"), "headdrop": {"headdrop": True}, "harddrop": {"red_hard_drop": True}},
    ),
    "cake": Kind(
        {"name": "cake", "preset": "linux"},
        packets,
        # Memory alone limits it.
        "1000000 packets",
        {
            "bandwidth": ("bandwidth", rate),
            "rtt": ("rtt", time),
            "memlimit": ("memlimit", octets),
            "overhead": ("framing", lambda text: f"overhead {int(text)}"),
            "mpu": ("framing", lambda text: f"mpu {int(text)}"),
        },
        {
            "unlimited": {},
            "ingress": {"ingress": True},
            "egress": {},
            "autorate-ingress": {"autorate_ingress": True},
            "ack-filter": {"ack_filter": "on"},
            "ack-filter-aggressive": {"ack_filter": "aggressive"},
            "no-ack-filter": {},
            **{word: {"diffserv": word} for word in _DIFFSERV},
            **{word: {"flowmode": word} for word in _FLOWMODES},
            **{word: {"framing": word} for word in (*_CELLS, *_FRAMINGS)},
        },
    ),
    "dualpi2": Kind(
        {"name": "dualpi2", "preset": "linux"},
        packets,
        "10000 packets",
        {
            "target": ("target", time),
            "tupdate": ("t_update", time),
            "alpha": ("alpha", hertz),
            "beta": ("beta", hertz),
            "coupling_factor": ("k", float),
            "step_thresh": ("min_th", time),
            "min_qlen_step": ("min_qlen_step", int),
            "classic_protection": ("classic_protection", percent),
        },
        {
            "l4s_ect": {"any_ect": False},
            "any_ect": {"any_ect": True},
            "drop_on_overload": {"drop_on_overload": True},
            "overflow": {"drop_on_overload": False},
        },
    ),
}
