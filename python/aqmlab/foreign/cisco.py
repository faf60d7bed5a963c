"""Cisco's policy maps with shaping, RED and WRED, as a configuration has them.

# Sources
Cisco IOS Quality of Service Solutions Configuration Guide: ``random-detect``, its default thresholds and the
exponential weighting constant of 9, ``shape``, ``queue-limit`` (64 packets) and ``fair-queue``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aqmlab.foreign.model import Path, Place, State, Unread, Unreadable

_POLICY = re.compile(r"^\s*policy-map\s+(?:type\s+\S+\s+)?(\S+)\s*$", re.MULTILINE)
_LIMIT = 64
"""Packets of a queue by default."""

_UNITS = {"bps": 1.0, "kbps": 1e3, "mbps": 1e6, "gbps": 1e9}
"""The units that some versions of IOS write behind a rate."""

_WEIGHT = 9
_CLASSES = 4
"""Most profiles that WRED has here."""


def is_policy(text: str) -> bool:
    """Whether a text has a policy map with a queue."""
    return bool(
        _POLICY.search(text) and re.search(r"^\s*(class|shape|bandwidth|random-detect|queue-limit)\b", text, re.M)
    )


@dataclass
class _Class:
    """A class of a policy map, as far as its queue goes."""

    policy: str
    name: str
    place: Place
    rate: float | None = None
    limit: str = ""
    weight: int = _WEIGHT
    red: bool = False
    fair: bool = False
    profiles: dict[str, tuple[float, float, float]] = field(default_factory=dict)
    child: str = ""
    ecn: bool = False
    lines: dict[str, Place] = field(default_factory=dict)
    left: list[Unread] = field(default_factory=list)


def read(name: str, text: str) -> State:
    """Read the first queue with RED, or the first one that is shaped, with the shaper above it."""
    classes = _classes(name, text)
    if not classes:
        raise Unreadable(Place(name), "a policy map without a class: add class-default with its queue")
    leaves = [each for each in classes if not each.child] or classes
    order = (
        [each for each in classes if each.red],
        [each for each in leaves if each.rate],
        [each for each in leaves if each.name == "class-default"],
        classes,
    )
    chosen = next(each[0] for each in order if each)
    above = next((each for each in classes if each.child == chosen.policy and each.rate), None)
    aqm = _aqm(chosen)
    rate = chosen.rate or (above.rate if above else None) or _interface(text, (above or chosen).policy)
    places = {
        "down": (chosen if chosen.rate else above or chosen).lines.get("rate", chosen.place),
        "aqm down": chosen.lines.get("red", chosen.place),
        "buffer down": chosen.lines.get("limit", chosen.place),
    }
    left = [one for each in (chosen, above) if each for one in each.left]
    left += [
        Unread(each.place, f"class {each.name} of {each.policy} has a queue of its own, which is left out")
        for each in classes
        if each not in (chosen, above)
    ]
    buffer = chosen.limit or f"{_LIMIT} packets"
    path = Path(chosen.place, down=rate, buffer={"down": buffer}, aqm={"down": aqm}, places=places)
    return State(paths=(path,), unread=tuple(left))


def _interface(text: str, policy: str) -> float | None:
    """Return the rate in bit/s, which IOS states in kbit/s, of the interface with a policy, or of the only one."""
    every = re.findall(r"^interface .*\n(?:[ \t].*\n?)*", text, re.MULTILINE)
    served = rf"^\s+service-policy (?:output )?{re.escape(policy)}\s*$"
    having = [each for each in every if re.search(served, each, re.MULTILINE)] or every
    found = re.search(r"^\s+bandwidth (\d+)", having[0], re.MULTILINE) if len(having) == 1 or having != every else None
    return float(found[1]) * 1000 if found else None


def _classes(name: str, text: str) -> list[_Class]:
    found: list[_Class] = []
    policy = ""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        words, place = line.split(), Place(name, number)
        if not words or words[0] == "!":
            continue
        if one := _POLICY.match(line):
            policy, inside = one[1], True
        elif re.match(r"(interface|class-map|router|ip|line|hostname)\b", line):
            inside = False
        elif inside and words[0].lower() == "class":
            found.append(_Class(policy, words[-1], place))
        elif inside and found and found[-1].policy == policy:
            try:
                _line(found[-1], words, place)
            except (IndexError, ValueError):
                raise Unreadable(
                    place, f"{line.strip()}: the line is torn, or its numbers are none: copy it again"
                ) from None
    return found


def _line(made: _Class, words: Sequence[str], place: Place) -> None:
    match [word.lower() for word in words]:
        case ["shape", "average" | "peak", "percent", *_]:
            made.left.append(Unread(place, "shape by percent: give the rate with --down"))
        case ["shape", "average" | "peak" as form, bits, *more]:
            unit = more.pop(0) if more and more[0] in _UNITS else "bps"
            sizes = [float(each) for each in more if each.isdigit()]
            excess = sizes[1] / sizes[0] if len(sizes) > 1 and sizes[0] else 1.0
            made.rate = _bits(bits) * _UNITS[unit] * (1 + excess if form == "peak" else 1)
            made.lines["rate"] = place
        case ["bandwidth" | "priority", kbit, *_] if kbit.isdigit():
            made.left.append(Unread(place, f"{' '.join(words)} guarantees a rate, and limits none"))
        case ["end-policy-map" | "end-policy"]:
            pass
        case ["queue-limit", number, *unit]:
            sort = unit[0] if unit else "packets"
            scale = {"packets": "packets", "bytes": "B", "ms": "ms", "us": "us"}.get(sort)
            if scale is None or int(number) < 1:
                raise ValueError(sort)
            made.limit, made.lines["limit"] = f"{int(number)} {scale}", place
        case ["fair-queue", *_]:
            made.fair = True
        case ["service-policy", *_, child]:
            made.child = words[-1] if child else ""
        case ["random-detect", "exponential-weighting-constant", number]:
            made.weight = int(number)
        case ["random-detect", "ecn"]:
            made.ecn = True
        case ["random-detect", "dscp" | "precedence" | "discard-class", point, least, most, *rest]:
            rest = [word for word in rest if word.isdigit()]
            low, high, denominator = float(least), float(most), float(rest[0]) if rest else 10.0
            if not 0 < low <= high or denominator < 1:
                raise ValueError(least)
            made.profiles[point] = (low, high, denominator)
            made.red, made.lines["red"] = True, place
        case ["random-detect", *_]:
            made.red = True
            made.lines.setdefault("red", place)
        case _:
            made.left.append(Unread(place, f"{' '.join(words)} has no counterpart"))


def _bits(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)", text)
    if not found:
        raise ValueError(text)
    return float(found[1]) * {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}[found[2]]


def _aqm(made: _Class) -> dict[str, Any]:
    if not made.red:
        return {"name": "drr"} if made.fair else {"name": "droptail"}
    own: dict[str, Any] = {"w_q": 2.0**-made.weight, "gentle": False, "ecn": made.ecn}
    profiles = list(dict.fromkeys(made.profiles.values()))
    if made.fair:
        made.left.append(Unread(made.place, "fair-queue beside random-detect: WRED alone is taken"))
    if not profiles:
        # Precedence 0 of IOS without a line for it: 20 to 40 packets, 1 in 10.
        made.left.append(
            Unread(made.place, "random-detect without thresholds: those of precedence 0 are taken, 20 to 40")
        )
        profiles = [(20.0, 40.0, 10.0)]
    if len(profiles) == 1:
        low, high, denominator = profiles[0]
        return {"name": "red", "min_th": low, "max_th": high, "max_p": 1 / denominator, **own}
    if len(profiles) > _CLASSES:
        made.left.append(Unread(made.place, f"{len(profiles)} profiles of WRED: the first {_CLASSES} are taken"))
    profiles = profiles[:_CLASSES]
    points = ", ".join(
        f"{point} is class {profiles.index(p) + 1}" for point, p in made.profiles.items() if p in profiles
    )
    made.left.append(Unread(made.place, f"profiles go by the class of traffic here: {points}"))
    return {
        "name": "wred",
        "min_th": [each[0] for each in profiles],
        "max_th": [each[1] for each in profiles],
        "max_p": [1 / each[2] for each in profiles],
        **own,
    }
