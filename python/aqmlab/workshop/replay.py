"""Compares a law in C, compiled for this machine, with the recorded verdicts of its class."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab.kernel.objects import headers
from aqmlab.own.compiled import defaults
from aqmlab.workshop.law import Law
from aqmlab.workshop.recording import LIMIT, RATE, USUAL, recording

CLOSE = 2.0**-20
"""How far a signal may be from that of the class, over its size or 1: rounding adds up in state."""

_NEVER = 2**62
_EVENT = re.compile(r"(idle|period|enqueue|dequeue) ")
_WORDS = {"P": "PASS", "M": "MARK", "D": "DROP"}


class NoCompiler(Exception):  # noqa: N818  what the machine lacks is no error
    """Raised where no C compiler is installed."""


class _Packet(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_uint32) for name in ("size", "flow", "pair")),
        *((name, ctypes.c_uint8) for name in ("udp", "lane", "ect", "ce")),
        ("class", ctypes.c_uint64),
    )


class _Backlog(ctypes.Structure):
    _fields_ = (("packets", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("full", ctypes.c_bool))


@dataclass
class Replayed:
    """A recording replayed: its verdicts and the equal ones, the first that differs, and how far each signal was."""

    verdicts: int = 0
    equal: int = 0
    first: str = ""
    signals: dict[str, float] = field(default_factory=dict)
    """The largest difference of each, over its size or 1."""
    saturated: int = 0
    """How often a number left its range."""

    @property
    def passed(self) -> bool:
        """Whether every verdict is equal, every signal close and every number in its range."""
        return self.equal == self.verdicts and not self.saturated and all(one <= CLOSE for one in self.signals.values())


def numbers(law: Law, values: Mapping[str, Any], rate: int = RATE) -> list[int]:
    """Return the numbers that the loader gives the law, for these parameters and a port of a recording."""
    port = {"port_rate": rate, "port_buffer": LIMIT, "port_packet": USUAL}
    found = []
    for name, bits in law.fields.items():
        value: Any = port[name] if name in port else values[name]
        if isinstance(value, str):
            value = law.parameters[name].choices.index(value)
        elif name in law.parameters and law.parameters[name].unit == "s":
            value = round(value * 1e9)
        found.append(round(value * 2**bits))
    return found


@contextmanager
def library(source: Path) -> Iterator[ctypes.CDLL]:
    """Compile a law for this machine, and load it."""
    compiler = next(filter(None, map(shutil.which, filter(None, (os.environ.get("CC"), "cc", "gcc", "clang")))), None)
    if compiler is None:
        raise NoCompiler
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / f"{source.stem}.so"
        flags = ["-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"]
        command = [compiler, *flags, f"-I{headers()}", "-o", str(made), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode or done.stderr:
            raise RuntimeError(f"{source.name} does not compile, a fault of ours: please tell us\n{done.stderr}")
        loaded = ctypes.CDLL(str(made))
        for name in ("aqm_size", "aqm_saturated"):
            getattr(loaded, name).restype = ctypes.c_uint64
        yield loaded


class Link:
    """A law on a link, from the time 0 on."""

    def __init__(self, loaded: ctypes.CDLL, law: Law, given: Sequence[int]) -> None:
        self._library, self._law = loaded, law
        self._link = (ctypes.c_uint64 * (loaded.aqm_size() // 8 + 1))()
        self._params = (ctypes.c_int64 * len(given))(*given)
        loaded.aqm_begin(self._link, self._params, ctypes.c_uint64(0))

    @property
    def signals(self) -> list[float]:
        """The signals, as real numbers."""
        numbers = (ctypes.c_int64 * len(self._law.signals)).from_buffer(self._link)
        return [number / 2.0**bits for number, bits in zip(numbers, self._law.signals.values(), strict=True)]

    def advance(self, now: int, packets: int, size: int) -> None:
        """Perform what happened until now."""
        queue = _Backlog(packets, size, False)
        self._library.aqm_advance(self._link, self._params, ctypes.c_uint64(now), ctypes.byref(queue))

    def judge(self, kind: str, now: int, facts: Sequence[int], draw: float) -> int:
        """Return the verdict on a packet; `facts` are those of a line of a recording."""
        size, ect, flow, packets, waiting, full, sojourn = facts
        packet = _Packet(size=size, flow=flow, ect=ect)
        leaves = kind == "dequeue"
        queue = _Backlog(packets + leaves, waiting + leaves * size, bool(full))  # with the packet until it leaves
        random = ctypes.c_uint32(int(draw * 2**32))
        given = (self._link, self._params, ctypes.c_uint64(now), ctypes.byref(packet), ctypes.byref(queue))
        if leaves:
            return int(self._library.aqm_dequeue(*given, ctypes.c_uint64(sojourn), random))
        return int(self._library.aqm_enqueue(*given, random))

    def free(self, at: int) -> None:
        """Set the time at which the link has sent its packet."""
        self._library.aqm_free(self._link, ctypes.c_uint64(at))


def replay(loaded: ctypes.CDLL, law: Law, recorded: str, values: Mapping[str, Any]) -> Replayed:
    """Perform the events of a recording, which the class decided with these parameters, in a law.

    As in the kernel, the law performs a period, and the beginning of idleness, on the next event, and periods between
    which nothing happens together.
    """
    link, found = Link(loaded, law, numbers(law, values)), Replayed(signals=dict.fromkeys(law.signals, 0.0))
    before, sees_arrivals, idle = loaded.aqm_saturated(), "on_enqueue" in law.declared.methods, True
    lines = [(number, line) for number, line in enumerate(recorded.splitlines(), 1) if _EVENT.match(line)]
    for place, (number, line) in enumerate(lines):
        event, *parts = line.split("|")
        kind, time, *rest = event.split()
        now, facts = int(time), list(map(int, rest))
        following = lines[place + 1][1].split("|")[0].split() if place + 1 < len(lines) else []
        if kind == "idle":
            link.free(now)
            idle = True
            continue
        if kind == "period":
            if following[:1] == ["period"] and following[2:] == rest:
                continue
            link.advance(now, *facts)
        else:
            if idle and kind == "dequeue" and not sees_arrivals:
                link.judge("enqueue", now, [*facts[:3], 0, 0, 0, 0], 0.0)
            returned = "PMD"[link.judge(kind, now, facts, float(parts[0]) if parts[0].strip() else 0.0)]
            link.free(_NEVER)
            idle = False
            expected = parts[1].strip()
            found.verdicts += 1
            found.equal += returned == expected
            if returned != expected and not found.first:
                found.first = (
                    f"line {number}, {kind} at {now / 1e9:.9f} s: {_WORDS[expected]} in Python, {_WORDS[returned]} in C"
                    + "".join(
                        f"; {name} = {other} in Python, {own:.12g} in C"
                        for name, own, other in zip(law.signals, link.signals, parts[-1].split(), strict=True)
                    )
                )
        for name, own, other in zip(law.signals, link.signals, map(float, parts[-1].split()), strict=True):
            found.signals[name] = max(found.signals[name], abs(own - other) / max(abs(other), 1.0))
    found.saturated = loaded.aqm_saturated() - before
    return found


_RATES = tuple(10**exponent for exponent in range(5, 12))
"""Rates of links in bit/s, on which the start is tried."""


def compared(law: Law, source: Path) -> tuple[dict[str, Replayed], list[int]]:
    """Compare a law with its class, by default and with each switch and choice; return the findings by setting.

    Return also the rates of links in bit/s on which a number leaves its range at the start. Raise `NoCompiler` where
    none is installed.
    """
    given = defaults(law.declared)
    with library(source) as loaded:
        found = {}
        for setting in _settings(law):
            named = ", ".join(f"{key}={str(value).lower()}" for key, value in setting.items()) or "by default"
            recorded = recording(law.declared, law.name, setting)
            found[named] = replay(loaded, law, recorded, {**given, **setting})
        return found, [rate for rate in _RATES if _overflows(loaded, law, rate)]


def _overflows(loaded: ctypes.CDLL, law: Law, rate: int) -> bool:
    before = loaded.aqm_saturated()
    Link(loaded, law, numbers(law, defaults(law.declared), rate))
    return bool(loaded.aqm_saturated() != before)


def _settings(law: Law) -> Iterator[dict[str, Any]]:
    yield {}
    for name, one in law.parameters.items():
        if isinstance(one.default, bool):
            yield {name: not one.default}
        yield from ({name: choice} for choice in one.choices if choice != one.default)
