"""FreeBSD's dummynet, as OPNsense and pfSense use it: ``dnctl pipe|sched|queue show``, ``ipfw show``, ``dnctl.conf``.

Configurations become sections, ``dummynet.pipe``, ``dummynet.sched`` and ``dummynet.queue``; the state of the kernel
becomes disciplines on a device ``pipe N``. Number N is the scheduler of queues that are bound to pipe N; packets that a
rule hands to the pipe itself go through a scheduler FIFO, whose number is 65536 more.

# Sources
``ipfw(8)``; ``sbin/ipfw/dummynet.c`` of FreeBSD 14, for the forms of its output; OPNsense's template of ``dnctl.conf``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from aqmlab.foreign.model import Filter, Place, Qdisc, Section, State, Unread, Unreadable

OWN = 1 << 16
"""The distance from the number of a pipe to that of the scheduler of packets that a rule hands to the pipe itself."""

_CONFIG = re.compile(r"^(?:\S*(?:dnctl|ipfw)\s+(?:-\w+\s+)*)?(pipe|sched|queue)\s+(\d+)\s+config\b(.*)$")
_PIPE = re.compile(r"^(\d{5,}):\s+(unlimited|[\d.]+ [KMG]?bit/s)\s+(\d+) ms burst (\d+)")
_QUEUE = re.compile(r"^q(\d{5,})\s+(\d+) (sl\.|B|KB)\s+(?:plr [\d.]+\s+)?(\d+) flows \(\d+ buckets\) sched (\d+)(.*)$")
_SCHED = re.compile(r"^\s+sched (\d+) type (\S+) flags \S+ (\d+) buckets (\d+) active")
_ALGORITHM = re.compile(r"^\s*(?:AQM (?:type )?)?(FQ_CODEL|FQ_PIE|CoDel|PIE)\s+(target .*)$", re.IGNORECASE)
_FLOW = re.compile(r"^\s*\d+ \w+\s+\S+/\d+\s+\S+/\d+\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s*$")
_RULE = re.compile(r"^(\d{5})\s+(\d+)\s+(\d+)\s+(pipe|queue)\s+(\d+)\s+(.*)$")
_BUSY = re.compile(r"config_aqm Unable to configure flowset")

_FORMS = (_CONFIG, _PIPE, _QUEUE, _SCHED, _RULE)
_PASSED = re.compile(
    r"^\s*(Children flowsets:|BKT\b|mask:|RED\b|GRED\b|$)|^#|.*[#$%>] (dnctl|ipfw|cat|grep|dmesg)\b|flush$"
)
"""Lines without a value of a queue; among them the commands that a person has kept."""


_SCALES = {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}
_TIMES = {"": 1e-3, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_WORDS = ("target", "interval", "tupdate", "quantum", "limit", "flows", "alpha", "beta", "max_burst", "max_ecnth")
_VALUED = ("bw", "delay", "type", "pipe", "sched", "weight", "queue", "burst", "plr", "buckets", "mask", *_WORDS)


def is_dummynet(text: str) -> bool:
    """Whether a text has a line of dummynet's, or its complaint in ``dmesg``."""
    return any(_BUSY.search(line) or any(form.match(line) for form in _FORMS) for line in text.splitlines())


def read(name: str, text: str) -> State:
    """Read configurations, states, rules with their counters, and complaints; raise `Unreadable` for a torn line."""
    made = _Reading(name)
    for number, line in enumerate(text.splitlines(), 1):
        made.line(line, Place(name, number))
    return made.state()


def rate(text: str) -> float | None:
    """Read ``95Mbit/s``, ``95.000 Mbit/s`` or ``10MBytes/s`` in bit/s; 0 and ``unlimited`` are None."""
    found = re.fullmatch(r"([\d.]+)\s*([KMG]?)(?:(bit|bits)|(b|bytes?))?(?:/s)?", text.strip(), re.IGNORECASE)
    if not found:
        return None
    octets = bool(found[4]) and (found[4] == "B" or found[4].lower().startswith("byte"))
    return float(found[1]) * _SCALES[found[2].upper()] * (8 if octets else 1) or None


