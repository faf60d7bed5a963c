"""What a link may be: points of a unit cube for each kind of queue, in which the prior is uniform; and its scenario."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.calibrate.view import View
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aqmlab.calibrate.recording import Host
    from aqmlab.results.result import Result

    Array = NDArray[np.float64]

LEAD = 0.5
"""Simulated seconds before the load."""

PHASE = 0.02
"""Seconds after that within which the transfers begin."""

FAST, ROOMY = "100 Gbit/s", "1000000 packets"

CONTROLS = ("cubic", "reno", "bbr")
"""Those of the kernel's congestion controls that are simulated; others count as the first."""

_SHARED = 4
"""The first coordinates of every kind: rate, buffer, whether and how much other traffic there is."""


@dataclass(frozen=True)
class Kind:
    """A kind of queue: its family, whether it keeps flows apart, its coordinates beyond those of all, its discipline.

    ``aqm`` takes these coordinates and the buffer in bytes, and returns the table ``[aqm]``.
    """

    family: str
    fair: bool
    free: int
    aqm: Callable[[Array, float], Mapping[str, Any]]

    @property
    def size(self) -> int:
        """The number of coordinates."""
        return _SHARED + self.free


def _between(u: float, low: float, high: float) -> float:
    """Return a value whose logarithm is uniform."""
    return float(low * (high / low) ** u)


def _default_or(u: float, default: float, low: float, high: float) -> float:
    """Return the default for half of the coordinate's range, otherwise a value whose logarithm is uniform."""
    return default if u < 0.5 else _between(2 * u - 1, low, high)


def _codel(u: Array, _: float) -> Mapping[str, Any]:
    target = _default_or(u[0], 0.005, 0.002, 0.03)
    return {"name": "codel", "preset": "linux", "target": f"{target:.6f} s", "interval": f"{20 * target:.6f} s"}


def _fair(u: Array, buffer: float) -> Mapping[str, Any]:
    inner = _codel(u, buffer)
    words = ",".join(f"{key}={value}" for key, value in inner.items() if key != "name")
    return {"name": "fq", "preset": "linux", "aqm": f"codel:{words}"}


def _pie(u: Array, _: float) -> Mapping[str, Any]:
    return {"name": "pie", "preset": "linux", "target": f"{_default_or(u[0], 0.015, 0.005, 0.06):.6f} s"}


_MEAN = 1000
"""Bytes of RED's mean packet."""


def _red(u: Array, buffer: float) -> Mapping[str, Any]:
    # With thresholds of less than a few packets, or of very many, tc finds no weight and no logarithm.
    highest = min(max(buffer * (0.15 + 0.8 * u[0]), 3 * _MEAN), 16e6)
    lowest = max(highest * (0.15 + 0.45 * u[1]), 1.6 * _MEAN)
    return {
        "name": "red",
        "preset": "linux",
        "ages": False,
        "min_bytes": f"{lowest:.0f} B",
        "max_bytes": f"{highest:.0f} B",
        "mean_packet": f"{_MEAN} B",
        # As tc's manual advises, and with a weight that the kernel accepts beside such thresholds.
        "burst": math.ceil(
            min((2 * lowest + highest) / 3 / _MEAN, lowest / _MEAN + 0.7 * 2 ** (31 - int(highest).bit_length()))
        ),
        "max_p": round(_between(u[2], 0.01, 0.3), 4),
    }


KINDS: Mapping[str, Kind] = {
    "droptail": Kind("droptail", False, 0, lambda _u, _b: {"name": "droptail"}),
    "headdrop": Kind("headdrop", False, 0, lambda _u, _b: {"name": "headdrop"}),
    "red": Kind("red", False, 3, _red),
    "codel": Kind("codel", False, 1, _codel),
    "fq_codel": Kind("codel", True, 1, _fair),
    "pie": Kind("pie", False, 1, _pie),
}
"""The kinds by name; the prior gives each family the same probability, and half of CoDel's to the fair one."""

FAMILIES = tuple(dict.fromkeys(kind.family for kind in KINDS.values()))


def prior(name: str) -> float:
    """Return the prior probability of a kind."""
    return 1 / len(FAMILIES) / sum(kind.family == KINDS[name].family for kind in KINDS.values())


