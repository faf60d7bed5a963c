"""What configurations make of a router, as the disciplines that their programs would set up.

# Sources
sqm-scripts: its defaults, its functions, and the scripts simple, simplest, simplest_tbf, piece_of_cake and layer_cake;
qosmate: its script, and the configuration that it comes with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from aqmlab.foreign.model import Class, Filter, Place, Qdisc, Section, Shaper, State, Unread, Unreadable, Values
from aqmlab.foreign.shapers import within
from aqmlab.foreign.tc_options import options
from aqmlab.foreign.words import Unsaid

_FRAME = 33 * 53
"""Bytes of a full packet in ATM's cells, for which sqm-scripts lengthen the target of slow links."""

_PRIORITY = (0xC0, 0xB8, 0x90)
"""CS6, EF and AF42, in the byte of the header: the priority class of ``simple.qos``."""

_QUANTA = {"e": (300, 300, 300), "i": (500, 1500, 300)}
"""Bytes that ``simple.qos`` gives each queue in turn, in the three classes of what leaves and of what comes in."""

_BACKGROUND = (0x20,)
"""CS1."""


def configured(state: State, of: str = "") -> State:
    """Return a state with the disciplines that its configurations set up, on devices where the kernel printed none.

    Of several queues or circuits, `of` names the one that is taken, otherwise the first.
    """
    made = state
    for section in state.sections:
        if section.kind == "sqm.queue":
            made = _added(made, _sqm(section))
        elif section.kind == "qosmate.settings":
            made = _added(made, _qosmate(section, state.sections))
    shapers = [each for each in state.shapers if each.enabled and each.name == (of or each.name)]
    if of and not shapers:
        names = ", ".join(dict.fromkeys(each.name for each in state.shapers)) or "no queue"
        raise Unreadable(_file(state), f"--of {of}: there is {names[:200]}")
    chosen = shapers[0].name if shapers else ""
    left = dict.fromkeys(each.name for each in state.shapers if each.name != chosen)
    if left and shapers:
        text = f"{len(left)} other queues: {', '.join(left)[:120]}; --of NAME takes another than {chosen}"
        made = made.joined(State(unread=(Unread(shapers[0].place, text),)))
    for each in shapers:
        if each.name == chosen:
            bits, unread = within(each, state.sections)
            made = _added(made, _shaper(replace(each, rate=bits), made, shapers)).joined(State(unread=unread))
    return made


def _added(state: State, more: State) -> State:
    """Add disciplines to devices that have none."""
    known = {each.device for each in state.qdiscs}
    return state.joined(
        State(
            qdiscs=tuple(each for each in more.qdiscs if each.device not in known),
            classes=tuple(each for each in more.classes if each.device not in known),
            filters=more.filters,
            unread=more.unread,
        )
    )


class _Tree:
    """The disciplines of a device, written in tc's words."""

    def __init__(self, device: str, place: Place, text: str) -> None:
        self._device, self._place, self._text = device, place, text
        self.qdiscs: list[Qdisc] = []
        self.classes: list[Class] = []
        self.filters: list[Filter] = []
        self.unread: list[Unread] = []

    def _options(self, words: str) -> tuple[str, Values]:
        kind, *rest = words.split()
        try:
            found, unread = options(kind, rest)
        except Unsaid as error:
            raise Unreadable(self._place, f"{words}: {error}") from None
        self.unread += [Unread(self._place, f"{kind}: {each} is not known") for each in unread]
        return kind, found

    def qdisc(self, words: str, handle: str = "", parent: str = "", stab: Values | None = None) -> None:
        kind, found = self._options(words)
        text = f"{self._text}, taken as {words}"
        self.qdiscs.append(Qdisc(kind, self._device, self._place, handle, parent, found, None, stab or {}, False, text))

    def htb(self, identity: str, parent: str, words: str) -> None:
        _, found = self._options(f"htb {words}")
        self.classes.append(
            Class(
                "htb",
                self._device,
                identity,
                self._place,
                parent,
                "",
                found,
                None,
                False,
                f"{self._text}, taken as {words}",
            )
        )

    def lead(self, identity: str, bytes_: Sequence[int]) -> None:
        """Lead packets with these values in the byte of their code point to a class."""
        self.filters += [
            Filter(self._device, self._place, "u32", "1:", "ip", None, identity, "", f"match ip dsfield {each:#x} 0xfc")
            for each in bytes_
        ]

    def redirect(self, to: str) -> None:
        self.filters.append(Filter(self._device, self._place, parent="ffff:", redirect=to, text=self._text))

    def state(self) -> State:
        return State(
            qdiscs=tuple(self.qdiscs),
            classes=tuple(self.classes),
            filters=tuple(self.filters),
            unread=tuple(self.unread),
        )


