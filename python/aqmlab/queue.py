"""A queue under a discipline in the loop of another program, such as a model in SimPy."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Literal

from aqmlab import _core

Reason = Literal["early", "full"]

_FLOW = 2**64 - 1


class Ecn(IntEnum):
    """The two ECN bits of a packet (RFC 3168), with the values that they have there."""

    NOT_ECT = 0
    """Its transport is not ECN-capable."""
    ECT1 = 1
    """ECN-capable, with scalable congestion control (RFC 9331)."""
    ECT0 = 2
    """ECN-capable."""
    CE = 3
    """Congestion has been experienced."""


class Queue:
    """A queue under a discipline, in front of a link of yours. It has no clock: each call states the time in seconds.

    Time counts from the first call, and one that runs backwards stands still. A packet is any object. Periodic updates
    of a discipline, such as PIE's, are performed by the next call.

    Parameters
    ----------
    aqm : str
        A discipline with settings, such as ``"codel"``, ``"pie:target=10ms"`` or ``"examples/mine.py:Mine"``.
    rate : float or str
        The rate of the link in bit/s, or with a unit, such as ``"10 Mbit/s"``.
    packets : int, optional
        The number of packets that may wait.
    bytes : int or str, optional
        In place of `packets`, the number of bytes that may wait.
    delay : float or str
        The one-way propagation delay of the link in seconds, or with a unit, which a few disciplines read.
    packet_size : int or str
        The usual size of a packet in bytes, for disciplines that count in packets.
    seed : int
        Determines the random numbers.
    interpreted : bool
        Run a class of your own in Python, even if it can be compiled.

    Raises
    ------
    ValueError
        If there is no such discipline, or a value is not allowed.

    Examples
    --------
    >>> queue = Queue("codel", "10 Mbit/s", packets=2)
    >>> [queue.enqueue(0.0, name) for name in ("a", "b", "c")]
    [True, True, False]
    >>> queue.dropped()
    [('c', 'full')]
    >>> queue.dequeue(0.0012), len(queue)
    (('a', <Ecn.NOT_ECT: 0>), 1)
    """

    def __init__(
        self,
        aqm: str,
        rate: float | str,
        *,
        packets: int | None = None,
        bytes: int | str | None = None,
        delay: float | str = 0,
        packet_size: int | str = 1500,
        seed: int = 1,
        interpreted: bool = False,
    ) -> None:
        link = {"rate": rate, "packets": packets, "bytes": bytes, "delay": delay, "packet_size": packet_size}
        given = {name: value for name, value in link.items() if value is not None}
        self._queue = _core.Qdisc(aqm, given, seed, interpreted)

    def enqueue(
        self,
        now: float,
        packet: Any,
        size: int = 1500,
        flow: int = 0,
        ecn: int = Ecn.NOT_ECT,
        *,
        dscp: int = 0,
        source: int = 0,
        destination: int = 0,
        udp: bool = False,
        service: int = 1,
    ) -> bool:
        """Hand over a packet.

        Parameters
        ----------
        now : float
            The time in seconds.
        packet : object
            The packet.
        size : int
            Its size on the wire in bytes, at least 1.
        flow : int
            Represents the five-tuple, such as by ``hash``: equal for all packets of a connection in one direction.
        ecn : int
            Its ECN bits, an `Ecn`.
        dscp : int
            Its differentiated services code point, 0 to 63.
        source : int
            Represents the host that sent it, such as by its IPv4 address; less than 2**32.
        destination : int
            Represents the host to which it goes, likewise.
        udp : bool
            Whether its protocol is UDP.
        service : int
            Its class of service, 1 to 4.

        Returns
        -------
        bool
            Whether it waits now. Otherwise it is among `dropped`.

        Raises
        ------
        ValueError, OverflowError
            If a value is not allowed.
        AqmError
            If a discipline of your own raises an exception, which ends the queue.
        """
        return self._queue.enqueue(now, packet, size, flow & _FLOW, ecn, (dscp, source, destination, udp, service))

    def dequeue(self, now: float) -> tuple[Any, Ecn] | None:
        """Return the packet that the link, which is free, sends next.

        Parameters
        ----------
        now : float
            The time in seconds.

        Returns
        -------
        tuple of object and Ecn, or None
            The packet, and the ECN bits that it has from now on. None if no packet waits, or if none may be sent until
            `paused_until`.

        Raises
        ------
        ValueError
            If it is no time.
        AqmError
            If a discipline of your own raises an exception, which ends the queue.
        """
        sent = self._queue.dequeue(now)
        return None if sent is None else (sent[0], _ECN[sent[1]])

    def dropped(self) -> list[tuple[Any, Reason]]:
        """Return the packets that the last call of `enqueue` or `dequeue` dropped; they are returned once.

        Returns
        -------
        list of tuple
            Each packet with the reason: ``"early"`` if the discipline dropped it, ``"full"`` if there was no room.
        """
        return [(packet, "full" if full else "early") for packet, full in self._queue.dropped()]

    @property
    def paused_until(self) -> float | None:
        """When to ask for a packet again, if a shaper holds packets back. An arrival may come before."""
        return self._queue.paused_until()

    @property
    def bytes(self) -> int:
        """The bytes of the waiting packets."""
        return self._queue.bytes

    def __len__(self) -> int:
        """Return the number of waiting packets."""
        return len(self._queue)

    def __bool__(self) -> bool:
        """Return true: an empty queue is a queue."""
        return True


_ECN = tuple(Ecn)
