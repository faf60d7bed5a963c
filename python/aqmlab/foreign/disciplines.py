"""The disciplines of Linux, by the options that tc knows, as disciplines of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab.foreign.model import Values
from aqmlab.foreign.words import CELLS, COUNT, DIFFSERV, FLOWMODES, MILLIS, RATE, SIZE, TIME, VALUES

Settings = Mapping[str, Any]

INSIDE = "aqm."
"""Begins the keys of the algorithm on each queue of ``fq``."""

FRAME = 1514
"""Bytes of a full packet as the kernel counts it."""

TXQUEUELEN = 1000
"""Packets that a device queues by default: the limit of a discipline that has none."""


@dataclass(frozen=True)
class Discipline:
    """A discipline of ours, the buffer that it has, and the options that have no counterpart, as sentences."""

    aqm: Settings
    buffer: str
    left: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kind:
    """What a discipline of Linux is here.

    `base` is ours without a word; `keys` has the key of each word with a value, `flags` what a word that stands alone
    sets; `ecn` is the key of ECN. `buffer` is the limit without a word, whose unit is that of the word in
    `words.VALUES`; None stands for that of the device. `silent` are words that change
    nothing in a simulation, with the reason where it matters.
    """

    base: Settings
    keys: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, Settings] = field(default_factory=dict)
    buffer: str | None = None
    silent: Mapping[str, str] = field(default_factory=dict)
    ecn: str = ""


class NoCounterpart(ValueError):  # noqa: N818  the caller tells it as a part of a sentence
    """Raised for a discipline that no discipline of ours is."""


def time(seconds: float) -> str:
    """Write a time with the unit that makes it short."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1 or unit == "us":
            return f"{seconds * scale:.9g} {unit}"
    raise AssertionError


def octets(number: float) -> str:
    """Write a size."""
    return f"{number:.0f} B"


