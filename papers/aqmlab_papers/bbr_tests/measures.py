"""What a flow does, read off its packets at the bottleneck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aqmlab_papers import At, Curve, PerSeed, Runs

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

MARGIN = 0.99
"""The pace is 1 % below the bandwidth (`BBR.PacingMarginPercent`)."""


@dataclass(frozen=True, eq=False)
class Seen:
    """A run: the bins of its series, with the path's present rate (packets a second) and round trip (s).

    * t: the start of each bin; step: their length.
    * sent: packets that the flow has sent by the end of each; gone: those whose transmission has begun.
    * drops: packets lost in each.
    """

    t: NDArray[np.float64]
    step: float
    sent: NDArray[np.float64]
    gone: NDArray[np.float64]
    drops: NDArray[np.float64]
    rate: float
    rtt: float

    @property
    def bdp(self) -> float:
        """Packets that the path holds."""
        return self.rate * self.rtt

    @property
    def heard(self) -> NDArray[np.float64]:
        """Packets that are acknowledged by the end of each bin."""
        return np.interp(self.t - self.rtt, self.t, self.gone, left=0)

    @property
    def flight(self) -> NDArray[np.float64]:
        """The data in flight, in BDP."""
        return (self.sent - np.cumsum(self.drops) - self.heard) / self.bdp

    def over(self, packets: NDArray[np.float64], span: float) -> NDArray[np.float64]:
        """Return the rate of packets in the span before the end of each bin, as a part of the link's."""
        before = np.interp(self.t - span, self.t, packets, left=0)
        return (packets - before) / (span * self.rate)

    @property
    def pace(self) -> NDArray[np.float64]:
        """The rate at which it sends, over 20 ms, as a part of the link's."""
        return self.over(self.sent, 0.02)

    def when(self, condition: NDArray[np.bool_], since: float = 0.0) -> float:
        """Return the first time from ``since`` on at which a condition holds, the end of the run if it never does."""
        found = np.flatnonzero(condition & (self.t >= since))
        return float(self.t[found[0] if len(found) else -1])

    def at(self, values: NDArray[np.float64], time: float) -> float:
        """Return the value at a time."""
        return float(np.interp(time, self.t, values))

    def during(self, values: NDArray[np.float64], start: float, end: float) -> NDArray[np.float64]:
        """Return the values of an interval."""
        return values[(self.t >= start) & (self.t < end)]

    def median(self, values: NDArray[np.float64], start: float, end: float) -> float:
        """Return the median of an interval."""
        return float(np.median(self.during(values, start, end)))

    def often(self, values: NDArray[np.float64], start: float, end: float) -> float:
        """Return what a tenth of the values of an interval exceeds."""
        return float(np.quantile(self.during(values, start, end), 0.9))

    def rounds(self, start: float, end: float) -> float:
        """Count round trips by delivered packets: one ends when the packets sent at its begin are acknowledged."""
        count, heard = 0.0, self.heard
        while start < end:
            level = self.at(self.sent, start)
            found = min(int(np.searchsorted(heard, level)), len(heard) - 1)
            over = (heard[found] - level) / max(heard[found] - heard[found - 1], 1)
            after = max(float(self.t[found] - over * self.step), start + self.step)
            if after >= end:
                return count + (end - start) / (after - start)
            start, count = after, count + 1
        return count


@dataclass(frozen=True)
class Phases:
    """When the first phases begin, by the pace: that from which on the link is full, and those named."""

    full: float
    drain: float
    cruise: float
    up: float
    down: float
    end: float

    @classmethod
    def of(cls, seen: Seen) -> Phases:
        """Read them off a run; ``cruise`` follows DRAIN, ``end`` is that of DOWN."""
        pace, step = seen.pace, 0.02
        full = seen.when(seen.over(seen.gone, step) >= 0.98)
        drain = seen.when(pace < 0.6, full)
        cruise = seen.when(pace > 0.6, drain + step)
        up = seen.when(pace > 1.1, cruise + 0.1)
        down = seen.when(pace < 0.95, up + step)
        return cls(full, drain, cruise, up, down, seen.when(pace > 0.95, down + step))


Reading = Callable[[Seen], float]
"""A number that is read off a run."""


PACKET = 12000
"""Bits of a packet."""


@dataclass(frozen=True)
class Path:
    """A path: the rate of its link (bit/s), and its round trip (s) without a packet's transmission."""

    rate: float = 100e6
    rtt: float = 0.04


def _seen(frame: polars.DataFrame, path: Path) -> Seen:
    t = frame["t"].to_numpy()
    sent, gone, drops = (frame[name].to_numpy().astype(float) for name in ("arrivals", "flow.departures", "drops"))
    # A packet counts as gone when it begins to leave, and is in the network until it has left.
    rtt = path.rtt + PACKET / path.rate
    return Seen(t, t[1] - t[0], sent.cumsum(), gone.cumsum(), drops, path.rate / PACKET, rtt)


def reading(runs: Runs, tcp: str, read: Reading, path: Path, at: At | None = None, unit: str = "") -> PerSeed:
    """Read a number off each run of a version of BBR on a path."""
    return runs.from_series(tcp, lambda frame: round(read(_seen(frame, path)), 4), at, unit=unit)


def curve(
    panel: str, tcp: str, runs: Runs, read: Callable[[Seen], NDArray[np.float64]], path: Path, span: tuple[float, float]
) -> Curve:
    """Return the curve of a quantity of the first run, a point each 20 ms."""
    frame = runs.series(tcp)
    seen = _seen(frame.rename({column: column.removeprefix("bottleneck.") for column in frame.columns}), path)
    few = slice(*(round(time / seen.step) for time in (*span, 0.02)))
    return Curve(panel, tcp, seen.t[few], read(seen)[few], run=runs.seeds[0])
