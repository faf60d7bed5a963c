"""What ``tc -s -d qdisc show``, ``class show`` and ``filter show`` print as text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from aqmlab.foreign.model import Class, Filter, Place, Qdisc, State, Unread, Unreadable
from aqmlab.foreign.tc_json import TIMES
from aqmlab.foreign.tc_options import options
from aqmlab.foreign.words import COUNT, NUMBER, RATE, SIZE, TIME, Unsaid, value

HEADS = re.compile(
    r"(?:(?:added|deleted|replaced) )?"
    r"(?:qdisc [a-z]\w* [0-9a-f]{1,4}:|class [a-z]\w* [0-9a-f]{0,4}:|filter (?:dev|parent|protocol|block|chain)\b)"
)
"""Begins a description."""

_QUOTED = re.compile(r"^(?:>+ ?)+")
"""Begins a line that a letter quotes."""

COMMAND = re.compile(r"\btc\s[^|;]*?\bdev\s+(\S+)(?:\s+(ingress|egress|root|parent\s+\S+))?")
"""The command whose output follows, where a person has kept it: tc leaves out a device that was asked for."""

_GLUED = re.compile(r"(\/\d+)mpu ")
"""What tc 7 prints without a space: ``burst 1600b/1mpu 0b``."""

_SENT = re.compile(r"\s*Sent (\d+) bytes (\d+) pkts? \(dropped (\d+), overlimits (\d+) requeues (\d+)\)")
_DROPPED = re.compile(r"\s*\(dropped (\d+), overlimits (\d+) requeues (\d+)\)")
_BACKLOG = re.compile(r"\s*(?:rate \S+ \S+ )?backlog (\S+) (\d+)p requeues (\d+)")

_TINS = {
    "thresh": ("threshold_rate", RATE),
    "target": ("target", TIME),
    "interval": ("interval", TIME),
    "pk_delay": ("peak_delay", TIME),
    "av_delay": ("avg_delay", TIME),
    "sp_delay": ("base_delay", TIME),
    "backlog": ("backlog_bytes", SIZE),
    "pkts": ("sent_packets", COUNT),
    "bytes": ("sent_bytes", COUNT),
    "way_inds": ("way_indirect_hits", COUNT),
    "way_miss": ("way_misses", COUNT),
    "way_cols": ("way_collisions", COUNT),
    "drops": ("drops", COUNT),
    "marks": ("ecn_mark", COUNT),
    "ack_drop": ("ack_drops", COUNT),
    "sp_flows": ("sparse_flows", COUNT),
    "bk_flows": ("bulk_flows", COUNT),
    "un_flows": ("unresponsive_flows", COUNT),
    "max_len": ("max_pkt_len", COUNT),
    "quantum": ("flow_quantum", COUNT),
}
"""The rows of CAKE's table: the name in JSON, and what the numbers are."""

_CAKE = (
    (re.compile(r"memory used: (\S+) of (\S+)"), ("memory_used", "memory_limit"), SIZE),
    (re.compile(r"capacity estimate: (\S+)"), ("capacity_estimate",), RATE),
    (re.compile(r"min/max network layer size: +(\d+) / +(\d+)"), ("min_network_size", "max_network_size"), COUNT),
    (re.compile(r"min/max overhead-adjusted size: +(\d+) / +(\d+)"), ("min_adj_size", "max_adj_size"), COUNT),
    (re.compile(r"active queues: +(\d+)"), ("active_queues",), COUNT),
    (re.compile(r"average network hdr offset: +(\d+)"), ("avg_hdr_offset",), COUNT),
)
_DUALPI2 = (
    (re.compile(r"credit (-?\d+)(?: \([LC]-queue\))?"), ("credit",), NUMBER),
    (
        re.compile(r"memory_used (\d+) \(max (\d+)\) of memory limit (\d+)"),
        ("memory_used", "max_memory_used", "memory_limit"),
        COUNT,
    ),
)
_LINES = {"cake": _CAKE, "cake_mq": _CAKE, "dualpi2": _DUALPI2}
"""Lines of statistics that are not pairs of a name and a number."""