def rate(bits: float) -> str:
    """Write a rate with the largest unit that keeps it whole."""
    scale, unit = next(
        ((s, u) for s, u in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")) if bits >= s), (1, "bit/s")
    )
    return f"{bits / scale:.12g} {unit}"


_WRITTEN: Mapping[str, Callable[[Any], Any]] = {TIME: time, MILLIS: time, SIZE: octets, RATE: rate, COUNT: int}

_AS: Mapping[tuple[str, str], Callable[[float], Any]] = {
    # PIE's gains are in sixteenths of a Hz.
    **{(kind, gain): lambda value: f"{value / 16:.9g} Hz" for kind in ("pie", "fq_pie") for gain in ("alpha", "beta")},
    **{("dualpi2", gain): lambda value: f"{value:.9g} Hz" for gain in ("alpha", "beta")},
    ("dualpi2", "classic_protection"): lambda share: 100 * share,
    ("fq_pie", "ecn_prob"): lambda percent: percent / 100,
    **{(kind, "ewma"): lambda exponent: 2.0**-exponent for kind in ("red", "choke")},
}
"""How values are written that are not written as their kind is."""

_CODEL = ("target", "interval", "ce_threshold")
_PIE = {"target": "target", "tupdate": "t_update", "alpha": "alpha", "beta": "beta"}
_RED = {
    "avpkt": "mean_packet",
    "burst": "burst",
    "probability": "max_p",
    "bandwidth": "bandwidth",
    "ewma": "w_q",
}
_RED_FLAGS: Mapping[str, Settings] = {"harddrop": {"hard_drop": True}, "nodrop": {"nodrop": True}}
_ADAPTIVE = {"adaptive": "Linux does not read it where tc puts it today, so that nothing adapts: `aqmlab show ared`"}
_CELL = {"Scell_log": ""}
_QUEUES = {"flows": "flows", "quantum": "quantum", "memory_limit": "memory_limit"}
_ESTIMATE: Mapping[str, Settings] = {"dq_rate_estimator": {"delay": "departures"}, "bytemode": {"by_size": True}}


def _inside(keys: Mapping[str, str]) -> dict[str, str]:
    return {word: f"{INSIDE}{key}" for word, key in keys.items()}


_CAKE = Kind(
    {"name": "cake", "preset": "linux"},
    {"bandwidth": "bandwidth", "rtt": "rtt", "memlimit": "memlimit", "framing": "framing"},
    {
        "ingress": {"ingress": True},
        "autorate-ingress": {"autorate_ingress": True},
        "ack-filter": {"ack_filter": "on"},
        "ack-filter-aggressive": {"ack_filter": "aggressive"},
        **{word: {"diffserv": word} for word in DIFFSERV if word != "diffserv-llt"},
        **{word: {"flowmode": word} for word in FLOWMODES},
    },
    # Memory alone limits it.
    buffer="1000000 packets",
    silent={
        "nat": "no addresses are translated here: hosts are told apart as with it",
        "wash": "code points behind the router matter to nobody here",
        "split-gso": "",
        "no-split-gso": "bursts of a network card are not split: set tcp.offload to have such",
        "fwmark": "marks of a firewall do not exist here: packets go by their code points",
    },
)

KINDS: Mapping[str, Kind] = {
    "pfifo": Kind({"name": "droptail"}),
    "bfifo": Kind({"name": "droptail"}),
    "pfifo_head_drop": Kind({"name": "headdrop"}),
    "pfifo_fast": Kind(
        {"name": "droptail"},
        silent={"priomap": "its three bands by TOS are one queue here", "bands": ""},
    ),
    "codel": Kind({"name": "codel", "preset": "linux"}, {word: word for word in _CODEL}, ecn="ecn"),
    "fq_codel": Kind(
        {"name": "fq", "preset": "linux", "aqm.name": "codel", "aqm.preset": "linux", "aqm.ecn": True},
        {**_inside({word: word for word in _CODEL}), **_QUEUES, "drop_batch": "drop_batch"},
        buffer="10240 packets",
        ecn="aqm.ecn",
    ),
    "pie": Kind({"name": "pie", "preset": "linux"}, _PIE, _ESTIMATE, ecn="ecn"),
    "fq_pie": Kind(
        {"name": "fq", "preset": "pie", "aqm.name": "pie", "aqm.preset": "linux"},
        {**_inside(_PIE), **_QUEUES, "ecn_prob": "aqm.mark_ecnth"},
        {word: {f"{INSIDE}{key}": on for key, on in each.items()} for word, each in _ESTIMATE.items()},
        buffer="10240 packets",
        ecn="aqm.ecn",
    ),
    "red": Kind(
        {"name": "red", "preset": "linux"},
        {"min": "min_bytes", "max": "max_bytes", **_RED},
        _RED_FLAGS,
        silent={**_ADAPTIVE, **_CELL},
        ecn="ecn",
    ),
    # The thresholds of CHOKe are in packets, where RED's are in bytes.
    "choke": Kind(
        {"name": "choke", "preset": "linux"}, {"min": "min_th", "max": "max_th", **_RED}, silent=_CELL, ecn="ecn"
    ),
    "sfb": Kind(
        {"name": "sfb", "preset": "linux"},
        {
            **{
                word: word
                for word in ("rehash", "db", "max", "increment", "decrement", "penalty_rate", "penalty_burst")
            },
            "target": "bin_size",
        },
    ),
    "sfq": Kind(
        {"name": "sfq", "preset": "linux"},
        {
            **{word: word for word in ("depth", "flows", "divisor", "quantum", "avpkt", "burst", "probability")},
            **{"redflowlimit": "red_limit", "min": "red_min", "max": "red_max"},
        },
        {"headdrop": {"headdrop": True}, "harddrop": {"red_hard_drop": True}},
        buffer="127 packets",
        silent={"perturb": "the hash of flows stays the same here"},
        ecn="red_ecn",
    ),
    "cake": _CAKE,
    "cake_mq": replace(_CAKE, base={"name": "cake_mq", "preset": "linux"}),
    "dualpi2": Kind(
        {"name": "dualpi2", "preset": "linux"},
        {
            **{"target": "target", "tupdate": "t_update", "alpha": "alpha", "beta": "beta", "coupling_factor": "k"},
            **{"step_thresh": "min_th", "min_qlen_step": "min_qlen_step", "classic_protection": "classic_protection"},
        },
        {
            "l4s_ect": {"any_ect": False},
            "any_ect": {"any_ect": True},
            "drop_on_overload": {"drop_on_overload": True},
            "overflow": {"drop_on_overload": False},
        },
        buffer="10000 packets",
        silent={**dict.fromkeys(("split_gso", "no_split_gso", "drop_dequeue"), ""), "memory_limit": ""},
    ),
}
"""The disciplines that ours can be."""

CLOSE: Mapping[str, tuple[str, str]] = {
    "fq": ("fq_codel", "its queues of flows without an AQM are `drr` here; pacing belongs to the senders"),
}
"""Disciplines that have no counterpart, with the nearest that has, and the difference."""


def discipline(kind: str, options: Values, shown: bool = False, queue: int = TXQUEUELEN) -> Discipline:
    """Return what a discipline with these options is; raise `NoCounterpart` if it is none of ours.

    `shown` are options that the kernel printed, where ECN is off if it is not among them; `queue` is the length of the
    device's queue in packets.
    """
    left: list[str] = []
    if kind == "fq":
        return Discipline(
            {"name": "drr", **({"quantum": octets(options["quantum"])} if "quantum" in options else {})},
            _limit("fq", options, "10000 packets"),
            (CLOSE["fq"][1],),
        )
    if kind == "gred":
        return _default_queue(options, shown, queue)
    known = KINDS.get(kind)
    if known is None:
        raise NoCounterpart(
            f"{kind} has no counterpart here; those that have one: {', '.join([*KINDS, *CLOSE, 'gred'])}"
        )
    settings = dict(known.base)
    for word, value in options.items():
        if word == "limit":
            continue
        if known.ecn and word in ("ecn", "noecn"):
            settings[known.ecn] = word == "ecn"
        elif word in known.keys:
            settings[known.keys[word]] = _written(kind, word, value)
        elif word in known.flags:
            settings.update(known.flags[word])
        elif word in known.silent:
            left += [f"{word}: {known.silent[word]}"] if known.silent[word] else []
        elif word not in CELLS:
            left.append(f"{word} of {kind} has no counterpart")
    if shown and known.ecn and "ecn" not in options:
        settings[known.ecn] = False
    if shown and kind in ("red", "choke") and "probability" not in options:
        left.append("tc prints probability and ewma with -d alone: those of a tc without these words are taken")
    if kind == "sfq" and "red_limit" not in settings and "min" in options:
        left.append("redflowlimit, without which sfq has no RED, is not printed: give the command that has set it")
        for key in [key for key in settings if key.startswith("red_") or key in ("avpkt", "burst", "probability")]:
            del settings[key]
    if "ewma" in options:
        settings.pop("bandwidth", None)
    otherwise = known.buffer or (
        f"{queue} packets" if VALUES[kind].get("limit", COUNT) == COUNT else octets(queue * FRAME)
    )
    return Discipline(_nested(_derived(kind, settings)), _limit(kind, options, otherwise), tuple(left))


def _default_queue(options: Values, shown: bool, queue: int) -> Discipline:
    """Return the virtual queue of GRED for packets that no filter gives a number, which is RED."""
    number = options.get("default", 0)
    queues = {each.get("vq"): each for each in options.get("vqs", ())} or {options.get("DP"): options}
    if number not in queues:
        raise NoCounterpart(f"gred without the thresholds of its queue {number}, which is its default")
    own = {word: value for word, value in queues[number].items() if word in VALUES["red"]}
    own |= {word: True for word in ("ecn", "harddrop") if options.get(word)}
    made = discipline("red", own, shown, queue)
    return Discipline(
        made.aqm, made.buffer, (*made.left, f"of gred's virtual queues that of its default, {number}, is taken")
    )


def _written(kind: str, word: str, value: Any) -> Any:
    special = _AS.get((kind, word))
    if special:
        return special(value)
    return _WRITTEN.get(VALUES[kind].get(word, ""), lambda given: given)(value)


def _limit(kind: str, options: Values, otherwise: str) -> str:
    """Return the buffer: the limit in the unit of the kind."""
    if "limit" not in options:
        return otherwise
    number = max(1, math.ceil(options["limit"]))
    return f"{number} packets" if VALUES[kind]["limit"] == COUNT else octets(number)


def _derived(kind: str, settings: Settings) -> Settings:
    """Return settings with those that tc computes from others, in whole numbers."""
    if kind == "sfb" and "bin_size" in settings and "max" not in settings:
        return {**settings, "max": (settings["bin_size"] * 5 + 1) // 4}
    if kind == "sfb" and "max" in settings and "bin_size" not in settings:
        return {**settings, "bin_size": (settings["max"] * 4 + 3) // 5}
    return settings


def _nested(settings: Settings) -> Settings:
    """Return settings with the algorithm inside as a table."""
    inner = {key.removeprefix(INSIDE): value for key, value in settings.items() if key.startswith(INSIDE)}
    own = {key: value for key, value in settings.items() if not key.startswith(INSIDE)}
    return own | ({"aqm": inner} if inner else {})
