"""Simulated short transfers: TCP packet by packet over a link with random loss, repeated for a mean."""

from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import count
from math import floor, inf

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory.domain import not_negative, positive, whole

Array = NDArray[np.float64]

FLAVOURS = ("tahoe", "reno", "newreno")
# Packets whose losses are drawn at once.
DRAWN = 256
DUPLICATES = 3


@dataclass(frozen=True, kw_only=True)
class Sender:
    """TCP settings of a transfer; by default those of ns-2 of about 2002.

    * flavour: ``tahoe``, ``reno`` or ``newreno``.
    * ``initial_rto``: time-out (s) before a round trip is measured.
    * ``min_rto``: the least time-out (s) afterwards.
    * ``max_rto``: the largest time-out (s), back-off included.
    * tick: resolution (s) of the clock that measures round trips.
    * ssthresh: initial slow-start threshold (packets).
    * initial_window: initial window (packets).
    * requests: packets between the handshake and the data that take half a round trip each. They may be lost too; each
      then waits for the initial time-out.
    * handshake_measured: whether the exchange of SYNs counts as a measured round trip, which makes ``min_rto`` apply
      from the first data packet; otherwise a loss among the first packets waits for ``initial_rto``.
    * ``delayed_ack``: how long (s) an ACK waits for a second packet; 0 for one ACK per packet.
    * limited_transmit: whether each of the first two duplicate ACKs releases a new packet (RFC 3042).
    """

    flavour: str = "reno"
    initial_rto: float = 6.0
    min_rto: float = 1.0
    max_rto: float = 64.0
    tick: float = 0.1
    ssthresh: float = 64.0
    initial_window: float = 1.0
    requests: int = 1
    handshake_measured: bool = False
    delayed_ack: float = 0.0
    limited_transmit: bool = False

    def __post_init__(self) -> None:
        if self.flavour not in FLAVOURS:
            raise ValueError(f"flavour = {self.flavour!r}: must be one of {', '.join(FLAVOURS)}")
        positive(initial_rto=self.initial_rto, min_rto=self.min_rto, max_rto=self.max_rto, tick=self.tick)
        if self.max_rto < self.min_rto:
            raise ValueError(f"max_rto = {self.max_rto:g}: must not be below min_rto = {self.min_rto:g}")
        positive(ssthresh=self.ssthresh)
        not_negative(requests=self.requests, delayed_ack=self.delayed_ack)
        if self.requests % 1:
            raise ValueError(f"requests = {self.requests:g}: must be a whole number")
        if not self.initial_window >= 1:
            raise ValueError(f"initial_window = {self.initial_window:g}: must be at least 1, or nothing is sent")


def times(
    packets: int, p: float, R: float, tau: float, n: int = 600, seed: int = 1, sender: Sender | None = None
) -> Array:
    """Return the duration (s) of each of n transfers, from its first SYN to the ACK of its last packet; shape (n,)."""
    return outcomes(packets, p, R, tau, n, seed, sender)[0]


def outcomes(
    packets: int, p: float, R: float, tau: float, n: int = 600, seed: int = 1, sender: Sender | None = None
) -> tuple[Array, Array]:
    """Return the durations (s) of n transfers, as from `times`, and their time-outs after the SYN; shape (n,)."""
    whole(packets=packets, n=n)
    positive(R=R, tau=tau)
    not_negative(seed=seed)
    if not 0 <= p < 1:
        raise ValueError(f"p = {p:g}: must be in [0, 1), or no packet ever arrives")
    sender = sender or Sender()
    rng = np.random.default_rng([seed, packets, round(p * 1e12)])
    lost = _losses(rng, p)
    phases = rng.uniform(0, sender.tick, n)
    transfers = [_Transfer(packets, R, tau, sender, lost, float(phase)) for phase in phases]
    durations = np.array([transfer.run() for transfer in transfers])
    return durations, np.array([float(transfer.timeouts) for transfer in transfers])