_PAIR = re.compile(r"([A-Za-z]\w*):? (-?[\d.]+(?:e-?\d+)?\w*)(?: |$)")


@dataclass
class _Described:
    """A discipline, class or filter, while the lines below it are read."""

    made: Qdisc | Class | Filter
    statistics: dict[str, Any] = field(default_factory=dict)
    tins: list[dict[str, Any]] = field(default_factory=list)
    queues: list[dict[str, Any]] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


def is_tc(text: str) -> bool:
    """Whether a text has a line that tc prints."""
    return any(HEADS.match(_QUOTED.sub("", line).lstrip()) for line in text.splitlines())


def read(name: str, text: str) -> State:
    """Read all that tc prints; lines before its first are passed over."""
    device, context, found = "", "", []
    now: _Described | None = None
    for number, line in enumerate(text.splitlines(), 1):
        place = Place(name, number)
        line = _GLUED.sub(r"\1 mpu ", _QUOTED.sub("", line))
        line = line.lstrip() if HEADS.match(line.lstrip()) else f" {line}"
        if HEADS.match(line):
            try:
                made, left = _head(line, place, device, context)
            except Unsaid as error:
                raise Unreadable(place, f"{error}: save what tc prints, unchanged") from None
            now = _Described(made, unread=[Unread(place, f"{made.kind}: {word} is not known") for word in left])
            found.append(now)
        elif asked := COMMAND.search(line):
            device, context = asked[1], asked[2] or ""
            now = None
        elif line.strip() and now is not None:
            _below(now, line, place)
    state = State()
    for each in found:
        state = state.joined(_finished(each))
    return state


def _finished(described: _Described) -> State:
    made, statistics = described.made, described.statistics
    unread = tuple(described.unread)
    if described.tins:
        statistics["tins"] = tuple(described.tins)
    if isinstance(made, Filter):
        return State(filters=(made,), unread=unread)
    if described.queues:
        made = replace(made, options={**made.options, "vqs": tuple(described.queues)})
    # tc 6.1 prints a class without a number where it has none
    made = replace(made, statistics=statistics or None)
    return State(qdiscs=(made,), unread=unread) if isinstance(made, Qdisc) else State(classes=(made,), unread=unread)


def _head(line: str, place: Place, device: str, context: str) -> tuple[Qdisc | Class | Filter, list[str]]:
    """Read a line that begins a description; return that, and the words that are not known."""
    words = line.split()
    if words[0] in ("added", "deleted", "replaced"):
        words.pop(0)
    sort = words.pop(0)
    if sort == "filter":
        return _filter(words, place, device, context, line), []
    if len(words) < 2:
        raise Unsaid(f"{line.strip()}: the line is torn")
    kind, identity, rest = words[0], words[1], words[2:]
    parent = leaf = ""
    while rest and rest[0] in ("dev", "parent", "root", "refcnt", "offloaded", "leaf", "deleted"):
        word = rest.pop(0)
        if word in ("dev", "parent", "refcnt", "leaf"):
            if not rest:
                raise Unsaid(f"{line.strip()}: the line is torn behind {word}")
            text = rest.pop(0)
            device = text if word == "dev" else device
            parent = text if word == "parent" else parent
            leaf = text if word == "leaf" else leaf
    if rest and rest[0].startswith("[Unknown"):
        # This tc is older than the discipline: what it has is not known.
        rest = []
    made, unread = options(kind, rest, printed=True)
    common: dict[str, Any] = {"parent": parent, "options": made, "text": line.strip()}
    if sort == "class":
        return Class(kind, device, identity, place, leaf=leaf, **common), unread
    return Qdisc(kind, device, place, handle="" if identity == "0:" else identity, **common), unread


