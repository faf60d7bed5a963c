"""``tc -j qdisc show``, ``tc -j class show`` and ``tc -j filter show``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from aqmlab.foreign import netem
from aqmlab.foreign.model import Class, Filter, Place, Qdisc, State, Unread, Unreadable, Values
from aqmlab.foreign.tc_options import finished
from aqmlab.foreign.words import FLAGS, LISTS, VALUES, Unsaid, from_json, put, set_flag

Document = Mapping[str, Any]

COUNTERS = ("bytes", "packets", "drops", "overlimits", "requeues", "backlog", "qlen")
"""The counters of every discipline and class."""

TIMES = ("ldelay", "drop_next", "delay", "delay_c", "delay_l", "target", "interval")
"""Statistics that are times, in µs in JSON; of CAKE's tins besides all that end in ``_us``."""

_RATES = ("capacity_estimate", "threshold_rate", "avg_dq_rate")

_NAMES = {
    "lat": "latency",
    "split_gso": "split-gso",
    "dp_cnt": "DPs",
    "dp_default": "default",
    "step-thresh-us": "step_thresh",
    "memory-limit": "memory_limit",
    "min-qlen-step": "min_qlen_step",
    "coupling": "coupling_factor",
    "c-protection": "classic_protection",
}
"""Names of options that are no words of tc's, with the word."""

_WORDS = {
    ("ack-filter", "enabled"): "ack-filter",
    ("ack-filter", "aggressive"): "ack-filter-aggressive",
    ("drop-overload", "drop"): "drop_on_overload",
    ("drop-overload", "overflow"): "overflow",
    ("drop-early", "drop-dequeue"): "drop_dequeue",
    ("drop-early", "drop-enqueue"): "drop_enqueue",
    ("ecn-mask", "l4s-ect"): "l4s_ect",
    ("ecn-mask", "any-ect"): "any_ect",
}
"""Options whose value is, in other words, a word that stands alone."""

_SILENT = (("ack-filter", "disabled"), ("fwmark", "0"))
_CELLS = ("burst_cell", "cburst_cell", "mpu_rate", "mpu_ceil", "overhead_rate", "overhead_ceil")
"""What a class of HTB has beside its words."""


def is_tc(document: object) -> bool:
    """Whether JSON is that of tc."""
    return (
        isinstance(document, list)
        and bool(document)
        and all(isinstance(each, dict) for each in document)
        and all("kind" in each or "class" in each for each in document)
        and any(key in document[0] for key in ("handle", "pref", "protocol", "parent", "dev"))
    )


def read(documents: list[Document], at: Callable[[int], Place]) -> State:
    """Read a list of tc's; `at` returns the place of each entry by its number, from 0."""
    states = [_read(each, at(number)) for number, each in enumerate(documents)]
    whole = State()
    for each in states:
        whole = whole.joined(each)
    return whole


def _read(document: Document, place: Place) -> State:
    try:
        if "class" in document:
            return _class(document, place)
        if "pref" in document or "protocol" in document:
            return _filter(document, place)
        return _qdisc(document, place)
    except (Unsaid, AttributeError, KeyError, TypeError, ValueError) as error:
        name = document.get("kind") or document.get("class")
        raise Unreadable(place, f"{name}: {error}: save what `tc -s -d -j` prints, unchanged") from None


def _qdisc(document: Document, place: Place) -> State:
    kind = str(document["kind"])
    given = dict(document.get("options") or {})
    counted = {name: given.pop(name) for name in list(given) if name.startswith(("prob_", "forced_"))}
    found, unread = options(kind, given)
    own = ("kind", "handle", "dev", "parent", "root", "refcnt", "options", "stab", "offloaded", "ingress_block")
    counted |= {name: each for name, each in document.items() if name not in own}
    qdisc = Qdisc(
        kind,
        str(document.get("dev", "")),
        place,
        handle=_handle(document.get("handle", "")),
        parent=str(document.get("parent", "")),
        options=found,
        statistics=statistics(counted) if counted else None,
        stab={name: each for name, each in (document.get("stab") or {}).items() if each},
        text=f"{kind} of {document.get('dev', 'a device')}",
    )
    return State(qdiscs=(qdisc,), unread=tuple(Unread(place, f"{kind}: {text} is not known") for text in unread))


