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
PACKETS = 150
"""A window of the rate has at least so many packets, so that one more or less does not count."""


@dataclass(frozen=True, eq=False)
class View:
    """A link under load: the queue's delay in s that probes met (NaN if lost), and bins of `step` seconds.

    ``rate`` is in bit/s of IP packets, ``repeated`` in segments, ``tcp`` is the queue's delay in s of the data.
    """

    times: Array
    delay: Array
    step: float
    rate: Array
    repeated: Array
    tcp: Array
    total: float | None = None


def plateau(view: View, packet: float) -> float:
    """Return the rate that most windows have when the queue is not empty, in bit/s: what the link carries.

    Data that waits for a lost segment comes all at once, so that single bins are faster than the link.
    """
    typical = float(np.quantile(view.rate, 0.75))
    width = max(1, int(np.ceil(PACKETS * packet * 8 / max(typical, 1.0) / view.step)))
    width = min(width, max(1, len(view.rate) // 6))
    means = np.convolve(view.rate, np.ones(width) / width, "valid")
    low, high = np.quantile(means, 0.5), np.quantile(means, 0.98)
    around = np.linspace(low, high, 200) if high > low else np.array([low])
    close = 0.01 + packet * 8 / (width * view.step * max(typical, 1.0)) / 2
    score = [np.exp(-(((means / one - 1) / close) ** 2) / 2).sum() for one in around]
    best = around[int(np.argmax(score))]
    near = means[np.abs(means / best - 1) < 2 * close]
    return float(near.mean()) if len(near) else float(best)


def statistics(view: View, base: float, packet: float) -> dict[str, float]:
    """Return the statistics by name; logarithms of what is positive, so that a difference is a relative one."""
    rate = plateau(view, packet)
    one = packet * 8 / rate
    floor = one + 3e-4
    seconds = view.step * len(view.rate)
    first = float(np.clip(30 * base, 1.5, seconds / 4))
    found = {"rate": np.log(rate)}
    late, bins = view.times >= first, np.arange(len(view.rate)) * view.step >= first
    known = ~np.isnan(view.delay)
    start, rest = view.delay[~late & known], view.delay[late & known]
    if len(start) < 3 or len(rest) < 10:
        start = rest = view.delay[known]
    found["start.max"] = np.log(start.max() + floor)
    found["start.mean"] = np.log(start.mean() + floor)
    for share, value in zip(QUANTILES, np.percentile(rest, QUANTILES), strict=True):
        found[f"delay.{share}"] = np.log(value + floor)
    peak, middle = np.percentile(rest, 98), (np.percentile(rest, 10) + np.percentile(rest, 90)) / 2
    found["lost.start"] = np.log(np.mean(~known[~late]) + 0.003) if (~late).any() else 0.0
    found["lost"] = np.log(np.mean(~known[late]) + 0.001)
    found["rough"] = np.log((np.abs(np.diff(rest)).mean() + floor / 10) / (rest.mean() + floor))
    found["crossings"] = np.log1p(np.count_nonzero(np.diff(rest > middle)) / seconds)
    found["full"] = float(np.mean(rest > 0.9 * peak))
    found["empty"] = float(np.mean(rest < floor))
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
            found[f"tcp.{share}"] = np.log(max(value, 0.0) + floor)
        found["tcp.start"] = np.log(max(view.tcp[there & ~bins].max(initial=0.0), 0.0) + floor)
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
        since = (view.times >= end - view.step - base - 2 * peak) & (view.times < end) & ~np.isnan(view.delay)
        if since.any():
            before.append(view.delay[since].max())
    if before:
        for share, value in zip((10, 50), np.percentile(before, (10, 50)), strict=True):
            found[f"then.{share}"] = np.log((value + floor) / (peak + floor))
    else:
        found |= {"then.10": 0.0, "then.50": 0.0}
    return found
