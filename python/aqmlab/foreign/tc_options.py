"""The words of a discipline or a class, as a command has them and as tc prints them, as options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from aqmlab.foreign import netem
from aqmlab.foreign.model import Values
from aqmlab.foreign.words import FLAGS, LISTS, VALUES, Unsaid, put, set_flag, settled, value

_OTHER_NAMES = {("tbf", "lat"): "latency", ("dualpi2", "memlimit"): "memory_limit", ("gred", "vqs"): "DPs"}
"""Words that tc prints otherwise than it reads them."""

_RULE = "-" * 16
"""What tc prints in place of options of a discipline that has none."""

_CURVES = ("rt", "ls", "ul", "sc")
_CURVE = {"m1": "rate", "m2": "rate", "rate": "rate", "d": "time", "umax": "size", "dmax": "time"}


def options(kind: str, words: Sequence[str], printed: bool = False) -> tuple[Values, list[str]]:
    """Return the options that words state, and the words that are not known; raise `Unsaid` for a value that is none.

    `printed` are words that tc has printed, whose times are those of the kernel's clock.
    """
    if kind == "netem":
        return netem.options(words)
    if kind == "hfsc" and any(word in _CURVES for word in words):
        return _curves(words)
    found: dict[str, Any] = {}
    unread: list[str] = []
    given = iter([_OTHER_NAMES.get((kind, word), word) for word in words if word != _RULE])
    known, flags = VALUES.get(kind, {}), FLAGS.get(kind, ())
    word = next(given, None)
    while word is not None:
        after: str | None = None
        if word in LISTS:
            found[word], after = _list(given)
        elif word in flags and word not in known:
            set_flag(found, word)
        elif word in known:
            text = next(given, None)
            if text is None:
                raise Unsaid(f"{word} needs a value")
            if word == "bandwidth" and text == "unlimited":
                set_flag(found, text)
            elif word == "ce_threshold" and text.count("/") == 2:  # 1ms/0x1/0x3, of iproute2 6.2 on
                text, _, found["ce_threshold_selector"] = text.partition("/")
                put(kind, found, word, text, value)
            else:
                put(kind, found, word, text, value)
        else:
            unread.append(word)
        word = after if after is not None else next(given, None)
    return finished(kind, found, printed), unread


def finished(kind: str, found: dict[str, Any], printed: bool = True) -> Values:
    """Return options without what says nothing, and in one spelling."""
    if not found.get("mpu", 1):
        del found["mpu"]
    if "default" in found and isinstance(found["default"], str):
        found["default"] = found["default"].removeprefix("0x")
    return settled(kind, found) if printed else found


def _list(given: Iterator[str]) -> tuple[tuple[int, ...], str | None]:
    """Read numbers up to the first word that is none, which is returned, too."""
    numbers: list[int] = []
    for word in given:
        if not re.fullmatch(r"\d+", word):
            return tuple(numbers), word
        numbers.append(int(word))
    return tuple(numbers), None


def _curves(words: Sequence[str]) -> tuple[Values, list[str]]:
    """Read the service curves of a class of HFSC, each as ``rt.m1`` and so on; ``sc`` stands for ``rt`` and ``ls``."""
    found: dict[str, Any] = {}
    unread: list[str] = []
    curve = ""
    given = iter(words)
    for word in given:
        if word in _CURVES:
            curve = word
        elif curve and word in _CURVE:
            text = next(given, None)
            if text is None:
                raise Unsaid(f"{word} needs a value")
            name = "m2" if word == "rate" else word
            for each in ("rt", "ls") if curve == "sc" else (curve,):
                found[f"{each}.{name}"] = value(_CURVE[word], text)
        else:
            unread.append(word)
    return found, unread