@dataclass(frozen=True, kw_only=True)
class Recovery:
    """What the loss of chosen packets does to a transfer.

    * duration: time (s) from the SYN to the last acknowledgement.
    * timeouts: its time-outs.
    * window: the window (packets) when the first loss was noticed.
    * ssthresh: the slow-start threshold (packets) set then.
    """

    duration: float
    timeouts: int
    window: float
    ssthresh: float


def after_loss(lost: Collection[int], packets: int, R: float, tau: float, sender: Sender | None = None) -> Recovery:
    """Follow a transfer of which chosen packets are lost once, and no other."""
    positive(R=R, tau=tau)
    if not any(1 <= one <= packets for one in lost):
        raise ValueError(f"lost = {sorted(lost)}: must contain one of the packets 1 to {packets}")
    sender = sender or Sender()
    opening = 1 + sender.requests
    losses = (number - opening in lost for number in count(1))
    transfer = _Transfer(packets, R, tau, sender, losses, 0.0)
    duration = transfer.run()
    window, ssthresh = transfer.cuts[0]
    return Recovery(duration=duration, timeouts=transfer.timeouts, window=window, ssthresh=ssthresh)


def _losses(rng: np.random.Generator, p: float) -> Iterator[bool]:
    while True:
        yield from (rng.random(DRAWN) < p).tolist()