class _Reading:
    """What the lines before have said, while a text is read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pipe = ""
        self.shown: dict[tuple[str, str], dict[str, Any]] = {}
        self.last: dict[str, Any] | None = None
        self.sections: list[Section] = []
        self.filters: list[Filter] = []
        self.unread: list[Unread] = []

    def state(self) -> State:
        qdiscs = tuple(Qdisc(**{**each, "statistics": each["statistics"] or None}) for each in self.shown.values())
        return State(
            qdiscs=qdiscs, sections=tuple(self.sections), filters=tuple(self.filters), unread=tuple(self.unread)
        )

    def line(self, line: str, place: Place) -> None:
        if found := _CONFIG.match(line.strip()):
            self.sections.append(_section(found, place))
        elif found := _PIPE.match(line):
            self._pipe(found, line, place)
        elif found := _QUEUE.match(line):
            self._queue(found, line, place)
        elif found := _SCHED.match(line):
            self._sched(found, line, place)
        elif (found := _ALGORITHM.match(line)) and self.last:
            self._algorithm(found)
        elif (found := _FLOW.match(line)) and self.last:
            counted = self.last["statistics"]
            for word, text in zip(("packets", "bytes", "qlen", "backlog", "drops"), found.groups(), strict=True):
                counted[word] = counted.get(word, 0) + int(text)
        elif found := _RULE.match(line):
            via = re.search(r"\bvia (\S+)", found[6])
            target = f"{found[4]} {found[5]}"
            self.filters.append(Filter(via[1] if via else "any", place, kind="ipfw", target=target, text=line.strip()))
        elif _BUSY.search(line):
            self.sections.append(Section("dummynet.busy", "", place, {"words": line.strip()}))
        elif not _PASSED.match(line) and not re.match(r"^\d{5}\s", line):
            self.unread.append(Unread(place, line.strip()))

    def _put(self, place: Place, line: str, kind: str, device: str, handle: str, parent: str, **options: Any) -> None:
        own = {word: value for word, value in options.items() if value is not None}
        made = {"kind": kind, "device": device, "place": place, "handle": handle, "parent": parent, "options": own}
        self.last = self.shown.setdefault((device, handle), {**made, "statistics": {}, "text": line.strip()})

    def _pipe(self, found: re.Match[str], line: str, place: Place) -> None:
        number = int(found[1])
        self.pipe = f"pipe {number}"
        self._put(place, line, "pipe", self.pipe, f"{number}:", "", bandwidth=rate(found[2]), delay=int(found[3]) / 1e3)

    def _queue(self, found: re.Match[str], line: str, place: Place) -> None:
        number, sched = int(found[1]), int(found[5])
        unit = {"sl.": None, "B": 1, "KB": 1024}[found[3]]
        size = {"limit": int(found[2])} if unit is None else {"limit_bytes": int(found[2]) * unit}
        aqm = re.search(r"(droptail|AQM (?:type )?(\w+)|G?RED)", found[6])
        device = f"pipe {sched % OWN}"
        name = (aqm[2] or aqm[1]).lower() if aqm else ""
        self._put(place, line, "queue", device, f"q{number}:", f"s{sched}:{number}", aqm=name, **size)
        if algorithm := re.search(r"AQM .*", found[6]):
            self._algorithm(_ALGORITHM.match(algorithm[0]))

    def _sched(self, found: re.Match[str], line: str, place: Place) -> None:
        number = int(found[1])
        device = self.pipe or f"pipe {number % OWN}"
        kind, own = found[2].lower(), device.removeprefix("pipe ")
        self._put(place, line, kind, device, f"s{number}:", f"{own}:{number}", active=int(found[4]))

    def _algorithm(self, found: re.Match[str] | None) -> None:
        if found is None or self.last is None:
            return
        words = found[2].split()
        options = self.last["options"]
        if self.last["kind"] == "queue":
            options["aqm"] = found[1].lower()
        for word, text in zip(words, [*words[1:], ""], strict=True):
            if word in _WORDS:
                options[word] = _value(word, text)
            elif word in ("ECN", "NoECN"):
                options[word.lower()] = True


def _value(word: str, text: str) -> float | str:
    found = re.fullmatch(r"([\d.]+)(us|ms|s|)", text)
    if not found:
        return text
    number = float(found[1])
    times = ("target", "interval", "tupdate", "max_burst")
    return round(number * _TIMES[found[2]], 9) if word in times else int(number) if number.is_integer() else number


def _section(found: re.Match[str], place: Place) -> Section:
    options: dict[str, str] = {}
    words = iter(found[3].split("#")[0].split())
    for word in words:
        if word == "mask":
            options[word] = " ".join(words_of_mask(words, options))
        elif word in _VALUED:
            text = next(words, None)
            if text is None:
                raise Unreadable(place, f"{found[0].strip()}: {word} needs a value: copy the line whole")
            options[word] = text
        else:
            options[word] = ""
    return Section(f"dummynet.{found[1]}", found[2], place, options, dict.fromkeys(options, place.line))


def words_of_mask(words: Iterator[str], options: dict[str, str]) -> Iterator[str]:
    """Yield the words of a mask, and note the word behind it, which stands alone or begins the next option."""
    for word in words:
        if re.fullmatch(r"(src|dst)-(ip6?|port)|proto|flow-id|0x[0-9a-fA-F]+|all|/\d+|\d+", word):
            yield word
            continue
        options[word] = next(words, "") if word in _VALUED else ""
        return
