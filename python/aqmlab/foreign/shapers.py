"""Configurations of cake-autorate and of LibreQoS.

# Sources
The configuration that cake-autorate comes with; LibreQoS' examples of its list of circuits and of its network.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from typing import Any

from aqmlab.foreign.model import Place, Section, Shaper, State, Unread, Unreadable

_AUTORATE = re.compile(r"^\s*(?:(?:min|base|max)_([du]l)_shaper_rate_kbps|[du]l_if)=", re.MULTILINE)
_LINE = re.compile(r"^\s*(?:export\s+)?(\w+)=(?:\"([^\"]*)\"|'([^']*)'|([^\s#;]*))")
_CIRCUIT = ("Circuit ID", "Download Max Mbps", "Upload Max Mbps")


def is_autorate(text: str) -> bool:
    """Whether a text has the rates of cake-autorate."""
    return bool(re.search(r"_[du]l_shaper_rate_kbps=", text) and _AUTORATE.search(text))


def autorate(name: str, text: str) -> State:
    """Read the rates between which cake-autorate moves those of CAKE."""
    given: dict[str, tuple[str, Place]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if found := _LINE.match(line):
            given[found[1]] = (found[2] or found[3] or found[4] or "", Place(name, number))
    shapers = []
    for short, way, device in (("ul", "up", "wan"), ("dl", "down", "ifb-wan")):
        rates = {}
        for part in ("min", "base", "max"):
            text_, place = given.get(f"{part}_{short}_shaper_rate_kbps", ("", Place(name)))
            if text_ and not re.fullmatch(r"\d{1,9}", text_):
                raise Unreadable(place, f"{part}_{short}_shaper_rate_kbps={text_}: must be a whole number of kbit/s")
            rates[part] = int(text_) * 1e3 if text_ else None
        if rates["base"] is None:
            continue
        on, _ = given.get(f"{short}_if", (device, Place(name)))
        moves = given.get(f"adjust_{short}_shaper_rate", ("1", Place(name)))[0] == "1"
        place = given[f"base_{short}_shaper_rate_kbps"][1]
        bounds: dict[str, Any] = {"least": rates["min"], "most": rates["max"]} if moves else {}
        line = f"base_{short}_shaper_rate_kbps={rates['base'] / 1e3:.0f}"
        shapers.append(
            Shaper(
                on or device,
                way,
                place,
                rates["base"],
                "cake",
                {"bandwidth": rates["base"]},
                text=line,
                name="cake-autorate",
                **bounds,
            )
        )
    if not shapers:
        raise Unreadable(
            Place(name), "cake-autorate without base_dl_shaper_rate_kbps and base_ul_shaper_rate_kbps: add them"
        )
    return State(shapers=tuple(shapers))


def is_circuits(text: str) -> bool:
    """Whether a text is LibreQoS' list of circuits."""
    return any(all(column in line for column in _CIRCUIT) for line in text.splitlines()[:200])


def circuits(name: str, text: str) -> State:
    """Read the circuits, each of which has a queue of its own in both directions."""
    lines = text.splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if all(column in line for column in _CIRCUIT))
    rows = csv.DictReader(io.StringIO("".join(lines[first:])))
    shapers: list[Shaper] = []
    seen: set[str] = set()
    try:
        for row in rows:
            place = Place(name, first + rows.line_num)
            circuit = (row.get("Circuit ID") or "").strip()
            if not circuit or circuit.startswith("#") or circuit in seen:
                continue
            seen.add(circuit)
            shapers += _circuit(place, circuit, row)
    except csv.Error as error:
        raise Unreadable(Place(name, first + rows.line_num), f"{error}: save the table again") from None
    if not shapers:
        raise Unreadable(Place(name, first + 1), "no circuit: add a line for each")
    return State(shapers=tuple(shapers))


def _circuit(place: Place, circuit: str, row: Mapping[str | None, Any]) -> list[Shaper]:
    queues = str(row.get("sqm") or "").strip().lower().split("/")
    made = []
    for at, (way, column) in enumerate((("down", "Download Max Mbps"), ("up", "Upload Max Mbps"))):
        text = str(row.get(column) or "").strip()
        try:
            bits = float(text) * 1e6
        except ValueError:
            bits = -1.0
        if not 0 < bits < 1e12:
            raise Unreadable(place, f"{column} {text}: must be a rate in Mbit/s")
        kind = (queues[min(at, len(queues) - 1)] or "cake").replace("none", "pfifo")
        if kind not in ("cake", "fq_codel", "pfifo"):
            raise Unreadable(place, f"sqm {kind}: must be cake, fq_codel or none")
        # A shaper of HTB, and below it CAKE without one.
        found = {"diffserv4": True} if kind == "cake" else {}
        name = f"circuit {circuit}"
        made.append(
            Shaper(
                f"{name} {way}",
                way,
                place,
                bits,
                kind,
                found,
                text=f"{name}: {column} {text}",
                name=circuit,
                parent=str(row.get("Parent Node") or ""),
            )
        )
    return made


def is_network(document: object) -> bool:
    """Whether JSON is LibreQoS' tree of sites."""
    return isinstance(document, dict) and any(
        isinstance(each, dict) and "downloadBandwidthMbps" in each for each in document.values()
    )


def network(name: str, document: Mapping[str, Any]) -> State:
    """Read the sites, whose rates all below them share."""
    sections: list[Section] = []

    def below(nodes: Mapping[str, Any], parent: str, depth: int) -> None:
        if depth > 30:
            raise Unreadable(Place(name), f"{parent}: nested too deeply: no network has so many levels")
        for called, node in nodes.items():
            if not isinstance(node, dict):
                raise Unreadable(Place(name), f"{called}: must be a site with its rates")
            rates = {}
            for way, key in (("down", "downloadBandwidthMbps"), ("up", "uploadBandwidthMbps")):
                number = node.get(key)
                if not isinstance(number, int | float) or isinstance(number, bool) or not 0 < number < 1e6:
                    raise Unreadable(Place(name), f"{called}: {key} {number}: must be a rate in Mbit/s")
                rates[way] = f"{number * 1e6:.0f}"
            sections.append(Section("libreqos.node", called, Place(name), {**rates, "parent": parent}))
            below(node.get("children") or {}, called, depth + 1)

    below(document, "", 0)
    return State(sections=tuple(sections))


def within(shaper: Shaper, sections: tuple[Section, ...]) -> tuple[float | None, tuple[Unread, ...]]:
    """Return the rate of a circuit, which its sites may limit, and a note if other circuits share these."""
    nodes = {each.name: each for each in sections if each.kind == "libreqos.node"}
    bits, parent, seen = shaper.rate, shaper.parent, set()
    while parent in nodes and parent not in seen and bits is not None:
        seen.add(parent)
        bits = min(bits, float(nodes[parent].options[shaper.way]))
        parent = nodes[parent].options["parent"]
    left = f"{shaper.text}: other circuits of {shaper.parent} are left out"
    return bits, (Unread(shaper.place, left),) if seen else ()
