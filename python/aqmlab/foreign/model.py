"""What a router or a simulator has, as files of other programs state it.

Values are in SI units: seconds, bit/s, bytes, packets, fractions. The options of disciplines and classes have the words
of tc's command line, whether tc printed them as text or as JSON; a word that stands alone, as ``ecn`` or ``diffserv4``,
is True, and is absent if it does not hold. Statistics have the names of tc's JSON without a unit at the end
(``target_us`` of a tin is ``target``). `Qdisc.shown` distinguishes a state that the kernel printed, which has
every value, from a command or a configuration, which has those that were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Values = Mapping[str, Any]
"""Values by name: numbers, texts, booleans, and for CAKE's ``tins`` a tuple of such values."""

NOTHING: Values = {}


class Unreadable(ValueError):  # noqa: N818  the calling program may have it from its user
    """Raised for a file that cannot be read: what and where it is, and what to give or record instead.

    Parameters
    ----------
    place : Place
        The file and the line; 0 is the whole file.
    problem : str
        The problem, and the cure.
    """

    def __init__(self, place: Place, problem: str) -> None:
        self.place, self.problem = place, problem
        super().__init__(f"{place}: {problem}")


@dataclass(frozen=True, order=True)
class Place:
    """A line of a file, counted from 1; 0 is the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


@dataclass(frozen=True)
class Source:
    """A file that was read: the name of its format, such as ``tc qdisc``, and its program's version if it has one."""

    place: Place
    format: str
    version: str = ""


@dataclass(frozen=True)
class Unread:
    """What a reader has not understood, or has no counterpart for, in the file's own words."""

    place: Place
    text: str


@dataclass(frozen=True)
class Qdisc:
    """A queue discipline. `handle` is ``1:``, empty if none was given; `parent` is empty at the root.

    `stab` has the size table: ``overhead``, ``mpu``, ``linklayer``.
    """

    kind: str
    device: str
    place: Place
    handle: str = ""
    parent: str = ""
    options: Values = field(default_factory=dict)
    statistics: Values | None = None
    stab: Values = field(default_factory=dict)
    shown: bool = True
    text: str = ""

    @property
    def is_ingress(self) -> bool:
        """Whether it is no queue, but the place where packets that come in are seen."""
        return self.kind in ("ingress", "clsact")


@dataclass(frozen=True)
class Class:
    """A class of a discipline with classes: `identity` is ``1:10``, `leaf` the handle of the discipline inside."""

    kind: str
    device: str
    identity: str
    place: Place
    parent: str = ""
    leaf: str = ""
    options: Values = field(default_factory=dict)
    statistics: Values | None = None
    shown: bool = True
    text: str = ""

    @property
    def discipline(self) -> str:
        """The handle of the discipline that it is a class of."""
        return f"{self.identity.partition(':')[0]}:"


@dataclass(frozen=True)
class Filter:
    """A filter: its class (`target`, as ``1:10``), and the device to which it redirects packets."""

    device: str
    place: Place
    kind: str = ""
    parent: str = ""
    protocol: str = ""
    preference: int | None = None
    target: str = ""
    redirect: str = ""
    text: str = ""


@dataclass(frozen=True)
class Device:
    """A device, as far as a file states it: the packets that it queues (``txqueuelen``), its kind, its rate."""

    name: str
    place: Place
    kind: str = ""
    mtu: int | None = None
    txqueuelen: int | None = None
    rate: float | None = None
    up: bool | None = None


@dataclass(frozen=True)
class Section:
    """A section of a configuration of the router's: its `kind` (``sqm.queue``, ``network.interface``) and its name.

    `options` are texts as they stand in the file, `lines` where each stands.
    """

    kind: str
    name: str
    place: Place
    options: Mapping[str, str] = field(default_factory=dict)
    lines: Mapping[str, int] = field(default_factory=dict)

    def at(self, option: str) -> Place:
        """Return where an option stands."""
        return Place(self.place.file, self.lines.get(option, self.place.line))


