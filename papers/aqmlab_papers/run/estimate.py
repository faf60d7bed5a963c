"""Estimate how long the missing runs of a paper take."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.runs.plan import Plan
from aqmlab.runs.store import Store
from aqmlab.scenario import Scenario
from aqmlab_papers.describe.paper import Paper
from aqmlab_papers.run.sweep import Effort, studies

_PROBE = 40.0
"""Simulated seconds of the probe, which take some tenths of a second."""


@dataclass(frozen=True)
class Estimate:
    """The runs of a paper, and the CPU time of the missing ones.

    ``runs`` is the number of runs in all and ``missing`` the number not yet in the store; a run shared by several
    experiments counts once. Times are seconds of one core: ``seconds`` for all missing runs, ``items`` for each figure
    or table alone with the claims that it shows, ``claims`` for the experiments by which each claim is judged. The
    further seeds of claims that stay undecided are not included: how many there are is known only by the runs.
    """

    paper: Paper
    runs: int
    missing: int
    seconds: float
    items: Mapping[str, float]
    claims: Mapping[str, float]

    def document(self, cores: int) -> dict[str, Any]:
        """Return the estimate for JSON, its times divided by the number of cores."""
        return {
            "title": self.paper.title,
            "runs": self.runs,
            "missing": self.missing,
            "seconds": self.seconds / cores,
            "items": {name: seconds / cores for name, seconds in self.items.items()},
            "claims": {name: seconds / cores for name, seconds in self.claims.items()},
        }


def estimates(papers: Sequence[Paper], effort: Effort, store: Path, speed: float) -> list[Estimate]:
    """Estimate the missing runs of each paper, in the order given.

    ``store`` need not exist yet. ``speed`` is the number of packets that one core simulates in a second, as from
    `speed_of`.
    """
    kept = Store(store)
    plans = [
        [(setting.name, name, Plan.of(wanted)) for setting, name, wanted in studies(paper, effort)] for paper in papers
    ]
    every = {key for planned in plans for _, _, plan in planned for _, _, _, key in plan.runs()}
    there, recorded = kept.finished(every), kept.recorded()

    def estimate(paper: Paper, planned: Sequence[tuple[str, str, Plan]]) -> Estimate:
        missing = {(setting, name): plan.missing(there, recorded) for setting, name, plan in planned}

        def seconds(needs: Iterable[str]) -> float:
            return sum(_together(missing.get(("paper", name), {}) for name in needs).values()) / speed

        shown = {
            item.name: {
                *item.needs,
                *(name for claim in paper.claims if item.name in claim.shown for name in claim.reads),
            }
            for item in effort.items(paper)
        }
        union = _together(missing.values())
        return Estimate(
            paper,
            len({key for _, _, plan in planned for _, _, _, key in plan.runs()}),
            len({key for key, _ in union}),
            sum(union.values()) / speed,
            {name: seconds(needs) for name, needs in shown.items()},
            {claim.name: seconds(claim.reads) for claim in effort.claims(paper)},
        )

    return [estimate(paper, planned) for paper, planned in zip(papers, plans, strict=True)]


def measured_speed() -> float:
    """Measure the packets per second that one core of this machine simulates, on a part of LRED's first experiment.

    Packets are those of `Scenario.packets`. Other scenarios take between half and twice as long.
    """
    scenario = Scenario.load("lred/exp1").with_(duration=f"{_PROBE} s", warmup="0 s")
    simulation = _core.Simulation(scenario._core, 1)
    began = time.process_time()
    simulation.advance(scenario.duration)
    return scenario._packets / max(time.process_time() - began, 1e-6)


def _together(missing: Iterable[Mapping[tuple[bytes, str], float]]) -> dict[tuple[bytes, str], float]:
    """Return what several studies lack, each run once; see `Plan.missing`.

    Runs with series also serve those without.
    """
    union = {run: cost for costs in missing for run, cost in costs.items()}
    with_series = {key for key, name in union if name}
    return {(key, name): cost for (key, name), cost in union.items() if name or key not in with_series}