@dataclass(frozen=True)
class Load:
    """The known part: round trips, senders, duration, probes and bins, and first estimates.

    ``rate`` and ``fastest`` are the ends of the prior, in bit/s of IP packets, as are ``lowest`` and
    ``highest`` of the buffer in bytes.
    """

    base: float
    rate: float
    fastest: float
    lowest: float
    highest: float
    hosts: Sequence[Host]
    seconds: float
    interval: float
    step: float
    sampled: bool
    """Whether the senders' round trips were recorded."""
    counted: bool
    """Whether segments sent again were recorded in each bin."""
    sparse: float = 0.0
    """Seconds from one probe to the next if these are more than `interval`."""
    own: bool = False
    """Whether the delays are those of the data, as there was no probe."""

    def values(self, u: Array) -> dict[str, float]:
        """Return rate, buffer and the share of other traffic at a point."""
        share = 0.0 if u[2] < 0.5 else _between(u[3], 0.01, 0.3)
        return {
            "rate": _between(u[0], self.rate, self.fastest),
            "buffer": _between(u[1], self.lowest, self.highest),
            "other": share,
        }

    def scenario(self, name: str, u: Array, seed: int = 1, title: str = "calibration") -> Scenario:
        """Return the scenario of a point: the link, the transfers and the probe."""
        known = self.values(u)
        bits, buffer = known["rate"], known["buffer"]
        packet = self.hosts[0].packet
        # A packet's own transmission is in every round trip here, and the probe's is next to nothing.
        delays = [max(0.0, self.base + host.extra_rtt) / 2 for host in self.hosts]
        tables: dict[str, Any] = {
            "title": title,
            "duration": f"{LEAD + self.seconds:.6f} s",
            "warmup": "0 s",
            "seed": seed,
            "record": {"step": f"{self.interval:.6f} s"},
            "dumbbell": {
                "rate": f"{bits:.0f} bit/s",
                "delay": "0 s",
                "buffer": f"{max(2, round(buffer / packet))} packets",
                "reverse_rate": FAST,
                "access_rate": FAST,
                "access_buffer": ROOMY,
                "sender_delay": [f"{delay:.9f} s" for delay in delays],
                "receiver_delay": ["0 s"],
            },
            "aqm": KINDS[name].aqm(u[_SHARED:], buffer),
            "traffic": [self._bulk(number, host) for number, host in enumerate(self.hosts, 1)],
        }
        if name == "red":
            tables["dumbbell"]["buffer"] = f"{max(2 * packet, buffer):.0f} B"
        every = f"{max(self.interval, self.sparse):.6f} s"
        probe = {"interval": every, "packet_size": "88 B", "from": ["sender1"], "to": ["receiver1"]}
        if not self.own:
            tables["traffic"].append({"name": "probe", "kind": "ping", **probe})
        if known["other"]:
            size = max(3000.0, bits / 8 * 0.15)
            rate = known["other"] * bits / 8 / size
            tables["traffic"].append(
                {
                    "name": "others",
                    "kind": "short",
                    "size": f"pareto({size:.0f} B, 1.5)",
                    "arrival_rate": f"{rate:.6f} /s",
                    "tcp": {"preset": "linux"},
                }
            )
        return Scenario.from_dict(tables)

    def _bulk(self, number: int, host: Host) -> dict[str, Any]:
        control = host.congestion if host.congestion in CONTROLS else CONTROLS[0]
        return {
            "name": f"bulk{number}",
            "kind": "ftp",
            "count": host.flows,
            # Seeds differ in the phase between transfers and probes.
            "start": f"uniform({LEAD} s, {LEAD + PHASE} s)",
            "packet_size": f"{host.packet} B",
            "from": [f"sender{number}"],
            "to": [f"receiver{number}"],
            "tcp": {"preset": "linux", "congestion": control},
        }

    def view(self, result: Result) -> View:
        """Look at a simulated run as the tools looked at the network."""
        series, link = result.series, result.link
        start = round(LEAD / self.interval)
        count = int(self.seconds / self.interval + 1e-6)

        def column(name: str) -> Array:
            values: Array = series[name].fill_null(np.nan).to_numpy().astype(float)
            return values[start : start + count]

        bulk = [f"{link}.bulk{number}" for number in range(1, len(self.hosts) + 1)]
        # A round trip stands in the bin in which the answer came; the way back takes nothing but its half.
        rtt = self.base + column(f"{bulk[0]}.delay") if self.own else column("probe.rtt")
        drops = np.zeros(len(rtt)) if self.own else column(f"{link}.probe.drops")
        at = np.arange(len(rtt)) * self.interval
        back = ~np.isnan(rtt)
        times = at[back] - rtt[back] + (self.base if self.own else 0.0)
        per = max(1, round(self.step / self.interval))
        bins = len(rtt) // per

        def binned(values: Array) -> Array:
            return values[: bins * per].reshape(bins, per)

        rate: Array = np.sum([column(f"{name}.throughput") for name in bulk], axis=0)
        gone: Array = np.sum([column(f"{name}.drops") for name in bulk], axis=0)
        sent, waited = column(f"{bulk[0]}.departures"), np.nan_to_num(column(f"{bulk[0]}.delay"))
        weight = binned(sent).sum(axis=1)
        tcp = np.divide(binned(sent * waited).sum(axis=1), weight, out=np.full(bins, np.nan), where=weight > 0)
        # The sender learns of a loss a round trip later.
        told = at + self.base + waited
        repeated = np.histogram(told, np.arange(bins + 1) * self.interval * per, weights=gone)[0]
        return View(
            times=times[times >= 0],
            delay=np.maximum(rtt[back] - self.base, 0.0)[times >= 0],
            lost=np.repeat(at.astype(np.float64), drops.astype(int)),
            step=self.step,
            rate=binned(rate).mean(axis=1),
            repeated=repeated.astype(float) if self.counted else np.full(bins, np.nan),
            tcp=tcp if self.sampled else np.full(bins, np.nan),
            total=float(gone.sum()),
        )
