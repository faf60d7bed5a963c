"""The kinds of the numbers in compiled code, and what else it knows of a class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from aqmlab.own.control import HOOKS


class NotCompiled(Exception):  # noqa: N818  not an error: the class runs in Python
    """Raised when a class cannot be compiled, with the reason, and with file and line where there is one."""


SWITCH = "b"
"""True or false; numpy's, too, so only operations that are the same for both are compiled."""

WHOLE = "i"
"""Python's whole number, within 64 bits."""

COUNT = "j"
"""A whole number of Python or numpy, which is no verdict: a verdict is one of Python's own three numbers."""

REAL = "f"
"""A number with a fraction, of Python or numpy."""

MIXED = "m"
"""A float in place of a number that may be whole in Python. What a whole number would do otherwise is left to Python:
results that a float has not exactly, and zeros below zero."""

NOTHING = "n"
"""None, written as 0."""

VERDICT = "v"
"""A whole number or None."""


@dataclass(frozen=True)
class Array:
    """A numpy array: the kind of its elements, and its number of dimensions."""

    elements: str
    dimensions: int


Kind = str | Array | tuple[Any, ...]
Term = tuple[str, Any]
"""An expression as it is written, and its kind."""

WHOLES = frozenset((WHOLE, COUNT))
NUMBERS = frozenset((WHOLE, COUNT, REAL, MIXED))

RANDOM = "_aqmlab_random"
"""The field of the state with the address of the random numbers."""

FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "packet": {
            "size": "i8", "service": "i8", "flow": "i8", "pair": "i8", "sojourn_ns": "i8", "sojourn": "f8",
            "ect": "?", "l4s": "?", "udp": "?",
        },
        "queue": {"now_ns": "i8", "packets": "i8", "bytes": "i8", "now": "f8", "delay": "f8", "full": "?"},
        "flow": {
            **dict.fromkeys(("now_ns", "acked", "rtt_us", "srtt_us", "in_flight", "outstanding", "delivered"), "i8"),
            **dict.fromkeys(("marked", "lost", "acknowledged", "sent", "idle_ns"), "i8"),
            **dict.fromkeys(("now", "rtt", "srtt"), "f8"), **dict.fromkeys(("limited", "paced", "repeated"), "?"),
        },
    }
)  # fmt: skip
"""The records of the packet, the queue and the flow; crates/py/src/own has the same."""

ARGUMENTS = {
    "on_enqueue": ("packet", "queue"),
    "on_dequeue": ("packet", "queue"),
    "on_overflow": (),
    "on_idle": ("queue",),
    "on_period": ("queue",),
    **dict.fromkeys(HOOKS, ("flow",)),
}
"""The arguments of each event."""


def joined(a: Kind, b: Kind) -> Kind | None:
    """Return the kind of what may be of the one kind or the other."""
    if a == b:
        return a
    if isinstance(a, Array) or isinstance(b, Array):
        return None
    if isinstance(a, tuple) or isinstance(b, tuple):
        if not (isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)):
            return None
        parts = tuple(joined(x, y) for x, y in zip(a, b, strict=True))
        return None if None in parts else parts
    both = {a, b}
    if both <= {NOTHING, WHOLE, VERDICT}:
        return VERDICT
    if both <= WHOLES:
        return COUNT
    return MIXED if both <= NUMBERS else None


def kind_of(value: object) -> str | None:
    """Return the kind of a constant; None if it has none."""
    if type(value) is int:
        return WHOLE if abs(value) < 2**63 else None
    return {bool: SWITCH, float: REAL, type(None): NOTHING}.get(type(value))


def written(value: object) -> str:
    """Write a constant."""
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "_inf", -math.inf: "(-_inf)"}.get(value, "_nan")
    return "0" if value is None else repr(value)


def in_words(kind: Kind) -> str:
    """Return a kind in words."""
    if not isinstance(kind, str):
        return "an array" if isinstance(kind, Array) else "a tuple"
    words = {
        SWITCH: "true or false", WHOLE: "a whole number", COUNT: "a whole number, perhaps numpy's",
        REAL: "a number with a fraction", MIXED: "a number, perhaps with a fraction", NOTHING: "nothing",
        VERDICT: "a verdict or nothing",
    }  # fmt: skip
    return words.get(kind, f"a {kind}")