class _Transfer:
    """One transfer. The single link does not reorder: ACKs arrive in the order of the packets that caused them."""

    def __init__(self, packets: int, R: float, tau: float, sender: Sender, lost: Iterator[bool], phase: float) -> None:
        self.end, self.R, self.tau, self.sender, self.lost, self.phase = packets, R, tau, sender, lost, phase
        self.newreno, self.tahoe = sender.flavour == "newreno", sender.flavour == "tahoe"
        self.cwnd, self.ssthresh = sender.initial_window, sender.ssthresh
        self.una = self.nxt = self.max = 0  # first unacknowledged; next to send; one past the highest sent
        self.recover = -1  # the highest sent when the last loss was detected
        self.duplicates = self.inflation = 0
        self.recovering = self.partial = False
        self.timed, self.timed_at = -1, 0.0
        self.srtt = self.rttvar = 0.0
        self.rto, self.backoff = sender.initial_rto, 1.0
        self.deadline = inf
        self.timeouts = 0
        self.cuts: list[tuple[float, float]] = []  # the window before each reduction, and the threshold after it
        # State of the link and the receiver.
        self.busy = 0.0
        self.expected = 0
        self.early: set[int] = set()
        self.acks: deque[tuple[float, int]] = deque()
        self.waiting = inf  # when a delayed ACK is sent

    def run(self) -> float:
        """Return the time at which the last packet is acknowledged."""
        now = self._open()
        self._fill(now)
        while self.una < self.end:
            first = self.acks[0][0] if self.acks else inf
            alone = self.waiting + self.R / 2
            if min(first, alone) > self.deadline:
                now = self.deadline
                self._time_out(now)
            elif first <= alone:
                now, ack = self.acks.popleft()
                self._on_ack(now, ack)
            else:
                self.acks.append((alone, self.expected))
                self.waiting = inf
        return now

    def _open(self) -> float:
        """Exchange SYNs and send the requests; each waits for the initial time-out, doubled every time, if lost."""
        now = 0.0
        for request in range(1 + self.sender.requests):
            wait = self.sender.initial_rto
            alone = True
            while next(self.lost):
                now += wait
                wait = min(2 * wait, self.sender.max_rto)
                alone = False
            now += self.R / 2 if request else self.R
            if not request and alone and self.sender.handshake_measured:
                self._measure(now - self.R, now)
        return now

    def _send(self, now: float, seq: int) -> None:
        if seq == self.max:
            self.max = seq + 1
            if self.timed < 0:
                self.timed, self.timed_at = seq, now
        if self.deadline == inf:
            self._restart(now)
        if next(self.lost):
            return
        self.busy = max(self.busy, now) + self.tau
        arrived = self.busy + self.R / 2
        wait = self.sender.delayed_ack
        if self.waiting <= arrived:
            self.acks.append((self.waiting + self.R / 2, self.expected))
            self.waiting = inf
        in_order = seq == self.expected and not self.early
        if seq == self.expected:
            self.expected += 1
            while self.expected in self.early:
                self.early.remove(self.expected)
                self.expected += 1
        elif seq > self.expected:
            self.early.add(seq)
        if wait and in_order and self.waiting == inf:
            self.waiting = arrived + wait
        else:
            self.waiting = inf
            self.acks.append((arrived + self.R / 2, self.expected))

    def _fill(self, now: float) -> None:
        edge = min(self.end, self.una + floor(self.cwnd) + self.inflation)
        while self.nxt < edge:
            self._send(now, self.nxt)
            self.nxt += 1

    def _restart(self, now: float) -> None:
        self.deadline = now + min(self.rto * self.backoff, self.sender.max_rto)

    def _measure(self, sent: float, now: float) -> None:
        """Record a round trip in clock ticks (RFC 6298, with the sender's least and initial time-outs)."""
        tick = self.sender.tick
        took = tick * max(1, floor((now + self.phase) / tick) - floor((sent + self.phase) / tick))
        if self.srtt:
            self.rttvar += (abs(took - self.srtt) - self.rttvar) / 4
            self.srtt += (took - self.srtt) / 8
        else:
            self.srtt, self.rttvar = took, took / 2
        self.rto = max(self.sender.min_rto, self.srtt + max(tick, 4 * self.rttvar))
        self.backoff = 1.0

    def _on_ack(self, now: float, ack: int) -> None:
        if ack <= self.una:
            if ack == self.una and self.una < self.max:
                self._on_duplicate(now)
            return
        if 0 <= self.timed < ack:
            self._measure(self.timed_at, now)
            self.timed = -1
        acked = ack - self.una
        self.una = ack
        self.nxt = max(self.nxt, ack)
        if self.recovering and self.newreno and ack <= self.recover:
            self._on_partial(now, acked)
            self._fill(now)
            return
        if not self.recovering:
            self.cwnd += 1 if self.cwnd < self.ssthresh else 1 / self.cwnd
        self.recovering = self.partial = False
        self.duplicates = self.inflation = 0
        self.deadline = inf
        if self.una < self.max:
            self._restart(now)
        self._fill(now)

    def _on_duplicate(self, now: float) -> None:
        self.duplicates += 1
        if self.recovering:
            self.inflation += 1
        elif self.duplicates == DUPLICATES and self.una > self.recover:
            self._retransmit(now)
        elif self.duplicates < DUPLICATES:
            room = self.nxt < self.una + floor(self.cwnd) + self.duplicates
            if room and self.sender.limited_transmit and self.nxt == self.max < self.end:
                self._send(now, self.nxt)
                self.nxt += 1
            return
        self._fill(now)

    def _reduce(self) -> None:
        threshold = max(2.0, floor(self.cwnd / 2))
        self.cuts.append((self.cwnd, threshold))
        self.ssthresh = threshold

    def _retransmit(self, now: float) -> None:
        self._reduce()
        self.recover = self.max - 1
        self.timed = -1
        self._restart(now)
        if self.tahoe:
            self.cwnd, self.nxt = 1.0, self.una
            return
        self.recovering, self.cwnd, self.inflation = True, self.ssthresh, DUPLICATES
        self._send(now, self.una)

    def _on_partial(self, now: float, acked: int) -> None:
        """Retransmit the next missing packet after a partial ACK (RFC 6582). Only the first one restarts the timer."""
        if not self.partial:
            self._restart(now)
        self.partial = True
        if self.inflation > acked:
            self.inflation -= acked - 1
        else:
            self.cwnd, self.inflation = max(1.0, self.cwnd - (acked - self.inflation)), 1
        self._send(now, self.una)

    def _time_out(self, now: float) -> None:
        self.timeouts += 1
        self._reduce()
        self.cwnd, self.nxt = 1.0, self.una
        self.recover = self.max - 1
        self.recovering = self.partial = False
        self.duplicates = self.inflation = 0
        self.timed = -1
        self.backoff *= 2
        self._restart(now)
        self._fill(now)
