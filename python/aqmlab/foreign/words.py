"""The words of tc: how their values are written, by a person, by tc as text, and by tc as JSON.

# Sources
``tc_util.c``, ``lib/utils.c`` and the files ``q_*.c`` of iproute2 6.1 to 7.1.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from aqmlab.foreign.model import Values

COUNT, SIZE, TIME, RATE, SHARE, NUMBER, TEXT = "count", "size", "time", "rate", "share", "number", "text"
"""What a value is: a count such as packets, bytes, seconds, bit/s, a fraction, a number, a text that stays as it is."""

MILLIS, SECONDS, NANOS = "ms", "s", "ns"
"""A time that has another unit than µs where none is written."""

_SIZES = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30, "gb": 1 << 30} | {
    "kbit": 128,
    "mbit": 128 << 10,
    "gbit": 128 << 20,
}
_TIMES = {
    **dict.fromkeys(("s", "sec", "secs"), 1.0),
    **dict.fromkeys(("ms", "msec", "msecs"), 1e-3),
    **dict.fromkeys(("us", "usec", "usecs"), 1e-6),
    **dict.fromkeys(("ns", "nsec", "nsecs"), 1e-9),
}
_BARE = {TIME: 1e-6, MILLIS: 1e-3, SECONDS: 1.0, NANOS: 1e-9}
_PREFIXES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2**10, "mi": 2**20, "gi": 2**30}
_RATES = {
    **{f"{prefix}bit": factor for prefix, factor in _PREFIXES.items()},
    **{f"{prefix}bps": 8 * factor for prefix, factor in _PREFIXES.items()},
    "": 1.0,
}


class Unsaid(ValueError):  # noqa: N818  becomes an `Unreadable` where the line is known
    """Raised for a value that is none of its kind."""


def value(sort: str, text: str) -> Any:
    """Read a value of a sort as tc reads it from a command, and as it prints it."""
    text = text.strip()
    if sort == TEXT:
        return text
    plain = text.partition("/")[0].lower()  # burst 1600b/8: behind the stroke is the cell of a table of rates
    found = re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-z%]*)", plain)
    if sort == COUNT and re.fullmatch(r"0x[0-9a-f]+", plain):
        return int(plain, 16)
    if not found:
        raise Unsaid(f"{text}: must be {_LIKE[sort]}")
    number, unit = float(found[1]), found[2]
    if abs(number) > _MOST:
        raise Unsaid(f"{text}: too large")
    scales = {**_TIMES, "": _BARE[sort]} if sort in _BARE else _SCALES[sort]
    if unit not in scales:
        raise Unsaid(f"{text}: must be {_LIKE[sort]}")
    if sort == SIZE and unit[:1] in ("", "b") and not number.is_integer():
        raise Unsaid(f"{text}: must be {_LIKE[sort]}")
    scaled = _rounded(number * scales[unit])
    return int(scaled) if sort in (COUNT, SIZE) else scaled


_COUNTS = {"": 1, "p": 1, "b": 1, "pps": 1}

_MOST = 1e15
"""No number of tc's is larger."""

_SCALES: Mapping[str, Mapping[str, float]] = {
    SIZE: _SIZES,
    RATE: _RATES,
    COUNT: _COUNTS,
    NUMBER: _COUNTS,
    SHARE: {"": 1.0, "%": 0.01},
}
_LIKE = {
    COUNT: "a whole number",
    SIZE: "a size such as 1514, 30k or 1mb",
    RATE: "a rate such as 10mbit or 95Mbit",
    SHARE: "a share such as 0.02 or 2%",
    NUMBER: "a number",
    **dict.fromkeys(_BARE, "a time such as 5ms, 100us or 1s"),
}


def from_json(sort: str, given: Any) -> Any:
    """Convert a value of tc's JSON: rates are there in bytes a second, times in µs, unless another unit is usual."""
    if isinstance(given, str):
        return value(sort, given)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Unsaid(f"{given!r}: must be {_LIKE.get(sort, 'a text')}")
    if sort == TEXT:
        return str(given)
    if not abs(given) <= _MOST:
        raise Unsaid(f"{given}: too large")
    # What sfb and sfq count in other units in a command, they print in these.
    factor = {RATE: 8, TIME: 1e-6, MILLIS: 1e-6, NANOS: 1e-9}.get(sort, 1)
    return _rounded(given * factor) if factor != 1 else given


def _rounded(number: float) -> float:
    """Return a number without what floating point adds."""
    return float(f"{number:.12g}")


_CODEL = {"limit": COUNT, "target": TIME, "interval": TIME, "ce_threshold": TIME}
_PIE = {"limit": COUNT, "target": TIME, "tupdate": TIME, "alpha": NUMBER, "beta": NUMBER}
_RED = {
    "limit": SIZE,
    "min": SIZE,
    "max": SIZE,
    "avpkt": SIZE,
    "burst": COUNT,
    "probability": NUMBER,
    "bandwidth": RATE,
    "ewma": COUNT,
    "Scell_log": COUNT,
}
_FLOWS = {"flows": COUNT, "quantum": SIZE, "memory_limit": SIZE}
_BUCKET = {"rate": RATE, "burst": SIZE, "buffer": SIZE, "maxburst": SIZE, "mpu": SIZE, "overhead": SIZE}

