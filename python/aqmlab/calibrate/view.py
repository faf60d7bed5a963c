"""What is compared of a recording and of a simulation: statistics of the queue's delay, of the rate and of the losses.

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
"""Packets of delay below which differences do not count: there links differ in how they count the one under way."""

PACKETS = 150
"""A window of the rate has at least so many packets, so that one more or less does not count."""

FEWEST = 5
"""The least number of windows with a queue from which the rate is taken."""

CLOSE = 0.015
"""Relative width of the bell by which windows of one rate are counted."""


@dataclass(frozen=True, eq=False)
class View:
    """A link under load: when probes left and the queue's delay that they met, in s, and bins of `step` seconds.

    ``lost`` has the times of lost probes. ``rate`` is in bit/s of IP packets, ``repeated`` in segments, ``tcp`` is the
    queue's delay in s of the data.
    """

    times: Array
    delay: Array
    lost: Array
    step: float
    rate: Array
    repeated: Array
    tcp: Array
    total: float | None = None


def windows(view: View, base: float, packet: float) -> tuple[Array, Array, Array]:
    """Return the mean rate in windows of some packets, whether the queue was never empty in each, and which are calm.

    No losses are near calm ones: data that waits for a lost segment comes late, and then all at once.
    """
    typical = max(float(np.quantile(view.rate, 0.75)), 1.0)
    width = max(1, int(np.ceil(PACKETS * packet * 8 / typical / view.step)))
    width = min(width, max(1, len(view.rate) // 6))
    least = np.full(len(view.rate), np.inf)
    which = (view.times / view.step).astype(int)
    np.minimum.at(least, np.minimum(which, len(least) - 1), view.delay)
    # A flow's own queue is seen by the flow alone.
    least = np.where(np.isfinite(least), np.fmax(least, np.nan_to_num(view.tcp)), 0.0)
    queue = max(float(np.quantile(view.delay, 0.9)), float(np.nan_to_num(view.tcp).max()))
    after = 1 + int(np.ceil((base + queue) / view.step))
    lossy = np.convolve(np.nan_to_num(view.repeated) > 0, np.ones(2 * after + 1), "same") > 0
    busy = (least > BELOW * packet * 8 / typical).astype(float)
    ones = np.ones(width)
    means = np.convolve(view.rate, ones / width, "valid")
    calm = np.convolve(lossy, ones, "valid") < 0.5
    return means, np.convolve(busy, ones, "valid") > width - 0.5, calm


def plateau(view: View, base: float, packet: float) -> float:
    """Return the rate that most windows have in which the queue is never empty, in bit/s: what the link carries.

    If the fastest windows are clearly faster, others filled the queue in those, and the fastest are taken. If there is
    always a loss nearby, what came late and what came at once are taken together.
    """
    means, busy, calm = windows(view, base, packet)
    if np.count_nonzero(calm & busy) < FEWEST <= np.count_nonzero(busy) and busy.mean() > 0.5:
        return float(means[busy].mean())
    if np.count_nonzero(calm) < FEWEST:
        calm = np.full(len(means), True)
    fast = _mode(means[calm & (means >= np.quantile(means[calm], 0.9))])
    if np.count_nonzero(calm & busy) < FEWEST:
        return fast
    usual = _mode(means[calm & busy])
    return fast if fast > 1.1 * usual else usual


def _mode(values: Array) -> float:
    """Return the mean of the positive values around which most are; a bit a second if there are none."""
    values = values[values > 0]
    if not len(values):
        return 1.0
    low, high = np.quantile(values, [0.1, 0.98])
    around = np.linspace(low, high, 200) if high > low else np.array([low])
    score = [np.exp(-(((values / one - 1) / CLOSE) ** 2) / 2).sum() for one in around]
    best = around[int(np.argmax(score))]
    return float(values[np.abs(values / best - 1) < 2 * CLOSE].mean())


def statistics(view: View, base: float, packet: float) -> dict[str, float]:
    """Return the statistics by name; logarithms of what is positive, so that a difference is a relative one."""
    rate = plateau(view, base, packet)
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
    early = np.count_nonzero(view.lost < first)
    found["lost.start"] = np.log(early / (len(start) + early) + 0.01)
    found["lost"] = np.log((len(view.lost) - early) / (len(rest) + len(view.lost) - early) + 0.002)
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


def _losses(view: View, bins: Array, floor: float, base: float, peak: float) -> dict[str, float]:
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
