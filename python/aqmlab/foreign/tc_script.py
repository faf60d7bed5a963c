"""Scripts of tc and ip, and files for ``tc -batch``: the disciplines that they leave behind."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from aqmlab.foreign.model import Class, Device, Filter, Place, Qdisc, State, Unread, Unreadable, Values
from aqmlab.foreign.shell import Command, commands
from aqmlab.foreign.tc_options import options
from aqmlab.foreign.words import NUMBER, Unsaid, value

_PROGRAMS = re.compile("tc|ip|ifconfig")
_BATCH = re.compile(r"^\s*(qdisc|class|filter)\s+(add|replace|change|del|delete|link)\b", re.MULTILINE)
_CALLED = re.compile(
    r"(?:^|[\s;&|/\"$({+-])(?:tc|TC|\{TC\})\"?\s+(?:-\w+\s+)*(qdisc|class|filter)\s+(add|replace|change|del)"
)
_WHOLE = ("tbf", "red", "choke", "sfb", "htb")
"""Kinds whose options tc sends all together, so that a change ends those without a word in it."""

_NETEM_WHOLE = re.compile(r"(delay|jitter|loss|limit|duplicate|gap)$|gemodel|loss\.|state")
"""The options of netem of which that is so."""

_STAB = ("overhead", "mpu", "linklayer", "mtu", "tsize", "data", "size")


def is_tc(text: str) -> bool:
    """Whether a text has a command of tc's that makes or ends something."""
    return bool(_BATCH.search(text) or _CALLED.search(text))


def read(name: str, text: str) -> State:
    """Follow the commands of a script; raise `Unreadable` for one that tc would not take."""
    made = _Made()
    if _BATCH.search(text):
        text = "\n".join(f"tc {line}" if _BATCH.match(line) else line for line in text.splitlines())
    for command in commands(name, text, _PROGRAMS):
        try:
            made.follow(command)
        except Unsaid as error:
            raise Unreadable(command.place, f"{command.text}: {error}") from None
    return made.state()


