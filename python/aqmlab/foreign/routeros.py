"""RouterOS of MikroTik: simple queues, queue trees and queue types, as ``/export`` writes them.

# Sources
MikroTik's manual, "Queues" and "Queue types": the properties, and the types that are there from the beginning.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from aqmlab.foreign.model import Place, Shaper, State, Unread, Unreadable, Values
from aqmlab.foreign.shell import joined
from aqmlab.foreign.tc_options import options
from aqmlab.foreign.words import Unsaid

_NOTHING = ("0/0", "0", "0s/0s", "0bps", "0bps/0bps", "0s")
_MENU = re.compile(r"^/queue[ /](simple|tree|type|interface)\b\s*(.*)$")
_WAYS: Mapping[str, re.Pattern[str]] = {
    "down": re.compile(r"down|(?<![a-z])(dl|rx|in|ingress)(?![a-z])"),
    "up": re.compile(r"up(load|link|stream)|(?<![a-z])(up|ul|tx|out|egress)(?![a-z])"),
}
"""What the name of a tree says about its direction."""

_PARENTS: Mapping[str, re.Pattern[str]] = {
    "down": re.compile(r"\b(w?lan|bridge|br)\d*\b"),
    "up": re.compile(r"\b(wan\d*|ether1|pppoe|ppp|lte\d*)\b"),
}
"""What the device of a tree, its parent, says: it sends to the home, or to the line."""

_SCALES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}

_TYPES: Mapping[str, Mapping[str, str]] = {
    "default": {"kind": "pfifo", "pfifo-limit": "50"},
    "ethernet-default": {"kind": "pfifo", "pfifo-limit": "50"},
    "default-small": {"kind": "pfifo", "pfifo-limit": "10"},
    "wireless-default": {"kind": "sfq", "sfq-perturb": "5"},
    "synchronous-default": {"kind": "red", "red-limit": "60", "red-min-threshold": "10", "red-max-threshold": "50"},
    "hotspot-default": {"kind": "sfq", "sfq-perturb": "5"},
    "pcq-upload-default": {"kind": "pcq"},
    "pcq-download-default": {"kind": "pcq"},
    "only-hardware-queue": {"kind": "none"},
    "multi-queue-ethernet-default": {"kind": "mq-pfifo"},
}
"""The types that are there from the beginning."""

_WORDS: Mapping[str, Mapping[str, str]] = {
    "pfifo": {"pfifo-limit": "limit"},
    "mq-pfifo": {"mq-pfifo-limit": "limit"},
    "bfifo": {"bfifo-limit": "limit"},
    "sfq": {"sfq-perturb": "perturb", "sfq-allot": "quantum"},
    "codel": {f"codel-{word}": word for word in ("limit", "target", "interval", "ecn", "ce-threshold")},
    "fq-codel": {
        **{
            f"fq-codel-{word}": word
            for word in ("limit", "target", "interval", "ecn", "ce-threshold", "flows", "quantum")
        },
        "fq-codel-memlimit": "memory-limit",
    },
    "cake": {
        # Words of the link layer add up in tc; an explicit overhead replaces that of the scheme.
        **dict.fromkeys(
            ("cake-overhead-scheme", "cake-diffserv", "cake-flowmode", "cake-ack-filter", "cake-rtt-scheme"), ""
        ),
        **{f"cake-{word}": word for word in ("atm", "overhead", "mpu", "bandwidth", "rtt", "memlimit", "wash", "nat")},
    },
}
"""The properties of each kind, and tc's words; a word without a name stands alone there."""


def is_export(text: str) -> bool:
    """Whether a text has a menu of queues."""
    return any(_MENU.match(line.strip()) for line in text.splitlines())


def read(name: str, text: str) -> State:
    """Read the queues; other menus are passed over."""
    types: dict[str, Mapping[str, str]] = dict(_TYPES)
    simple: list[tuple[Place, dict[str, str]]] = []
    trees: list[tuple[Place, dict[str, str]]] = []
    for menu, verb, place, given in _entries(name, text):
        if menu == "type":
            called = given.get("name", given.get("find", ""))
            types[called] = {**types.get(called, {}), **given}
        elif verb == "add" and menu == "simple":
            simple.append((place, given))
        elif verb == "add" and menu == "tree":
            trees.append((place, given))
    state = State()
    by_name = {given.get("name", ""): given for _, given in simple}
    for place, given in simple:
        state = state.joined(_simple(place, given, types, by_name))
    return state.joined(_tree(trees, types))


