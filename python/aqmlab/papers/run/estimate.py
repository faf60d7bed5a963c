"""How long the runs of a paper take that are not there yet."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.papers.describe.paper import Paper
from aqmlab.papers.run.sweep import Effort, studies
from aqmlab.scenario import Scenario
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan

_PROBE = 40.0
"""How many seconds of the probe are simulated, which takes some tenths of a second."""


@dataclass(frozen=True)
class Estimate:
    """What a paper takes.

    Parameters
    ----------
    paper : Paper
        The paper.
    runs : int
        How many runs there shall be; one that several experiments mean counts once.
    missing : int
        How many of them are not there.
    seconds : float
        How long one core works at these.
    items : mapping
        How long it does for a figure or table alone, with the claims that it shows, by its name.
    claims : mapping
        How long it does for what a claim is judged by, by its name.
    """

    paper: Paper
    runs: int
    missing: int
    seconds: float
    items: Mapping[str, float]
    claims: Mapping[str, float]

    def document(self, cores: int) -> dict[str, Any]:
        """Give it as JSON has it.

        Parameters
        ----------
        cores : int
            How many runs there are at a time.

        Returns
        -------
        dict
            ``title``, ``runs``, ``missing``, ``seconds``, and of ``items`` and ``claims`` each its seconds.
        """
        return {
            "title": self.paper.title,
            "runs": self.runs,
            "missing": self.missing,
            "seconds": self.seconds / cores,
            "items": {name: seconds / cores for name, seconds in self.items.items()},
            "claims": {name: seconds / cores for name, seconds in self.claims.items()},
        }


def estimates(papers: Sequence[Paper], effort: Effort, store: Path, speed: float) -> list[Estimate]:
    """Estimate what papers take.

    Parameters
    ----------
    papers : sequence of Paper
        The papers.
    effort : Effort
        How much to do.
    store : Path
        Where finished runs are; need not be there.
    speed : float
        How many packets one core simulates in a second; see `measured_speed`.

    Returns
    -------
    list of Estimate
        Of each paper, in this order.
    """
    kept = Store(store)
    plans = [
        [(setting.name, name, Plan.of(wanted)) for setting, name, wanted in studies(paper, effort)] for paper in papers
    ]
    every = {own for planned in plans for _, _, plan in planned for _, _, _, own in plan.runs()}
    there, recorded = kept.finished(every), kept.recorded()

    def estimate(paper: Paper, planned: Sequence[tuple[str, str, Plan]]) -> Estimate:
        missing = {(setting, name): plan.missing(there, recorded) for setting, name, plan in planned}

        def seconds(needs: Iterable[str]) -> float:
            costs: dict[bytes, float] = {}
            for name in needs:
                costs |= missing.get(("paper", name), {})
            return sum(costs.values()) / speed

        shown = {
            item.name: {*item.needs, *(name for one in paper.claims if item.name in one.shown for name in one.needs)}
            for item in effort.items(paper)
        }
        union: dict[bytes, float] = {}
        for costs in missing.values():
            union |= costs
        return Estimate(
            paper,
            len({own for _, _, plan in planned for _, _, _, own in plan.runs()}),
            len(union),
            sum(union.values()) / speed,
            {name: seconds(needs) for name, needs in shown.items()},
            {claim.name: seconds(claim.needs) for claim in effort.claims(paper)},
        )

    return [estimate(paper, planned) for paper, planned in zip(papers, plans, strict=True)]


def measured_speed() -> float:
    """Measure how fast this machine simulates, with a part of LRED's first experiment.

    Returns
    -------
    float
        Packets of `Scenario.packets` in a second of one core. Other scenarios take a half to twice as long.
    """
    scenario = Scenario.load("lred/exp1").with_(duration=f"{_PROBE} s", warmup="0 s")
    simulation = _core.Simulation(scenario.core, 1)
    began = time.process_time()
    simulation.advance(scenario.duration)
    return scenario.packets / max(time.process_time() - began, 1e-6)
