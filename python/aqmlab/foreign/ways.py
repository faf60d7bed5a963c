"""The queue of each direction of a router's link, out of the tree of disciplines of a device."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.foreign.disciplines import TXQUEUELEN, Discipline, NoCounterpart, discipline, octets, rate, time
from aqmlab.foreign.model import Class, Place, Qdisc, State, Unreadable, Values

ETHERNET = 14
"""Bytes of Ethernet's header, which Linux counts, and the words of a link layer do not."""

BARE = re.compile(r"ppp|l2tp-|pptp-|3g-|tun\d|wg\d|wwan\d|rmnet")
"""Devices of PPP, tunnels and modems: their queues see packets of IP without a header before it."""

IFB_QUEUE, PPP_QUEUE = 32, 3
"""Packets that Linux lets an IFB and a device of PPP queue, where others have `TXQUEUELEN`."""

MOST_BURST = 0.005
"""Seconds at its rate that a shaper may send at once to be taken as a link of that rate."""

_WITHOUT = ("noqueue", "ingress", "clsact")
_BANDS = ("prio", "drr", "qfq", "ets", "multiq", "mqprio", "mq", "hfsc", "taprio", "cbs", "etf", "plug")
"""Disciplines of which one queue is taken, with a note."""


@dataclass
class Way:
    """One direction: a table of a discipline, its buffer, the link; `origins` has a comment for each key.

    `header` is the length of the device's own header, in bytes, which Linux counts.
    """

    device: str
    rate: float | None = None
    aqm: Mapping[str, Any] = field(default_factory=lambda: {"name": "droptail"})
    buffer: str = f"{TXQUEUELEN} packets"
    framing: str = ""
    header: int = ETHERNET
    link: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    notes: list[tuple[Place, str]] = field(default_factory=list)

    def note(self, key: str, each: Qdisc | Class) -> None:
        """Note the line that a key is from."""
        self.origins[key] = f"{each.place}: {shortened(each.text)}"


def shortened(text: str, most: int = 90) -> str:
    """Return a line of a file as a comment can hold it."""
    plain = "".join(each if each.isprintable() else "?" for each in " ".join(text.split()))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def header(state: State, device: str) -> int:
    """Return the bytes of the header before that of IP which the queue of a device counts.

    An IFB sees packets as the device does that redirects them to it.
    """
    sources = (each.device for each in state.filters if each.redirect == device)
    return 0 if BARE.match(next(sources, re.sub(r"^ifb[4_-]", "", device))) else ETHERNET


def queue_length(state: State, device: str) -> tuple[int, bool]:
    """Return how many packets a device queues, and whether the files state it; otherwise as its sort in Linux."""
    stated = next((each.txqueuelen for each in state.devices if each.name == device), None)
    direct = next((q.options.get("direct_qlen", 0) for q in state.qdiscs if q.device == device and q.kind == "htb"), 0)
    sort = {"ifb": IFB_QUEUE, "ppp": PPP_QUEUE}.get(device[:3], TXQUEUELEN)
    return stated or int(direct) or sort, bool(stated or direct)


def way(state: State, device: str) -> Way:
    """Return the direction that a device sends in; raise `Unreadable` if its discipline is none of ours."""
    root = state.root(device)
    made = Way(device, buffer=f"{queue_length(state, device)[0]} packets", header=header(state, device))
    if root is None or root.kind in _WITHOUT:
        return made
    try:
        _Reading(state, made).of(root)
    except NoCounterpart as error:
        raise Unreadable(root.place, f"{error}: put one of these in its place") from None
    return made


