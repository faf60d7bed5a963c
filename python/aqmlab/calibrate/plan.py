"""The measurement of a link from which its queue follows: links of every kind are simulated and looked at in each way.

A way of measuring is judged by how it would classify these links: each is compared with all others, as `infer` compares
a recording, and what counts is the probability that its own family gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aqmlab import _core
from aqmlab.calibrate.hypothesis import FAMILIES, KINDS, Load, prior
from aqmlab.calibrate.inference import EFFECTIVE, tolerance
from aqmlab.calibrate.recording import Host
from aqmlab.calibrate.view import View, statistics
from aqmlab.presenters import presented
from aqmlab.runs.replication import compare_scenarios

EACH = 24
"""Links of each kind."""

TELLS = 0.6
"""The least mean probability of a family that is distinguished from the others."""

NEIGHBOURS = 5
"""The number of other links of a kind that are alike enough to be compared with."""


@dataclass(frozen=True)
class Way:
    """A way of measuring: commands, connections, seconds of load, between probes and of bins, and the records."""

    command: str
    flows: int
    seconds: float
    interval: float
    bins: float
    sender: bool
    """Whether round trips and retransmissions of the sender are recorded in each interval."""


WAYS = (
    Way("irtt client (every 1 s), iperf3 -J -R -t 20", 1, 20, 1.0, 1.0, False),
    Way("irtt client -i 20ms, iperf3 -J -R -i 0.1 -t 20", 1, 20, 0.02, 0.1, False),
    Way("irtt client -i 20ms, iperf3 -J -i 0.1 -t 20 --get-server-output", 1, 20, 0.02, 0.1, True),
    Way("irtt client -i 20ms, iperf3 -J -i 0.1 -t 20 --get-server-output -P 4", 4, 20, 0.02, 0.1, True),
)
"""The ways that are compared, from the least effort to the most."""


@dataclass(frozen=True, repr=False)
class Plan:
    """What each way would tell of a link: the mean probability of each family where it is the true one."""

    rate: float
    base_rtt: float
    lowest: float
    highest: float
    ways: Sequence[Way]
    tells: Sequence[Mapping[str, float]]
    confused: Sequence[tuple[str, str, float]]
    """Of the best way, the true family, the other that gets most of its probability, and how much."""

    @property
    def best(self) -> int:
        """The place of the first way that distinguishes almost as much as any."""
        means = [float(np.mean(list(one.values()))) for one in self.tells]
        return next(place for place, mean in enumerate(means) if mean >= max(means) - 0.03)

    def document(self) -> dict[str, Any]:
        """Return what ``--json`` prints."""
        return {
            "rate": self.rate,
            "base_rtt": self.base_rtt,
            "buffer": [self.lowest, self.highest],
            "ways": [
                {"command": way.command, "tells": dict(tells)} for way, tells in zip(self.ways, self.tells, strict=True)
            ],
            "best": self.ways[self.best].command,
            "confused": [{"true": a, "taken_for": b, "probability": p} for a, b, p in self.confused],
            "version": _core.__version__,
        }

    def __repr__(self) -> str:
        return str(presented("plan.text", self))


def plan(
    rate: float,
    base_rtt: float,
    buffer: tuple[float, float] | None = None,
    *,
    seed: int = 1,
    jobs: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Plan:
    """Find the measurement that distinguishes the queue disciplines of a link best.

    Parameters
    ----------
    rate : float
        The link's rate in bit/s of IP packets.
    base_rtt : float
        The round trip without queue in s.
    buffer : pair of float
        The least and the largest buffer that it may have, in bytes; by default from 0.3 to 8 times rate by round trip.
    seed : int
        The seed of the links that are tried.
    jobs : int
        The number of runs at a time; by default the number of cores.
    progress : callable
        Called from time to time with the part that is done.
    """
    product = rate * base_rtt / 8
    lowest, highest = buffer or (max(0.3 * product, 9000.0), max(8 * product, 90000.0))
    rng = np.random.default_rng(seed)
    names = [name for name in KINDS for _ in range(EACH)]
    points = [rng.random(KINDS[name].size) for name in names]
    tells: list[Mapping[str, float]] = []
    tables: list[dict[tuple[str, str], float]] = []
    views: dict[int, list[View]] = {}
    flows = sorted({way.flows for way in WAYS})
    for done, number in enumerate(flows):
        load = _load(rate, base_rtt, lowest, highest, number)
        scenarios = {
            str(place): load.scenario(name, point, place + 1)
            for place, (name, point) in enumerate(zip(names, points, strict=True))
        }
        results = compare_scenarios(scenarios, jobs=jobs)
        views[number] = [load.view(result) for result in results.values()]
        if progress:
            progress((done + 1) / len(flows))
    for way in WAYS:
        seen = [statistics(_looked_at(view, way), base_rtt, 1500) for view in views[way.flows]]
        table = _classified(names, seen)
        tells.append({family: table[family, family] for family in FAMILIES})
        tables.append(table)
    found = Plan(rate, base_rtt, lowest, highest, WAYS, tells, [])
    table = tables[found.best]
    return replace(found, confused=[_taken(family, table) for family in FAMILIES if table[family, family] < TELLS])


def _load(rate: float, base: float, lowest: float, highest: float, flows: int) -> Load:
    """Return the load with everything recorded, of which each way sees a part; fast links have a shorter one."""
    seconds = float(np.clip(20 * np.sqrt(3e7 / rate), 8, 20))
    return Load(
        base=base,
        rate=rate / 1.1,
        fastest=rate * 1.1,
        lowest=lowest,
        highest=highest,
        hosts=[Host(flows, 1448, "cubic")],
        seconds=seconds,
        interval=0.02,
        step=0.1,
        sampled=True,
        counted=True,
    )


def _looked_at(view: View, way: Way) -> View:
    """Return what a way of measuring shows of a view."""
    every, per = max(1, round(way.interval / 0.02)), max(1, round(way.bins / 0.1))
    bins = len(view.rate) // per
    nothing = np.full(bins, np.nan)
    return View(
        times=view.times[::every],
        delay=view.delay[::every],
        lost=None if view.lost is None else view.lost[::every],
        step=view.step * per,
        rate=view.rate[: bins * per].reshape(bins, per).mean(axis=1),
        repeated=view.repeated[: bins * per].reshape(bins, per).sum(axis=1) if way.sender else nothing,
        tcp=view.tcp[: bins * per].reshape(bins, per)[:, -1] if way.sender else nothing,
        total=view.total,
    )


def _classified(names: Sequence[str], seen: Sequence[Mapping[str, float]]) -> dict[tuple[str, str], float]:
    """Return, by true family and other, the mean probability that links of the first get for the second."""
    keys = [key for key in seen[0] if key != "rate" and all(key in one for one in seen)]
    values = np.array([[one[key] for key in keys] for one in seen])
    # How far links of one kind are from those most like them stands for the scatter.
    scale = np.sqrt(np.mean([_near(values, names, name) for name in KINDS], axis=0) + tolerance(keys) ** 2)
    weight = np.array([prior(name) for name in names])
    table = {(a, b): 0.0 for a in FAMILIES for b in FAMILIES}
    count = {family: sum(KINDS[name].family == family for name in names) for family in FAMILIES}
    for place, name in enumerate(names):
        distance = np.minimum(((values - values[place]) / scale) ** 2, 25.0).mean(axis=1)
        distance[place] = np.inf
        likeness = weight * np.exp(-(distance - distance.min()) * EFFECTIVE / 2)
        likeness /= likeness.sum()
        for other, share in zip(names, likeness, strict=True):
            own = KINDS[name].family
            table[own, KINDS[other].family] += share / count[own]
    return table


def _near(values: NDArray[np.float64], names: Sequence[str], name: str) -> NDArray[np.float64]:
    own = values[[one == name for one in names]]
    squares = (own[:, None, :] - own[None, :, :]) ** 2
    total = squares.sum(axis=2)
    order = np.argsort(total, axis=1)[:, 1 : NEIGHBOURS + 1]
    each = np.array([squares[place, order[place]].mean(axis=0) for place in range(len(own))])
    near: NDArray[np.float64] = each.mean(axis=0) / 2
    return near


def _taken(family: str, table: Mapping[tuple[str, str], float]) -> tuple[str, str, float]:
    other = max((each for each in FAMILIES if each != family), key=lambda each: table[family, each])
    return family, other, table[family, other]
