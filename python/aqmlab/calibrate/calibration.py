"""A link's rate, round trip, buffer and queue discipline, from measurements of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.calibrate.burst import NO_START, burst
from aqmlab.calibrate.elsewhere import Own, elsewhere, own_queue
from aqmlab.calibrate.hypothesis import FAMILIES, KINDS, Load
from aqmlab.calibrate.inference import Posterior, infer
from aqmlab.calibrate.interval import Interval, Told
from aqmlab.calibrate.recording import Recording, Unusable, recorded
from aqmlab.calibrate.variation import Variation, alike, variation
from aqmlab.calibrate.view import View, busy, plateau, statistics, windows
from aqmlab.presenters import presented
from aqmlab.runs.replication import run
from aqmlab.scenario import Scenario

UNLIKE = 5.0
"""The distance, a mean square in units of the scatter, from which no link is like the measurement."""

SURE = 0.6
"""The least probability with which a family is named."""

FINEST = 0.005
"""The least distance of simulated probes, in s."""

AROUND, BEYOND = 1.06, 1.5
"""By these factors the rate may be beyond that of the windows: with a queue for most of the time, and without."""

BUSY = 0.4
"""The least share of the time with a queue that counts as most."""

READING = 0.1
"""The part of the progress in which files are read."""

_BASE = 20
"""The rank among the shortest round trips of one that is surely no shorter than the true one; at most a tenth."""


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A link as measurements show it.

    Rates are in bit/s of IP packets, times in s, the buffer in bytes of IP packets. ``families`` has the probability of
    each family, ``fair`` that flows have queues of their own.
    """

    recording: Recording
    base_rtt: Interval
    rate: Interval
    buffer: Interval
    buffer_time: Interval
    other: float
    families: Mapping[str, float]
    fair: float
    posterior: Posterior
    view: View
    variation: Variation
    burst: Told
    elsewhere: Told
    """The wait in s of one of ten packets, and the longer ones, in another queue than one's own."""

    @property
    def family(self) -> str | None:
        """The family, if the measurements tell it."""
        name, probability = max(self.families.items(), key=lambda each: each[1])
        return name if probability >= SURE else None

    @property
    def fits(self) -> bool:
        """Whether any simulated link is like the measurement."""
        return float(self.posterior.distances.min()) < UNLIKE

    @property
    def best(self) -> int:
        """The place of the link, of the kind that is most probable, that is most alike."""
        kinds = {name: self.posterior.probability(name.__eq__) for name in KINDS}
        chosen = max(kinds, key=lambda name: kinds[name])
        own = [place for place, kind in enumerate(self.posterior.kinds) if kind == chosen]
        return min(own, key=lambda place: self.posterior.distances[place])

    def scenario(self) -> Scenario:
        """Return the scenario of that link, with the transfers and the probe of the measurement, and the run's seed."""
        post, best = self.posterior, self.best
        return post.load.scenario(post.kinds[best], post.points[best], post.seeds[best], "Calibrated link")

    def link(self) -> Scenario:
        """Return that scenario for `aqmlab advise`, for which the dumbbell's forward direction is the downlink.

        The direction that was not measured has the same rate, buffer and discipline, a guess.
        """
        found = self.scenario()
        table = found.resolved["dumbbell"]
        changes: dict[str, Any] = {
            "dumbbell.reverse_rate": table["rate"],
            "dumbbell.reverse_buffer": table["buffer"],
            "reverse_aqm": found.resolved["aqm"],
        }
        if self.recording.up:
            changes["observe"] = "bottleneck:reverse"
            for entry in found.resolved["traffic"]:
                way = {"from": entry["to"], "to": entry["from"]}
                changes |= {f"traffic.{entry['name']}.{end}": hosts for end, hosts in way.items()}
        return found.with_(changes)

    def simulated(self) -> View:
        """Run that scenario, and look at it as the tools looked at the network."""
        return self.posterior.load.view(run(self.scenario()))

    def document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "direction": "up" if self.recording.up else "down",
            "rate": self.rate.document(),
            "base_rtt": self.base_rtt.document(),
            "buffer": self.buffer.document(),
            "buffer_time": self.buffer_time.document(),
            "families": dict(self.families),
            "family": self.family,
            "fair": self.fair,
            "fits": self.fits,
            "variation": self.variation.document(),
            "burst": self.burst.document(),
            "wait_elsewhere": self.elsewhere.document(),
            "other_traffic": self.other,
            "measurements": list(self.recording.names),
            "simulated": len(self.posterior.points),
            "seed": self.posterior.seed,
            "version": _core.__version__,
        }

    def __repr__(self) -> str:
        return str(presented("calibration.text", self))