class _Reading:
    """Goes down a tree of disciplines, and fills in a way."""

    def __init__(self, state: State, made: Way) -> None:
        self._state, self._way = state, made
        self._queue, _ = queue_length(state, made.device)

    def of(self, qdisc: Qdisc) -> None:
        """Take over a discipline with all below it."""
        if qdisc.stab and not self._way.framing:
            self._stab(qdisc)
        if qdisc.kind == "htb":
            self._htb(qdisc)
        elif qdisc.kind == "tbf":
            self._tbf(qdisc)
        elif qdisc.kind == "netem":
            self._netem(qdisc)
        elif qdisc.kind in _BANDS:
            self._one_of(qdisc)
        else:
            self._plain(qdisc)

    def _note(self, each: Qdisc | Class, text: str) -> None:
        self._way.notes.append((each.place, text))

    def _stab(self, qdisc: Qdisc) -> None:
        """Take over a size table, which adds to a packet with its device's header."""
        cells = ["atm"] if qdisc.stab.get("linklayer") in ("atm", "adsl") else []
        before = self._way.header
        words = [*cells, "overhead", f"{qdisc.stab.get('overhead', 0) + before:.0f}"]
        if qdisc.stab.get("mpu"):
            words += ["mpu", f"{qdisc.stab['mpu']:.0f}"]
        self._way.framing = " ".join(words)
        counted = f"the {before} bytes of Ethernet's header" if before else "no header of Ethernet"
        self._way.origins["framing"] = f"{qdisc.place}: stab, and {counted}"

    def _made(self, qdisc: Qdisc) -> Discipline:
        made = discipline(qdisc.kind, qdisc.options, qdisc.shown, self._queue)
        for left in made.left:
            self._note(qdisc, left)
        return made

    def _plain(self, qdisc: Qdisc) -> None:
        made, way = self._made(qdisc), self._way
        way.aqm, way.buffer = made.aqm, made.buffer
        way.note("aqm", qdisc)
        way.note("buffer", qdisc)
        if qdisc.kind == "cake_mq":
            self._transmit(qdisc)
        if "bandwidth" in qdisc.options and qdisc.kind in ("cake", "cake_mq"):
            self._limit(qdisc.options["bandwidth"], qdisc)
            words = str(qdisc.options.get("framing", ""))
            if words and not words.startswith("raw"):
                way.framing = words
                way.note("framing", qdisc)

    def _transmit(self, qdisc: Qdisc) -> None:
        """Count the transmit queues of a device, each of which has a discipline of its own."""
        queues = sum(1 for _ in self._state.below(qdisc))
        if queues:
            self._way.aqm = {**self._way.aqm, "queues": queues}
        else:
            self._note(qdisc, "the number of transmit queues is not stated: that of the preset is taken")

    def _limit(self, bits: float, each: Qdisc | Class) -> None:
        if self._way.rate is None or bits < self._way.rate:
            self._way.rate = float(bits)
            self._way.note("rate", each)

    def _below(self, qdisc: Qdisc, parent: str, otherwise: Values) -> None:
        """Take over the discipline inside, or the FIFO that is there without one."""
        inside = self._state.inside(qdisc.device, parent) or next(
            (each for each in self._state.below(qdisc) if each.parent.startswith(qdisc.handle)), None
        )
        if inside is not None:
            self.of(inside)
            return
        kind = "bfifo" if qdisc.kind == "tbf" else "pfifo"
        made = discipline(kind, otherwise, True, self._queue)
        self._way.aqm, self._way.buffer = made.aqm, made.buffer
        self._way.origins["aqm"] = f"{qdisc.place}: {qdisc.kind} has no discipline inside: a FIFO"
        self._way.note("buffer", qdisc)

    def _tbf(self, qdisc: Qdisc) -> None:
        given, way = qdisc.options, self._way
        if not given.get("rate"):
            raise Unreadable(qdisc.place, "tbf without a rate: the line is torn")
        burst = given.get("burst", given.get("buffer", given.get("maxburst", 0)))
        limit = given.get("limit") or given["rate"] / 8 * given.get("latency", 0) + burst
        self._below(qdisc, f"{qdisc.handle}1", {"limit": max(limit, burst, 1)})
        if burst * 8 / given["rate"] <= MOST_BURST or "peakrate" in given:
            self._limit(given["rate"], qdisc)
            if "peakrate" in given:
                self._note(qdisc, f"burst {burst} and peakrate: the link has the rate of tbf, without its burst")
            return
        inside = dict(way.aqm)
        way.aqm = {
            "name": "tbf",
            "rate": rate(given["rate"]),
            "burst": octets(burst),
            "aqm": inside,
            "limit": way.buffer,
        }
        way.note("aqm", qdisc)

    def _netem(self, qdisc: Qdisc) -> None:
        given, way = qdisc.options, self._way
        link = way.link
        if "delay" in given:
            link["delay"] = time(given["delay"])
        if "jitter" in given:
            law = given.get("distribution", "uniform")
            known = law if law in ("uniform", "normal", "pareto") else "normal"
            link["jitter"] = {"law": known, "deviation": time(given["jitter"])}
            link["jitter"] |= {"correlation": given["delay.correlation"]} if "delay.correlation" in given else {}
            if qdisc.shown:
                self._note(qdisc, "tc does not print the distribution of jitter: uniform is taken")
            elif known != law:
                self._note(qdisc, f"distribution {law}: normal is taken")
        if "gemodel.p" in given:
            p, bad = given["gemodel.p"], given.get("gemodel.1-h", 1.0)
            r = given.get("gemodel.r", 1 - p)
            link["loss"] = {
                "good_to_bad": p,
                "bad_to_good": r,
                "loss_bad": bad,
                "loss_good": given.get("gemodel.1-k", 0.0),
            }
        elif "loss" in given:
            link["loss"] = given["loss"]
        if "duplicate" in given:
            link["duplicate"] = given["duplicate"]
        if "reorder" in given:
            link["reorder"] = {"probability": given["reorder"], **({"gap": given["gap"]} if given.get("gap") else {})}
        for key in link:
            way.note(key, qdisc)
        taken = ("delay", "jitter", "delay.correlation", "distribution", "loss", "duplicate", "reorder", "gap", "rate")
        for word in given:
            if word not in (*taken, "limit", "seed", "gemodel.p", "gemodel.r", "gemodel.1-h", "gemodel.1-k"):
                self._note(qdisc, f"{word} of netem has no counterpart")
        if "rate" in given:
            self._limit(given["rate"], qdisc)
        self._below(qdisc, f"{qdisc.handle}1", {"limit": given.get("limit", TXQUEUELEN)})

    def _one_of(self, qdisc: Qdisc) -> None:
        """Take the queue of best effort of a discipline with several; the note says so."""
        state, kind = self._state, qdisc.kind
        inside = [
            each for each in state.qdiscs if each.device == qdisc.device and each.parent.startswith(qdisc.handle or "-")
        ]
        inside = [each for each in inside if qdisc.handle] or [
            each for each in state.qdiscs if each.device == qdisc.device and re.fullmatch(r":\d+", each.parent)
        ]
        if kind == "hfsc":
            self._hfsc(qdisc, inside)
            return
        best = inside[0] if inside else None
        if kind == "prio":
            bands = qdisc.options.get("priomap") or (1,)
            number = f"{qdisc.handle}{bands[0] + 1:x}"
            best = next((each for each in inside if each.parent == number), best)
        if kind == "mq":
            self._note(qdisc, f"{len(inside) or 'several'} queues of the device are one here")
        else:
            self._note(qdisc, f"{kind} has classes that are not told apart here: the queue of best effort is taken")
        if best is not None:
            self.of(best)
        else:
            self._way.buffer = f"{self._queue} packets"
            self._way.origins["aqm"] = f"{qdisc.place}: {kind} has no discipline inside: a FIFO"
            self._way.note("buffer", qdisc)

    def _hfsc(self, qdisc: Qdisc, inside: Sequence[Qdisc]) -> None:
        classes = self._state.classes_of(qdisc.device, qdisc.handle)
        default = f"{qdisc.handle}{qdisc.options.get('default', '')}"
        limits = [each for each in classes if "ul.m2" in each.options]
        for each in limits:
            if each.identity == default or any(one.parent == each.identity for one in classes):
                self._limit(each.options["ul.m2"], each)
        self._note(
            qdisc, "hfsc has no counterpart: its upper limit is the rate, and the default class's queue is taken"
        )
        best = next((each for each in inside if each.parent == default), inside[0] if inside else None)
        if best is not None:
            self.of(best)

    def _htb(self, qdisc: Qdisc) -> None:
        classes = [each for each in self._state.classes_of(qdisc.device, qdisc.handle) if each.kind == "htb"]
        if not classes:
            raise Unreadable(
                qdisc.place,
                f"htb of {qdisc.device} without its classes: give `tc -s -d class show dev {qdisc.device}` too",
            )
        by_name = {each.identity: each for each in classes}
        leaves = [each for each in classes if not any(one.parent == each.identity for one in classes)]
        for each in classes:
            if not each.options.get("rate"):
                raise Unreadable(each.place, f"class {each.identity} of htb without a rate: the line is torn")
        if not leaves:
            raise Unreadable(classes[0].place, f"class {classes[0].identity} is above itself: correct its parent")
        default = f"{qdisc.handle}{qdisc.options.get('default', '')}"
        if default not in {each.identity for each in leaves}:
            self._note(
                qdisc, "htb has no class by default: there packets that no filter names pass unshaped; here none do"
            )
        if len(leaves) == 1 and _burst(leaves[0]) <= MOST_BURST:
            bits, binding = 0.0, leaves[0]
            for each in reversed((leaves[0], *_above(leaves[0], by_name))):
                # A class lends what it has; the one at the top has nobody to borrow from.
                own, before = each.options["rate"], bits
                bits = min(each.options.get("ceil", own), max(own, bits))
                if bits != before:
                    binding = each
            self._limit(bits, binding)
            self._below(qdisc, leaves[0].identity, {})
            self._way.aqm = _in_a_class(self._way.aqm)
            return
        self._tree(qdisc, classes, leaves)

    def _tree(self, qdisc: Qdisc, classes: Sequence[Class], leaves: Sequence[Class]) -> None:
        """Take over a tree of classes as it is."""
        state, way = self._state, self._way
        default = f"{qdisc.handle}{qdisc.options.get('default', '')}"
        tops = [each for each in classes if not any(one.identity == each.parent for one in classes)]
        total = sum(_most(each, classes) for each in tops)
        # The leaf that takes what no filter names comes first among those without code points.
        order = sorted(classes, key=lambda each: each.identity != default)
        tables: dict[str, Any] = {}
        for each in order:
            given = each.options
            table: dict[str, Any] = {"rate": rate(given["rate"]), "ceil": rate(given.get("ceil", given["rate"]))}
            table |= {key: octets(given[key]) for key in ("burst", "cburst") if key in given}
            table |= {"priority": min(7, given["prio"])} if given.get("prio") else {}
            table |= {"quantum": octets(given["quantum"])} if given.get("quantum") else {}
            if any(one.identity == each.parent for one in classes):
                table["parent"] = _named(each.parent)
            if each in leaves:
                inside = state.inside(qdisc.device, each.identity)
                made = self._made(inside) if inside else discipline("pfifo", {}, True, self._queue)
                table |= {"aqm": dict(_in_a_class(made.aqm)), "limit": made.buffer}
                points, unknown = code_points(state, qdisc.device, each.identity)
                if points and each.identity != default:
                    table["dscp"] = points
                elif each.identity != default:
                    unknown = unknown or "no filter leads packets to it"
                    self._note(each, f"class {each.identity}: {unknown}: here it takes nothing")
            tables[_named(each.identity)] = table
        way.aqm = {"name": "htb", "classes": tables}
        way.buffer = "1000000 packets"
        way.note("aqm", qdisc)
        way.origins["buffer"] = "each class has its own limit"
        for top in tops[:1]:
            self._limit(total, top)