def _handle(text: Any) -> str:
    return "" if str(text) in ("0:", "") else str(text)


def _class(document: Document, place: Place) -> State:
    kind = str(document["class"])
    own = ("class", "handle", "parent", "root", "leaf", "stats", "dev")
    given = {name: each for name, each in document.items() if name not in own and name not in _CELLS}
    found, unread = options(kind, given)
    leaf = str(document.get("leaf", "")).removeprefix("0x").removesuffix(":")
    made = Class(
        kind,
        str(document.get("dev", "")),
        str(document["handle"]),
        place,
        parent=str(document.get("parent", "")),
        leaf=f"{leaf}:" if leaf else "",
        options=found,
        statistics=statistics(document["stats"]) if document.get("stats") else None,
        text=f"class {document['handle']}",
    )
    return State(classes=(made,), unread=tuple(Unread(place, f"{kind}: {text} is not known") for text in unread))


def _filter(document: Document, place: Place) -> State:
    given = document.get("options") or {}
    to = [each["to_dev"] for each in given.get("actions", ()) if each.get("mirred_action") == "redirect"]
    return State(
        filters=(
            Filter(
                str(document.get("dev", "")),
                place,
                kind=str(document.get("kind", "")),
                parent=str(document.get("parent", "")),
                protocol=str(document.get("protocol", "")),
                preference=document.get("pref"),
                target=str(given.get("flowid") or given.get("classid") or ""),
                redirect=str(to[0]) if to else "",
                text=str(document),
            ),
        )
    )


def options(kind: str, given: Document) -> tuple[Values, list[str]]:
    """Return the options of a discipline or class, and those that are not known, as texts."""
    if kind == "netem":
        return netem.from_document(given), []
    found: dict[str, Any] = {}
    unread: list[str] = []
    for name, stated in given.items():
        name = name.strip()  # `priomap` of tc 7 has spaces around it
        word = _NAMES.get(name, name)
        if kind == "dualpi2":
            word = word.replace("-", "_")
        if (name, stated) in _SILENT if isinstance(stated, str) else False:
            continue
        if kind == "gred" and name == "vqs":
            found |= {"vqs": tuple(_queue(each) for each in stated)} if stated else {}
        elif isinstance(stated, str) and (name, stated) in _WORDS:
            set_flag(found, _WORDS[name, stated])
        elif isinstance(stated, str) and stated in FLAGS.get(kind, ()):
            set_flag(found, stated)
        elif stated is False:
            if name in ("pacing", "split_gso"):
                set_flag(found, {"pacing": "nopacing", "split_gso": "no-split-gso"}[name])
        elif stated is True or stated is None:
            (set_flag(found, word) if word in FLAGS.get(kind, ()) else unread.append(name))
        elif name in LISTS and isinstance(stated, list):
            found[name] = tuple(stated)
        elif name == "classic_protection" or word == "classic_protection":
            found[word] = stated / 100
        elif word in VALUES.get(kind, {}):
            put(kind, found, word, stated, from_json)
        elif name in ("ce_threshold_selector", "ce_threshold_mask"):
            found["ce_threshold_selector"] = "/".join([*found.get("ce_threshold_selector", "").split(), f"{stated:#x}"])
        else:
            unread.append(f"{name} {stated}")
    return finished(kind, found), unread


def _queue(given: Document) -> Values:
    """Return the options of one of GRED's queues; its counters are left out."""
    return {
        word: from_json(VALUES["gred"][word], number)
        for word, number in given.items()
        if word in VALUES["gred"] and not isinstance(number, bool)
    } | {word: True for word in FLAGS["gred"] if given.get(word) is True}


def statistics(given: Document) -> Values:
    """Return statistics in SI units, by their names with ``_``."""
    return dict(_statistics(given))


def _statistics(given: Document) -> Iterator[tuple[str, Any]]:
    for name, number in given.items():
        word = name.replace("-", "_")
        if word == "tins":
            yield word, tuple(statistics(each) for each in number)
        elif word.endswith("_us"):
            yield word.removesuffix("_us"), from_json("time", number)
        elif word in TIMES:
            yield word, from_json("time", number)
        elif word in _RATES:
            yield word, from_json("rate", number)
        else:
            yield word, number
