"""Attributes of ns-3 in C++, Python and the files of ConfigStore, as far as they state a bottleneck.

# Sources
ns-3's ConfigStore, and the attributes of its queue discs, ``PointToPointNetDevice`` and ``PointToPointChannel``.
"""

from __future__ import annotations

import re

from aqmlab.foreign.disciplines import rate
from aqmlab.foreign.model import Path, Place, State, Unread, Unreadable
from aqmlab.foreign.ns import rate_of, table, time_of

_KINDS = {
    "RedQueueDisc": ("red", "ns3"),
    "CoDelQueueDisc": ("codel", "ns3"),
    "FqCoDelQueueDisc": ("fq_codel", ""),
    "PieQueueDisc": ("pie", "ns3"),
    "FqPieQueueDisc": ("fq_pie", ""),
    "CobaltQueueDisc": ("cobalt", "ns3"),
    "PfifoFastQueueDisc": ("droptail", ""),
    "FifoQueueDisc": ("droptail", ""),
    "DropTailQueue": ("droptail", ""),
}
_LIMITS = {"red": "25 packets", "pie": "25 packets", "fq_codel": "10240 packets", "fq_pie": "10240 packets"}
"""The buffers of ns-3's queue discs without one; that of the others is 1000 packets."""


def has_attributes(text: str) -> bool:
    """Whether a text has attributes of ns-3."""
    return bool(re.search(r"\bns3::\w+(?:::\w+)?\b", text))


def read(name: str, text: str) -> State:
    """Read the queue disc with its attributes, and the slowest rate with the delay nearest to it."""
    variables = dict(
        re.findall(r"\b(?:std::string|auto|double|uint32_t|uint16_t|int)\s+(\w+)\s*(?:=|\{)\s*\"?([^\";{}]+)\"?", text)
    )
    discs: dict[str, dict[str, tuple[str, Place]]] = {}
    rates: list[tuple[float, int]] = []
    delays: list[tuple[float, int]] = []
    left: list[Unread] = []
    root = ""
    whole = _joined(text)
    for number, line in whole:
        place = Place(name, number)
        for disc, attribute, value in _attributes(line):
            value = variables.get(value, value).strip()
            if sized := re.fullmatch(r"([A-Za-z_]\w*)([pB])", value):
                value = f"{variables.get(sized[1], '0')}{sized[2]}"
            if attribute == "DataRate" and (bits := rate_of(value)):
                rates.append((bits, number))
            elif (
                attribute == "Delay"
                and disc in ("", "PointToPointChannel", "CsmaChannel")
                and (seconds := time_of(value)) is not None
            ):
                delays.append((seconds, number))
            elif disc in _KINDS:
                discs.setdefault(disc, {})[attribute] = value, place
        if found := re.search(r"SetRootQueueDisc\s*\(\s*\"ns3::(\w+)\"", line):
            root = found[1]
            discs.setdefault(root, {})
    chosen = (
        root if root in _KINDS else next((each for each in discs if each != "DropTailQueue"), next(iter(discs), ""))
    )
    if root and root not in _KINDS:
        raise Unreadable(Place(name), f"{root} has no counterpart here; those that have one: {', '.join(_KINDS)}")
    if not rates and not chosen:
        raise Unreadable(Place(name), "states neither a queue disc nor a DataRate: give the file that sets them")
    given = discs.get(chosen, {})
    place = next((at for _, at in given.values()), Place(name))
    kind = _KINDS.get(chosen, ("droptail", ""))
    size, at = given.get("MaxSize", ("", place))
    buffer = _LIMITS.get(kind[0], "1000 packets")
    if chosen in ("", "DropTailQueue"):
        buffer = "100 packets"
        left.append(Unread(place, "no queue disc is named: the device's DropTailQueue is taken"))
    if found := re.fullmatch(r"(\d+)\s*([kKMG]?)(i?)([pB])", size):
        scale = (1024 if found[3] else 1000) ** " kMG".index(found[2].replace("K", "k") or " ")
        buffer = f"{int(found[1]) * scale} {'packets' if found[4] == 'p' else 'B'}"
    aqm = table(place, kind, given, left)
    places = {"aqm down": place, "buffer down": at}
    bits = seconds = None
    if rates:
        bits, line_ = min(rates)
        places["down"] = Place(name, line_)
        near = [each for each in delays if each[1] >= line_] or delays
        if near:
            seconds, line_ = min(near, key=lambda each: abs(each[1] - line_))
            places["delay"] = Place(name, line_)
        if len(rates) > 1:
            left.append(
                Unread(Place(name, line_), f"{len(rates)} rates: the lowest, {rate(bits)}, is the bottleneck's")
            )
    left.append(Unread(Place(name), "flows are not read from ns-3: say them in [[traffic]]"))
    return State(
        paths=(Path(place, bits, bits, seconds, {"down": buffer}, {"down": aqm}, places=places),), unread=tuple(left)
    )


def _joined(text: str) -> list[tuple[int, str]]:
    """Return statements with the lines on which they begin; comments are left out."""
    found: list[tuple[int, str]] = []
    held, first = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = re.sub(r"//.*", "", raw)
        first = first if held else number
        held = f"{held} {line}".strip()
        if held.count("(") <= held.count(")"):
            found.append((first, held))
            held = ""
    return [*found, *([(first, held)] if held else [])]


_WRAPPED = r"(?:ns\.(?:core\.)?|ns3::)?\w+Value\s*\(\s*(?:ns3::)?(?:\w+\s*\(\s*)?\"?([^\"()]+)\"?"


def _attributes(line: str) -> list[tuple[str, str, str]]:
    """Return the class, attribute and value of each attribute that a statement sets."""
    found = re.findall(rf"\"ns3::(\w+)::(\w+)\"\s*,\s*{_WRAPPED}", line)
    counted = r"Value\s*\(\s*(?:ns3::)?QueueSize\s*\(\s*(?:ns3::)?QueueSizeUnit::(PACKETS|BYTES)\s*,\s*(\w+)"
    for disc, size, unit, number in re.findall(rf"\"ns3::(\w+)::(MaxSize)\"\s*,\s*\w+{counted}", line):
        found.append((disc, size, f"{number}{unit[0].lower() if unit == 'PACKETS' else 'B'}"))
    found += re.findall(r"^(?:default|value)\s+ns3::(\w+)::(\w+)\s+\"\+?([^\"]*)\"", line)
    found += re.findall(r"<default name=\"ns3::(\w+)::(\w+)\" value=\"\+?([^\"]*)\"", line)
    found += re.findall(r"--ns3::(\w+)::(\w+)=(\S+)", line)
    found += [
        ("", *pair)
        for pair in re.findall(rf"Set(?:Device|Channel)Attribute\s*\(\s*\"(DataRate|Delay)\"\s*,\s*{_WRAPPED}", line)
    ]
    if inline := re.search(r"SetRootQueueDisc\s*\(\s*\"ns3::(\w+)\"(.*)", line):
        found += [(inline[1], *pair) for pair in re.findall(rf"\"(\w+)\"\s*,\s*{_WRAPPED}", inline[2])]
    return [(disc, name, value.strip()) for disc, name, value in found]
