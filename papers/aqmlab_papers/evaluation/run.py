"""Run the cases of guidelines: all as one sweep over the store, so that no stored run is repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import polars

from aqmlab import ScenarioError
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.replication import repeated
from aqmlab.execute.variants import performing
from aqmlab.figures.model import COLOURS
from aqmlab.scenario import Scenario, Settings
from aqmlab.sweeps.result import Failure, Sweep
from aqmlab.sweeps.runner import Progress, run_all
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan, Study, study
from aqmlab_papers.evaluation.describe.discipline import Discipline
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline
from aqmlab_papers.evaluation.describe.measure import LINK, Measure, Run
from aqmlab_papers.run.table import Table

FEW = len(COLOURS)
"""The most disciplines with a colour each; of more, curves over time and distributions are not drawn."""

Place = tuple[str, str]
"""A case: the section of its guideline, and its name."""


@dataclass(frozen=True)
class Effort:
    """How much to evaluate.

    ``labels`` are the disciplines as the user writes them, ``reference`` that with which the others are compared,
    ``seeds`` the number of runs of each, ``sections`` those to do, all if empty. ``engine`` performs the runs.
    """

    labels: Sequence[str]
    reference: str = "droptail"
    seeds: int = 10
    sections: Sequence[str] = ()
    engine: Engine = PACKETS

    @cached_property
    def disciplines(self) -> list[Discipline]:
        """The disciplines, the reference first."""
        return [Discipline(label) for label in dict.fromkeys([self.reference, *self.labels])]

    def require(self) -> None:
        """Refuse what cannot be, before anything runs.

        Raise `ScenarioError` for a discipline or a parameter that cannot be, `ValueError` for a discipline that the
        engine lacks, for one that is given twice, and for an engine without seeds, and `EngineUnavailable` if this
        machine lacks what the engine needs.
        """
        if not self.engine.seeded:
            raise ValueError(f"{self.engine} has one run without a seed, by which nothing can be tested; use packet")
        for one in self.disciplines:
            able = performing(one.label, [self.engine])[self.engine]
            one.require()
            if self.engine != PACKETS:
                able.check(one.scenario)
        if same := repeated({one.label: one.scenario for one in self.disciplines}):
            raise ValueError(f"{same[0]} and {same[1]} are the same")


@dataclass(frozen=True)
class CaseRuns:
    """The runs of a case: by the label of a discipline and by seed.

    ``settings`` has the settings that put each discipline into the scenario, ``left_out`` the reason why a discipline
    has no runs.
    """

    case: Case
    scenario: Scenario
    settings: Mapping[str, Settings]
    runs: Mapping[str, Mapping[int, Run]]
    left_out: Mapping[str, str]

    def values(self, measure: Measure, label: str) -> dict[int, float | None]:
        """Return a measure for each seed of a discipline; empty if it has no runs."""
        return {seed: measure.of(run) for seed, run in self.runs.get(label, {}).items()}

    def throughputs(self, label: str, entry: str) -> list[float]:
        """Return a traffic entry's throughput in each bin of the series after the warm-up, of all seeds, in bit/s."""
        found: list[float] = []
        for run in self.runs.get(label, {}).values():
            frame = run.series()
            inside = frame.filter(frame["t"] >= self.scenario.warmup)
            found += inside[f"{LINK}.{entry}.throughput"].fill_null(0.0).to_list()
        return found

    def percentiles(self, label: str, entry: str) -> list[list[float]]:
        """Return the percentiles of a traffic entry's delay for each seed."""
        return [found for run in self.runs.get(label, {}).values() if (found := run.percentiles(entry))]


@dataclass(frozen=True)
class Evidence:
    """All runs.

    ``wanted`` is the number of runs, ``done`` that of the finished ones, and ``simulated`` that of those which were not
    in the store; a run that several cases share counts once. ``damage`` is the number of unreadable runs by the file of
    the store that held them.
    """

    effort: Effort
    guidelines: Sequence[Guideline]
    cases: Mapping[Place, CaseRuns]
    wanted: int = 0
    done: int = 0
    simulated: int = 0
    failures: Sequence[Failure] = ()
    interrupted: bool = False
    damage: Mapping[str, int] = field(default_factory=dict)