def _entries(name: str, text: str) -> Iterator[tuple[str, str, Place, dict[str, str]]]:
    menu = ""
    for number, line in joined(text):
        line = line.strip()
        if line.startswith("/"):
            found = _MENU.match(line)
            menu = found[1] if found else ""
            line = found[2].strip() if found else ""
        if not menu or not line or line.startswith("#"):
            continue
        place = Place(name, number)
        try:
            words = shlex.split(re.sub(r"\[ *find ([^]]*)\]", r"\1", line))
        except ValueError as error:
            raise Unreadable(place, f"{line[:60]}: {str(error).lower()}: export it again, whole") from None
        given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        if given.get("disabled") != "yes":
            yield menu, words[0], place, given


def _bits(place: Place, text: str) -> float | None:
    """Return a rate in bit/s; none for 0, which is no limit."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kMG]?)(?:bps)?", text.strip())
    if not found:
        raise Unreadable(place, f"{text}: must be a rate such as 20M or 512k")
    return float(found[1]) * _SCALES[found[2]] or None


def _least(place: Place, limits: Iterable[str]) -> float | None:
    """Return the lowest of some limits; none if there is no limit among them."""
    return min(filter(None, (_bits(place, each) for each in limits)), default=None)


def _line(given: Mapping[str, str], by_name: Mapping[str, Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Return a queue and those above it, the nearest first."""
    line = [given]
    while (above := by_name.get(line[-1].get("parent", ""))) is not None and above not in line:
        line.append(above)
    return line


def _simple(
    place: Place,
    given: Mapping[str, str],
    types: Mapping[str, Mapping[str, str]],
    by_name: Mapping[str, Mapping[str, str]],
) -> State:
    limits = [each.get("max-limit", "0/0").split("/") for each in _line(given, by_name)]
    queues = given.get("queue", "default-small/default-small").split("/")
    called = given.get("name", "queue")
    state = _other(place, called, given)
    # Upload and download are the target's.
    for at, way in enumerate(("up", "down")):
        bits = _least(place, (each[min(at, len(each) - 1)] for each in limits))
        queue = queues[min(at, len(queues) - 1)]
        state = state.joined(_shaper(place, called, way, bits, queue, types))
    return state


def _other(place: Place, called: str, given: Mapping[str, str]) -> State:
    known = (
        "name",
        "target",
        "max-limit",
        "queue",
        "comment",
        "parent",
        "packet-mark",
        "packet-marks",
        "dst",
        "priority",
    )
    left = [f"{word}={value}" for word, value in given.items() if word not in known and value not in _NOTHING]
    return State(unread=tuple(Unread(place, f"{called}: {each} has no counterpart") for each in left))


def _shaper(
    place: Place, called: str, way: str, bits: float | None, queue: str, types: Mapping[str, Mapping[str, str]]
) -> State:
    if queue not in types:
        raise Unreadable(place, f"queue={queue}: /queue type of this name is not in the file: export /queue type too")
    kind, found, notes = _discipline(place, types[queue])
    if kind == "cake" and "bandwidth" in found:
        bits = min(bits or float("inf"), found["bandwidth"])
    text = f"{called}: max-limit, queue={queue}"
    return State(
        shapers=(
            Shaper(f"{called}-{way}", way, place, bits, kind, found, text=text, name=called, enabled=bits is not None),
        ),
        unread=tuple(Unread(place, each) for each in notes),
    )


