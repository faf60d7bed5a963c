"""Command lines of Mahimahi: ``mm-delay 20 mm-loss uplink 0.01 mm-link up.trace down.trace --uplink-queue=codel …``.

# Sources
mm-link(1), mm-delay(1) and mm-loss(1) of Mahimahi, and its ``packet/*.cc`` for the arguments of queues.
"""

from __future__ import annotations

import re
from typing import Any

from aqmlab.foreign.model import Path, Place, State, Unread, Unreadable
from aqmlab.foreign.shell import Command, commands

_PROGRAMS = re.compile(r"mm-(delay|link|loss|webreplay|webrecord|onoff|meter\S*)")
_SIDES = {"uplink": "up", "downlink": "down"}
_ENDLESS = "1000000 packets"


def is_line(text: str) -> bool:
    """Whether a text has a command of Mahimahi's."""
    return bool(re.search(r"(^|[\s;&|])mm-(delay|link|loss|onoff)\s+\S", text))


def read(name: str, text: str) -> State:
    """Read the first command line, whose programs are nested in each other."""
    lines = list(commands(name, text, _PROGRAMS))
    if not lines:
        raise Unreadable(Place(name), "no command of Mahimahi's that can be read: give the line as it is typed")
    left = [Unread(each.place, f"{each.text}: a second command line: only the first is taken") for each in lines[1:]]
    made = _Line(lines[0])
    return State(paths=(made.path(),), unread=(*made.left, *left))


class _Line:
    def __init__(self, command: Command) -> None:
        self._place = command.place
        self.left: list[Unread] = []
        self._delay: float | None = None
        self._given: dict[str, dict[str, Any]] = {key: {} for key in ("buffer", "aqm", "recordings", "loss")}
        words = list(command.words)
        while words:
            program = words.pop(0)
            if program == "mm-delay":
                self._delay = (self._delay or 0.0) + self._number(words) / 1000
            elif program == "mm-loss":
                side = words.pop(0) if words else ""
                if side not in _SIDES:
                    raise self._refused(f"mm-loss {side}: must be uplink or downlink, and a probability")
                self._given["loss"][_SIDES[side]] = self._number(words)
            elif program == "mm-link":
                words = self._link(words)
            elif program.startswith("mm-"):
                self.left.append(Unread(self._place, f"{program} has no counterpart"))
            else:
                break  # the program that runs inside

    def _refused(self, problem: str) -> Unreadable:
        return Unreadable(self._place, problem)

    def _number(self, words: list[str]) -> float:
        text = words.pop(0) if words else ""
        if not re.fullmatch(r"\d+(\.\d+)?", text):
            raise self._refused(f"{text or 'nothing'}: must be a number")
        return float(text)

    def _link(self, words: list[str]) -> list[str]:
        traces: list[str] = []
        queues: dict[str, tuple[str, str]] = {}
        while words and (words[0].startswith("--") or len(traces) < 2):
            word = words.pop(0)
            if word == "--":
                break
            if not word.startswith("--"):
                traces.append(word)
                continue
            option, equals, text = word[2:].partition("=")
            side = next((side for side in _SIDES if option.startswith(f"{side}-")), "")
            if option in (f"{side}-queue", f"{side}-queue-args", f"{side}-log") and side and not equals:
                text = words.pop(0) if words else ""
            part = option.removeprefix(f"{side}-")
            kind, arguments = queues.get(side, ("infinite", ""))
            if side and part == "queue":
                queues[side] = text, arguments
            elif side and part == "queue-args":
                queues[side] = kind, text
            elif not (side and part == "log") and not option.startswith(("once", "meter")):
                self.left.append(Unread(self._place, f"--{option} is not known"))
        if len(traces) < 2:
            raise self._refused("mm-link: must have a trace of the uplink and one of the downlink")
        for side, trace in zip(("uplink", "downlink"), traces, strict=True):
            way = _SIDES[side]
            self._given["recordings"][way] = trace
            kind, arguments = queues.get(side, ("infinite", ""))
            self._given["aqm"][way], self._given["buffer"][way] = self._queue(kind, arguments)
        return words

    def _queue(self, kind: str, arguments: str) -> tuple[dict[str, Any], str]:
        given = {}
        for part in filter(None, re.split(r"[,\s]+", arguments)):
            key, _, text = part.partition("=")
            if not re.fullmatch(r"\d+(\.\d+)?", text):
                raise self._refused(f"{part}: must be KEY=NUMBER, as packets=100")
            given[key] = float(text)
        buffer = _ENDLESS
        if "packets" in given:
            buffer = f"{max(1, int(given['packets']))} packets"
        elif "bytes" in given:
            buffer = f"{max(1, int(given['bytes']))} B"
        names = {"infinite": "droptail", "droptail": "droptail", "drophead": "headdrop", "codel": "codel", "pie": "pie"}
        if kind not in names:
            raise self._refused(f"queue {kind}: must be one of {', '.join(names)}")
        if kind not in ("infinite",) and buffer == _ENDLESS:
            raise self._refused(f"queue {kind}: needs packets or bytes in its arguments")
        aqm: dict[str, Any] = {"name": names[kind]}
        keys = {
            "codel": {"target": "target", "interval": "interval"},
            "pie": {"qdelay_ref": "target", "max_burst": "max_burst"},
        }
        for key, number in given.items():
            if key in keys.get(kind, {}):
                aqm[keys[kind][key]] = f"{number:g} ms"
            elif key not in ("packets", "bytes"):
                self.left.append(Unread(self._place, f"{key}={number:g} of {kind} has no counterpart"))
        return aqm, buffer

    def path(self) -> Path:
        return Path(
            self._place,
            delay=self._delay,
            buffer=self._given["buffer"],
            aqm=self._given["aqm"],
            recordings=self._given["recordings"],
            loss=self._given["loss"],
        )