def run(
    guidelines: Sequence[Guideline],
    effort: Effort,
    store: Path,
    jobs: int | None = None,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Evidence:
    """Perform the missing runs of the selected guidelines; the effort has been checked by `Effort.require`.

    A case that another one is compared with is run too, even if its section is not selected. ``store``, ``jobs``,
    ``cluster`` and ``progress`` are as for `aqmlab.sweep`. After Ctrl-C the evidence has the runs that were finished.
    """
    asked = _asked(guidelines, effort)
    kept = Store(store)
    able = [one for one in asked if one.plan]
    wanted = {key for one in able for key in one.keys}
    there, recorded = kept.finished(wanted), kept.recorded()
    missing = {key for one in able if one.plan for key, _ in one.plan.missing(there, recorded)}
    sweeps = run_all([one.plan.study for one in able if one.plan], store, jobs, cluster, progress=progress)
    found = dict(zip([one.place for one in able], sweeps, strict=True))
    done = {bytes.fromhex(key) for sweep in sweeps for key in sweep.frame["key"]}
    distributions = _Distributions(kept, [found[one.place] for one in able if one.case.distribution])
    return Evidence(
        effort,
        [one for one in guidelines if one.selected(effort.sections)],
        {one.place: one.runs(found.get(one.place), kept, distributions) for one in asked},
        wanted=len(wanted),
        done=len(done),
        simulated=len(done & missing),
        failures=[failure for sweep in sweeps for failure in sweep.failures if failure.seed is not None],
        interrupted=any(sweep.interrupted for sweep in sweeps),
        damage={file: runs for sweep in sweeps for file, runs in sweep.damage.items()},
    )


def studies(guidelines: Sequence[Guideline], effort: Effort) -> list[tuple[str, Study]]:
    """List the studies of the selected guidelines, each with its section and the name of its case, as `run` does."""
    return [(" ".join(one.place).strip(), one.plan.study) for one in _asked(guidelines, effort) if one.plan]


def _asked(guidelines: Sequence[Guideline], effort: Effort) -> list[_Asked]:
    """Plan the cases of the selected guidelines, and those that they are compared with."""
    every = {(one.section, case.name): case for one in guidelines for case in one.cases}
    needed = [(one.section, case.name) for one in guidelines if one.selected(effort.sections) for case in one.cases]
    needed += [against for place in needed if (against := every[place].against) and against not in needed]
    return [_Asked.of(place, every[place], effort) for place in dict.fromkeys(needed)]


@dataclass(frozen=True)
class _Asked:
    """A case to run: the plan of its runs, None if there are none, and the reasons for missing disciplines."""

    place: Place
    case: Case
    scenario: Scenario
    settings: Mapping[str, Settings]
    plan: Plan | None
    left_out: Mapping[str, str]

    @classmethod
    def of(cls, place: Place, case: Case, effort: Effort) -> _Asked:
        """Plan a case with the disciplines that it can have, on an engine that can perform it."""
        base = Scenario.load(case.scenario).base.with_(dict(case.settings))
        left_out = {one.label: reason for one in effort.disciplines if (reason := case.placement.lacks(one))}
        settings = {one.label: case.placement.settings(one) for one in effort.disciplines if one.label not in left_out}
        plan: Plan | None = None
        if settings:
            try:
                series = case.series or (bool(case.distribution) and len(effort.disciplines) <= FEW)
                wanted = study(base, {}, settings, effort.seeds, series=series, engine=effort.engine)
                plan = Plan.of(wanted)
            except ScenarioError as error:
                left_out |= dict.fromkeys(settings, str(error))
        return cls(place, case, base, settings, plan, left_out)

    @property
    def keys(self) -> set[bytes]:
        """The keys of its runs."""
        return {key for _, _, _, key in self.plan.runs()} if self.plan else set()

    def runs(self, sweep: Sweep | None, store: Store, distributions: _Distributions) -> CaseRuns:
        """Return the runs of the case."""
        found: dict[str, dict[int, Run]] = {}
        left_out = dict(self.left_out)
        if sweep and self.plan:
            for failure in sweep.failures:
                if failure.seed is None:
                    left_out.setdefault(failure.aqm, failure.error)
            metrics = _Metrics(sweep)
            for place, (label, seed, key) in enumerate(sweep.frame.select("aqm", "seed", "key").iter_rows()):
                series = partial(_series, store, self.plan.study, key)
                percentiles = partial(distributions.delays, key)
                found.setdefault(label, {})[seed] = Run(partial(metrics.of, place), series, percentiles)
        return CaseRuns(self.case, self.scenario, self.settings, found, left_out)


class _Metrics:
    """The metrics of a sweep's runs, by the number of the row and the name of the column."""

    def __init__(self, sweep: Sweep) -> None:
        self._table = Table(sweep.frame)
        self._known = frozenset(sweep.frame.columns)

    def of(self, row: int, column: str) -> Any:
        """Return a metric; None if the run has none, or if no run has."""
        return self._table.column(column)[row] if column in self._known else None


def _series(store: Store, wanted: Study, key: str) -> polars.DataFrame:
    return store.series(wanted.series_name(bytes.fromhex(key)))


class _Distributions:
    """The distributions of several sweeps' runs, which are read together when the first is asked for."""

    def __init__(self, store: Store, sweeps: Sequence[Sweep]) -> None:
        self._store, self._sweeps = store, sweeps

    @cached_property
    def _found(self) -> Mapping[bytes, Mapping[str, Any]]:
        return self._store.distributions(bytes.fromhex(key) for sweep in self._sweeps for key in sweep.frame["key"])

    def delays(self, key: str, entry: str) -> list[float]:
        """Return the percentiles of the delay of a traffic entry in a run; empty if there are none."""
        found = self._found.get(bytes.fromhex(key), {})
        return list(found.get("classes", {}).get(entry, {}).get("delay", []))