def _discipline(place: Place, given: Mapping[str, str]) -> tuple[str, Values, list[str]]:
    """Return the kind, options and notes of a type."""
    kind = given.get("kind", "pfifo")
    notes = []
    if kind == "pcq":
        notes.append("pcq keeps a queue for each address: taken as sfq, whose queues are of flows")
        if (own := given.get("pcq-rate", "0")) not in _NOTHING:
            notes.append(f"pcq-rate={own}: that each address has this rate at most has no counterpart")
        return "sfq", {}, notes
    if kind == "red":
        packet = int(given.get("red-avg-packet", "1000"))
        words = {"limit": given.get("red-limit", "60"), "min": given.get("red-min-threshold", "10")}
        words["max"] = given.get("red-max-threshold", "50")
        found: dict[str, Any] = {word: int(number) * packet for word, number in words.items()}
        burst = int(given.get("red-burst", "20"))
        return "red", {**found, "avpkt": packet, "burst": burst, "probability": 0.02}, notes
    if kind not in _WORDS:
        raise Unreadable(place, f"kind={kind}: must be one of {', '.join([*_WORDS, 'red', 'pcq'])}")
    tc = {"fq-codel": "fq_codel", "mq-pfifo": "pfifo"}.get(kind, kind)
    line: list[str] = []
    for word, name in _WORDS[kind].items():
        if (text := given.get(word)) is None or (text in ("0", "none", "") and name != "overhead"):
            continue
        if name in ("ecn", "wash", "nat"):
            line += [name if text == "yes" else f"no{name}"]
        elif name in ("", "atm"):
            line += [
                {"yes": "ack-filter", "filter": "ack-filter", "aggressive": "ack-filter-aggressive"}.get(text, text)
            ]
        elif name == "bandwidth":
            line += [name, f"{_bits(place, text) or 0:.0f}"]
        else:
            line += [name.replace("-", "_"), re.sub(r"(?i)([kmg])ib$", r"\1b", text)]
    if kind == "cake" and given.get("cake-autorate-ingress") == "yes":
        line.append("autorate-ingress")
    try:
        found_, unread = options(tc, line)
    except Unsaid as error:
        raise Unreadable(place, str(error)) from None
    return tc, found_, [f"{tc}: {word} of the type is not known" for word in unread]


def _tree(entries: list[tuple[Place, dict[str, str]]], types: Mapping[str, Mapping[str, str]]) -> State:
    """Take the top of each tree as a shaper, with the queue of its last leaf; a tree for each direction is a link."""
    by_name = {given.get("name", ""): given for _, given in entries}
    tops = [(place, given) for place, given in entries if given.get("parent", "global") not in by_name]
    ways = [_way(given) for _, given in tops]
    if len(tops) == 2 and ways.count("") == 1:
        ways[ways.index("")] = "up" if "down" in ways else "down"
    state = State()
    shapers: dict[str, list[Shaper]] = {"down": [], "up": []}
    for (place, given), way in zip(tops, ways, strict=True):
        called = given.get("name", given.get("parent", ""))
        if not way:
            raise Unreadable(
                place,
                f"queue tree {called}, parent={given.get('parent', 'global')}: its direction cannot be told: "
                "put download or upload in its name",
            )
        line, several = [given], 0
        while leaves := [
            one for _, one in entries if one.get("parent", "") == line[-1].get("name") and one not in line
        ]:
            several = several or (len(leaves) if len(leaves) > 1 else 0)
            line.append(leaves[-1])
        # Of several classes each has a part; the whole is what the queues above them have.
        bounds = line if not several else line[:1]
        limits = [each["max-limit"] for each in bounds if "max-limit" in each]
        state = state.joined(_other(place, called, given))
        if several:
            text = f"{called}: {several} classes by packet marks: the queue of the last is taken"
            state = state.joined(State(unread=(Unread(place, text),)))
        made = _shaper(place, called, way, _least(place, limits), line[-1].get("queue", "default-small"), types)
        shapers[way] += made.shapers
        state = state.joined(replace(made, shapers=()))
    for at in range(max(map(len, shapers.values()))):
        pair = [each[at] for each in shapers.values() if at < len(each)]
        name = " and ".join(each.name for each in pair)
        state = state.joined(State(shapers=tuple(replace(each, name=name) for each in pair)))
    return state


def _way(given: Mapping[str, str]) -> str:
    """Return the direction of a tree: what its name says, or else its parent; empty if neither does."""
    for patterns, text in ((_WAYS, given.get("name", "")), (_PARENTS, given.get("parent", ""))):
        for way, pattern in patterns.items():
            if pattern.search(text.lower()):
                return way
    return ""
