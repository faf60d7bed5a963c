"""Run the cases of guidelines: all as one sweep over the store, so that no stored run is repeated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from aqmlab import ScenarioError
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.progress import OnProgress
from aqmlab.execute.variants import performing, repeated
from aqmlab.figures.model import COLOURS
from aqmlab.runs.plan import Plan, Study
from aqmlab.runs.runner import run_all
from aqmlab.runs.store import Store
from aqmlab.runs.study import study
from aqmlab.runs.swept import Failure, Sweep
from aqmlab.scenario import Scenario, Settings
from aqmlab_papers.evaluation.describe.guideline import Case, Guideline
from aqmlab_papers.evaluation.describe.measure import LINK, Measure, Values
from aqmlab_papers.evaluation.describe.standard import Standard
from aqmlab_papers.evaluation.describe.subject import Subject
from aqmlab_papers.evaluation.standards import RFC7928
from aqmlab_papers.run.runs import Runs

if TYPE_CHECKING:
    import polars

FEW = len(COLOURS)
"""The most subjects with a colour each; of more, curves over time and distributions are not drawn."""

Place = tuple[str, str]
"""A case: the section of its guideline, and its name."""


@dataclass(frozen=True)
class Effort:
    """How much to evaluate.

    ``labels`` are the subjects of the ``standard`` as the user writes them, ``reference`` that with which the others
    are compared, ``seeds`` the number of runs of each, ``sections`` those to do, all if empty. ``engine`` performs the
    runs.
    """

    labels: Sequence[str]
    reference: str = RFC7928.reference
    seeds: int = 10
    sections: Sequence[str] = ()
    engine: Engine = PACKETS
    standard: Standard = RFC7928

    @cached_property
    def subjects(self) -> list[Subject]:
        """The subjects, the reference first."""
        return [self.standard.subject(label) for label in dict.fromkeys([self.reference, *self.labels])]

    def require(self) -> None:
        """Refuse what cannot be, before anything runs.

        Raise `ScenarioError` for a subject or a parameter that cannot be, `ValueError` for a discipline that the
        engine lacks, for one that is given twice, and for an engine without seeds, and `EngineUnavailable` if this
        machine lacks what the engine needs.
        """
        if not self.engine.seeded:
            raise ValueError(f"{self.engine} has one run without a seed, by which nothing can be tested; use packet")
        for one in self.subjects:
            able = performing(one.label, [self.engine])[self.engine]
            one.require()
            if self.engine != PACKETS:
                able.check(one.scenario)
        if same := repeated({one.label: one.scenario for one in self.subjects}):
            raise ValueError(f"{same[0]} and {same[1]} are the same")


@dataclass(frozen=True)
class CaseRuns:
    """A case with the subjects that it can have, and their runs.

    ``settings`` has the settings that put each subject into the scenario, ``left_out`` the reason why a subject has no
    runs. ``plan`` is None if no subject can be run, ``runs`` until they have been.
    """

    place: Place
    case: Case
    scenario: Scenario
    settings: Mapping[str, Settings]
    left_out: Mapping[str, str]
    plan: Plan | None
    runs: Runs | None = None
    _values: dict[tuple[Measure, str], Values] = field(default_factory=dict)

    @classmethod
    def planned(cls, place: Place, case: Case, effort: Effort) -> Self:
        """Plan the runs of a case on an engine that can perform it."""
        base = Scenario.load(case.scenario)._base.with_(dict(case.settings))
        left_out = {one.label: reason for one in effort.subjects if (reason := case.placement.lacks(one))}
        settings = {one.label: case.placement.settings(one) for one in effort.subjects if one.label not in left_out}
        plan: Plan | None = None
        if settings:
            try:
                series = case.series or (bool(case.distribution) and len(effort.subjects) <= FEW)
                plan = Plan.of(study(base, {}, settings, effort.seeds, series=series, engine=effort.engine))
            except ScenarioError as error:
                left_out |= dict.fromkeys(settings, str(error))
        return cls(place, case, base, settings, left_out, plan)

    @property
    def keys(self) -> set[bytes]:
        """The keys of its runs."""
        return {key for _, _, _, key in self.plan.runs()} if self.plan else set()

    def after(self, sweep: Sweep | None, store: Store) -> Self:
        """Return the case with the runs of its study."""
        if sweep is None or self.plan is None:
            return self
        left_out = dict(self.left_out)
        for failure in sweep.failures:
            if failure.seed is None:
                left_out.setdefault(failure.aqm, failure.error)
        # No discipline is advocated here.
        return replace(self, left_out=left_out, runs=Runs(self.plan.study, sweep, store, hero=""))

    def values(self, measure: Measure, label: str) -> Mapping[int, float | None]:
        """Return a measure for each seed of a discipline; empty if it has no runs."""
        if self.runs is None or not self._seeds(label):
            return {}
        if (measure, label) not in self._values:
            self._values[measure, label] = measure.read(self.runs, label)
        return self._values[measure, label]

    def series(self, label: str) -> list[polars.DataFrame]:
        """Return the time series of each run of a discipline."""
        return [self.runs.series(label, seed=seed) for seed in self._seeds(label)] if self.runs else []

    def throughputs(self, label: str, entry: str) -> list[float]:
        """Return a traffic entry's throughput in each bin of the series after the warm-up, of all seeds, in bit/s."""
        found: list[float] = []
        for frame in self.series(label):
            inside = frame.filter(frame["t"] >= self.scenario.warmup)
            found += inside[f"{LINK}.{entry}.throughput"].fill_null(0.0).to_list()
        return found

    def percentiles(self, label: str, entry: str) -> list[list[float]]:
        """Return the percentiles of a traffic entry's delay for each seed in which a packet arrived."""
        if self.runs is None or not self._seeds(label):
            return []
        return [found for found in self.runs.distribution("delay", label, entry) if found]

    def _seeds(self, label: str) -> list[int]:
        frame = self.runs.frame if self.runs else None
        return [] if frame is None else frame.filter(frame["aqm"] == label)["seed"].to_list()


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
    progress: OnProgress | None = None,
) -> Evidence:
    """Perform the missing runs of the selected guidelines; the effort has been checked by `Effort.require`.

    A case that another one is compared with is run too, even if its section is not selected. ``store``, ``jobs``,
    ``cluster`` and ``progress`` are as for `aqmlab.sweep`. After Ctrl-C the evidence has the runs that were finished.
    """
    asked = _asked(guidelines, effort)
    kept = Store(store)
    wanted = {key for one in asked for key in one.keys}
    there, recorded = kept.finished(wanted), kept.recorded()
    plans = {one.place: one.plan for one in asked if one.plan}
    missing = {key for plan in plans.values() for key, _ in plan.missing(there, recorded)}
    sweeps = run_all([plan.study for plan in plans.values()], store, jobs, cluster, progress=progress)
    found = dict(zip(plans, sweeps, strict=True))
    done = {bytes.fromhex(key) for sweep in sweeps for key in sweep.frame["key"]}
    return Evidence(
        effort,
        [one for one in guidelines if one.selected(effort.sections)],
        {one.place: one.after(found.get(one.place), kept) for one in asked},
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


def _asked(guidelines: Sequence[Guideline], effort: Effort) -> list[CaseRuns]:
    """Plan the cases of the selected guidelines, and those that they are compared with."""
    every = {(one.section, case.name): case for one in guidelines for case in one.cases}
    needed = [(one.section, case.name) for one in guidelines if one.selected(effort.sections) for case in one.cases]
    needed += [against for place in needed if (against := every[place].against) and against not in needed]
    return [CaseRuns.planned(place, every[place], effort) for place in dict.fromkeys(needed)]
