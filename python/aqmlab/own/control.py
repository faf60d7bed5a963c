"""The base class of a user's own congestion control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from aqmlab.own.algorithm import Declares


class Flow(Protocol):
    """A connection at an event, in segments. It is one object all the time: keep its values, never itself."""

    @property
    def now(self) -> float:
        """The time since the start of the run in seconds."""

    @property
    def now_ns(self) -> int:
        """The time since the start of the run in nanoseconds: exact, where seconds are rounded."""

    @property
    def acked(self) -> int:
        """In `on_ack`: segments that this acknowledgement has delivered, also those that arrived out of order."""

    @property
    def rtt(self) -> float:
        """The last round trip that was measured, in seconds; 0 before the first."""

    @property
    def rtt_us(self) -> int:
        """The same in microseconds, as the sender measures it."""

    @property
    def srtt(self) -> float:
        """The smoothed round trip in seconds; 0 before the first."""

    @property
    def srtt_us(self) -> int:
        """The same in microseconds."""

    @property
    def in_flight(self) -> int:
        """Segments in the network: sent, not known to have arrived, and not judged lost."""

    @property
    def outstanding(self) -> int:
        """Segments sent and not yet acknowledged in their order."""

    @property
    def delivered(self) -> int:
        """Segments delivered so far; only differences mean something."""

    @property
    def marked(self) -> int:
        """Those of them that were marked with CE, as far as the acknowledgements tell."""

    @property
    def lost(self) -> int:
        """Segments judged lost so far."""

    @property
    def acknowledged(self) -> int:
        """The number of the first segment that is not acknowledged."""

    @property
    def sent(self) -> int:
        """The number of the next segment that was never sent. A round trip ends when `acknowledged` exceeds it."""

    @property
    def idle_ns(self) -> int:
        """The time since a segment was sent, in nanoseconds, to a tick of the sender's clock."""

    @property
    def limited(self) -> bool:
        """Whether the window is what limits the sender, and not the application."""

    @property
    def paced(self) -> bool:
        """Whether segments leave at a pace, be it the control's or the host's."""

    @property
    def repeated(self) -> bool:
        """In `on_timeout`: whether the timer went off before in the same window, whose threshold then stands."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A connection at its start.

    Attributes
    ----------
    payload : int
        Payload of a segment in bytes.
    packet : int
        Size of a segment on the wire in bytes.
    tick_ns : int
        Tick of the sender's clock in nanoseconds; that of Linux is 1,000,000.
    ecn : bool
        Whether its data is ECN-capable.
    now_ns : int
        The time since the start of the run in nanoseconds.
    sent : int
        The number of the next segment to be sent.
    """

    payload: int
    packet: int
    tick_ns: int
    ecn: bool
    now_ns: int
    sent: int


HOOKS = ("on_ack", "on_loss", "on_ecn", "on_timeout", "on_rtt", "on_restart")
"""The methods that the sender calls for events."""

WINDOW = ("cwnd", "ssthresh", "pacing_rate")
"""The attributes that the sender reads after each."""


class CongestionControl(Declares):
    """A congestion control of one's own: the base of a class in a file.

    A subclass declares its parameters with `param`, and overrides the methods that it needs; those that it does not
    override cost nothing. Its docstring is its documentation, of which the first paragraph is the summary. There is one
    object for each connection.

    The sender does what Linux's does: it finds losses, sends again, counts marks, and brings the window down to the
    threshold in proportion to what arrives. The class decides how far the window grows, and the threshold.

    Attributes
    ----------
    cwnd : float
        The congestion window in segments, of which the sender uses the whole ones. At least 1.
    ssthresh : float
        The slow-start threshold in segments. At least 1; it may be infinite.
    pacing_rate : float
        The rate in bit/s at which segments leave, headers not counted; infinite, as at the start, for no pace.
    """

    cwnd: float
    ssthresh: float
    pacing_rate: float

    _events = HOOKS
    _reserved = frozenset({"name", "preset", "source", "random", "start", *WINDOW, *HOOKS})

    def start(self, connection: Connection) -> None:
        """Set the initial state; the window is set already. Every attribute that an event changes should be set here.

        Parameters
        ----------
        connection : Connection
            The connection, which is now open.
        """

    def on_ack(self, flow: Flow) -> None:
        """Let the window grow: segments were delivered. It is not called while the window is coming down.

        Parameters
        ----------
        flow : Flow
            The connection.
        """

    def on_loss(self, flow: Flow) -> None:
        """Set `ssthresh` after a loss, at most once a round trip; `cwnd` is still the window before.

        The sender then brings the window down to the threshold, whatever `cwnd` is set to.

        Parameters
        ----------
        flow : Flow
            The connection.
        """

    def on_ecn(self, flow: Flow) -> None:
        """Set `ssthresh` after a mark, at most once a round trip. A class without this method treats it as a loss.

        Parameters
        ----------
        flow : Flow
            The connection.
        """

    def on_timeout(self, flow: Flow) -> None:
        """Set `ssthresh` when the retransmission timer goes off.

        A class without this method treats it as a loss, unless it is `Flow.repeated`.
        The window is then one segment more than those left in the network, and grows again by `on_ack`.

        Parameters
        ----------
        flow : Flow
            The connection; see `Flow.repeated`.
        """

    def on_rtt(self, flow: Flow) -> None:
        """Take note of a measured round trip, before all else in its acknowledgement, in every phase.

        Parameters
        ----------
        flow : Flow
            The connection, with the round trip as `rtt`.
        """

    def on_restart(self, flow: Flow) -> None:
        """Take note that something is about to be sent while nothing is in the network.

        Parameters
        ----------
        flow : Flow
            The connection; `idle_ns` is the time since the last segment was sent.
        """