VALUES: Mapping[str, Mapping[str, str]] = {
    "pfifo": {"limit": COUNT},
    "bfifo": {"limit": SIZE},
    "pfifo_head_drop": {"limit": COUNT},
    "pfifo_fast": {"bands": COUNT},
    "codel": _CODEL,
    "fq_codel": {**_CODEL, **_FLOWS, "drop_batch": COUNT},
    "fq": {
        **{"limit": COUNT, "flow_limit": COUNT, "buckets": COUNT, "orphan_mask": COUNT, "quantum": SIZE},
        **{"initial_quantum": SIZE, "maxrate": RATE, "defrate": RATE, "low_rate_threshold": RATE},
        **{"refill_delay": TIME, "ce_threshold": TIME, "timer_slack": NANOS, "horizon": TIME},
        **{"bands": COUNT, "offload_horizon": TIME},
    },
    "pie": _PIE,
    "fq_pie": {**_PIE, **_FLOWS, "ecn_prob": COUNT},
    "red": _RED,
    "gred": {**_RED, "vqs": COUNT, "default": COUNT, "DPs": COUNT, "DP": COUNT, "prio": COUNT, "vq": COUNT},
    "choke": {**_RED, "limit": COUNT, "min": COUNT, "max": COUNT},
    "sfb": {
        **{"rehash": MILLIS, "db": MILLIS, "limit": COUNT, "max": COUNT, "target": COUNT},
        **{"increment": NUMBER, "decrement": NUMBER, "penalty_rate": NUMBER, "penalty_burst": COUNT},
    },
    "sfq": {
        **{"limit": COUNT, "quantum": SIZE, "depth": COUNT, "flows": COUNT, "divisor": COUNT, "perturb": SECONDS},
        **{"redflowlimit": SIZE, "min": SIZE, "max": SIZE, "avpkt": SIZE, "burst": COUNT, "probability": NUMBER},
        "ewma": COUNT,
    },
    "cake": {
        **{"bandwidth": RATE, "rtt": TIME, "overhead": NUMBER, "mpu": SIZE, "memlimit": SIZE, "fwmark": TEXT},
        "target": TIME,
    },
    "dualpi2": {
        **{"limit": COUNT, "target": TIME, "tupdate": TIME, "alpha": NUMBER, "beta": NUMBER, "memory_limit": SIZE},
        **{"coupling_factor": NUMBER, "step_thresh": TIME, "min_qlen_step": COUNT, "classic_protection": SHARE},
        **{"max_rtt": TIME, "typical_rtt": TIME},
    },
    "htb": {
        **{"default": TEXT, "r2q": COUNT, "direct_packets_stat": COUNT, "ver": TEXT, "direct_qlen": COUNT},
        **_BUCKET,
        **{"ceil": RATE, "cburst": SIZE, "prio": COUNT, "quantum": SIZE, "level": COUNT, "mtu": SIZE},
        **{"linklayer": TEXT, "cbuffer": SIZE, "cmaxburst": SIZE},
    },
    "hfsc": {"default": TEXT},
    "tbf": {
        **_BUCKET,
        "peakrate": RATE,
        "mtu": SIZE,
        "minburst": SIZE,
        "latency": TIME,
        "limit": SIZE,
        "linklayer": TEXT,
    },
    "prio": {"bands": COUNT},
    "drr": {"quantum": SIZE},
    "qfq": {"weight": COUNT, "maxpkt": SIZE},
    "ets": {"bands": COUNT, "strict": COUNT},
    "hhf": {
        **{"limit": COUNT, "quantum": SIZE, "hh_limit": COUNT, "reset_timeout": TIME, "admit_bytes": SIZE},
        **{"evict_timeout": TIME, "non_hh_weight": COUNT},
    },
    "skbprio": {"limit": COUNT},
    "mqprio": {"tc": COUNT, "num_tc": COUNT, "hw": COUNT},
    **{kind: {} for kind in ("mq", "noqueue", "ingress", "clsact", "multiq", "plug", "etf", "cbs", "taprio", "netem")},
}
VALUES = {**VALUES, "cake_mq": VALUES["cake"]}
"""What the value of each word of each discipline, and of its classes, is."""

LISTS = ("priomap", "map", "queues", "quanta", "weights")
"""Words with several numbers."""

