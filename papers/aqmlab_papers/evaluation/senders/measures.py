"""Measures and paths that several sections of RFC 9743 have in common."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import polars

from aqmlab.scenario import Value
from aqmlab_papers.evaluation.describe import measure as m

if TYPE_CHECKING:
    from aqmlab_papers.run.runs import Runs

_ROUND_TRIP = 100.0
"""The round-trip time of ``rfc9743/long``, in ms, about which each seed draws its own."""


def path(rate: float, round_trip: float) -> dict[str, Value]:
    """Return the settings of a path with another rate, in Mbit/s, and round-trip time, in ms."""
    scale = round_trip / _ROUND_TRIP
    return {
        "dumbbell.rate": f"{rate:g} Mbit/s",
        "dumbbell.delay": f"uniform({20 * scale:g} ms, {30 * scale:g} ms)",
        "dumbbell.sender_delay": f"{20 * scale:g} ms",
        "dumbbell.receiver_delay": f"{5 * scale:g} ms",
    }


def goodput(entry: str, rate: float, name: str = "Goodput") -> m.Measure:
    """Return the goodput of a traffic entry, of which one percent of the link's rate in Mbit/s is of interest."""
    digits = max(0, 1 - math.floor(math.log10(rate / 10)))
    return replace(m.goodput(entry, name), least=rate / 100, digits=digits + 1)


def long_flows(rate: float = 10.0) -> list[m.Measure]:
    """Return goodput, delay, loss and fairness of the long flows."""
    return [goodput("bulk", rate), m.waiting("bulk"), m.loss("bulk"), m.fairness()]


def segments_a_round_trip(entry: str, seconds: float) -> m.Measure:
    """Return the segments that a flow sends in a round-trip time, in a window of this many seconds.

    Full backoff goes down to one packet a round trip, and on from there: a mean above 1 is no full backoff.
    """
    arrivals, flows, round_trip = (polars.col(f"classes.{entry}.{name}") for name in ("arrivals", "flows", "rtt_mean"))
    found = m.computed(
        "Segments a flow and round trip", "", "less", 0.05, arrivals * round_trip / flows, 2, over=seconds
    )
    return replace(found, bound=1.0)


def segments_in_silence(entry: str, flows: int, start: float, end: float) -> m.Measure:
    """Return the segments that a flow sends from some time to another while no acknowledgement comes back.

    The bound is that of one segment after a round trip, and then after twice the time before.
    """

    def sent(frame: polars.DataFrame) -> float:
        inside = frame.filter((frame["t"] >= start) & (frame["t"] < end))
        return float(inside[f"{entry}.arrivals"].sum()) / flows

    bound = math.floor(math.log2((end - start) / (_ROUND_TRIP / 1e3) + 1)) + 1
    return replace(_of_series("Segments in silence", "", 1.0, sent), bound=float(bound))


def starved(entry: str, share: float, warmup: float, name: str = "Starved") -> m.Measure:
    """Return the part of the seconds in which a traffic entry gets less than a tenth of its share, in Mbit/s."""

    def seconds(frame: polars.DataFrame) -> float:
        rates = frame.filter(frame["t"] >= warmup)[f"{entry}.throughput"].fill_null(0.0)
        return float(100 * (rates < share * 1e5).sum() / len(rates))

    return _of_series(name, "%", 2.0, seconds)


def acknowledgements() -> m.Measure:
    """Return the packets that come back for each that goes out."""
    back, out = (polars.col(f"links.{link}.arrivals") for link in (f"{m.LINK}:reverse", m.LINK))
    return m.computed("Packets back a packet", "", "less", 0.02, back / out, 2)


def _of_series(name: str, unit: str, least: float, value: Callable[[polars.DataFrame], float]) -> m.Measure:
    """Return a measure of which less is better, read from the series of a run."""

    def read(runs: Runs, label: str) -> m.Values:
        return runs.from_series(label, value).values

    return m.Measure(name, unit, "less", least, read)
