"""The base class of a user's own queue discipline, its parameters, its signals and its verdicts.

`aqmlab.own.control` has the base class of congestion controls.
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

PASS = 0
"""The verdict that leaves a packet as it is. A method that returns None passes the packet as well."""

MARK = 1
"""The verdict that sets CE (RFC 3168). A packet that is not ECN-capable is dropped instead."""

DROP = 2
"""The verdict that drops a packet."""


class Packet(Protocol):
    """The packet of an event. It is one object for the whole run: keep its values, never the object itself."""

    @property
    def size(self) -> int:
        """Size on the wire in bytes."""

    @property
    def ect(self) -> bool:
        """Whether its transport is ECN-capable (RFC 3168)."""

    @property
    def l4s(self) -> bool:
        """Whether its codepoint is ECT(1) or CE (RFC 9331)."""

    @property
    def udp(self) -> bool:
        """Whether its protocol is UDP."""

    @property
    def service(self) -> int:
        """Class of service, from 1."""

    @property
    def flow(self) -> int:
        """A hash of the five-tuple, not negative: equal for all packets of a connection in one direction."""

    @property
    def pair(self) -> int:
        """A number for the addresses: equal for all packets from one host to another."""

    @property
    def sojourn(self) -> float:
        """The time that it has waited in seconds; 0 at its arrival."""

    @property
    def sojourn_ns(self) -> int:
        """The time that it has waited in nanoseconds."""


class Queue(Protocol):
    """The queue at an event, without the packet of the event and without the one in transmission."""

    @property
    def now(self) -> float:
        """The time since the start of the run in seconds."""

    @property
    def now_ns(self) -> int:
        """The time since the start of the run in nanoseconds: exact, where seconds are rounded."""

    @property
    def packets(self) -> int:
        """Waiting packets."""

    @property
    def bytes(self) -> int:
        """Waiting bytes."""

    @property
    def delay(self) -> float:
        """The time in seconds that the link takes to send the waiting bytes at the rate that it has now."""

    @property
    def full(self) -> bool:
        """Whether the arriving packet has no room. It is then lost, whatever the verdict."""


@dataclass(frozen=True, slots=True)
class Port:
    """The link that a queue feeds.

    Attributes
    ----------
    rate : float
        Rate in bit/s at the start; `Queue.delay` follows its changes.
    delay : float
        One-way propagation delay in seconds.
    buffer : float
        Room in packets of the usual size.
    packet : int
        The usual size of a data packet in bytes.
    """

    rate: float
    delay: float
    buffer: float
    packet: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """A declared parameter; `range` has the lower bound, whether that is allowed itself, and the upper bound.

    `name` is that of the attribute, once the class has been read.
    """

    default: float | str
    unit: str
    doc: str
    range: tuple[float, bool, float]
    choices: tuple[str, ...]
    aliases: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True, slots=True)
class Signal:
    """A declared signal; `name` is that of the attribute, once the class has been read."""

    unit: str
    doc: str
    name: str = ""


def param(
    default: float | str,
    unit: str = "",
    doc: str = "",
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    aliases: Sequence[str] = (),
) -> Any:
    """Declare a parameter of a queue discipline or congestion control; in its methods, ``self.NAME`` is the value.

    Parameters
    ----------
    default : float, int, bool or str
        The default in base units. It decides which values are allowed: an int allows whole numbers that are not
        negative, a float any number, a bool true and false, a string one of `choices`.
    unit : str
        The unit. A parameter in ``s``, ``bit/s``, ``bytes`` or ``Hz`` is written with its unit: ``target=20ms``. Any
        other unit is only named.
    doc : str
        The meaning, in one sentence.
    low : float, optional
        The lowest allowed value.
    above : float, optional
        In place of `low`, the value above which all are allowed.
    high : float, optional
        The highest allowed value.
    choices : sequence of str
        The allowed texts.
    aliases : sequence of str
        Other names. A target length of the queue in packets should have the alias ``q0``, so that comparisons can set
        it for all disciplines.

    Returns
    -------
    Any
        The declaration.

    Raises
    ------
    TypeError, ValueError
        If the declaration contradicts itself.
    """
    if not isinstance(default, bool | int | float | str):
        raise TypeError(f"param({default!r}): the default must be a number, true or false, or a text")
    if not isinstance(unit, str) or not isinstance(doc, str):
        raise TypeError(f"param({default!r}): unit and doc must be texts, as in param(0.02, 's', 'Target delay')")
    if low is not None and above is not None:
        raise ValueError(f"param({default!r}): give low, the lowest value, or above, but not both")
    bounds = (low, above, high)
    if isinstance(default, str):
        if choices and default not in choices:
            raise ValueError(f"param({default!r}): the default must be one of {', '.join(choices)}")
        if any(bound is not None for bound in bounds):
            raise ValueError(f"param({default!r}): a text has no low, above or high")
    elif choices:
        raise ValueError(f"param({default!r}): only a text has choices")
    lowest = next((float(bound) for bound in (low, above) if bound is not None), -math.inf)
    highest = math.inf if high is None else float(high)
    if not isinstance(default, str | bool):
        fits = lowest < default <= highest or (default == lowest and above is None)
        if not fits or not math.isfinite(default):
            raise ValueError(f"param({default!r}): the default must be a number in the range that it declares")
        if default < 0 and unit in ("s", "bit/s", "bytes", "Hz"):
            raise ValueError(f"param({default!r}): in {unit}, it must not be negative")
        if default < 0 and isinstance(default, int):
            raise ValueError(f"param({default!r}): write {default}.0 for a number that may be negative")
    return Parameter(default, unit, doc, (lowest, above is None, highest), tuple(choices), tuple(aliases))


def signal(unit: str = "", doc: str = "") -> Any:
    """Declare a signal: an attribute that series record. It is 0.0 until `AQM.start` or an event sets it.

    Parameters
    ----------
    unit : str
        The unit.
    doc : str
        The meaning, in one sentence.

    Returns
    -------
    Any
        The declaration.
    """
    if not isinstance(unit, str) or not isinstance(doc, str):
        raise TypeError(f"signal({unit!r}, {doc!r}): unit and doc must be texts")
    return Signal(unit, doc)


def ns(seconds: float) -> int:
    """Convert seconds to whole nanoseconds, for exact comparisons with ``queue.now_ns`` and ``packet.sojourn_ns``.

    Parameters
    ----------
    seconds : float
        The time in seconds.

    Returns
    -------
    int
        The nearest whole number of nanoseconds.
    """
    return int(seconds * 1e9 + 0.5)


class Declares:
    """A class that declares its parameters: the base of those from which the user's own are derived."""

    _events: ClassVar[tuple[str, ...]] = ()
    """The methods that the engine calls for events."""
    _reserved: ClassVar[frozenset[str]] = frozenset()
    """The names that no parameter and no signal can have."""
    _signals: ClassVar[bool] = False
    """Whether it may declare signals."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, declared in vars(cls).items():
            if isinstance(declared, Parameter | Signal):
                kind = "parameter" if isinstance(declared, Parameter) else "signal"
                if kind == "signal" and not cls._signals:
                    raise TypeError(f"{cls.__name__}.{name}: only queue disciplines have signals")
                if name in cls._reserved or name.startswith("_") or keyword.iskeyword(name):
                    raise TypeError(f"{cls.__name__}.{name}: no {kind} can be called {name}: give it another name")


METHODS = ("on_enqueue", "on_dequeue", "on_overflow", "on_idle", "on_period")
"""The methods that the engine calls for the events of a queue."""


class AQM(Declares):
    """A queue discipline of one's own: the base of a class in a file.

    A subclass declares its parameters with `param` and its signals with `signal`, and overrides the methods that it
    needs; those that it does not override cost nothing. Its docstring is its documentation, of which the first
    paragraph is the summary. There is one object for each queue and run.

    With a class attribute ``period`` in seconds, a number or a parameter, `on_period` is called at its multiples.

    Attributes
    ----------
    random : callable
        ``self.random()`` draws the next number from [0, 1) of the queue's own random stream, in `on_enqueue` and
        `on_dequeue`.
    """

    random: Callable[[], float]

    _events = METHODS
    # A parameter may be called `period`.
    _reserved = frozenset({"name", "preset", "source", "random", "start", "rate", *METHODS})
    _signals = True

    def start(self, port: Port) -> None:
        """Set the initial state. Every attribute that an event changes should be set here.

        Parameters
        ----------
        port : Port
            The link that the queue feeds.
        """

    def on_enqueue(self, packet: Packet, queue: Queue) -> int | None:
        """Decide on an arriving packet, before it joins the queue, also if the buffer is full.

        Parameters
        ----------
        packet : Packet
            The packet.
        queue : Queue
            The queue, without the packet.

        Returns
        -------
        int or None
            `PASS` or None, `MARK`, or `DROP`.
        """

    def on_dequeue(self, packet: Packet, queue: Queue) -> int | None:
        """Decide on a packet that is about to be sent. After a drop, the next packet is asked about at once.

        Parameters
        ----------
        packet : Packet
            The packet.
        queue : Queue
            The queue, without the packet.

        Returns
        -------
        int or None
            `PASS` or None, `MARK`, or `DROP`.
        """

    def on_overflow(self) -> None:
        """Note that a waiting packet was dropped since a buffer that several queues share is full, as ``fq`` does."""

    def on_idle(self, queue: Queue) -> None:
        """Note that the link is idle from now on, as it is at the start.

        Parameters
        ----------
        queue : Queue
            The queue.
        """

    def on_period(self, queue: Queue) -> None:
        """Do the periodic update. At one time, it comes before arrivals.

        Parameters
        ----------
        queue : Queue
            The queue.
        """

    def rate(self, q: float, p: float, dq: float = 0.0) -> float:
        """Return the law of the drop probability p, dp/dt (1/s), at a queue of `q` packets of the usual size.

        With it, the fluid engine can integrate the discipline and ``aqmlab analyse`` its stability. It is a law without
        randomness, of p alone; the methods for packets may differ from it in parts that the law leaves out. A part of p
        that is proportional to the queue, as PI and PIE have, is one of dp/dt that is proportional to `dq`: a law
        without it may omit this argument.

        Parameters
        ----------
        q : float
            The queue in packets.
        p : float
            The drop probability.
        dq : float
            The derivative of the queue in packets/s.

        Returns
        -------
        float
            The derivative of p.
        """
        raise NotImplementedError


def base_of(cls: type[Declares]) -> type[Declares]:
    """Return `AQM` or `CongestionControl`, of which a class is one."""
    return next(base for base in cls.__mro__ if Declares in base.__bases__)


def has(cls: type[Declares], method: str) -> bool:
    """Return whether a class overrides a method."""
    return getattr(cls, method, None) is not getattr(base_of(cls), method, None)
