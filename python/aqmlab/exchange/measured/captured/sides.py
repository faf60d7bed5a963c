"""A transfer by the clocks of its two ends, from what one point or two saw of it.

Times are brought to the sender's clock at which a packet would be at the receiver if there were no queue, so that the
place of the capture makes no difference. Two points have clocks of their own: the line below all one-way delays is
their offset and drift, and a packet waited for the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange.measured.captured.clocks import FEW, NEAR, difference, require_one
from aqmlab.exchange.measured.captured.segments import HOW, Unfit, unwrapped
from aqmlab.exchange.measured.captured.transfer import Transfer, Trips

if TYPE_CHECKING:
    from aqmlab.exchange.measured.captured.segments import Array

FULL, IDLE = 0.5, 0.3
"""The most of the time for which a window may be full, or nothing be under way."""


@dataclass(frozen=True, eq=False)
class Course:
    """A transfer: times in s since 1970, bytes of payload, segments.

    ``arrived`` has times and the bytes that had arrived by then, ``trips`` when packets came to the queue and
    left it, and their round trips, ``repeated`` when losses were noticed, and how many, ``base`` the round trip
    without a queue, ``opening`` whether the handshake is there. ``lost`` is the share of segments, if known.
    """

    transfer: Transfer
    base: float
    start: float
    arrived: tuple[Array, Array]
    trips: tuple[Array, Array, Array]
    repeated: tuple[Array, Array]
    opening: bool
    files: frozenset[str]
    lost: float | None = None

    @property
    def end(self) -> float:
        """When its last byte had arrived."""
        when, octets = self.arrived
        return float(when[np.argmax(octets)])


def one_side(transfer: Transfer) -> Course:
    """Return the course of a transfer that one point saw."""
    forth, back, opening = transfer.forth, transfer.back, transfer.opening
    if not len(forth.end):
        raise Unfit(f"no acknowledgement of data that it has: record both directions: {HOW}")
    beyond = float(forth.seconds.min())
    if opening:
        beyond = min(beyond, opening[0])
    stamped = len(back.end) >= FEW
    before = opening[1] if opening else float(back.seconds.min()) if stamped else 0.0
    if stamped:
        before = min(before, float(back.seconds.min()))
    if not stamped and (before > max(NEAR, beyond / 3) or (not opening and beyond < NEAR)):
        raise Unfit(
            "taken at the receiver, and without time stamps of TCP, so that no round trip is known: record at the "
            f"sender, or at both ends: {HOW}"
        )
    base = beyond + before
    behind = not stamped or _spread(forth.seconds) >= _spread(back.seconds)
    main, other = (forth, back) if behind else (back, forth)
    seconds = main.seconds + (_along(other, main.end) if len(other.end) >= FEW else before)
    if behind:
        _require_load(transfer)
        when, octets = transfer.delivered()
        arrived, at, left = (when - beyond / 2, octets), main.begin + beyond / 2, main.end - beyond / 2
    else:
        arrived = (transfer.t + beyond / 2, np.cumsum(transfer.fresh, dtype=np.float64))
        at = left = main.end + beyond / 2
    # What a full packet takes to be sent is no wait.
    seconds = np.maximum(seconds - _packet_time(arrived, transfer.segment), base)
    if not behind:
        at = left - (seconds - base)
    seen, count = transfer.repeated(base / 2)
    told = seen - before / 2 if behind else seen + (beyond + base) / 2
    start = float(transfer.t[0]) - before / 2 - base
    return Course(
        transfer, base, start, arrived, (at, left, seconds), (told, count), opening is not None, _files(transfer)
    )


def _files(*transfers: Transfer) -> frozenset[str]:
    return frozenset(one.conversation.file for one in transfers)


def _packet_time(arrived: tuple[Array, Array], segment: int) -> float:
    """Return the seconds in which a segment arrives, by the middle eight tenths of a transfer."""
    when, octets = arrived
    one, other = np.searchsorted(octets, [0.1 * octets[-1], 0.9 * octets[-1]])
    return float(segment * (when[other] - when[one]) / max(octets[other] - octets[one], 1.0))


def _spread(values: Array) -> float:
    return float(np.quantile(values, 0.9) - values.min()) if len(values) >= FEW else 0.0


def _along(part: Trips, at: Array) -> Array:
    """Return the length of a part of round trips at some times: medians of a tenth of a second."""
    which = np.floor((part.end - part.end[0]) * 10).astype(int)
    _, first = np.unique(which, return_index=True)
    medians = np.array([np.median(each) for each in np.split(part.seconds, first[1:])])
    found: Array = np.interp(at, part.end[first] + 0.05, medians)
    return found


def _require_load(transfer: Transfer) -> None:
    idle, full, window = transfer.limited()
    if full > FULL:
        raise Unfit(
            f"the receiver's window of {window} bytes limited the transfer, not the link: record one with a larger "
            "window (iperf3 -w 8M, net.ipv4.tcp_rmem) or more connections (-P 4)"
        )
    if idle > IDLE:
        raise Unfit(
            f"for {idle:.0%} of the time the sender had nothing to send, so that the link was not full: record a "
            "transfer of one large file, or iperf3 -t 20"
        )


def two_sides(one: Transfer, other: Transfer) -> Course:
    """Return the course of a transfer that two points saw."""
    sender, receiver = sorted((one, other), key=_distance)
    whole = one_side(sender)
    shift = int(unwrapped(np.array([receiver.base]), sender.base)[0])
    first = receiver.first + shift
    sent, numbers, once = sender.originals
    place = np.searchsorted(numbers, first, "right") - 1
    good = (place >= 0) & receiver.new
    good[good] = once[place[good]]
    if good.sum() < FEW:
        raise Unfit("captures of two transfers: record one at both ends at the same time")
    begin, way = sent[place[good]], receiver.t[good] - sent[place[good]]
    back = _answers(sender, receiver)
    line = difference(begin, way, back)
    wait = way - np.polyval(line, begin)
    require_one(sender, (begin, wait), back, line)
    slope, apart = line
    arrived = (receiver.t - apart) / (1 + slope) + whole.base / 2
    trips = (begin + whole.base / 2, begin + whole.base / 2 + wait, whole.base + wait)
    # What had arrived already was sent again for nothing.
    late = sender.first[~sender.new]
    values, copies = np.unique(first, return_counts=True)
    at = np.clip(np.searchsorted(values, late), 0, len(values) - 1)
    needless = (values[at] == late) & (copies[at] > 1)
    when, count = whole.repeated
    kept = ~needless if len(needless) == len(when) else np.ones(len(when), bool)
    total = float(sender.payload.sum())
    within = first + receiver.payload <= sender.first.max()
    lost = float(count[kept].sum() * sender.segment) / total if within.any() else None
    return replace(
        whole,
        arrived=(arrived, np.cumsum(receiver.fresh, dtype=np.float64)),
        trips=trips,
        repeated=(when[kept], count[kept]),
        files=_files(one, other),
        lost=lost,
    )


def _distance(transfer: Transfer) -> float:
    """Return how far a point is from the sender: the part of the shortest round trip before it."""
    opening = transfer.opening
    if opening:
        return opening[1]
    return -float(np.median(transfer.forth.seconds)) if len(transfer.forth.end) else 0.0


def _answers(sender: Transfer, receiver: Transfer) -> tuple[Array, Array]:
    """Return when acknowledgements came to the sender, and how long they took, by two clocks."""
    sides = []
    for side in (receiver, sender):
        when, last = side.news
        number = unwrapped(np.array([side.base]), sender.base)[0] + last
        found, place = np.unique(number, return_index=True)
        sides.append((found, when[place]))
    (left, began), (right, ended) = sides
    _, one, other = np.intersect1d(left, right, return_indices=True)
    return ended[other], ended[other] - began[one]
