"""Captures of one link at one time as measurements: for each pair of hosts the transfers between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange.measured.captured.segments import HOW, Conversation, Unfit, conversations
from aqmlab.exchange.measured.captured.sides import Course, one_side, two_sides
from aqmlab.exchange.measured.captured.transfer import Transfer
from aqmlab.exchange.measured.measurement import BEGINNING, Failed, Measured, at_once
from aqmlab.exchange.measured.measurement import Transfer as Known

if TYPE_CHECKING:
    from aqmlab.exchange.measured.captured.segments import Array

STEP, FINE = 0.1, 0.02
"""Seconds of a bin of the rate, and of one of the round trips."""

LARGE = 0.1
"""The least share of the bytes of the largest transfer that another one has, to be of the load."""

EMPTY = 0.85
"""The part of the usual rate below which the queue must have been empty."""

WINDOW = 50
"""The least packets of which a rate is known to be lower than usual."""

Key = tuple[str, str]


def read(paths: Sequence[Path], progress: Callable[[float], None] | None = None) -> list[Measured]:
    """Read captures of one link at one time: of one side of it, or a file of each.

    Raise OSError if one cannot be read, and ValueError if it is torn, or nothing follows from it.
    """
    found: list[Conversation] = []
    for number, path in enumerate(paths):
        try:
            found += conversations(path, _part(progress, number, len(paths)))
        except Failed as error:
            raise ValueError(f"{path}: {error}") from None
    try:
        return list(_measured(found))
    except Failed as error:
        raise ValueError(f"{', '.join(map(str, paths))}: {error}") from None


def _part(progress: Callable[[float], None] | None, number: int, of: int) -> Callable[[float], None] | None:
    return progress and (lambda part: progress((number + part) / of))


def _measured(found: Sequence[Conversation]) -> Iterable[Measured]:
    most = max((one.data.bytes for one in found), default=0)
    large = [one for one in found if one.data.bytes >= LARGE * most]
    if not large:
        raise Unfit(f"no data in it: record {HOW}")
    pairs: dict[tuple[Key, bool], list[Course]] = defaultdict(list)
    points: dict[object, list[Conversation]] = defaultdict(list)
    for one in large:
        points[_same(one, points)].append(one)
    files = {one.file for one in found}
    if len(files) > 1 and all(len({one.file for one in each}) == 1 for each in points.values()):
        raise Unfit(
            "captures of different transfers, none of which is in both: record one at both ends at the same time"
        )
    for each in points.values():
        course = _course(each)
        pairs[_hosts(each[0]), each[0].up].append(course)
    for (hosts, up), courses in pairs.items():
        yield _together(courses, up, _idle(found, hosts, courses))


def _same(one: Conversation, points: dict[object, list[Conversation]]) -> object:
    """Return the key of a conversation that is seen elsewhere, if need be with other addresses, otherwise its own."""
    if one.ends in points:
        return one.ends
    for key, (other, *_) in points.items():
        numbers = np.isin(one.data["seq"], other.data["seq"])
        if other.file != one.file and numbers.mean() > 0.5:
            return key
    return one.ends


def _course(each: Sequence[Conversation]) -> Course:
    transfers = [Transfer(one) for one in each]
    if len(transfers) == 1:
        return one_side(transfers[0])
    # Of many points, those with the most of the path between them.
    far = sorted(transfers, key=lambda one: float(np.median(one.forth.seconds)) if len(one.forth.end) else 0.0)
    return two_sides(far[0], far[-1])


def _hosts(one: Conversation) -> Key:
    return one.ends[0][0], one.ends[1][0]


def _idle(found: Sequence[Conversation], hosts: Key, courses: Sequence[Course]) -> list[float]:
    """Return the round trips of handshakes between two hosts before the load."""
    trips = []
    begin = min(float(course.transfer.t[0]) for course in courses)
    for one in found:
        if _hosts(one) in (hosts, hosts[::-1]) and one.data.t[0] <= begin:
            try:
                opening = Transfer(one).opening
            except Failed:
                continue
            if opening:
                trips.append(sum(opening))
    return trips


def _together(courses: Sequence[Course], up: bool, idle: Sequence[float]) -> Measured:
    zero = min(course.start for course in courses)
    end = min(course.end for course in courses)
    if not at_once([(course.start, course.end) for course in courses]):
        ports = ", ".join(str(course.transfer.conversation.ends[not up][1]) for course in courses)
        raise Unfit(
            f"{len(courses)} transfers, of the ports {ports}, not all of them at once: keep one, as with "
            "`tcpdump -r link.pcap -w one.pcap port PORT`"
        )
    count = int((end - zero) / STEP)
    if count < 2:
        raise Unfit(f"{end - zero:.1f} s of a transfer: record {HOW}")
    edges: Array = zero + np.arange(count + 1, dtype=np.float64) * STEP
    octets = sum(np.diff(np.interp(edges, *course.arrived, left=0.0)) for course in courses)
    rate = np.asarray(octets, float) * 8 / STEP
    repeated = sum(np.histogram(course.repeated[0], edges, weights=course.repeated[1])[0] for course in courses)
    at, left, seconds = (np.concatenate([course.trips[place] for course in courses]) for place in range(3))
    within = (left >= zero) & (left < edges[-1])
    if not within.any():
        raise Unfit(f"no round trip in its {end - zero:.1f} s: record {HOW}")
    trips = _means(left, seconds, edges)
    fine: Array = zero + np.arange(int((end - zero) / FINE) + 1, dtype=np.float64) * FINE
    delays = _means(at, seconds, fine)
    first = courses[0].transfer
    if not idle:
        _require_empty(rate, first.segment)
    names = sorted(set().union(*(course.files for course in courses)))
    lost, sent = zip(*((course.lost, course.transfer.payload.sum()) for course in courses), strict=True)
    return Measured(
        " and ".join(names),
        {
            "goodput": float(rate.mean()),
            "retransmits": float(np.sum(repeated)),
            "rtt_mean": float(seconds[within].mean()),
            **({} if None in lost else {"path_loss_ratio": float(np.average(lost, weights=sent))}),
        },
        [((number + 0.5) * STEP, float(value)) for number, value in enumerate(rate)],
        [(float(t - zero), float(value)) for t, value in delays],
        lost=None,
        began=zero,
        transfer=Known(
            flows=len(courses),
            segment=first.segment,
            congestion="",
            seconds=count * STEP,
            up=up,
            headers=first.headers,
            exact=all(course.opening for course in courses),
            repeated=[((number + 1) * STEP, float(value)) for number, value in enumerate(np.atleast_1d(repeated))],
            trips=[(float(t - zero) + STEP / 2, float(value)) for t, value in trips],
            arrivals=_beginning(courses, zero),
            idle=[*idle, *(course.base for course in courses)],
        ),
    )


def _beginning(courses: Sequence[Course], zero: float) -> list[tuple[float, float]]:
    """Return what had arrived at each arrival of the first seconds."""
    times = np.unique(np.concatenate([course.arrived[0] for course in courses]))
    times = times[times < zero + BEGINNING]
    octets = np.sum([np.interp(times, *course.arrived, left=0.0) for course in courses], axis=0)
    return list(zip((times - zero).tolist(), octets.tolist(), strict=True))


def _means(at: Array, values: Array, edges: Array) -> list[tuple[float, float]]:
    """Return the middle and the mean of each bin that has values."""
    which = np.searchsorted(edges, at, "right") - 1
    good = (which >= 0) & (which < len(edges) - 1)
    number = np.bincount(which[good], minlength=len(edges) - 1)
    total = np.bincount(which[good], weights=values[good], minlength=len(edges) - 1)
    there = number > 0
    middles = (edges[:-1] + edges[1:]) / 2
    return list(zip(middles[there].tolist(), (total[there] / number[there]).tolist(), strict=True))


def _require_empty(rate: Array, segment: int) -> None:
    """Refuse a transfer without its beginning whose queue never was empty: its base round trip is not in it."""
    # Data from before the capture is acknowledged first.
    rate = rate[np.flatnonzero(rate > 0)[0] + 1 :] if rate.any() else rate
    usual = float(np.median(rate)) if len(rate) else 0.0
    width = max(1, int(np.ceil(WINDOW * segment * 8 / max(usual, 1.0) / STEP)))
    if len(rate) < width or np.convolve(rate, np.ones(width) / width, "valid").min() > EMPTY * usual:
        raise Unfit(
            "begins in the middle of a transfer whose queue never was empty, so that the round trip without it is not "
            f"known: begin before the transfer: {HOW}"
        )