class _Made:
    """What the commands so far have made."""

    def __init__(self) -> None:
        self._qdiscs: dict[tuple[str, str], Qdisc] = {}
        self._classes: dict[tuple[str, str], Class] = {}
        self._filters: list[Filter] = []
        self._devices: dict[str, Device] = {}
        self._unread: list[Unread] = []

    def state(self) -> State:
        return State(
            qdiscs=tuple(self._qdiscs.values()),
            classes=tuple(self._classes.values()),
            filters=tuple(self._filters),
            devices=tuple(self._devices.values()),
            unread=tuple(self._unread),
        )

    def follow(self, command: Command) -> None:
        words = [word for word in command.words[1:] if not re.fullmatch(r"-(?!\d)\w+", word)]
        if command.words[0] != "tc":
            self._device(words, command)
            return
        sort, verb = (*words[:2], "", "")[:2]
        # tc takes the beginning of a word for the word
        sort = next((each for each in ("qdisc", "class", "filter") if sort and each.startswith(sort)), "")
        act = {"qdisc": self._qdisc, "class": self._class, "filter": self._filter}.get(sort)
        if act is None or verb in ("show", "ls", "list", "get"):
            return
        given = dict.fromkeys(("dev", "handle", "parent", "classid"), "")
        rest = words[2:]
        stab: dict[str, Any] = {}
        while rest and (rest[0] in given or rest[0] in ("root", "stab", "estimator")):
            word = rest.pop(0)
            if word in given:
                if not rest:
                    raise Unsaid(f"{word} needs a value")
                given[word] = rest.pop(0)
            elif word == "stab":
                while len(rest) > 1 and rest[0] in _STAB:
                    key, text = rest.pop(0), rest.pop(0)
                    stab[key] = text if key == "linklayer" else value(NUMBER, text)
            elif word == "estimator":
                del rest[:2]
        if not given["dev"]:
            raise Unsaid("dev, the device, is missing")
        act(verb, given, rest, stab, command)

    def _qdisc(self, verb: str, given: dict[str, str], rest: list[str], stab: Values, command: Command) -> None:
        device, parent = given["dev"], _class_of(given["parent"])
        kind = rest[0] if rest else ""
        ingress = kind in ("ingress", "clsact")
        at = (device, "ingress" if ingress else parent)
        if verb in ("del", "delete"):
            self._end(device, at[1])
            return
        if not kind:
            raise Unsaid("the discipline is missing")
        found, unread = options(kind, rest[1:])
        handle = _handle(given["handle"]) or ("ffff:" if ingress else "")
        before = self._qdiscs.get(at)
        # The kernel takes `replace` for a change unless the kind or the handle is another; it ends the size table.
        if before is not None and before.kind == kind and _changes(verb, handle, before.handle):
            if kind == "htb":
                self._unread.append(Unread(command.place, "the kernel changes no htb: it stays as it was"))
                return
            handle = handle or before.handle
            found = _thresholds(before.options, found) if "DP" in found else _changed(kind, before.options, found)
        elif before is not None:
            self._end(device, at[1])
        # `shown` is false: what was not given has tc's or the kernel's default.
        self._qdiscs[at] = Qdisc(
            kind,
            device,
            command.place,
            handle,
            "ffff:fff1" if ingress else parent,
            found,
            None,
            stab,
            False,
            command.text,
        )
        self._tell(unread, kind, command.place)

    def _end(self, device: str, parent: str) -> None:
        """End a discipline with all below it."""
        ended = self._qdiscs.pop((device, parent), None)
        handle = ended.handle if ended else "ffff:" if parent == "ingress" else ""
        below = [key for key in self._qdiscs if handle and key[0] == device and key[1].startswith(handle)]
        for _, inside in below:
            self._end(device, inside)
        if handle:
            for key in [each for each in self._classes if each[0] == device and each[1].startswith(handle)]:
                del self._classes[key]
            self._filters = [f for f in self._filters if f.device != device or not _at(f.parent).startswith(handle)]

    def _class(self, verb: str, given: dict[str, str], rest: list[str], _: Values, command: Command) -> None:
        identity = _class_of(given["classid"])
        at = (given["dev"], identity)
        if verb in ("del", "delete"):
            self._classes.pop(at, None)
            return
        if not identity or not rest:
            raise Unsaid("a class needs classid and its kind")
        found, unread = options(rest[0], rest[1:])
        parent = _class_of(given["parent"])
        before = self._classes.get(at)
        if verb in ("change", "replace") and before is not None and before.kind == rest[0]:
            found = _changed(before.kind, before.options, found)
            self._classes[at] = replace(before, options=found, place=command.place, text=command.text)
        else:
            self._classes[at] = Class(
                rest[0], given["dev"], identity, command.place, parent, "", found, None, False, command.text
            )
        self._tell(unread, rest[0], command.place)

    def _filter(self, verb: str, given: dict[str, str], rest: list[str], _: Values, command: Command) -> None:
        words = list(command.words)
        parent = given["parent"] or next((word for word in ("ingress", "egress") if word in rest[:3]), "")
        if verb in ("del", "delete"):
            self._filters = [f for f in self._filters if f.device != given["dev"] or (parent and f.parent != parent)]
            return
        after = dict(pairwise(words))
        kinds = ("u32", "matchall", "flower", "fw", "basic", "bpf", "route", "cgroup")
        redirect = re.search(r"mirred\s+(?:egress\s+)?redirect\s+dev\s+(\S+)", command.text)
        preference = after.get("pref", after.get("prio", after.get("preference", "")))
        self._filters.append(
            Filter(
                given["dev"],
                command.place,
                kind=next((word for word in words if word in kinds), ""),
                parent=parent,
                protocol=after.get("protocol", ""),
                preference=int(preference) if preference.isdigit() else None,
                target=_class_of(after.get("flowid", after.get("classid", ""))),
                redirect=redirect[1] if redirect else "",
                text=command.text,
            )
        )

    def _device(self, words: list[str], command: Command) -> None:
        """Note the properties that ``ip link`` gives a device."""
        if not words or (command.words[0] == "ip" and (len(words) < 2 or not "link".startswith(words[0]))):
            return
        after = dict(pairwise(words))
        if command.words[0] == "ifconfig":
            name = words[0]
        else:
            name = after.get("dev") or after.get("name") or (words[2] if len(words) > 2 else "")
        if not name:
            return
        now = self._devices.get(name) or Device(name, command.place)
        numbers = {
            key: int(after[word])
            for key, word in (("mtu", "mtu"), ("txqueuelen", "txqueuelen"), ("txqueuelen", "qlen"))
            if after.get(word, "").isdigit()
        }
        kind = after.get("type", now.kind)
        up = True if "up" in words else False if "down" in words else now.up
        self._devices[name] = replace(now, kind=kind, up=up, **numbers)  # type: ignore[arg-type]
        if words[1:2] in (["del"], ["delete"]):
            del self._devices[name]

    def _tell(self, unread: list[str], kind: str, place: Place) -> None:
        self._unread += [Unread(place, f"{kind}: {word} is not known") for word in unread]


def _changes(verb: str, handle: str, before: str) -> bool:
    return verb == "change" or (verb == "replace" and handle in ("", before))


def _changed(kind: str, before: Values, found: Values) -> Values:
    """Return the options after a change: tc sends some kinds' all anew; of others the kernel keeps the unnamed ones."""
    if kind in _WHOLE:
        return found
    kept = {word: known for word, known in before.items() if word not in found}
    if kind == "netem":
        kept = {word: known for word, known in kept.items() if not _NETEM_WHOLE.match(word)}
    return {**kept, **found}


def _thresholds(before: Values, found: Values) -> Values:
    """Add the thresholds of one of GRED's queues to those of the others."""
    others = (each for each in before.get("vqs", ()) if each["vq"] != found["DP"])
    return {**before, "vqs": (*others, {**found, "vq": found["DP"]})}


def _at(parent: str) -> str:
    return "ffff:" if parent == "ingress" else parent


def _handle(text: str) -> str:
    major = text.partition(":")[0]
    return f"{major}:" if major else ""


def _class_of(text: str) -> str:
    """Return a class in one spelling: ``1:`` for ``1:0`` and ``1``, none for ``root``."""
    if text in ("", "root"):
        return ""
    major, _, minor = text.partition(":")
    return f"{major}:{'' if minor in ('', '0') else minor}"
