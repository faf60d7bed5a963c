"""A transfer by the clocks of its two ends, from what one point or two saw of it.

Times are brought to the sender's clock at which a packet would be at the receiver if there were no queue, so that the
place of the capture makes no difference. Two points have clocks of their own: the line below all one-way delays is
their offset and drift, and a packet waited for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange.measured.captured.segments import HOW, Unfit, unwrapped
from aqmlab.exchange.measured.captured.transfer import Transfer, Trips

if TYPE_CHECKING:
    from aqmlab.exchange.measured.captured.segments import Array

FEW = 20
"""The least samples from which a part of a round trip is known to vary."""

NEAR = 1e-3
"""Seconds of a part of a round trip that count as none."""

FULL, IDLE = 0.5, 0.3
"""The most of the time for which a window may be full, or nothing be under way."""

BIN = 0.25
"""Seconds of which one delay, the least, shows the difference of the clocks."""

APART = 3e-3, 0.15
"""Seconds, and the part of the longest wait, by which the delays of two clocks may differ from those of one."""


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
        arrived = (transfer.t + beyond / 2, np.cumsum(transfer.payload, dtype=np.float64))
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
    line = _line(begin, way, back)
    wait = way - np.polyval(line, begin)
    _require_one_clock(sender, (begin, wait), back, line)
    arrived = receiver.t - np.polyval(line, receiver.t) + whole.base / 2
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
        arrived=(arrived, np.cumsum(receiver.payload, dtype=np.float64)),
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


def _line(begin: Array, way: Array, back: tuple[Array, Array]) -> Array:
    """Return the line below the delays of one way, whose slope is the drift: that of the way with less of a queue."""
    slope = _slope(begin, way)
    if len(back[0]) >= FEW and _spread(back[1]) < _spread(way):
        slope = -_slope(*back)
    return np.array([slope, float((way - slope * begin).min())])


def _slope(at: Array, delay: Array) -> float:
    """Return the slope of the line below all delays that is nearest to them: an edge of their lower hull."""
    zero = at.min()
    which = np.floor((at - zero) / BIN).astype(int)
    least = np.full(which.max() + 1, np.inf)
    np.minimum.at(least, which, delay)
    hull: list[tuple[float, float]] = []
    for point in ((x * BIN, y) for x, y in enumerate(least) if np.isfinite(y)):
        while len(hull) > 1 and _is_above(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    middle = float(np.mean(at - zero))
    edges = [pair for pair in pairwise(hull) if pair[0][0] <= middle <= pair[1][0]]
    return (edges[0][1][1] - edges[0][0][1]) / (edges[0][1][0] - edges[0][0][0]) if edges else 0.0


def _is_above(one: Sequence[float], middle: Sequence[float], other: Sequence[float]) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])


def _require_one_clock(sender: Transfer, wait: tuple[Array, Array], back: tuple[Array, Array], line: Array) -> None:
    """Refuse clocks of which one was set: the waits of both directions, by two clocks, sum up to that of one clock."""
    forth = sender.forth
    if len(back[0]) < FEW or len(forth.end) < FEW:
        return
    answer = back[1] + line[0] * back[0]
    answer = answer - answer.min()
    both = np.interp(forth.begin, *_sorted(*wait)) + np.interp(forth.end, *_sorted(back[0], answer))
    one = forth.seconds - forth.seconds.min()
    apart = float(np.quantile(np.abs(both - one), 0.75))
    if apart > max(APART[0], APART[1] * float(np.quantile(one, 0.9))):
        raise Unfit(
            f"the clocks of the two ends were set while it was recorded, by {apart * 1e3:.0f} ms or more: stop what "
            "sets them (NTP), or give the sender's capture alone"
        )


def _sorted(at: Array, values: Array) -> tuple[Array, Array]:
    order = np.argsort(at, kind="stable")
    return at[order], values[order]
