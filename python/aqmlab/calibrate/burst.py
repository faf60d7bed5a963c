"""The burst of a shaper: the bytes beyond its rate that pass at the beginning of a load, after idleness.

A token bucket lets its burst and what its rate brings pass in any time, and no more than that. Its burst is therefore
the most that arrivals run ahead of the rate from one time to a later one, if the bucket was full and then empty: full
after the idleness, and empty when a queue has formed and lasts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.calibrate.interval import Interval, Told
from aqmlab.calibrate.view import View, busy, plateau, queued

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

NO_START = "the beginning of the load is not known: begin the probe and the capture before it (`iperf3 -i 0.1`)"

LASTING = 0.5
"""Seconds for which there has to be a queue."""

AFTER = 0.3
"""Seconds, beside round trips, after its beginning in which arrivals are looked at: they come later than the probe."""

BUSY = 0.4
"""The least share of the time with a queue from which the rate is known."""

OFF = 0.015
"""The part by which that rate may be wrong."""

GRAINS = 2.0
"""Packets that arrivals may be early or late by."""


def burst(view: View, arrivals: tuple[Array, Array] | None, base: float, packet: float) -> Told:
    """Return the burst in bytes of IP packets.

    ``arrivals`` has times in s from the beginning of the load and the bytes of IP packets by then, if that is finer
    than the bins of the view.
    """
    times, octets = arrivals or _binned(view)
    rate = plateau(view, packet)
    if busy(view, packet) < BUSY:
        return Told(
            None, "there seldom was a queue, and the rate is not known well: `probe-plan` has other measurements"
        )
    formed = _lasting(view, packet)
    if formed is None:
        return Told(
            None, "no queue lasted, so that a burst may not have been used up: measure for longer, or with `-P 4`"
        )
    end = formed + AFTER + 2 * base
    # A receiver counts what follows a lost packet once that has come, late and all at once; a capture sees it come.
    noticed = np.inf if arrivals else _first_loss(view)
    before = view.times < noticed
    lost = noticed - view.step - base - float(view.delay[before].max(initial=0.0))
    use = times <= end
    at, came = times[use], octets[use]
    # What arrives at once was sent at the rate, or faster: which, is not known of a step.
    step = float(np.quantile(np.diff(came), 0.9)) if arrivals else GRAINS * packet
    gap = float(np.median(np.diff(at)))
    least, most = _ahead(at, came, (1 + OFF) * rate, max(0.0, lost)), _ahead(at, came, (1 - OFF) * rate, noticed)
    low = max(0.0, least - max(step, GRAINS * packet))
    high = most + gap * rate / 8 + GRAINS * packet
    return Told(Interval(float(np.clip(_ahead(at, came, rate, noticed), low, high)), low, high))


def _binned(view: View) -> tuple[Array, Array]:
    octets = np.concatenate([[0.0], np.cumsum(view.rate) * view.step / 8])
    return np.arange(len(octets), dtype=np.float64) * view.step, octets


def _lasting(view: View, packet: float) -> float | None:
    """Return from when on there first is a queue for some time: a bucket that lets packets wait so long is empty."""
    wide = max(1, math.ceil(LASTING / view.step))
    there = np.flatnonzero(np.convolve(queued(view, packet), np.ones(wide), "valid") > wide - 0.5)
    return float(there[0]) * view.step if len(there) else None


def _first_loss(view: View) -> float:
    """Return when the first loss was noticed; losses of which the time is not known are none."""
    told = np.flatnonzero(np.nan_to_num(view.repeated) > 0) * view.step
    lost = view.lost if view.lost is not None else np.empty(0)
    return float(min([*told[:1], *lost[:1]], default=np.inf))


def _ahead(times: Array, octets: Array, rate: float, until: float) -> float:
    """Return the most by which bytes run ahead of a rate from a time before `until` to a later one."""
    ahead = octets - rate / 8 * times
    least = np.minimum.accumulate(np.where(times <= until, ahead, np.inf))
    return float((ahead - least).max())
