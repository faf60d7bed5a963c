"""The clocks of captures: whether one was set while it recorded, and how two differ."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange.measured.captured.segments import HOW, TIMES, Conversation, Unfit, unwrapped

if TYPE_CHECKING:
    from aqmlab.exchange.measured.captured.segments import Array
    from aqmlab.exchange.measured.captured.transfer import Transfer

FEW = 20
"""The least samples from which a part of a round trip is known to vary."""

NEAR = 1e-3
"""Seconds of a part of a round trip that count as none."""

SET = 0.1
"""The least seconds by which a clock that was set is noticed; packets may be recorded out of order by less."""

PAUSE = 60.0
"""Seconds of a load without a packet, after which it is another."""

BIN = 0.25
"""Seconds of which one delay, the least, shows the difference of the clocks."""

DRIFT = 5e-4
"""The most by which two clocks drift apart: crystals do by 2e-4, and NTP corrects no faster than this."""

APART = 3e-3, 0.15
"""Seconds, and the part of the longest wait, by which the delays of two clocks may differ from those of one."""


def require_steady(one: Conversation, load: Array) -> None:
    """Refuse a clock that was set; `load` has the times of data, and of what acknowledged them for the first time."""
    cure = "stop what sets it (NTP) and record it again"
    turned = max(one.data.turned, one.back.turned)
    if turned > SET:
        raise Unfit(f"its times go back by {turned:.1f} s: the clock was set, or the file is damaged: {cure}")
    jump = _jump(one)
    if jump > SET:
        raise Unfit(f"its clock was set while it was recorded, forward by {jump:.1f} s: {cure}")
    pause = float(np.diff(np.sort(load)).max(initial=0.0))
    if pause > PAUSE:
        raise Unfit(f"{pause:.0f} s without a packet in a transfer: it paused, or the clock was set: record {HOW}")


def _jump(one: Conversation) -> float:
    """Return the most seconds that passed by the recording's clock, and by neither of those of time stamps.

    One of them may seem to stand still because its packets wait for the link.
    """
    t = np.sort(np.concatenate([one.data.t, one.back.t]))
    gaps = np.flatnonzero(np.diff(t) > SET)
    begin, end = t[gaps], t[gaps + 1]
    jump: Array = end - begin
    for point in (one.data, one.back):
        stamped = point.flagged(TIMES)
        at, own = point.t[stamped], unwrapped(point["time"][stamped], 0)
        if len(at) < FEW:
            return 0.0
        middle = len(at) // 2
        apart = [float(np.median(values[middle:]) - np.median(values[:middle])) for values in (at, own)]
        tick = apart[0] / max(apart[1], 1.0)
        left, right = np.searchsorted(at, begin, "right") - 1, np.searchsorted(at, end)
        known = (left >= 0) & (right < len(at)) & (end - begin > 3 * tick)
        left, right = left[known], right[known]
        lacking = at[right] - at[left] - (own[right] - own[left]) * tick
        jump[~known] = 0.0
        jump[known] = np.minimum(jump[known], np.where(lacking > (end - begin)[known] / 2, lacking, 0.0))
    return float(jump.max(initial=0.0))


def difference(begin: Array, way: Array, back: tuple[Array, Array]) -> Array:
    """Return the line below the delays of one way, whose slope is the drift.

    Where there is a queue, the least delay rises and falls with it. So the slope is that of the way on whose lower edge
    more of the delays are, of those that clocks can have.
    """
    edges = [_edge(begin, way)]
    if len(back[0]) >= FEW:
        slope, near = _edge(*back)
        edges.append((-slope, near))
    possible = [edge for edge in edges if abs(edge[0]) <= DRIFT]
    if not possible:
        raise Unfit(
            "the clocks of the two ends cannot be told from queues in both directions, by whose delays they drift "
            f"apart by {min(abs(slope) for slope, _ in edges) * 1e6:.0f} us each second: load one direction at a "
            "time, or give the sender's capture alone"
        )
    slope, _ = max(possible, key=lambda edge: edge[1])
    return np.array([slope, float((way - slope * begin).min())])


def _edge(at: Array, delay: Array) -> tuple[float, float]:
    """Return the slope of the line below all delays that is nearest to them, and the share of bins that reach it."""
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
    # The edge of their lower hull that is beneath the middle.
    edges = [pair for pair in pairwise(hull) if pair[0][0] <= middle <= pair[1][0]]
    if not edges:
        return 0.0, 0.0
    (begin, least_begin), (end, least_end) = edges[0]
    slope = (least_end - least_begin) / (end - begin)
    above = least - least_begin - slope * (np.arange(len(least)) * BIN - begin)
    return slope, float((above[np.isfinite(above)] < NEAR).mean())


def _is_above(one: Sequence[float], middle: Sequence[float], other: Sequence[float]) -> bool:
    return (middle[1] - one[1]) * (other[0] - one[0]) >= (other[1] - one[1]) * (middle[0] - one[0])


def require_one(sender: Transfer, wait: tuple[Array, Array], back: tuple[Array, Array], line: Array) -> None:
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