@dataclass(frozen=True)
class Shaper:
    """A shaper of one direction of a device, as a configuration states it: `way` is ``down`` or ``up``.

    `kind` is the discipline in tc's words, empty if the program chooses; `least` and `most` bound a rate that a program
    such as cake-autorate changes. `framing` has tc's words for CAKE about the link layer. `name` is that of the circuit
    or queue, `parent` the site above it.
    """

    device: str
    way: str
    place: Place
    rate: float | None = None
    kind: str = ""
    options: Values = field(default_factory=dict)
    framing: str = ""
    least: float | None = None
    most: float | None = None
    enabled: bool = True
    text: str = ""
    name: str = ""
    parent: str = ""


@dataclass(frozen=True)
class Path:
    """A network without a router of ours, as simulators and emulators state it; rates by direction, delay of one way.

    `buffer` and `aqm` are ours, by direction; `recordings` are files with rates; `access` and `far` have the delays of
    other links at the senders and at the receivers.
    """

    place: Place
    down: float | None = None
    up: float | None = None
    delay: float | None = None
    buffer: Mapping[str, str] = field(default_factory=dict)
    aqm: Mapping[str, Values] = field(default_factory=dict)
    recordings: Mapping[str, str] = field(default_factory=dict)
    loss: Mapping[str, float] = field(default_factory=dict)
    access: Sequence[float] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    far: Sequence[float] = ()


@dataclass(frozen=True)
class Flows:
    """Traffic that a file states or has measured, as a table of a scenario; `goodput` in bit/s is of TCP alone."""

    place: Place
    table: Values
    goodput: float | None = None


@dataclass(frozen=True)
class State:
    """All that some files say together.

    `wanted` is what commands were to set up at places of which the kernel printed what they have.
    """

    sources: tuple[Source, ...] = ()
    qdiscs: tuple[Qdisc, ...] = ()
    classes: tuple[Class, ...] = ()
    filters: tuple[Filter, ...] = ()
    devices: tuple[Device, ...] = ()
    sections: tuple[Section, ...] = ()
    shapers: tuple[Shaper, ...] = ()
    paths: tuple[Path, ...] = ()
    flows: tuple[Flows, ...] = ()
    unread: tuple[Unread, ...] = ()
    wanted: tuple[Qdisc | Class, ...] = ()

    def joined(self, other: State) -> State:
        """Return both together, in this order."""
        return State(*(getattr(self, each) + getattr(other, each) for each in self.__dataclass_fields__))

    def root(self, device: str) -> Qdisc | None:
        """Return the discipline at the root of a device."""
        return next((q for q in self.qdiscs if q.device == device and not q.parent and not q.is_ingress), None)

    def inside(self, device: str, parent: str) -> Qdisc | None:
        """Return the discipline inside a class, such as ``1:10``."""
        return next((q for q in self.qdiscs if q.device == device and q.parent == parent), None)

    def classes_of(self, device: str, handle: str) -> list[Class]:
        """Return the classes of a discipline, in their order."""
        return [each for each in self.classes if each.device == device and each.discipline == handle]

    def below(self, qdisc: Qdisc) -> Iterator[Qdisc]:
        """Yield the disciplines in the classes of one, and in theirs."""
        for each in self.qdiscs:
            if qdisc.handle and each.device == qdisc.device and each.parent.startswith(qdisc.handle):
                yield each
                yield from self.below(each)

    def ingress_of(self, device: str) -> str | None:
        """Return the device to which what comes in at a device is redirected, an IFB as a rule."""
        marks = ("ffff:", "ingress", "clsact")
        found = (f for f in self.filters if f.device == device and f.redirect and f.parent.startswith(marks))
        return next((f.redirect for f in found), None)

    def devices_with_queues(self) -> list[str]:
        """Return the devices that have a discipline, in the order of the files."""
        return list(dict.fromkeys(each.device for each in self.qdiscs))
