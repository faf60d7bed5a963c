"""OpenWrt's configuration: files of UCI, such as ``/etc/config/sqm`` and ``/etc/config/network``.

# Sources
OpenWrt's documentation of UCI, for the syntax; sqm-scripts' ``sqm.conf``, for the options of a queue.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from pathlib import PurePath
from typing import Any

from aqmlab.foreign.model import Place, Section, State, Unreadable

_CONFIG = re.compile(r"^\s*config\s+\S+", re.MULTILINE)
_SHOWN = re.compile(r"^(\w+)\.([\w@\[\]-]+)(?:\.(\w+))?=(.*)$")


def is_uci(text: str) -> bool:
    """Whether a text is a file of UCI, or what ``uci show`` prints."""
    if _CONFIG.search(text) and re.search(r"^\s*(option|list)\s", text, re.MULTILINE):
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_SHOWN.match(line.strip()) for line in lines)


def read(name: str, text: str) -> State:
    """Read the sections; which package they are of is known by the file's name, or by their kind."""
    sections = _shown(name, text) if not _CONFIG.search(text) else _file(name, text)
    return State(sections=tuple(sections))


def _file(name: str, text: str) -> list[Section]:
    package = ""
    found: list[tuple[str, str, Place, dict[str, str], dict[str, int]]] = []
    for number, line in enumerate(text.splitlines(), 1):
        place = Place(name, number)
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise Unreadable(place, f"{line.strip()}: {str(error).lower()}: close the quotes") from None
        if not words:
            continue
        if words[0] == "package" and len(words) == 2:
            package = words[1]
        elif words[0] == "config" and len(words) in (2, 3):
            found.append((words[1], words[2] if len(words) == 3 else "", place, {}, {}))
        elif words[0] in ("option", "list") and len(words) == 3 and found:
            _, _, _, options, lines = found[-1]
            before = f"{options[words[1]]} " if words[0] == "list" and words[1] in options else ""
            options[words[1]], lines[words[1]] = before + words[2], number
        else:
            raise Unreadable(place, f"{line.strip()}: must be config, option or list of UCI, with a value")
    stem = package or _package(name, [each[0] for each in found])
    kinds: Counter[str] = Counter()
    sections = []
    for kind, label, place, options, lines in found:
        # A section without a name has that by which `uci show` prints it, and `uci set` takes it.
        sections.append(Section(f"{stem}.{kind}", label or f"@{kind}[{kinds[kind]}]", place, options, lines))
        kinds[kind] += 1
    return sections


def _package(name: str, kinds: list[str]) -> str:
    stem = re.split(r"[.\s]", PurePath(name).name)[0]
    if "queue" in kinds and "interface" not in kinds:
        return "sqm"
    if {"settings", "advanced", "hfsc", "cake", "hybrid"} & set(kinds):
        return "qosmate"
    return "network" if {"interface", "device"} & set(kinds) and stem not in ("wireless", "qos") else stem


def _shown(name: str, text: str) -> list[Section]:
    sections: dict[tuple[str, str], dict[str, Any]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not (found := _SHOWN.match(line.strip())):
            continue
        package, label, option, given = found.groups()
        one = sections.setdefault(
            (package, label), {"kind": "", "place": Place(name, number), "options": {}, "lines": {}}
        )
        try:
            written = " ".join(shlex.split(given))
        except ValueError:
            raise Unreadable(Place(name, number), f"{line.strip()}: close the quotes") from None
        if option is None:
            one["kind"] = written
        else:
            one["options"][option], one["lines"][option] = written, number
    return [
        Section(f"{package}.{one['kind']}", label, one["place"], one["options"], one["lines"])
        for (package, label), one in sections.items()
    ]
