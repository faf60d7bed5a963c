"""A connection as one point of a path sees it: round trips, the bytes that arrived, and the segments sent again.

A round trip has two parts: from the point to the receiver and back, by the numbers that are acknowledged, and from the
point to the sender and back, by the time stamps that data echo. At the sender the second is next to nothing, at the
receiver the first; where the queue is, before the point or behind it, one of them varies. (Packets that wait in a queue
discipline of the capturing host itself are captured behind it.)
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange.measured.captured.clocks import require_steady
from aqmlab.exchange.measured.captured.segments import (
    ACK,
    HOW,
    NO_SCALE,
    SACKED,
    SYN,
    TIMES,
    Conversation,
    Unfit,
    unwrapped,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aqmlab.exchange.measured.captured.segments import Array, Truth, Whole

LONGEST_MISSING = 0.002
"""The share of bytes that may be acknowledged though no packet has them."""

TWICE = 5e-4
"""Seconds within which the same packet, of two devices of one host, is recorded twice."""

SMALLEST, ETHERNET, JUMBO = 500, 1460, 9000
"""Bytes of payload of a full segment: the least, the most where no handshake says it, and the most."""


@dataclass(frozen=True, eq=False)
class Trips:
    """Parts of round trips: when each ended at the point, when it began there, and how long it took, in s."""

    end: Array
    begin: Array

    @property
    def seconds(self) -> Array:
        """How long they took."""
        return self.end - self.begin


@dataclass(frozen=True, eq=False)
class Transfer:
    """A connection with data, at one point."""

    conversation: Conversation

    def __post_init__(self) -> None:
        """Refuse a capture from which nothing follows."""
        one = self.conversation
        if not one.back.flagged(ACK).any():
            raise Unfit(
                f"a capture of one direction, without the acknowledgements of {_named(one.ends[1])}: record {HOW}, "
                "without `src` and `dst` in the filter"
            )
        require_steady(one, np.concatenate([self.t, self.news[0]]))
        again = ~self.new & (self._since_before < TWICE)
        if again.mean() > 0.2:
            raise Unfit("each packet is in it twice, of two devices: record one, as with `tcpdump -i eth0`")
        if self.missing > LONGEST_MISSING * one.data.bytes + 3 * self.segment:
            raise Unfit(
                f"{self.missing} bytes were acknowledged that no packet in it has: packets were missed while it was "
                f"recorded: record {HOW}"
            )

    @cached_property
    def _rows(self) -> Truth:
        """Which segments have data."""
        return self.conversation.data["payload"] > 0

    @cached_property
    def t(self) -> Array:
        """When segments with data passed."""
        return self.conversation.data.t[self._rows]

    @cached_property
    def base(self) -> int:
        """The number of the first byte."""
        return int(self.conversation.data["seq"][self._rows][0])

    @cached_property
    def first(self) -> Whole:
        """The first byte of each segment, as a distance from the base."""
        return unwrapped(self.conversation.data["seq"][self._rows], self.base)

    @cached_property
    def payload(self) -> Whole:
        """The bytes of each segment."""
        return self.conversation.data["payload"][self._rows]

    @cached_property
    def _before(self) -> Whole:
        """The end of all bytes before each segment."""
        ends = np.maximum.accumulate(self.first + self.payload)
        return np.concatenate([self.first[:1], ends[:-1]])

    @cached_property
    def new(self) -> Truth:
        """Which segments have bytes beyond all before."""
        return self.first + self.payload > self._before

    @cached_property
    def _since_before(self) -> Array:
        """Seconds since the new segment that has the first byte of each."""
        starts, times = self.first[self.new], self.t[self.new]
        place = np.clip(np.searchsorted(starts, self.first, "right") - 1, 0, None)
        return self.t - times[place]

    @cached_property
    def segment(self) -> int:
        """Bytes of payload of a full segment: a packet may be several, which a network card is to divide."""
        point = self.conversation
        opening = [np.max(one["largest"][one.flagged(SYN)], initial=0) for one in (point.data, point.back)]
        most = min((size for size in opening if size), default=ETHERNET)
        sizes, counts = np.unique(self.payload[self.payload >= SMALLEST], return_counts=True)
        possible = [int(size) for size in sizes if size <= min(most, JUMBO)]
        if not possible:
            return int(min(most, ETHERNET)) - (12 if point.data.flagged(TIMES).any() else 0)
        return max(possible, key=lambda size: (int((sizes * counts)[sizes % size == 0].sum()), size))

    @cached_property
    def headers(self) -> int:
        """Bytes of IP and TCP before it."""
        return int(np.median(self.conversation.data["headers"][self._rows]))

    @cached_property
    def _acks(self) -> tuple[Array, Whole, Whole]:
        """When acknowledgements passed, what they acknowledge, and the end of all that has arrived."""
        back = self.conversation.back
        rows = back.flagged(ACK)
        number = unwrapped(back["ack"][rows], self.base)
        # Those of the handshake and of data before the capture.
        number = np.maximum.accumulate(np.maximum(number, 0))
        beyond = (back["sack_last"][rows] - back["ack"][rows]) % (1 << 32)
        last = number + np.where(back.flagged(SACKED)[rows] & (beyond < 1 << 31), beyond, 0)
        return back.t[rows], number, np.maximum.accumulate(last)

    @cached_property
    def _holes(self) -> tuple[Whole, Whole, Array]:
        """What passed late or never: the first byte, the end, and when that was seen."""
        gap = self.new & (self.first > self._before)
        return self._before[gap], self.first[gap], self.t[gap]

    @cached_property
    def _late(self) -> tuple[NDArray[np.intp], Truth]:
        """The segments that are not the first with their bytes or in their place, and which of these are of a hole."""
        late = np.flatnonzero(~self.new)
        return late, self.fresh[late] > 0

    @cached_property
    def fresh(self) -> Whole:
        """The bytes of each segment that had not passed before."""
        ends = self.first + self.payload
        found: Whole = np.maximum(ends - np.maximum(self.first, self._before), 0)
        starts, stops = (edge.tolist() for edge in self._holes[:2])
        for row in np.flatnonzero(~self.new).tolist():
            left, right = int(self.first[row]), int(ends[row])
            some = slice(bisect_right(stops, left), bisect_left(starts, right))
            holes = list(zip(starts[some], stops[some], strict=True))
            found[row] = sum(min(stop, right) - max(start, left) for start, stop in holes)
            # What it leaves of them.
            starts[some] = [start for start, _ in holes if start < left] + [right for _, stop in holes if stop > right]
            stops[some] = [left for start, _ in holes if start < left] + [stop for _, stop in holes if stop > right]
        return found

    @cached_property
    def missing(self) -> int:
        """Bytes that were acknowledged, and passed before no acknowledgement of them."""
        start, end, _ = self._holes
        _, number, _ = self._acks
        most = int(number[-1])
        filled = int(self.fresh[~self.new].sum())
        holes = int((np.minimum(end, most) - np.minimum(start, most)).sum())
        unseen = most - int((self.first + self.payload).max()) - 2  # the FIN
        return max(0, holes - filled) + max(0, unseen)

    @cached_property
    def originals(self) -> tuple[Array, Whole, Truth]:
        """When new bytes passed, the first of each segment, and whether they passed once."""
        first = self.first[self.new]
        once = np.ones(len(first), bool)
        late, _ = self._late
        once[np.clip(np.searchsorted(first, self.first[late], "right") - 1, 0, None)] = False
        return self.t[self.new], first, once

    @cached_property
    def news(self) -> tuple[Array, Whole]:
        """When acknowledgements passed of bytes that just had arrived, and the end of these bytes."""
        when, number, last = self._acks
        news = np.flatnonzero(np.diff(last, prepend=0) > 0)
        if not self.conversation.back.flagged(SACKED).any():
            # One after a repeated one is of what had been lost.
            stuck = np.concatenate([[False], np.diff(number) == 0])
            news = news[~stuck[np.maximum(news - 1, 0)]]
        return when[news], last[news]

    @cached_property
    def forth(self) -> Trips:
        """The parts of round trips beyond the point, of bytes that passed once."""
        when, last = self.news
        sent, _, once = self.originals
        ends = (self.first + self.payload)[self.new]
        place = np.searchsorted(ends, last, "left")
        good = place < len(ends)
        good[good] = once[place[good]] & (when[good] >= sent[place[good]])
        return Trips(when[good], sent[place[good]])

    @cached_property
    def back(self) -> Trips:
        """The parts before the point: from an acknowledgement to the first data that echo its time."""
        one = self.conversation
        stamped, echoing = one.back.flagged(TIMES), one.data.flagged(TIMES) & self._rows
        clock, first = np.unique(one.back["time"][stamped], return_index=True)
        echo, answer = np.unique(one.data["echo"][echoing], return_index=True)
        _, left, right = np.intersect1d(clock, echo, return_indices=True)
        begin, end = one.back.t[stamped][first[left]], one.data.t[echoing][answer[right]]
        good = np.argsort(end)
        good = good[(end >= begin)[good]]
        return Trips(end[good], begin[good])

    @cached_property
    def opening(self) -> tuple[float, float] | None:
        """The two parts of the round trip in the handshake, if it is there once."""
        data, back = self.conversation.data, self.conversation.back
        one, other = (point.t[point.flagged(SYN)] for point in (data, back))
        if len(one) != 1 or len(other) != 1:
            return None
        if one[0] < other[0]:
            answer = data.t[data.flagged(ACK) & (data.t >= other[0])]
            return (float(other[0] - one[0]), float(answer[0] - other[0])) if len(answer) else None
        answer = back.t[back.flagged(ACK) & ~back.flagged(SYN) & (back.t >= one[0])]
        return (float(answer[0] - one[0]), float(one[0] - other[0])) if len(answer) else None

    def delivered(self) -> tuple[Array, Array]:
        """Return when acknowledgements passed, and the bytes that had arrived by then."""
        back = self.conversation.back
        when, number, last = self._acks
        rows = back.flagged(ACK)
        start, end = (number + (back[name][rows] - back["ack"][rows]) % (1 << 32) for name in ("sack_from", "sack_to"))
        high = np.maximum(np.concatenate([[0], last[:-1]]), number)
        # Of the block that is told first, what is beyond all that was told before.
        low = np.maximum(start, high)
        told = back.flagged(SACKED)[rows] & (end > low) & (end <= last)
        if not told.any():
            return when, number.astype(np.float64)
        blocks = np.where(told, end - low, 0)
        edges = np.stack([low[told], end[told]], axis=1).ravel()
        sums = np.repeat(np.cumsum(blocks[told]), 2)
        sums[::2] -= blocks[told]
        return when, number + np.cumsum(blocks) - np.interp(number, edges, sums, left=0.0)

    def repeated(self, soonest: float) -> tuple[Array, Array]:
        """Return when losses were seen, and how many segments: what passed again, or late by more than `soonest`."""
        late, inside = self._late
        start, _, when = self._holes
        seen = self.t[late].copy()
        count = np.maximum(1, np.round(self.payload[late] / self.segment))
        if len(start):
            place = np.searchsorted(start, (self.first + self.payload)[late], "left") - 1
            seen[inside] = when[place[inside]]
        lost = ~inside | (self.t[late] - seen > soonest)
        return seen[lost], count[lost]

    def limited(self) -> tuple[float, float, int]:
        """Return for what part of the acknowledgements nothing was under way, or a window full, and the window."""
        back = self.conversation.back
        when, number, _ = self._acks
        ends = np.maximum.accumulate(self.first + self.payload)
        place = np.searchsorted(self.t, when, "left") - 1
        under = np.where(place >= 0, ends[np.clip(place, 0, None)], 0) - number
        loaded = (when >= self.t[0]) & (when <= self.t[-1])
        scale = back["scale"][back.flagged(SYN)]
        if not loaded.any() or not len(scale):
            return 0.0, 0.0, 0
        bits = 0 if scale[0] == NO_SCALE else int(scale[0])
        window = back["window"][back.flagged(ACK)] << bits
        full = (under > window - 2 * self.segment)[loaded]
        return float((under <= 0)[loaded].mean()), float(full.mean()), int(np.median(window[loaded]))


def _named(end: tuple[str, int]) -> str:
    return f"{end[0]} port {end[1]}"