def _rate(section: Section, option: str) -> int:
    """Return a rate of a section in kbit/s."""
    text = section.options.get(option, "0").strip() or "0"
    if not re.fullmatch(r"\d{1,9}", text):
        raise Unreadable(section.at(option), f"option {option} '{text}': must be a whole number of kbit/s")
    return int(text)


def _sqm(section: Section) -> State:
    given = section.options
    if given.get("enabled", "0") != "1":
        return State(unread=(Unread(section.place, f"sqm queue '{section.name}' is not enabled"),))
    device = given.get("interface") or section.name
    if not device:
        raise Unreadable(section.place, "sqm queue without option interface: add it")
    found = State()
    for letter, option, on in (("e", "upload", device), ("i", "download", f"ifb4{device}")):
        kbit = _rate(section, option)
        if kbit:
            tree = _Tree(on, section.at(option), f"option {option} '{kbit}'")
            _sqm_way(section, tree, letter, kbit)
            found = found.joined(tree.state())
    if _rate(section, "download"):
        tree = _Tree(device, section.at("download"), "sqm redirects what comes in")
        tree.redirect(f"ifb4{device}")
        found = found.joined(tree.state())
    return found


def _sqm_way(section: Section, tree: _Tree, letter: str, kbit: int) -> None:
    given = section.options
    script = given.get("script", "simple.qos")
    kind = given.get("qdisc", "fq_codel")
    cake = kind.startswith("cake") or script in ("piece_of_cake.qos", "layer_cake.qos")
    advanced = given.get("qdisc_advanced", "0") == "1"
    really = advanced and given.get("qdisc_really_really_advanced", "0") == "1"
    extra = given.get(f"{letter}qdisc_opts", "") if really else ""
    ignored = given.get("squash_ingress", "1") != "0" if advanced else True
    washed = given.get("squash_dscp", "1") != "0" if advanced else True
    stab, layer = _layer(section, cake)
    if cake:
        tiers = "diffserv3" if script == "layer_cake.qos" and not (letter == "i" and ignored) else "besteffort"
        if script in ("simple.qos", "") and not (letter == "i" and ignored):
            tiers = "diffserv3"
        wash = " wash" if letter == "i" and washed else ""
        tree.qdisc(f"cake bandwidth {kbit}kbit {layer} {tiers} nat{wash} {extra}", "1:", stab=stab)
        return
    leaf = f"{kind} {_leaf(section, letter, kind, kbit, advanced, really)} {extra}"
    burst = max(1600, kbit // 8)
    shaper = f"burst {burst} cburst {burst}"
    if script == "simplest_tbf.qos":
        tree.qdisc(f"tbf rate {kbit}kbit burst {burst} latency 300ms", "1:", stab=stab)
        tree.qdisc(leaf, "110:", "1:1")
        return
    three = script == "simple.qos" and not (letter == "i" and ignored)
    if script not in ("simple.qos", "simplest.qos"):
        tree.unread.append(Unread(section.at("script"), f"script {script}: taken as simplest.qos"))
    tree.qdisc(f"htb default {12 if three else 10}", "1:", stab=stab)
    tree.htb("1:1", "1:", f"rate {kbit}kbit ceil {kbit}kbit {shaper}")
    if not three:
        tree.htb("1:10", "1:1", f"rate {kbit}kbit ceil {kbit}kbit prio 0 {shaper}")
        tree.qdisc(leaf, "110:", "1:10")
        return
    least, ceil = (128 if letter == "e" else 32), max(kbit - 16, 1)
    for number, low, high, points in (
        (11, least, max(kbit // 3, least), _PRIORITY),
        (12, max(kbit // 6, 1), ceil, ()),
        (13, max(kbit // 6, 1), ceil, _BACKGROUND),
    ):
        tree.htb(f"1:{number}", "1:1", f"rate {low}kbit ceil {high}kbit prio {number - 10} {shaper}")
        fair = kind.endswith("fq_codel") or kind in ("fq_pie", "drr")
        quantum = f" quantum {_QUANTA[letter][number - 11]}" if fair and "quantum" not in extra else ""
        tree.qdisc(f"{leaf}{quantum}", f"{number}0:", f"1:{number}")
        tree.lead(f"1:{number}", points)


def _leaf(section: Section, letter: str, kind: str, kbit: int, advanced: bool, really: bool) -> str:
    """Return the words of sqm-scripts for the discipline in a class."""
    given = section.options
    words = []
    limit = given.get(f"{letter}limit", "") if really else ""
    if kind == "bfifo":
        words.append(f"limit {limit or 1001 * 1500}")
    elif kind.endswith(("codel", "pie")) or kind in ("sfq", "pfifo"):
        words.append(f"limit {limit or 1001}")
    if kind.endswith("codel") or kind == "pie":
        target = (given.get(f"{letter}target", "") if really else "").lower()
        if target in ("", "auto"):
            micros = max(5000, 1_000_000 * _FRAME * 8 // 1000 // kbit)
            words.append(f"target {micros}us")
            words += [f"interval {95_000 + micros}us"] if kind.endswith("codel") else []
        elif target != "default":
            words.append(f"target {target}")
    elif kind == "fq_pie" and really and re.match(r"\d", given.get(f"{letter}target", "")):
        words.append(f"target {given[f'{letter}target']}")
    ecn = given.get("ingress_ecn" if letter == "i" else "egress_ecn", "ECN") if advanced else "ECN"
    if kind in ("codel", "fq_codel", "red", "pie", "fq_pie"):
        words += ["ecn"] if ecn.upper() == "ECN" else ["noecn"]
    return " ".join(words)


def _layer(section: Section, cake: bool) -> tuple[Mapping[str, Any], str]:
    """Return the size table, and the words for CAKE, of the link layer."""
    given = section.options
    layer = given.get("linklayer", "none")
    if layer == "none":
        return {}, ""
    overhead = given.get("overhead", "0") or "0"
    if not re.fullmatch(r"-?\d{1,3}", overhead):
        raise Unreadable(section.at("overhead"), f"option overhead '{overhead}': must be a whole number of bytes")
    mpu = given.get("tcMPU", "0") if given.get("linklayer_advanced", "0") == "1" else "0"
    mechanism = given.get("linklayer_adaptation_mechanism", "default")
    cells = layer in ("atm", "adsl")
    if cake and mechanism in ("default", "cake"):
        words = [*(["atm"] if cells else []), "overhead", overhead, *(["mpu", mpu] if mpu not in ("", "0") else [])]
        return {}, " ".join(words)
    table = {"linklayer": "atm" if cells else "ethernet", "overhead": float(overhead)}
    return table | ({"mpu": float(mpu)} if mpu.isdigit() and int(mpu) else {}), ""


def _qosmate(section: Section, sections: Sequence[Section]) -> State:
    merged: dict[str, str] = {}
    for each in sections:
        if each.kind.startswith("qosmate."):
            # Sections such as `autorate` are enabled by themselves.
            own = each.kind == "qosmate.global"
            merged |= {name: value for name, value in each.options.items() if own or name != "enabled"}
    if merged.get("enabled", "1") != "1":
        return State(unread=(Unread(section.place, "qosmate is not enabled"),))
    device = merged.get("WAN", "")
    if not device:
        raise Unreadable(section.place, "qosmate without option WAN: add it")
    root = merged.get("ROOT_QDISC", "hfsc")
    layer = _preset(merged)
    found = State()
    for letter, option, on in (("E", "UPRATE", device), ("I", "DOWNRATE", f"ifb-{device}")):
        kbit = _rate(section, option)
        if not kbit:
            raise Unreadable(
                section.at(option), f"option {option}: must be above 0 kbit/s: qosmate shapes both directions"
            )
        tree = _Tree(on, section.at(option), f"option {option} '{kbit}'")
        if root == "cake":
            tree.qdisc(_qosmate_cake(merged, letter == "I", kbit, _rate(section, "DOWNRATE"), layer), "1:")
        else:
            leaf = merged.get("nongameqdisc", "fq_codel")
            more = f" {merged.get('nongameqdiscoptions', '')}" if leaf == "cake" else ""
            tree.qdisc("hfsc default 13", "1:")
            curve = {"ul.m2": kbit * 1000.0, "ls.m2": kbit * 1000.0}
            for identity, parent in (("1:1", "1:"), ("1:13", "1:1")):
                tree.classes.append(
                    Class("hfsc", on, identity, section.at(option), parent, "", curve, None, False, f"{option} {kbit}")
                )
            tree.qdisc(f"{leaf}{more}", "130:", "1:13")
            tree.unread.append(Unread(section.place, f"qosmate's classes of {root}, which its rules choose"))
            if layer:
                tree.unread.append(Unread(section.place, f"{layer}: the link layer beside hfsc has no counterpart"))
        found = found.joined(tree.state())
    tree = _Tree(device, section.place, "qosmate redirects what comes in")
    tree.redirect(f"ifb-{device}")
    return found.joined(tree.state())


def _preset(given: Mapping[str, str]) -> str:
    """Return CAKE's words for the link layer of qosmate."""
    words = [
        given.get("COMMON_LINK_PRESETS", ""),
        given.get("LINK_COMPENSATION", ""),
        given.get("ETHER_VLAN_KEYWORD", ""),
    ]
    words += [f"overhead {given['OVERHEAD']}"] if given.get("OVERHEAD") else []
    words += [f"mpu {given['MPU']}"] if given.get("MPU") else []
    return " ".join(word for word in words if word)


def _qosmate_cake(given: Mapping[str, str], incoming: bool, kbit: int, down: int, layer: str) -> str:
    way = "INGRESS" if incoming else "EGRESS"
    words = [f"cake bandwidth {kbit}kbit", given.get(f"PRIORITY_QUEUE_{way}", "diffserv4")]
    if given.get("HOST_ISOLATION", "0") == "1":
        words.append("dual-dsthost" if incoming else "dual-srchost")
    words += ["ingress"] if incoming else []
    words += ["nat"] if given.get(f"NAT_{way}", "0") == "1" else []
    words += ["wash"] if given.get("WASHDSCPDOWN" if incoming else "WASHDSCPUP", "0") == "1" else []
    words += ["ack-filter"] if not incoming and given.get("ACK_FILTER_EGRESS") == "1" else []
    if not incoming and given.get("ACK_FILTER_EGRESS") == "auto" and kbit * 15 <= down:
        words.append("ack-filter")  # qosmate does so where the uplink is a fifteenth of the downlink, or less
    words += [f"rtt {given['RTT']}ms"] if given.get("RTT", "").isdigit() else []
    words += ["autorate-ingress"] if incoming and given.get("AUTORATE_INGRESS") == "1" else []
    return " ".join([*words, layer, given.get(f"EXTRA_PARAMETERS_{way}", "")])


def _shaper(shaper: Shaper, state: State, shapers: Sequence[Shaper]) -> State:
    """Set up a shaper of another program: CAKE if that has the rate, otherwise a discipline in a class of HTB."""
    known = {each.device for each in state.qdiscs}
    tree = _Tree(shaper.device, shaper.place, shaper.text)
    bits = shaper.rate
    if bits is None or not shaper.enabled:
        return State(unread=(Unread(shaper.place, f"{shaper.device}: no rate is shaped"),))
    kind = shaper.kind or "cake"
    words = {**shaper.options, **({"framing": shaper.framing} if shaper.framing else {})}
    if shaper.least is not None or shaper.most is not None:
        tree.unread.append(
            Unread(shaper.place, f"{shaper.device}: its rate changes with the load; {bits:.0f} bit/s is taken")
        )
    if "bandwidth" in words and kind == "cake":
        tree.qdiscs.append(Qdisc(kind, shaper.device, shaper.place, "1:", "", words, None, {}, False, shaper.text))
    else:
        tree.qdisc("htb default 10", "1:")
        tree.htb("1:10", "1:", f"rate {bits:.0f}bit ceil {bits:.0f}bit")
        tree.qdiscs.append(
            Qdisc(kind, shaper.device, shaper.place, "110:", "1:10", words, None, {}, False, shaper.text)
        )
    if shaper.way == "down" and shaper.device not in known:
        upper = next((each.device for each in shapers if each.way == "up" and each.name == shaper.name), "")
        if upper:
            tree.filters.append(Filter(upper, shaper.place, parent="ffff:", redirect=shaper.device, text=shaper.text))
    return tree.state()


def _file(state: State) -> Place:
    return state.sources[0].place if state.sources else Place("the files")
