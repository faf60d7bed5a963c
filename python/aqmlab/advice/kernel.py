"""Disciplines in tc's words, with the units of the kernel.

A discipline of ours is one of the kernel's if its preset ``linux`` is, and what it sets beyond that has a word.

# Sources
The files ``q_*.c`` of iproute2 6.1; ``pkt_sched.h`` and ``sch_*.c`` of Linux 7.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from aqmlab import _core
from aqmlab.scenario import Scenario, algorithms

Table = Mapping[str, Any]
"""A discipline with every value filled in, as `Scenario.resolved` has it."""

FRAME = 1514
"""Bytes of a full packet as the kernel counts it, Ethernet's header included."""

_INNER = "aqm."
"""Begins the keys of the algorithm on each queue of ``fq``."""


@dataclass(frozen=True)
class Attribute:
    """A value as the kernel has it: the name of its netlink attribute, a number, and the unit of that."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True)
class Word:
    """A word of tc's: our key, how tc writes its value, the kernel's attribute and its value there with its unit.

    Without a word the value stands alone, as ``diffserv4``.
    """

    word: str
    key: str
    written: Callable[[Any], str]
    attribute: str
    counted: Callable[[Any], float]
    unit: str


@dataclass(frozen=True)
class Kind:
    """A discipline of the kernel's.

    `base` is ours without a word. `limit` is the word for the buffer, in `unit`, and `attribute` the kernel's name of
    it; without one the discipline chooses for itself. `demanded` has values of keys that are automatic here, where tc
    demands one. `flags` are words that stand alone, each with the key that is true if it is written.
    """

    base: str
    words: tuple[Word, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    limit: str = "packets"
    attribute: str = ""
    demanded: Mapping[str, str] = field(default_factory=dict)


def base(value: str | float) -> float:
    """Return a quantity in its base unit."""
    converted = _core.in_base_unit(value) if isinstance(value, str) else (float(value), "")
    assert converted
    return converted[0]


def time_word(value: str | float) -> str:
    """Write a time as tc reads it: in ms if these are whole, otherwise in µs, which is the kernel's resolution."""
    micros = round(base(value) * 1e6)
    return f"{micros}us" if micros % 1000 else f"{micros // 1000}ms"


def _micros(value: str | float) -> float:
    return round(base(value) * 1e6)


def _whole(value: str | float) -> str:
    return str(round(base(value)))


def _count(value: str | float) -> float:
    return round(base(value))


def _sixteenths(value: str | float) -> float:
    """Return a gain of PIE in sixteenths of a Hz, in which tc counts."""
    return round(base(value) * 16)


def _octets(value: str | float) -> float:
    """Return a rate in bytes a second."""
    return base(value) / 8


def _rate(value: str | float) -> str:
    return f"{base(value) / 1000:.0f}kbit"


def _probability(value: str | float) -> float:
    """Return a probability as the kernel has it, in units of 2^-32."""
    return round(base(value) * 2**32)


def _times(prefix: str, inner: str, *words: tuple[str, str]) -> tuple[Word, ...]:
    return tuple(
        Word(word, f"{inner}{key}", time_word, f"{prefix}_{word.upper()}", _micros, "µs") for word, key in words
    )


def _gains(prefix: str, inner: str) -> tuple[Word, ...]:
    return tuple(
        Word(key, f"{inner}{key}", lambda v: f"{_sixteenths(v):.0f}", f"{prefix}_{key.upper()}", _sixteenths, "1/16 Hz")
        for key in ("alpha", "beta")
    )


def _queues(prefix: str) -> tuple[Word, ...]:
    return (
        Word("flows", "flows", _whole, f"{prefix}_FLOWS", _count, "queues"),
        Word("quantum", "quantum", _whole, f"{prefix}_QUANTUM", _count, "bytes"),
    )


_CODEL = (("target", "target"), ("interval", "interval"))
_PIE = (("target", "target"), ("tupdate", "t_update"))