def _filter(words: list[str], place: Place, device: str, context: str, line: str) -> Filter:
    given = dict(pairwise(words))
    kind = next((words[at + 2] for at, word in enumerate(words[:-2]) if word == "pref"), "")
    shown = context.removeprefix("parent ")
    return Filter(
        given.get("dev", device),
        place,
        kind=kind,
        parent=given.get("parent", shown),
        protocol=given.get("protocol", ""),
        preference=int(given["pref"]) if given.get("pref", "").isdigit() else None,
        target=given.get("flowid", given.get("*flowid", given.get("classid", ""))),
        text=line.strip(),
    )


def _below(now: _Described, line: str, place: Place) -> None:
    """Read a line below the head; a line of no known form is kept as unread."""
    made, words = now.made, line.split()
    try:
        if isinstance(made, Filter):
            _below_filter(now, made, line)
        elif sent := _SENT.match(line) or _DROPPED.match(line):
            names = ("bytes", "packets", "drops", "overlimits", "requeues")[-len(sent.groups()) :]
            now.statistics |= dict(zip(names, map(int, sent.groups()), strict=True))
        elif backlog := _BACKLOG.match(line):
            now.statistics |= {"backlog": value(SIZE, backlog[1]), "qlen": int(backlog[2])}
        elif words[0] == "linklayer" and isinstance(made, Qdisc):
            now.made = replace(made, stab=_stab(words))
        elif made.kind in ("cake", "cake_mq") and words[0] in _TINS and len(words) > 1:
            _row(now, words)
        elif made.kind in ("cake", "cake_mq") and re.fullmatch(r"(\s+(Tin \d|Bulk|Best Effort|Voice|Video))+", line):
            pass  # the head of that table
        elif made.kind == "gred" and words[0] == "vq":
            now.queues.append(dict(options("gred", words, printed=True)[0]))
        elif made.kind == "gred" and re.match(
            r"(Queue size|Dropped packets|Marked packets|Total packets):", line.strip()
        ):
            pass  # counters of a queue of GRED's
        else:
            now.statistics |= _numbers(made.kind, line)
    except Unsaid as error:
        now.unread.append(Unread(place, f"{made.kind}: {line.strip()} ({error})"))


def _below_filter(now: _Described, made: Filter, line: str) -> None:
    if to := re.search(r"mirred \(Egress Redirect to device (\S+)\)", line):
        now.made = replace(made, redirect=to[1])
    elif line.strip().startswith(("match", "action", "eth_type")):
        now.made = replace(made, text=f"{made.text} {line.strip()}")


def _stab(words: Sequence[str]) -> dict[str, Any]:
    pairs = dict(zip(words[::2], words[1::2], strict=False))
    return {name: text if name == "linklayer" else value(NUMBER, text) for name, text in pairs.items()}


def _row(now: _Described, words: Sequence[str]) -> None:
    name, sort = _TINS[words[0]]
    now.tins = now.tins or [{} for _ in words[1:]]
    if len(words) - 1 != len(now.tins):
        raise Unsaid(f"{len(now.tins)} columns are expected")
    for tin, text in zip(now.tins, words[1:], strict=True):
        tin[name] = value(sort, text)


def _numbers(kind: str, line: str) -> dict[str, Any]:
    """Read statistics: pairs of a name and a number, or a line of a form of its own."""
    for pattern, names, sort in _LINES.get(kind, ()):
        if found := pattern.fullmatch(line.strip()):
            return {name: value(sort, text) for name, text in zip(names, found.groups(), strict=True)}
    plain = " ".join(word for word in re.sub(r"[()]", "", line).split() if word != "bytes")
    pairs = list(_PAIR.finditer(plain))
    if "".join(pair[0] for pair in pairs) != plain:
        raise Unsaid("no statistics that are known")
    return {pair[1]: _number(pair[1], pair[2]) for pair in pairs}


def _number(name: str, text: str) -> Any:
    if name in TIMES:
        return value(TIME, text)
    number = value(RATE if name.endswith("rate") else NUMBER, text)
    return int(number) if float(number).is_integer() else number
