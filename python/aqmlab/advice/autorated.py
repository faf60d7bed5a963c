"""A run in whose loop cake-autorate sets the rates of a router's CAKE, by pings through the link."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.advice.autorate import Autorate, Law
from aqmlab.advice.bad_link import BadLink
from aqmlab.advice.candidates import candidates
from aqmlab.advice.link import Link
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    import polars

EVERY, MEASURED = 0.05, 0.2
"""Seconds between two pings, six pingers of 0.3 s in turn, and between two measurements of the loads."""

PARTS = (0.125, 0.5, 2.0)
"""The lowest, base and highest rates of a direction that varies, in parts of its mean rate."""

_PINGS = "".join(
    f"""
[[traffic]]
name = "pinger{end}"
kind = "cbr"
rate = "{64 * 8 / EVERY:.0f} bit/s"
packet_size = "64 B"
from = "{source}"
to = "{sink}"
"""
    for end, source, sink in (("", "senders", "home"), ("-up", "home", "senders"))
)

_KEYS = {"down": "link.router.aqm.bandwidth", "up": "link.router.reverse_aqm.bandwidth"}
_ENTRIES = {"down": "pinger", "up": "pinger-up"}
_HOPS = 2
"""The queues on the way of a ping in each direction: that of the link, and that of the router."""


@dataclass(frozen=True)
class Autorated:
    """A run with cake-autorate in the loop.

    Parameters
    ----------
    results : dict
        The metrics of the run, as in ``result.json``: those of the whole are under ``metrics``, of traffic under
        ``classes``.
    rates : polars.DataFrame
        Every change of a rate: ``t``, ``way`` and ``rate`` in bit/s.
    laws : dict of str to Law
        The parameters of each direction that the law follows.
    """

    results: Mapping[str, Any]
    rates: polars.DataFrame
    laws: Mapping[str, Law]


def autorate(
    scenario: Scenario,
    *,
    load: str = "download",
    laws: Mapping[str, Law] | None = None,
    users: str = "home",
    seed: int = 1,
) -> Autorated:
    """Run a load on a link behind a router whose CAKE has the rates that cake-autorate sets.

    Parameters
    ----------
    scenario : Scenario
        Its ``[dumbbell]`` is the link, with rates that vary, such as ``links/cellular``.
    load : str, optional
        A load of ``aqmlab advise``: ``idle``, ``download``, ``uploads``, ``web``, ``calls``, ``many`` or ``hosts``.
    laws : mapping of str to Law, optional
        The parameters for ``down`` and ``up``; by default those of cake-autorate for each direction that varies, with
        rates from an eighth of the mean to twice the mean, and half of it as the base. The other has a fixed 95 %.
    users : str, optional
        The users, as for `advise`.
    seed : int, optional
        The seed of the run.

    Returns
    -------
    Autorated
        The metrics and the course of the rates.

    Examples
    --------
    >>> run = autorate(Scenario.load("links/cellular"))  # doctest: +SKIP
    >>> run.results["metrics"]["utilisation"]            # doctest: +SKIP
    """
    link = Link.of(scenario, scenario.title or "the scenario", users)
    if link.medium:
        place = f"[[{link.medium.table}]] {link.medium.name}"
        raise BadLink(place, "the pings of cake-autorate cross a [dumbbell]: use one, with rates")
    means = {"down": link.queues.down.rate, "up": link.queues.up.rate}
    if laws is None:
        least, base, most = PARTS
        laws = {way: Law(least * means[way], base * means[way], most * means[way]) for way in sorted(link.varies)}
    (queues,) = (one.queues for one in candidates(link) if one.label == "cake")
    behind = link.scenario(load, queues)
    behind = Scenario.parse(behind.to_toml() + _PINGS).with_(
        {"record.series": False, **{_KEYS[way]: f"{law.base:.0f} bit/s" for way, law in laws.items()}}
    )
    return _Loop(behind, laws, seed).run()


class _Loop:
    """A run, the law of each direction, and the pings under way."""

    def __init__(self, scenario: Scenario, laws: Mapping[str, Law], seed: int) -> None:
        scenario.check()
        self.scenario, self.laws = scenario, laws
        self.simulation = _core.Simulation(scenario._core, seed, live=True)
        self.ways = {way: Autorate(law) for way, law in laws.items()}
        names = [entry["name"] for entry in scenario.resolved["traffic"]]
        self.entries = {names.index(name): way for way, name in _ENTRIES.items()}
        self.pings: dict[tuple[str, int], list[tuple[int, float, float]]] = {}
        self.delays: dict[str, dict[int, float]] = {"down": {}, "up": {}}
        self.shapers: dict[str, int] = {}
        self.sent = {"down": 0.0, "up": 0.0}
        self.rates: list[tuple[float, str, float]] = [(0.0, way, one.rate) for way, one in self.ways.items()]

    def run(self) -> Autorated:
        """Run to the end."""
        import polars

        steps = round(self.scenario.duration / EVERY)
        for step in range(1, steps):
            now = step * EVERY
            self.simulation.advance(now)
            answered = self._observed()
            if step % round(MEASURED / EVERY) == 0:
                for way, one in self.ways.items():
                    one.carries(self.sent[way] / MEASURED)
                self.sent = dict.fromkeys(self.sent, 0.0)
            for delay in answered:
                for one in self.ways.values():
                    one.answers(now, delay)
            self._set(now)
        self.simulation.advance(self.scenario.duration)
        frame = polars.DataFrame(self.rates, schema=["t", "way", "rate"], orient="row")
        return Autorated(json.loads(self.simulation.results()), frame, self.laws)

    def _observed(self) -> list[float]:
        """Take in what the links have sent; return half the round trip of each ping that is back, as fping is used."""
        import numpy as np
        import polars

        # Polars' own filters take turns with its threads, which costs more than the run.
        seen = {column.name: column.to_numpy() for column in polars.DataFrame(self.simulation.sent())}
        for way, shaper in self.shapers.items():
            self.sent[way] += 8 * float(seen["bytes"][seen["link"] == shaper].sum())
        rows = np.flatnonzero(np.isin(seen["entry"], list(self.entries)))
        pings = (seen[name][rows].tolist() for name in ("t", "link", "entry", "number", "waited"))
        for t, link, entry, number, waited in zip(*pings, strict=True):
            way = self.entries[int(entry)]
            hops = self.pings.setdefault((way, int(number)), [])
            hops.append((int(link), t, waited))
            if len(hops) == _HOPS:
                del self.pings[way, int(number)]
                # Downloads pass the router last, uploads first.
                self.shapers[way] = hops[-1 if way == "down" else 0][0]
                self.delays[way][int(number)] = hops[-1][1] - (hops[0][1] - hops[0][2])
        there = sorted(self.delays["down"].keys() & self.delays["up"].keys())
        return [(self.delays["down"].pop(one) + self.delays["up"].pop(one)) / 2 for one in there]

    def _set(self, now: float) -> None:
        """Let the run follow rates that have changed, in whole kbit/s as tc has them."""
        present = {way: rate for _, way, rate in self.rates}
        changed = {way: one.rate for way, one in self.ways.items() if round(one.rate, -3) != round(present[way], -3)}
        if changed:
            self.rates += [(now, way, rate) for way, rate in changed.items()]
            self.scenario = self.scenario.with_(
                {_KEYS[way]: f"{rate / 1000:.0f} kbit/s" for way, rate in changed.items()}
            )
            self.simulation.follow(self.scenario._core)