DIFFSERV = ("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8", "diffserv-llt")
FLOWMODES = ("flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate")
CELLS = ("noatm", "atm", "ptm")
FRAMINGS = (
    *("raw", "conservative", "ethernet", "ether-vlan", "docsis", "pppoe-ptm", "bridged-ptm"),
    *(f"{kind}-{mux}" for kind in ("ipoa", "bridged", "pppoe") for mux in ("vcmux", "llcsnap")),
    *("pppoa-vcmux", "pppoa-llc"),
)
RTTS = {
    "datacentre": 100e-6,
    "lan": 1e-3,
    "metro": 0.01,
    "regional": 0.03,
    "internet": 0.1,
    "oceanic": 0.3,
    "satellite": 1.0,
    "interplanetary": 1000.0,
}
"""CAKE's words for a round trip."""

_CAKE = (
    *("unlimited", "autorate-ingress", "nat", "nonat", "wash", "nowash", "ingress", "egress", "split-gso"),
    *("no-split-gso", "ack-filter", "ack-filter-aggressive", "no-ack-filter"),
    *DIFFSERV,
    *FLOWMODES,
    *CELLS,
    *FRAMINGS,
    *RTTS,
)
_OF_RED = ("ecn", "noecn", "harddrop", "nodrop", "adaptive")

FLAGS: Mapping[str, tuple[str, ...]] = {
    "codel": ("ecn", "noecn"),
    "fq_codel": ("ecn", "noecn"),
    "fq": ("pacing", "nopacing", "horizon_drop", "horizon_cap"),
    "pie": ("ecn", "noecn", "bytemode", "nobytemode", "dq_rate_estimator", "no_dq_rate_estimator"),
    "fq_pie": ("ecn", "noecn", "bytemode", "nobytemode", "dq_rate_estimator", "no_dq_rate_estimator"),
    **dict.fromkeys(("red", "choke"), _OF_RED),
    "gred": (*_OF_RED, "grio", "setup"),
    "sfq": ("ecn", "headdrop", "harddrop"),
    **dict.fromkeys(("cake", "cake_mq"), _CAKE),
    "dualpi2": (
        *("l4s_ect", "any_ect", "drop_on_overload", "overflow", "drop_enqueue", "drop_dequeue"),
        *("split_gso", "no_split_gso"),
    ),
    "htb": ("offload", "root"),
    "prio": ("multiqueue",),
    "mqprio": ("hw",),
}
"""The words of each that stand alone."""

OPPOSITES: Mapping[str, str] = {
    **{f"no{word}": word for word in ("nat", "wash", "ecn", "bytemode")},
    **{"no-split-gso": "split-gso", "no_split_gso": "split_gso", "no_dq_rate_estimator": "dq_rate_estimator"},
    **{"egress": "ingress", "pacing": "nopacing", "no-ack-filter": "ack-filter", "horizon_cap": "horizon_drop"},
}
"""Words that take another one back."""


def set_flag(options: dict[str, Any], word: str) -> None:
    """Let a word that stands alone hold, and end those that it excludes."""
    if word == "no-ack-filter":
        options.pop("ack-filter-aggressive", None)
    if word in OPPOSITES:
        options.pop(OPPOSITES[word], None)
        if word in ("noecn", "no-split-gso", "no_split_gso", "pacing", "horizon_cap"):
            options[word] = True  # what it takes back is the default of some discipline
        return
    for opposite, of in OPPOSITES.items():
        if of == word:
            options.pop(opposite, None)
    for alternatives in (DIFFSERV, FLOWMODES):
        if word in alternatives:
            for each in alternatives:
                options.pop(each, None)
    if word in RTTS:
        options["rtt"] = RTTS[word]
    elif word in FRAMINGS or word in CELLS:
        options["framing"] = " ".join([*options.get("framing", "").split(), word])
    elif word == "unlimited":
        options.pop("bandwidth", None)
    else:
        options[word] = True


def put(kind: str, options: dict[str, Any], word: str, given: Any, read: Callable[[str, Any], Any]) -> None:
    """Set the value of a word; CAKE's words of the link layer keep their order in ``framing``."""
    converted = read(VALUES[kind][word], given)
    if kind in ("cake", "cake_mq") and word in ("overhead", "mpu"):
        options["framing"] = " ".join([*options.get("framing", "").split(), word, f"{converted:.0f}"])
    else:
        options[word] = converted


def settled(kind: str, options: Values) -> Values:
    """Return options without what floating point, or the kernel's clock, has changed in times that were round.

    CoDel counts in 1024 ns and PIE in 64, so that 5 ms are printed as 4999 µs.
    """
    tick = 1024 if "codel" in kind else 64 if "pie" in kind and kind != "dualpi2" else 0
    if not tick:
        return options
    times = [word for word, sort in VALUES.get(kind, {}).items() if sort == TIME and word in options]
    return {**options, **{word: _round(options[word], tick) for word in times}}


def _round(seconds: float, tick: int) -> float:
    micros = round(seconds * 1e6)
    later = micros + 1
    if later * 1000 // tick * tick // 1000 != micros:
        return seconds
    digits = [len(str(each).rstrip("0")) for each in (micros, later)]
    exact = micros * 1000 // tick * tick // 1000 == micros
    return _rounded((micros if digits[0] < digits[1] or (exact and digits[0] == digits[1]) else later) * 1e-6)
