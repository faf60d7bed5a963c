"""The score of a configuration: how many times better than the link is now.

Every load has measures: the delay of the calls each way, the time of a page, the goodput of downloads and of uploads. A
measure's gain is the ratio of its value to that with the queues that the link has now, upside down where less is
better. The score is the geometric mean of the gains: over the measures of a load, of which goodput counts twice, and
then over the loads. Geometric means rank alike whatever they are relative to (Fleming and Wallace, 1986), and a seed's
gain is a ratio of two runs with the same traffic.

The delay of a call is the 95th percentile of the one-way delays of its packets, and each percent of lost packets counts
as a tenth more. The time of a page is the mean of those that finished in the run, its warm-up included; one that the
end of the run cuts off does not count. Where no page finished, or no packet of a call arrived, the run's length counts.

# Sources
Fleming and Wallace, "How not to lie with statistics: the correct way to summarize benchmark results", Communications
of the ACM 29(3), 1986; Winstein and Balakrishnan, "TCP ex machina", SIGCOMM 2013, for the logarithms of throughput and
delay as an objective.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Row = Mapping[str, float | None]
"""The metrics of a run, with the names of `frames.flat`."""

LOADS: Mapping[str, str] = {
    "idle": "a page now and then",
    "download": "one download",
    "uploads": "uploads beside a download",
    "web": "pages beside a download",
    "calls": "video calls while both directions are full",
    "many": "many downloads and uploads, and short files",
    "hosts": "a host with many downloads and uploads beside one with one of each",
}
"""The loads, each with a scenario ``advice/NAME``; each of them has a call each way."""

LATE = 10.0
"""The delay that a loss counts for: a fraction x of lost packets makes the delay (1 + LATE x) times as long."""

LEAST = 1e-4
"""The least part of the present goodput that counts; a flow that gets nothing would count without bound."""

GOODPUT_WEIGHT = 2.0

VIDEO = ("video", "video-up")
"""The entries of video calls."""

GAMES = ("game", "game-up")
"""The entries of games, whose delay and losses count as those of voice."""

_CALLS = ("call", "call-up", *VIDEO, *GAMES)
_BULK = {
    "downloads": "downloads",
    "uploads": "uploads",
    "single": "single",
    "single-up": "single",
    "crowd": "crowd",
    "crowd-up": "crowd",
}
"""The entries that fill a direction, each with the kind of its measure; the last four are those of two hosts."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a run: the traffic entry, the kind, and the value; more of a goodput is better.

    The value is in s, of downloads and uploads in bit/s. `lost` is the fraction of packets that calls lost.
    """

    entry: str
    kind: str
    value: float
    lost: float = 0.0

    @property
    def more(self) -> bool:
        """Whether more is better."""
        return self.kind in _BULK.values()

    @property
    def weight(self) -> float:
        """How much it counts."""
        return GOODPUT_WEIGHT if self.more else 1.0

    def gain(self, other: Measure) -> float:
        """Return the binary logarithm of how many times this is better than another."""
        own, others = (one.value * (1 + LATE * one.lost) for one in (self, other))
        if own == others:
            return 0.0
        ratio = math.log2(max(own, LEAST * others) / max(others, LEAST * own))
        return ratio if self.more else -ratio


def measures(row: Row, length: float, entries: Iterable[str]) -> list[Measure]:
    """Return the measures of a run; `length` is its time in s, `entries` the names of its traffic."""
    found = []
    for entry in entries:
        if entry in _CALLS:
            delay, lost = _value(row, entry, "delay_p95", length), _value(row, entry, "path_loss_ratio", 0.0)
            found.append(Measure(entry, "calls", delay, lost))
        elif entry == "web":
            found.append(Measure(entry, "pages", _value(row, entry, "session_time_mean", length)))
        elif entry in _BULK:
            found.append(Measure(entry, _BULK[entry], _value(row, entry, "goodput", 0.0)))
    return found


def _value(row: Row, entry: str, metric: str, missing: float) -> float:
    value = row.get(f"classes.{entry}.{metric}")
    return missing if value is None else value


def gain(load: Sequence[Measure], present: Sequence[Measure]) -> float:
    """Return the weighted mean of the gains of a load's measures, as a binary logarithm."""
    total = sum(own.weight for own in load)
    return sum(own.weight * own.gain(other) for own, other in zip(load, present, strict=True)) / total