def calibrate(
    files: Iterable[str | os.PathLike[str]],
    *,
    up: bool | None = None,
    own: Sequence[str | os.PathLike[str]] = (),
    seed: int = 1,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Calibration:
    """Estimate a link from files that irtt, iperf3, flent, crusader or tcpdump wrote of it at one time.

    Parameters
    ----------
    files : iterable of path
        The measurement: a probe of the round trip, and transfers beside it; or captures of transfers.
    up : bool
        Of a file with both directions one after the other, as crusader writes, the upload or the download.
    own : sequence of path
        What describes one's own queue: a scenario, or files that `aqmlab import` reads. They tell the wait elsewhere.
    seed : int
        The seed of the links that are tried; equal seeds give equal answers.
    jobs : int
        The number of runs at a time; by default the number of cores.
    progress : callable
        Called from time to time with the part that is done.

    Raises
    ------
    OSError
        If a file cannot be read.
    ValueError
        If a file is torn or of another tool, or nothing follows from the files; the text has commands that would do.
    """
    told = progress and (lambda part: progress(READING + (1 - READING) * part))
    found = recorded(files, progress and (lambda part: progress(READING * part)), up)
    return calibrated(found, own_queue(own, found.up) if own else None, seed, jobs, told)


def calibrated(
    found: Recording,
    own: Own | None = None,
    seed: int = 1,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Calibration:
    """Estimate a link from a recording of it; see `calibrate`."""
    view, trip, load = known(found)
    every = statistics(view, load.base, found.hosts[0].packet)
    seen = {name: value for name, value in every.items() if found.start or not _early(name)}
    return _answer(found, view, trip, seen, infer(load, seen, seed, jobs, progress), own, jobs)


def known(found: Recording) -> tuple[View, Interval, Load]:
    """Return what a recording says without simulations: how it looks, the round trip, and where the rest may be."""
    base, trip = _base(found)
    view, packet = _view(found, base), found.hosts[0].packet
    rate = plateau(view, packet)
    longest = float(max(view.delay.max(), np.nanmax(view.tcp, initial=0.0)))
    _require_load(found, view, longest, packet * 8 / rate)
    product = rate * base / 8
    load = Load(
        base=base,
        rate=rate / AROUND,
        fastest=_fastest(view, rate, packet),
        lowest=max(3 * packet, 0.05 * product),
        highest=max(30 * packet, 16 * product, 3 * longest * rate / 8),
        hosts=found.hosts,
        seconds=found.seconds,
        interval=_interval(found),
        step=found.step,
        sampled=not np.isnan(view.tcp).all(),
        counted=not np.isnan(view.repeated).any(),
        sparse=found.interval,
        own=found.own,
    )
    return view, trip, load


def _early(name: str) -> bool:
    """Return whether a statistic needs the beginning of the load, or data and probes on one clock."""
    return name.startswith(("start.", "then.")) or name.endswith(".start")


def _interval(found: Recording) -> float:
    """Return a distance of simulated probes of which the bins of the rate are a multiple."""
    return found.step / max(1, round(found.step / max(found.interval, FINEST)))


def _fastest(view: View, rate: float, packet: float) -> float:
    """Return the highest rate that is thought possible: where there seldom was a queue, the link may be much faster."""
    if busy(view, packet) > BUSY:
        return rate * AROUND
    return min(float(windows(view, packet).max()), 2 * rate) * BEYOND


def _base(found: Recording) -> tuple[float, Interval]:
    """Return the shortest round trip, and where the true one is: a step of the clock below it, or a little above."""
    there = np.sort(np.concatenate([found.idle, found.rtt]))
    least = float(there[0])
    if found.own:
        # Handshakes are few; without one, the queue may never have been quite empty.
        return least, Interval(least, least * (0.98 if found.start else 0.95) - 5e-5, least * 1.002 + 5e-5)
    high = max(float(there[min(_BASE, len(there) // 10)]), least * 1.002, least + 5e-5)
    return least, Interval(least, least * 0.998 - 5e-5, high)


def _view(found: Recording, base: float) -> View:
    delay, tcp = found.rtt - base, found.tcp - base
    return View(found.times, delay, found.lost, found.step, found.rate, found.repeated, tcp, found.retransmits)


def _require_load(found: Recording, view: View, longest: float, packet: float) -> None:
    """Refuse a transfer that the link never limited."""
    lost = (view.lost is not None and len(view.lost) > 0) or bool(found.retransmits) or np.nansum(found.repeated) > 0
    if longest < max(3 * packet, 1e-3) and not lost:
        raise Unusable(
            f"{', '.join(found.names)}: no queue and no loss, the transfer never reached the link's rate: "
            "record it with more connections (iperf3 -P 4) or a larger window (-w 8M)"
        )


def _answer(
    found: Recording,
    view: View,
    trip: Interval,
    seen: Mapping[str, float],
    post: Posterior,
    own: Own | None,
    jobs: int | None,
) -> Calibration:
    values = [post.load.values(point) for point in post.points]
    off = np.array([np.exp(seen["rate"] - one["rate"]) for one in post.found])
    rates = np.array([one["rate"] for one in values]) * off
    buffers = np.array([one["buffer"] for one in values])
    packet = found.hosts[0].packet
    rate = _quantiles(rates, post.weights, 0.006)
    # It holds what was seen in it; if it never was full, nothing else bounds it from below.
    fair = post.probability(lambda kind: KINDS[kind].fair)
    longest = float(np.nan_to_num(view.tcp).max() if fair > 0.5 else view.delay.max())
    buffer, time = _quantiles(buffers, post.weights, 0.02), _quantiles(buffers * 8 / rates, post.weights, 0.02)
    families = dict.fromkeys(FAMILIES, 0.0)
    for name, kind in KINDS.items():
        families[kind.family] += post.probability(name.__eq__)
    return Calibration(
        found,
        trip,
        rate,
        replace(buffer, low=min(buffer.low, longest * rate.value / 8)),
        replace(time, low=min(time.low, longest)),
        float(np.dot([one["other"] > 0 for one in values], post.weights)),
        families,
        fair,
        post,
        view,
        variation(view, trip.value, packet, found.arrivals is None, *alike(post, jobs)),
        burst(view, found.arrivals, trip.value, packet) if found.start else Told(None, NO_START),
        elsewhere(view, post.load, own, jobs),
    )


def _quantiles(values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any], least: float) -> Interval:
    """Return the median and the 90 % interval, at least a fraction `least` to either side."""
    order = np.argsort(values)
    shares = np.cumsum(weights[order]) - weights[order] / 2
    low, middle, high = np.exp(np.interp([0.05, 0.5, 0.95], shares, np.log(values[order])))
    return Interval(float(middle), float(low * (1 - least)), float(high * (1 + least)))
