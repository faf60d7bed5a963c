"""What scripts of ns-2 and ns-3 have in common: numbers with units, and parameters by the names that they have."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from aqmlab.foreign.disciplines import rate, time
from aqmlab.foreign.model import Place, Unread
from aqmlab.scenario import algorithms, described

RATES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}
TIMES = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}
NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"


@functools.cache
def _keys(name: str) -> Mapping[str, tuple[str, str]]:
    """Return the key and the unit of each name that a parameter of a discipline has anywhere."""
    return {
        alias: (each["name"], each["unit"])
        for each in described(algorithms().get(name, name))["parameters"]
        for alias in (each["name"], *each["aliases"])
    }


def table(
    place: Place, kind: tuple[str, str], given: Mapping[str, tuple[str, Place]], left: list[Unread]
) -> dict[str, Any]:
    """Return the made of a discipline, with the parameters that it has here."""
    name, preset = kind
    made: dict[str, Any] = {"name": name, **({"preset": preset} if preset else {})}
    for word, (text, at) in given.items():
        if name == "red" and word in ("adaptive_", "ARED") and text.lower() in ("1", "true"):
            made["name"] = "ared"
            made.pop("preset", None)
            continue
        key, unit = (
            ("bandwidth", "bit/s") if word == "LinkBandwidth" and name == "red" else _keys(name).get(word, ("", ""))
        )
        number = re.fullmatch(rf"({NUMBER})\s*(\w*)", text)
        if word in ("limit_", "MaxSize", "Mode", "LinkDelay"):
            continue
        if not key:
            left.append(Unread(at, f"{word} of {name} has no counterpart"))
        elif text.lower() in ("true", "false"):
            made[key] = text.lower() == "true"
        elif unit == "bit/s" and (bits := rate_of(text)):
            made |= {key: rate(bits), "pkrate": "auto"}
        elif not number:
            left.append(Unread(at, f"{word} {text}: no number"))
        elif unit == "s":
            made[key] = time(float(number[1]) * TIMES.get(number[2], 1.0))
        elif unit == "bytes":
            made[key] = f"{float(number[1]):.0f} B"
        elif unit in ("Hz", "bit/s"):
            made[key] = f"{number[1]} {unit}"
        elif key in ("ecn", "gentle", "bytes", "by_size"):
            made[key] = float(number[1]) != 0
        else:
            made[key] = int(number[1]) if re.fullmatch(r"[-+]?\d+", number[1]) else float(number[1])
    # 0 and -1 stand for automatic values.
    return {
        key: each
        for key, each in made.items()
        if not (key in ("min_th", "max_th", "w_q") and each in (0, -1, 0.0, -1.0))
    }


def number_of(text: str) -> float | None:
    """Return a number; None for a text that is none."""
    return float(text) if re.fullmatch(NUMBER, text) else None


def rate_of(text: str) -> float | None:
    """Return a rate in bit/s; None for a text that is none."""
    found = re.fullmatch(rf"({NUMBER})\s*([kKmMgG]?)(?:b/s|bps|bit/s|b)?", text)
    return float(found[1]) * RATES[found[2].lower()] or None if found else None


def time_of(text: str) -> float | None:
    """Return a time in s; None for a text that is none."""
    found = re.fullmatch(rf"\+?({NUMBER})\s*(ms|us|ns|s|min|)", text)
    return float(found[1]) * TIMES[found[2]] if found else None
