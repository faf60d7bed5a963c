"""Statistics of a recording and of a simulation, to be compared: of the queue's delay, the rate and the losses.

Both are looked at through the same glass: a probe every so often, bins of the rate, segments sent again. A statistic
that the recording lacks is compared of neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

QUANTILES = (2, 10, 25, 50, 75, 90, 98, 100)

BELOW = 2
"""Packets of delay below which differences do not count: links differ in how they count the packet under way."""

PACKETS = 150
"""The least packets in a window of the rate, so that one more or less does not count."""

CLOSE = 0.015
"""Relative width of the bell by which windows of one rate are counted."""


@dataclass(frozen=True, eq=False)
class View:
    """A link under load: when probes left and the queue's delay that they met, in s, and bins of `step` seconds.

    ``lost`` has the times of lost probes, or is None if these are unknown. ``rate`` is in bit/s of IP packets,
    ``repeated`` in segments, ``tcp`` is the queue's delay in s of the data.
    """

    times: Array
    delay: Array
    lost: Array | None
    step: float
    rate: Array
    repeated: Array
    tcp: Array
    total: float | None = None


def windows(view: View, packet: float) -> Array:
    """Return the mean rate in windows of some packets."""
    typical = max(float(np.quantile(view.rate, 0.75)), 1.0)
    width = int(np.ceil(PACKETS * packet * 8 / typical / view.step))
    width = max(1, min(width, len(view.rate) // 6))
    return np.convolve(view.rate, np.ones(width) / width, "valid")


def busy(view: View, packet: float) -> float:
    """Return the share of bins in which the queue is never empty."""
    return float(np.mean(queued(view, packet)))


def queued(view: View, packet: float) -> NDArray[np.bool_]:
    """Return in which bins the queue is never empty, as probes or the data themselves see it."""
    least = np.full(len(view.rate), np.inf)
    np.minimum.at(least, np.minimum((view.times / view.step).astype(int), len(least) - 1), view.delay)
    # A flow's own queue is seen by the flow alone.
    least = np.where(np.isfinite(least), np.fmax(least, np.nan_to_num(view.tcp)), 0.0)
    found: NDArray[np.bool_] = least > BELOW * packet * 8 / plateau(view, packet)
    return found


def plateau(view: View, packet: float) -> float:
    """Return the rate that most of the faster windows have, in bit/s: what the link carries while there is a queue.

    Data that waits for a lost segment comes late, and then all at once: single windows are faster than the link.
    """
    means = windows(view, packet)
    means = means[means > 0]
    if not len(means):
        return 1.0
    low, high = (float(np.quantile(means, share)) for share in (0.8, 0.98))
    around = np.linspace(low, high, 200)
    score = [np.exp(-(((means / one - 1) / CLOSE) ** 2) / 2).sum() for one in around]
    best = around[int(np.argmax(score))]
    return float(means[np.abs(means / best - 1) < 2 * CLOSE].mean())


def statistics(view: View, base: float, packet: float) -> dict[str, float]:
    """Return the statistics by name; logarithms of positive ones, so that a difference is a relative one."""
    rate = plateau(view, packet)
    floor = BELOW * packet * 8 / rate + 3e-4
    seconds = view.step * len(view.rate)
    first = float(np.clip(30 * base, 1.5, seconds / 4))
    found = {"rate": np.log(rate)}
    late, bins = view.times >= first, np.arange(len(view.rate)) * view.step >= first
    start, rest = view.delay[~late], view.delay[late]
    if len(start) < 3 or len(rest) < 10:
        start = rest = view.delay
    found["start.max"] = np.log(start.max() + floor)
    found["start.mean"] = np.log(start.mean() + floor)
    for share, value in zip(QUANTILES, np.percentile(rest, QUANTILES), strict=True):
        found[f"delay.{share}"] = np.log(value + floor)
    peak, middle = np.percentile(rest, 98), (np.percentile(rest, 10) + np.percentile(rest, 90)) / 2
    if view.lost is not None:
        early, later = np.count_nonzero(view.lost < first), np.count_nonzero(view.lost >= first)
        found["lost.start"] = np.log(early / (len(start) + early) + 0.01)
        found["lost"] = np.log(later / (len(rest) + later) + 0.002)
    found["rough"] = np.log((np.abs(np.diff(rest)).mean() + floor / 10) / (rest.mean() + floor))
    found["crossings"] = np.log1p(np.count_nonzero(np.diff(rest > middle)) / seconds)
    found["full"] = float(np.mean(rest > 0.9 * peak))
    found["empty"] = float(np.mean(rest < floor / 2))
    found["used"] = float(view.rate[bins].mean() / rate)
    found["used.start"] = float(view.rate[~bins].mean() / rate)
    width = max(1, round(max(0.5, 4 * base) / view.step))
    smooth = np.convolve(view.rate[bins], np.ones(width) / width, "valid") / rate
    found["used.least"] = float(np.quantile(smooth, 0.05))
    if not np.isnan(view.repeated).any():
        found |= _losses(view, bins, floor, base, peak)
    elif view.total is not None:
        found["repeated"] = np.log1p(view.total)
    there = ~np.isnan(view.tcp)
    if there[bins].any():
        for share, value in zip((10, 50, 90), np.percentile(view.tcp[bins & there], (10, 50, 90)), strict=True):
            found[f"tcp.{share}"] = np.log(max(value, 0.0) + 2 * floor)
        found["tcp.start"] = np.log(max(view.tcp[there & ~bins].max(initial=0.0), 0.0) + 2 * floor)
    return {name: float(value) for name, value in found.items()}


def _losses(view: View, bins: NDArray[np.bool_], floor: float, base: float, peak: float) -> dict[str, float]:
    """Return how many were lost, how often, and how long the queue was then."""
    lossy = np.flatnonzero((view.repeated > 0) & bins)
    found = {
        "repeated.start": np.log1p(view.repeated[~bins].sum()),
        "repeated": np.log1p(view.repeated[bins].sum()),
        "repeated.bins": np.log1p(len(lossy)),
        "repeated.most": np.log1p(view.repeated[bins].max(initial=0.0)),
    }
    before = []
    for at in lossy:
        end = (at + 1) * view.step
        since = (view.times >= end - view.step - base - 2 * peak) & (view.times < end)
        if since.any():
            before.append(view.delay[since].max())
    if before:
        for share, value in zip((10, 50), np.percentile(before, (10, 50)), strict=True):
            found[f"then.{share}"] = np.log((value + floor) / (peak + floor))
    else:
        found |= {"then.10": 0.0, "then.50": 0.0}
    return found
