"""Running sweeps: every point with every queue discipline and the same seeds; runs in the store are not repeated."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.execute import threads
from aqmlab.execute.engine import Engine
from aqmlab.execute.room import at_a_time, chosen_workers
from aqmlab.execute.task import Executor, Outcome, Task
from aqmlab.results.result import PACKET
from aqmlab.scenario import Scenario, Settings
from aqmlab.sweeps.keys import Flags, Keys, array, distinct, each, places
from aqmlab.sweeps.plans import keep, kept
from aqmlab.sweeps.result import Failure, Sweep, parameters
from aqmlab.sweeps.store import Store, together
from aqmlab.sweeps.study import Plan, Study, study
from aqmlab.sweeps.table import SLICE, RunTable, joined

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True)
class Standing:
    """The progress of a sweep.

    `fraction` is the share of this call's work that is done, measured in packets. `done` is the number of runs that
    exist, including those of earlier calls, out of `wanted`; `failed` is the number of failed runs. While scenarios are
    checked, `checked` is the number of runs whose scenario has been; later it is None.
    """

    fraction: float
    done: int
    wanted: int
    failed: int
    checked: int | None = None


Progress = Callable[[Standing], None]


class SweepInterrupted(KeyboardInterrupt):
    """Raised when the user stops a sweep.

    Parameters
    ----------
    finished : Sweep
        The sweep, with the runs that had finished.
    """

    def __init__(self, finished: Sweep) -> None:
        self.finished = finished
        super().__init__(f"interrupted: {finished.done} of {finished.wanted} runs finished")


def sweep(
    scenario: Scenario,
    vary: Mapping[str, object] | None = None,
    aqms: Iterable[str] | Mapping[str, str | Settings] | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    method: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    engine: str = PACKET,
) -> Sweep:
    """Simulate a scenario at many points, each with several queue disciplines.

    Every point of every discipline has the same seeds, so differences are due to the disciplines and not to randomness.
    The scenario's `[sweep]` applies except where an argument replaces it.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    vary : mapping
        The values of each parameter by dotted path: ``{"aqm.q0": "20,40..160", "traffic.long.count": [100, 400]}``;
        see `aqmlab.sweeps.points.design`. A parameter ``aqm.KEY`` applies to the disciplines that have it.
    aqms : iterable of str, or mapping
        The queue disciplines, as for `compare`; by default that of the scenario. Or labels of your own, each with a
        discipline or with settings of any kind, as for `Scenario.with_`.
    seeds : int or iterable of int
        As for `run`.
    method : str
        ``grid``, ``paired``, ``random`` or ``latin``; by default grid.
    samples : int
        The number of points to draw, with ``random`` and ``latin``.
    sample_seed : int
        The seed with which these points are drawn.
    out : str or PathLike
        The folder for results and finished runs; by default none.
    store : str or PathLike
        The folder for finished runs, if not ``out/store``; several sweeps may share it.
    jobs : int
        The number of runs at a time; by default the number of cores.
    cluster : str
        The address of a Dask scheduler whose workers do the runs: ``tcp://host:8786``, or the path of the file that it
        wrote its address to. ``slurm`` or ``slurm:NAME.toml`` starts workers as jobs of SLURM. By default this
        machine's cores do the runs.
    executor : callable
        An executor that performs the runs, instead of the cores or a cluster.
    progress : callable
        Called from time to time, from the calling thread, with the `Standing` of the sweep.
    engine : str
        The engine, as for `run`.

    Returns
    -------
    Sweep
        The metrics of all runs, and the failures.

    Raises
    ------
    ScenarioError
        If the scenario is not valid at any point, or the engine cannot perform it.
    ValueError
        If the varying values cannot be parsed, or there is no such engine or option.
    EngineUnavailable
        If this machine lacks what the engine needs.
    ClusterError
        If the cluster cannot do the runs; the finished runs are in the store.
    SweepInterrupted
        If the user presses Ctrl-C; it carries the finished runs, which are also in the store.
    """
    wanted = study(scenario, vary, aqms, seeds, method, samples, sample_seed, engine=Engine.parse(engine))
    with ExitStack() as stack:
        if store is None:
            store = Path(out) / "store" if out else stack.enter_context(tempfile.TemporaryDirectory())
        result = run_all([wanted], Path(store), jobs, cluster, executor, progress)[0]
    if out:
        result.save(out)
        result = replace(result, table=Sweep.load(out).table)
    if result.interrupted:
        raise SweepInterrupted(result)
    return result


def asked_for(scenario: Scenario) -> int:
    """Count the runs of a study: every point with every discipline and every seed.

    Raise ValueError if the varying values cannot be parsed.
    """
    return study(scenario).runs


MOST_TOGETHER = 200_000
"""The most runs of several studies that are read into memory together."""

ATTEMPTS = 3
"""The most attempts at a run whose results are not in the store afterwards."""


class _Runs:
    """The runs of several studies, each once, however many of them have it.

    Studies with series come first: their runs also serve the studies without. Only a run whose series are wanted in
    several steps is done more than once.
    """

    def __init__(self, plans: Sequence[Plan]) -> None:
        self.plans = sorted(plans, key=lambda plan: not plan.study.series)
        self.keys = np.unique(np.concatenate([plan.keys for plan in self.plans]))

    def missing(self, store: Store, errors: Iterable[bytes] = ()) -> list[Flags]:
        """Return for each plan which of its runs are to be done: the store lacks them, or their series.

        Those that failed with `errors` are not, nor are those that are to be done for a plan before.
        """
        pending = np.ones(len(self.keys), bool)
        for keys in store.every_key():
            found = places(self.keys, keys)
            pending[found[found >= 0]] = False
        failed = np.zeros(len(self.keys), bool)
        failed[places(self.keys, array(b"".join(errors)))] = True
        recorded = store.recorded() if any(plan.study.series for plan in self.plans) else set()
        missing = []
        for plan in self.plans:
            ranks = places(self.keys, plan.keys)
            wanted = pending[ranks]
            if plan.study.series:
                wanted |= [plan.lacks_series(key, recorded) for key in each(plan.keys)]
            wanted &= ~failed[ranks]
            # A run may be there more than once: that of a discipline without the parameter that varies.
            todo = np.flatnonzero(wanted)
            todo = todo[np.unique(ranks[todo], return_index=True)[1]]
            pending[ranks[todo]] = False
            if plan.study.series:
                recorded |= {plan.study.series_name(key) for key in each(plan.keys[todo])}
            flags = np.zeros(len(ranks), bool)
            flags[todo] = True
            missing.append(flags)
        return missing

    def there(self, missing: Sequence[Flags]) -> Keys:
        """Return the keys of the runs of which nothing is missing."""
        chosen = np.ones(len(self.keys), bool)
        for plan, flags in zip(self.plans, missing, strict=True):
            chosen[places(self.keys, plan.keys[flags])] = False
        return self.keys[chosen]

    def work(self, missing: Sequence[Flags]) -> float:
        """Return the work of the missing runs; see `Engine.work`."""
        each_plan = zip(self.plans, missing, strict=True)
        return sum(float(np.repeat(plan.costs, len(plan.study.seeds))[flags].sum()) for plan, flags in each_plan)

    def tasks(self, missing: Sequence[Flags], here: bool) -> Iterator[Task]:
        """Yield a task for each missing run; `here` is that of `Plan.tasks`."""
        for plan, flags in zip(self.plans, missing, strict=True):
            yield from plan.tasks(flags, here)


@dataclass
class _Done:
    """The outcome of several studies: each run is in the store or in `errors`, or was lost or interrupted.

    `simulated` has the keys of the runs that were done now, one after the other. If `asked` is false, runs that are not
    in the store are not lost: they were not asked for.
    """

    store: Store
    simulated: bytearray = field(default_factory=bytearray)
    errors: dict[bytes, str] = field(default_factory=dict)
    interrupted: bool = False
    asked: bool = True


def run_all(
    studies: Sequence[Study],
    store: Path,
    jobs: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> list[Sweep]:
    """Simulate several studies as one: runs that they share are done once, and no core waits between studies.

    The arguments are those of `sweep`; the store also keeps the series of studies that want them. Return the sweep of
    each study. After Ctrl-C the sweeps are ``interrupted`` and have the finished runs. Raise ScenarioError if a
    scenario is not valid at any point, and ClusterError if the cluster cannot do the runs; the finished runs are in the
    store.
    """
    import psutil

    if not studies:
        return []
    if cluster is not None:
        if jobs is not None or executor is not None:
            raise ValueError(
                f"cluster = {cluster!r}: its workers set the number of runs at a time; omit jobs and executor"
            )
        if slow := next((study.engine for study in studies if study.engine.most_jobs is not None), None):
            raise ValueError(
                f"cluster = {cluster!r}: omit it: engine {slow} performs one run at a time, on this machine"
            )
        from aqmlab.execute.cluster import executor as cluster_executor

        executor = cluster_executor(cluster)
    shared = Store(store)
    # Another executor may use the memory of other machines.
    free = None if executor else psutil.virtual_memory().available
    plans = [plan.within(free) for plan in _planned(studies, store, progress)]
    try:
        return _done(plans, shared, jobs, executor, free, progress)
    finally:
        shared.close()


def _planned(studies: Sequence[Study], store: Path, progress: Progress | None) -> list[Plan]:
    """Plan the studies, and report how many runs have been checked about ten times a second."""
    wanted = sum(study.runs for study in studies)
    checked, shown = 0, time.monotonic()

    def watch(scenarios: int, seeds: int) -> None:
        nonlocal shown
        if progress and time.monotonic() - shown > threads.SLICE:
            shown = time.monotonic()
            progress(Standing(0.0, 0, wanted, 0, checked + scenarios * seeds))

    found = []
    for one in studies:
        plan = kept(one, store)
        if plan is None:
            plan = Plan.of(one, partial(watch, seeds=len(one.seeds)))
            keep(plan, store)
        found.append(plan)
        checked += one.runs
    return found


def stored(study: Study, store: Store) -> Sweep:
    """Return the sweep of those runs of a study that a store has; nothing is run."""
    plan = Plan.of(study)
    return _sweeps([plan], _Done(store, asked=False), distinct(plan.keys))[0]


def _done(
    plans: Sequence[Plan],
    store: Store,
    jobs: int | None,
    executor: Executor | None,
    free: int | None,
    progress: Progress | None,
) -> list[Sweep]:
    """Do the missing runs, and read them from the store; do those again that other processes removed or damaged."""
    done = _Done(store)
    runs = _Runs(plans)
    missing = runs.missing(store)
    if _count(missing):
        store.prove(any(plan.study.series for plan in plans))
    attempts = ATTEMPTS
    while True:
        if _count(missing):
            performing = executor
            if performing is None:
                workers = chosen_workers(jobs, _count(missing))
                limits = [at_a_time(plan.study.engine, workers, plan.memory) for plan in plans]
                fit = max(1, int((free or 0) // max(1, *(plan.memory for plan in plans))))
                performing = threads.executor(min(fit, *limits))
            attempts -= 1
            try:
                _do(runs, missing, done, performing, executor is None, progress)
            except KeyboardInterrupt:
                done.interrupted = True
            store.close()
            missing = runs.missing(store, done.errors)
            if _count(missing) and attempts and not done.interrupted:
                continue
        _tidy(store)
        sweeps = _sweeps(plans, done, runs.there(missing))
        if done.interrupted or not attempts or not any(failure.lost for sweep in sweeps for failure in sweep.failures):
            return sweeps
        attempts -= 1
        missing = runs.missing(store, done.errors)


def _count(missing: Sequence[Flags]) -> int:
    """Count the missing runs."""
    return sum(int(flags.sum()) for flags in missing)


def _tidy(store: Store) -> None:
    """Compact the store if possible; on a full or read-only disk the journals stay as they are."""
    with suppress(OSError):
        store.compact()


def _do(
    runs: _Runs,
    missing: Sequence[Flags],
    done: _Done,
    executor: Executor,
    here: bool,
    progress: Progress | None,
) -> None:
    """Do the missing runs, and store each when it finishes; `here` is that of `Plan.tasks`."""
    total = runs.work(missing)
    there = len(runs.there(missing)) - len(done.errors)
    wanted = there + len(done.errors) + _count(missing)
    finished, count = 0.0, 0

    def on_done(task: Task, outcome: Outcome) -> None:
        nonlocal finished, count
        if outcome.error:
            done.errors[task.key] = outcome.error
        else:
            if outcome.series:
                done.store.add_series(task.series, outcome.series)
            done.store.add(outcome.payload)
            done.simulated.extend(task.key)
            count += 1
        finished += task.cost

    def watch(under_way: float) -> None:
        if done.store.has_closed:
            _tidy(done.store)  # now and then: of a million runs it takes minutes
        if progress:
            fraction = min((finished + under_way) / total, 1.0)
            progress(Standing(fraction, there + count, wanted, len(done.errors)))

    executor(runs.tasks(missing, here), on_done, watch)
    watch(0.0)


def _sweeps(plans: Sequence[Plan], done: _Done, there: Keys) -> list[Sweep]:
    """Assemble the sweep of each plan from the runs that are there; if they are many, each plan reads the store."""
    if len(there) > (SLICE if len(plans) == 1 else MOST_TOGETHER):
        own = (distinct(plan.keys[places(there, plan.keys) >= 0]) for plan in plans)
        found = [_sweep(plan, done, done.store.metrics(keys)) for plan, keys in zip(plans, own, strict=True)]
    else:
        metrics = together(done.store.metrics(there))
        found = [_sweep(plan, done, [metrics]) for plan in plans]
    for sweep in found:
        sweep.damage.update(done.store.damage)
    return found


def _sweep(plan: Plan, done: _Done, metrics: Iterable[polars.DataFrame]) -> Sweep:
    """Assemble the sweep of a plan, its runs in the order of points, disciplines and seeds."""
    import polars

    study = plan.study
    seeds = len(study.seeds)
    values, units = parameters(study.design)
    labels = polars.Series("aqm", list(study.variants), polars.String)

    def heads(start: int, end: int) -> polars.DataFrame:
        rows = np.arange(start, min(end, len(plan.keys)))
        scenarios = rows // seeds
        points = np.asarray(plan.numbers)[scenarios]
        return polars.DataFrame(
            [
                labels.gather(np.asarray(plan.labels)[scenarios]),
                *(values[path].gather(points) for path in values.columns),
                polars.Series("seed", np.asarray(study.seeds)[rows % seeds], polars.Int64),
                polars.Series("key", list(each(plan.keys[start:end])), polars.Binary),
            ]
        )

    table = joined(heads, plan.keys, metrics)
    simulated = places(distinct(plan.keys), distinct(array(done.simulated))) >= 0
    return Sweep(
        scenario=study.scenario,
        aqms=tuple(study.variants),
        parameters=units,
        seeds=tuple(study.seeds),
        method=study.design.method,
        sample_seed=study.design.sample_seed,
        table=table,
        failures=(*plan.failures, *_failures(plan, done, table)),
        wanted=study.runs,
        simulated=int(simulated.sum()),
        interrupted=done.interrupted,
        version=study.engine.version,
        engine_name=str(study.engine),
        variants={label: study.variants[label] for label in study.named},
    )


def _failures(plan: Plan, done: _Done, table: RunTable) -> Iterator[Failure]:
    """Yield the runs that failed, and those that are not in the store although they were done."""
    if table.length == len(plan.keys) or (done.interrupted and not done.errors):
        return
    there = array(b"".join(map(bytes.fromhex, table.scan().select("key").collect()["key"])))
    absent = places(distinct(there), plan.keys) < 0
    lost = f"done and not in {done.store.folder} afterwards: another program changes its files; choose another store"
    for number, label, seed, key in itertools.compress(plan.runs(), absent):
        if key in done.errors:
            yield plan.failure(number, label, seed, done.errors[key])
        elif done.asked and not done.interrupted:
            yield replace(plan.failure(number, label, seed, lost), lost=True)