_ACK_FILTER = {"off": "", "on": "ack-filter", "aggressive": "ack-filter-aggressive"}

_CAKE = Kind(
    "cake:preset=linux",
    (
        Word("bandwidth", "bandwidth", _rate, "TCA_CAKE_BASE_RATE64", _octets, "byte/s"),
        Word("", "diffserv", str, "", _count, ""),
        Word("", "flowmode", str, "", _count, ""),
        Word("rtt", "rtt", time_word, "TCA_CAKE_RTT", _micros, "µs"),
        # Words of framing add up, and what comes after them replaces their sum.
        Word("", "framing", str, "", _count, ""),
        Word("overhead", "overhead", _whole, "TCA_CAKE_OVERHEAD", _count, "bytes"),
        Word("mpu", "mpu", _whole, "TCA_CAKE_MPU", _count, "bytes"),
        Word("", "atm", str, "", _count, ""),
        Word("", "ack_filter", lambda v: _ACK_FILTER[v], "", _count, ""),
        Word("memlimit", "memlimit", _whole, "TCA_CAKE_MEMORY", _count, "bytes"),
    ),
    {"ingress": "ingress", "autorate-ingress": "autorate_ingress"},
    limit="",
)

KINDS: Mapping[str, Kind] = {
    "codel": Kind("codel:preset=linux", _times("TCA_CODEL", "", *_CODEL), {"ecn": "ecn"}, attribute="TCA_CODEL_LIMIT"),
    "fq_codel": Kind(
        "fq:preset=linux",
        (
            *_times("TCA_FQ_CODEL", _INNER, *_CODEL),
            *_queues("TCA_FQ_CODEL"),
            Word("memory_limit", "memory_limit", _whole, "TCA_FQ_CODEL_MEMORY_LIMIT", _count, "bytes"),
        ),
        {"ecn": "aqm.ecn"},
        attribute="TCA_FQ_CODEL_LIMIT",
    ),
    "pie": Kind(
        "pie:preset=linux",
        (*_times("TCA_PIE", "", *_PIE), *_gains("TCA_PIE", "")),
        {"ecn": "ecn"},
        attribute="TCA_PIE_LIMIT",
    ),
    "fq_pie": Kind(
        "fq:preset=pie",
        (*_times("TCA_FQ_PIE", _INNER, *_PIE), *_gains("TCA_FQ_PIE", _INNER), *_queues("TCA_FQ_PIE")),
        {"ecn": "aqm.ecn"},
        attribute="TCA_FQ_PIE_LIMIT",
    ),
    "red": Kind(
        "red:preset=linux",
        (
            Word("min", "min_bytes", _whole, "TCA_RED_PARMS.qth_min", _count, "bytes"),
            Word("max", "max_bytes", _whole, "TCA_RED_PARMS.qth_max", _count, "bytes"),
            Word("avpkt", "mean_packet", _whole, "", _count, "bytes"),
            Word("burst", "burst", _whole, "", _count, "packets"),
            Word("probability", "max_p", lambda v: f"{base(v):g}", "TCA_RED_MAX_P", _probability, "2^-32"),
            Word("bandwidth", "bandwidth", _rate, "", base, "bit/s"),
        ),
        {"ecn": "ecn"},
        limit="bytes",
        attribute="TCA_RED_PARMS.limit",
        demanded={"mean_packet": f"{FRAME} B"},
    ),
    "cake": _CAKE,
    "cake_mq": replace(_CAKE, base="cake_mq:preset=linux"),
    "sfq": Kind(
        "sfq:preset=linux",
        (
            Word("quantum", "quantum", _whole, "tc_sfq_qopt.quantum", _count, "bytes"),
            Word("depth", "depth", _whole, "tc_sfq_qopt_v1.depth", _count, "packets"),
            Word("divisor", "divisor", _whole, "tc_sfq_qopt.divisor", _count, "hashes"),
            Word("flows", "flows", _whole, "tc_sfq_qopt.flows", _count, "queues"),
        ),
        {"headdrop": "headdrop"},
        attribute="tc_sfq_qopt.limit",
    ),
    "bfifo": Kind("droptail", limit="bytes", attribute="tc_fifo_qopt.limit"),
    "pfifo": Kind("droptail", attribute="tc_fifo_qopt.limit"),
}
"""The disciplines of Linux that ours can be written as."""