def _in_a_class(aqm: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a discipline as it works in a class of HTB, which asks no empty queue: RED never rests."""
    return {**aqm, "ages": False} if aqm["name"] in ("red", "choke") else aqm


def _named(identity: str) -> str:
    return f"c{identity.partition(':')[2] or '0'}"


def _above(leaf: Class, by_name: Mapping[str, Class]) -> list[Class]:
    """Return the classes above one, the nearest first."""
    found: list[Class] = []
    parent = leaf.parent
    while parent in by_name:
        if by_name[parent] in found or parent == leaf.identity:
            raise Unreadable(leaf.place, f"class {leaf.identity} is above itself: correct its parent")
        found.append(by_name[parent])
        parent = by_name[parent].parent
    return found


def _most(top: Class, classes: Sequence[Class]) -> float:
    """Return the most that a class and those below it send: its own rate, or the sum of theirs if that is more."""
    return max(float(top.options["rate"]), sum(_most(each, classes) for each in classes if each.parent == top.identity))


def _burst(leaf: Class) -> float:
    """Return how many seconds at its ceiling a class may send at once."""
    ceil = leaf.options.get("ceil", leaf.options["rate"])
    return float(leaf.options.get("cburst", leaf.options.get("burst", 0)) * 8 / ceil) if ceil else 0.0


_NAMES = {
    **{0: "BE", 1: "LE", 44: "VA", 45: "NQB", 46: "EF"},
    **{8 * number: f"CS{number}" for number in range(1, 8)},
    **{8 * band + 2 * drop: f"AF{band}{drop}" for band in (1, 2, 3, 4) for drop in (1, 2, 3)},
}


def code_points(state: State, device: str, identity: str) -> tuple[list[str], str]:
    """Return the code points by which filters lead packets to a class, and how they do so otherwise."""
    found: list[str] = []
    otherwise = ""
    for each in state.filters:
        if each.device != device or each.target != identity:
            continue
        number = _code_point(each.text)
        if number in _NAMES:
            found.append(_NAMES[number])
        elif each.kind == "fw":
            otherwise = "a firewall's marks lead packets to it"
        else:
            otherwise = f"a filter that has no counterpart leads packets to it ({shortened(each.text, 60)})"
    return list(dict.fromkeys(found)), otherwise


def _code_point(text: str) -> int | None:
    """Return the code point that a filter of u32 or flower matches, whole."""
    if tos := re.search(r"(?:tos|dsfield|priority|ip_tos|ip6? dsfield) (0x[0-9a-f]+|\d+)(?:[ /](0x[0-9a-f]+))?", text):
        value, mask = int(tos[1], 0), int(tos[2], 16) if tos[2] else 0xFC
        return value >> 2 if mask & 0xFC == 0xFC else None
    # As tc prints it: the second byte of the header.
    if shown := re.search(r"match 00([0-9a-f]{2})0000/00(fc|ff)0000 at 0", text):
        return int(shown[1], 16) >> 2
    if shown := re.search(r"'value': '([0-9a-f]{1,2})0000', 'mask': '(fc|ff)0000'", text):
        return int(shown[1], 16) >> 2
    return None
