"""What a tool measured, in our names, units and definitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqmlab.results.result import Metrics


BEGINNING = 5.0
"""Seconds of a transfer of which arrivals are kept."""


@dataclass(frozen=True)
class Transfer:
    """What a tool knows of a transfer over TCP besides its goodput; times are those of `Measured`.

    Parameters
    ----------
    flows : int
        The number of connections.
    segment : int
        Bytes of payload in a full packet.
    congestion : str
        The sender's congestion control by the kernel's name, empty if the tool does not say it.
    seconds : float
        How long it took.
    up : bool
        Whether the data left the host where the tool ran as a client.
    sender : bool
        Whether rates are of what the sender's kernel took over, as the server's account of what arrived is not there.
    headers : int
        Bytes of IP and TCP before the payload of a full packet.
    omitted : float
        Seconds before the first rate for which data already was sent.
    exact : bool
        Whether ``began`` is finer than a second.
    repeated : sequence of pair
        The end of each interval in s, and the segments sent again in it.
    trips : sequence of pair
        The end of each interval in s, and the mean of the connections' round-trip times in s.
    arrivals : sequence of pair
        Of the first seconds, times in s and the bytes of payload that had arrived by then, if finer than the rates.
    idle : sequence of float
        Round-trip times in s without a queue. With them, ``delays`` of the measurement are those of the transfer.
    """

    flows: int
    segment: int
    congestion: str
    seconds: float
    up: bool
    sender: bool = False
    headers: int = 52
    omitted: float = 0.0
    exact: bool = True
    repeated: Sequence[tuple[float, float]] = field(default=(), repr=False)
    trips: Sequence[tuple[float, float]] = field(default=(), repr=False)
    arrivals: Sequence[tuple[float, float]] = field(default=(), repr=False)
    idle: Sequence[float] = ()


@dataclass(frozen=True)
class Measured:
    """What a tool measured.

    Parameters
    ----------
    name : str
        The name of the file, and which direction or probe of several it is.
    metrics : mapping
        The metrics, by their names in `aqmlab.METRICS`.
    rates : sequence of pair
        The middle of each interval in s, and the goodput in it in bit/s.
    delays : sequence of pair
        The time of each packet in s, and its round-trip time in s.
    lost : sequence of float or None
        When packets were sent that did not come back, in s; None if that is unknown.
    began : float or None
        What the clock showed at time zero, in s since 1970, if the tool wrote it down.
    transfer : Transfer or None
        What else is known of a transfer over TCP.
    """

    name: str
    metrics: Metrics
    rates: Sequence[tuple[float, float]] = field(default=(), repr=False)
    delays: Sequence[tuple[float, float]] = field(default=(), repr=False)
    lost: Sequence[float] | None = field(default=(), repr=False)
    began: float | None = None
    transfer: Transfer | None = None


Reader = Callable[[str, Mapping[str, Any]], Iterator[Measured]]


class Failed(Exception):  # noqa: N818  the tool failed, and says so
    """Raised if a file records that the measurement failed, or what no reader knows, with the reason."""


SHARED = 0.75
"""The least part of the longest of several transfers in which all others go on, so that they count as one load."""


def at_once(spans: Sequence[tuple[float, float]]) -> bool:
    """Return whether what began and ended at these times was one load."""
    begins, ends = zip(*spans, strict=True)
    shared: float = min(ends) - max(begins)
    return shared >= SHARED * max(end - begin for begin, end in spans)


def statistics(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return the mean, the largest and the percentiles that results have."""
    ranked = sorted(values)
    percentiles = {f"{name}_p{share}": ranked[-(-len(ranked) * share // 100) - 1] for share in (50, 95, 99)}
    return {f"{name}_mean": sum(values) / len(values), **percentiles, f"{name}_max": ranked[-1]}


def placed(numbers: Iterable[int], sent: Sequence[tuple[int, float]]) -> list[float]:
    """Return when packets were sent, in s, by their numbers: `sent` has the numbers and times of others, in order."""
    (first, zero), (last, end) = sent[0], sent[-1]
    every = (end - zero) / max(last - first, 1)
    return [zero + (number - first) * every for number in numbers]


def pings(
    name: str, delays: Sequence[tuple[float, float]], ways: Sequence[tuple[float, float]], lost: float | None
) -> Measured:
    """Describe probes of the round-trip time; `name` and `delays` are those of `Measured`.

    `ways` has the way to the server and the round trip of each packet in s, by the clocks of both ends: without meaning
    if these are apart by more than the packet was under way. `lost` is the share of packets that did not come back, if
    known.
    """
    metrics: Metrics = {**statistics("rtt", [delay for _, delay in delays])}
    if any(not 0 <= way <= trip for way, trip in ways):
        name = f"{name} (the clocks are apart: no one-way delays)"
    elif ways:
        metrics |= statistics("delay", [way for way, _ in ways])
    if lost is not None:
        metrics["path_loss_ratio"] = lost
    return Measured(name, metrics, delays=delays)