_INSIDE = {"codel": "fq_codel", "pie": "fq_pie"}
"""The discipline of Linux for each algorithm on the queues of ours."""


def kind_of(table: Table, buffer: str) -> str | None:
    """Return the name of the discipline of Linux that a discipline of ours is, or None if it is none of them."""
    inner = table.get("aqm")
    if isinstance(inner, Mapping):
        name = table["name"]
        return _INSIDE.get(inner["name"]) if algorithms().get(name, name) == "fq" else None
    if table["name"] == "droptail":
        return "pfifo" if buffer.endswith("packets") else "bfifo"
    return table["name"] if table["name"] in KINDS else None


def flat(table: Table) -> dict[str, Any]:
    """Return a table with the keys of the algorithm inside as ``aqm.KEY``."""
    inner = table.get("aqm")
    own = {key: value for key, value in table.items() if key != "aqm" or not isinstance(inner, Mapping)}
    return own | ({f"{_INNER}{key}": value for key, value in inner.items()} if isinstance(inner, Mapping) else {})


def words(name: str, table: Table, buffer: str) -> str:
    """Write a discipline of ours as that of Linux with this name, in tc's words; see `kind_of`."""
    kind, values = KINDS[name], flat(table)
    line = [name]
    if kind.limit:
        line += ["limit", str(_limit(kind, buffer))]
    for word in kind.words:
        value = values[word.key] if values[word.key] != "auto" else kind.demanded.get(word.key, "auto")
        if value != "auto":
            line += [*word.word.split(), *word.written(value).split()]
    return " ".join([*line, *(flag for flag, key in kind.flags.items() if values[key])])


def attributes(name: str, table: Table, buffer: str) -> Iterator[Attribute]:
    """Yield the values that the kernel gets for these words, each with its netlink attribute and unit."""
    kind, values = KINDS[name], flat(table)
    if kind.attribute:
        yield Attribute(kind.attribute, _limit(kind, buffer), kind.limit)
    for word in kind.words:
        if word.attribute and values[word.key] != "auto":
            yield Attribute(word.attribute, word.counted(values[word.key]), word.unit)


def _limit(kind: Kind, buffer: str) -> int:
    """Return a buffer in packets or bytes, as the discipline counts; full packets stand for the other unit."""
    if buffer.endswith("packets"):
        number = int(buffer.removesuffix("packets"))
        return number if kind.limit == "packets" else number * FRAME
    octets = base(buffer)
    return round(octets) if kind.limit == "bytes" else math.ceil(octets / FRAME)


def packets(rate: float, seconds: float) -> int:
    """Return how many full packets a link sends in a time, rounded up."""
    return math.ceil(rate * seconds / 8 / FRAME)


def departures(name: str, table: Table, scenario: Scenario) -> list[str]:
    """List the keys in which a discipline differs from that of Linux with a name and that tc has no words for."""
    kind, values = KINDS[name], flat(table)
    base, _, rest = kind.base.partition(":")
    settings = {"name": base, **({"preset": rest.removeprefix("preset=")} if rest else {})}
    if name == "fq_codel":
        settings["aqm"] = "codel:preset=linux"
    known = flat(scenario.with_({"aqm": settings}).resolved["aqm"])
    covered = {word.key for word in kind.words} | set(kind.flags.values()) | {"name", "ages"}
    return [key for key, value in known.items() if key not in covered and values.get(key) != value]
