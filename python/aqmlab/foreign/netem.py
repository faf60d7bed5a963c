"""The words of netem, each of which has several values, as options such as ``jitter`` and ``loss.correlation``.

# Sources
``q_netem.c`` of iproute2 6.1 to 7.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from aqmlab.foreign.model import Values
from aqmlab.foreign.words import COUNT, NUMBER, RATE, SHARE, TEXT, TIME, Unsaid, from_json, value

_WORDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "limit": (("limit", COUNT),),
    "delay": (("delay", TIME), ("jitter", TIME), ("delay.correlation", SHARE)),
    "latency": (("delay", TIME), ("jitter", TIME), ("delay.correlation", SHARE)),
    "distribution": (("distribution", TEXT),),
    "loss": (("loss", SHARE), ("loss.correlation", SHARE)),
    "drop": (("loss", SHARE), ("loss.correlation", SHARE)),
    "duplicate": (("duplicate", SHARE), ("duplicate.correlation", SHARE)),
    "reorder": (("reorder", SHARE), ("reorder.correlation", SHARE)),
    "corrupt": (("corrupt", SHARE), ("corrupt.correlation", SHARE)),
    "gap": (("gap", COUNT),),
    "rate": (("rate", RATE), ("rate.packetoverhead", NUMBER), ("rate.cellsize", COUNT), ("rate.celloverhead", NUMBER)),
    "seed": (("seed", TEXT),),
    "slot": (("slot.least", TIME), ("slot.most", TIME)),
}
_GEMODEL = ("gemodel.p", "gemodel.r", "gemodel.1-h", "gemodel.1-k")


def options(words: Sequence[str]) -> tuple[Values, list[str]]:
    """Return the options that words state, and the words that are not known."""
    found: dict[str, Any] = {}
    unread: list[str] = []
    given = list(words)
    while given:
        word = given.pop(0)
        if word == "loss" and given and given[0] == "random":
            given.pop(0)
        if word in ("loss", "drop") and given and given[0] == "gemodel":
            given.pop(0)
            for name in _GEMODEL:
                if given and given[0] == name.removeprefix("gemodel."):
                    given.pop(0)  # as tc prints it
                if given and re.match(r"[\d.]+%?$", given[0]):
                    found[name] = value(SHARE, given.pop(0))
        elif word == "ecn":
            found["ecn"] = True
        elif word in _WORDS:
            for place, (name, sort) in enumerate(_WORDS[word]):
                if place and not (given and re.match(r"[\d.]", given[0])):
                    break
                if not given:
                    raise Unsaid(f"{word} needs a value")
                found[name] = value(sort, given.pop(0))
        else:
            unread.append(word)
    return _without_zeros(found), unread


def from_document(given: Mapping[str, Any]) -> Values:
    """Return the options that tc's JSON states."""
    found: dict[str, Any] = {}
    for name, stated in given.items():
        if name == "loss-gemodel":
            found |= {f"gemodel.{part}": number for part, number in stated.items()}
        elif isinstance(stated, Mapping):
            word = name.removesuffix("-random")
            for part, number in stated.items():
                key = part if part in (word, "jitter") else f"{word}.{part}"
                found[key] = from_json(RATE, number) if key == "rate" else number
        elif stated is not False:
            found[name] = str(stated) if name == "seed" else stated
    return _without_zeros(found)


def _without_zeros(found: Mapping[str, Any]) -> Values:
    return {name: given for name, given in found.items() if given or name.startswith("gemodel")}
