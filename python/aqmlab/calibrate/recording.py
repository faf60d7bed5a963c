"""Measurements put together: what a probe of the round trip and transfers over TCP showed of one link at one time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange import measured
from aqmlab.exchange.measured import Measured, Transfer, captured
from aqmlab.exchange.measured.measurement import at_once

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LONGEST = 30.0
"""Seconds of load that are looked at: what a queue does later it did before."""

SHORTEST = 5.0
"""The least seconds of load from which anything follows."""

IDLE = 5
"""Round trips without load that are needed."""

FEWEST = 15
"""The least probes under load: one a second for 20 s are enough."""

_HOW = (
    "record `irtt client -i 20ms -d 30s` and, 5 s later, `iperf3 -J -i 0.1 -t 20 --get-server-output` beside it, "
    "from a server `iperf3 -s -J -i 0.1`; or " + captured.HOW
)


class Unusable(ValueError):  # noqa: N818  the measurement is at fault
    """Raised if nothing follows from measurements; the text has the commands that would do."""


@dataclass(frozen=True, eq=False)
class Host:
    """The transfers of one host: connections, bytes of payload and of headers in a packet, and its sender."""

    flows: int
    segment: int
    congestion: str
    extra_rtt: float = 0.0
    """Seconds of its round trip beyond that of the probe."""
    headers: int = 52

    @property
    def packet(self) -> int:
        """Bytes of a full packet from its IP header on."""
        return self.segment + self.headers


@dataclass(frozen=True, eq=False)
class Recording:
    """One link under load, in bins of `step` seconds from the beginning of the load on.

    ``idle`` has round trips in s before it. ``times`` and ``rtt`` are when, and how long in s, probes were under way,
    ``lost`` when those left that did not come back, None if that is unknown, ``interval`` seconds from one to the next.
    ``rate`` is that of IP packets in bit/s that brought data, ``repeated`` the segments sent again in a bin, ``tcp``
    the round trip in s that the senders measured: NaN throughout if no tool recorded it. ``up`` says that the data left
    the host of the files.
    """

    hosts: Sequence[Host]
    idle: Array
    times: Array
    rtt: Array
    lost: Array | None
    interval: float
    step: float
    rate: Array
    repeated: Array
    tcp: Array
    retransmits: float | None
    """Segments sent again in all, if known."""
    up: bool
    start: bool
    """Whether the beginning of the load is known to less than a second, and recorded."""

    names: Sequence[str] = field(default=())
    own: bool = False
    """Whether the round trips are those of the data, as there was no probe."""
    arrivals: tuple[Array, Array] | None = None
    """Of the first seconds, times in s and the bytes of IP packets by then, if known more finely than `step`."""

    @property
    def seconds(self) -> float:
        """How long the load was."""
        return self.step * len(self.rate)


def recorded(
    files: Iterable[str | os.PathLike[str]],
    progress: Callable[[float], None] | None = None,
    up: bool | None = None,
) -> Recording:
    """Read files of one measurement. ``progress`` is called with the part of captures that is read.

    ``up`` chooses the uploads or the downloads of a file that has both, one after the other.
    Raise OSError if a file cannot be read, and ValueError if it is torn or of another tool, or nothing follows from it.
    """
    paths = [Path(file) for file in files]
    captures = [path for path in paths if captured.is_capture(path)]
    found = [one for path in paths if path not in captures for one in measured.read(path)]
    return together(found + (captured.read(captures, progress) if captures else []), up)


def together(found: Sequence[Measured], up: bool | None = None) -> Recording:
    """Put measurements together that tools made at one time; of both directions, those of one."""
    transfers = [(one, one.transfer) for one in found if one.transfer and one.rates]
    # The round trips of the data will do if there is no probe.
    probes = [one for one in found if one.delays and not one.transfer] or [one for one, _ in transfers if one.delays]
    names = ", ".join(one.name for one in found)
    if not transfers:
        lacking = "rates without a transfer over TCP" if any(one.rates for one in found) else "no load"
        raise Unusable(f"{names}: {lacking}: {_HOW}")
    if not probes:
        raise Unusable(f"{names}: no probe of the round trip beside the transfer: {_HOW}")
    probe = max(probes, key=lambda one: len(one.delays))
    transfers = _of_one_way(transfers, up)
    own = probe.transfer is not None
    both = [*([] if own else [probe]), *(one for one, _ in transfers)]
    if any(one.began is None for one in both):
        raise Unusable(f"{names}: no time of day in one of them, so that they cannot be laid beside each other: {_HOW}")
    # Flent's time zero is before its transfers begin.
    zero = min(_begin(one) for one, _ in transfers)
    begin = zero - (probe.began or 0.0)
    last = min(_begin(one) + transfer.seconds for one, transfer in transfers) - zero
    if not at_once([(_begin(one), _begin(one) + transfer.seconds) for one, transfer in transfers]):
        raise Unusable(f"{names}: {len(transfers)} transfers, not all of them at once: give one of them: {_HOW}")
    times, rtt = (np.array(values, float) for values in zip(*sorted(probe.delays), strict=True))
    before = rtt[times < begin - max(transfer.omitted for _, transfer in transfers) - 0.05]
    if probe.transfer:
        before = np.array(probe.transfer.idle, float)
    if not begin - 1e5 < times[-1] or times[0] > begin + last:
        apart = abs(begin) if times[0] < begin else times[0] - begin
        raise Unusable(f"{names}: recorded {apart:.0f} s apart: {_HOW}")
    if not own and len(before) < IDLE:
        raise Unusable(f"{probe.name}: {len(before)} round trips before the load, no idle period: {_HOW}")
    end = begin + min(last, LONGEST)
    within = (times >= begin) & (times < end)
    step = max(_step(one.rates) for one, _ in transfers)
    count = int(min(last, LONGEST) / step + 1e-6)
    if count * step < SHORTEST - 1e-6 or within.sum() < FEWEST:
        raise Unusable(
            f"{names}: {min(count * step, last):.1f} s of load with {within.sum()} probes, too short to tell: {_HOW}"
        )
    for one, transfer in transfers:
        if transfer.sender:
            raise Unusable(
                f"{one.name}: the rates are the sender's, not those of the data that arrived: {_HOW}, or with -R"
            )
    edges = np.arange(count + 1, dtype=np.float64) * step
    rate, repeated = np.zeros(count), np.zeros(count)
    trips, hosts, known = [], [], True
    for one, transfer in transfers:
        shift = (one.began or 0.0) - zero
        host = Host(transfer.flows, transfer.segment, transfer.congestion or "cubic", headers=transfer.headers)
        at, goodput = _times([t for t, _ in one.rates]) + shift, _times([value for _, value in one.rates])
        rate += _binned(at, goodput, edges) * host.packet / host.segment
        known &= bool(transfer.repeated)
        repeated += _summed(_middles(transfer.repeated) + shift, transfer.repeated, edges)
        trips.append(_binned(_middles(transfer.trips) + shift, _seconds(transfer.trips), edges))
        hosts.append(host)
    hosts = [_apart(host, own, trips[0]) for host, own in zip(hosts, trips, strict=True)]
    # What was sent again after the end of the bins is counted there too.
    whole = all(transfer.seconds + transfer.omitted < count * step + 1 for _, transfer in transfers)
    counted = [one.metrics.get("retransmits") for one, _ in transfers] if whole else [None]
    return Recording(
        hosts,
        before,
        times[within] - begin,
        rtt[within],
        None if probe.lost is None else np.array([t - begin for t in probe.lost if begin <= t < end], float),
        float(np.median(np.diff(times))),
        step,
        rate,
        repeated if known else np.full(count, np.nan),
        trips[0],
        None if None in counted else sum(one or 0.0 for one in counted),
        transfers[0][1].up,
        all(transfer.exact and not transfer.omitted for _, transfer in transfers),
        [one.name for one in both],
        own,
        _arrivals(*transfers[0], zero) if len(transfers) == 1 else None,
    )


def _of_one_way(transfers: list[tuple[Measured, Transfer]], up: bool | None) -> list[tuple[Measured, Transfer]]:
    """Return the transfers of the direction that is asked for; without any of the other these may be all."""
    names = ", ".join(one.name for one, _ in transfers)
    ways = {way: [each for each in transfers if each[1].up is way] for way in (True, False)}
    if ways[True] and ways[False]:
        if any(_at_once(*one, *other) for one in ways[True] for other in ways[False]):
            raise Unusable(f"{names}: uploads and downloads at once, each of which delays the other: {_HOW}")
        if up is None:
            raise Unusable(f"{names}: an upload and a download after each other: choose --direction up or down")
    chosen = transfers if up is None else ways[up]
    if not chosen:
        raise Unusable(f"{names}: no {'upload' if up else 'download'} in it: leave out --direction")
    return chosen


def _arrivals(one: Measured, transfer: Transfer, zero: float) -> tuple[Array, Array] | None:
    if not transfer.arrivals:
        return None
    times, octets = np.array(transfer.arrivals).T
    return times + (one.began or 0.0) - zero, octets * (transfer.segment + transfer.headers) / transfer.segment


def _at_once(one: Measured, transfer: Transfer, other: Measured, its: Transfer) -> bool:
    return _begin(one) < _begin(other) + its.seconds and _begin(other) < _begin(one) + transfer.seconds


def _times(values: Iterable[float | None]) -> Array:
    return np.array([value for value in values if value is not None], float)


def _seconds(pairs: Sequence[tuple[float, float]]) -> Array:
    return _times([value for _, value in pairs])


def _middles(pairs: Sequence[tuple[float, float]]) -> Array:
    """Return the middles of intervals of which the ends are given."""
    return _times([t for t, _ in pairs]) - _step(pairs) / 2


def _begin(one: Measured) -> float:
    """Return when a transfer began, in s since 1970."""
    return (one.began or 0.0) + one.rates[0][0] - _step(one.rates) / 2


def _step(rates: Sequence[tuple[float, float]]) -> float:
    return float(np.median(np.diff([t for t, _ in rates]))) if len(rates) > 1 else LONGEST


def _binned(at: Array, values: Array, edges: Array) -> Array:
    """Return the mean of values in each bin, of empty bins that of the bin before; NaN if there are none at all."""
    if not len(at):
        return np.full(len(edges) - 1, np.nan)
    which = np.clip(np.searchsorted(at, (edges[:-1] + edges[1:]) / 2 + 1e-9) - 1, 0, None)
    nearest = np.where(
        np.abs(at[np.minimum(which + 1, len(at) - 1)] - edges[:-1] - np.diff(edges) / 2)
        < np.abs(at[which] - edges[:-1] - np.diff(edges) / 2),
        np.minimum(which + 1, len(at) - 1),
        which,
    )
    return values[nearest]


def _summed(at: Array, pairs: Sequence[tuple[float, float]], edges: Array) -> Array:
    return np.histogram(at, edges, weights=_seconds(pairs))[0] if len(pairs) else np.zeros(len(edges) - 1)


def _apart(host: Host, own: Array, first: Array) -> Host:
    """Return a host with what its round trip has beyond that of the first."""
    both = ~(np.isnan(own) | np.isnan(first))
    extra = float(np.median(own[both] - first[both])) if both.any() else 0.0
    return replace(host, extra_rtt=extra)


__all__ = ["Host", "Measured", "Recording", "Transfer", "Unusable", "recorded", "together"]
