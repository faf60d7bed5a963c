"""Running sweeps: every point with every queue discipline and the same seeds; runs in the store are not repeated."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.execute import threads
from aqmlab.execute.engine import Engine
from aqmlab.execute.room import at_a_time, chosen_workers
from aqmlab.execute.task import Executor, Outcome, Task
from aqmlab.results.result import PACKET
from aqmlab.scenario import Scenario, Settings
from aqmlab.sweeps.result import Rows, Sweep, framed, parameters
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan, Study, study

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True)
class Standing:
    """The progress of a sweep.

    `fraction` is the share of this call's work that is done, measured in packets. `done` is the number of runs that
    exist, including those of earlier calls, out of `wanted`; `failed` is the number of failed runs.
    """

    fraction: float
    done: int
    wanted: int
    failed: int


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
    if result.interrupted:
        raise SweepInterrupted(result)
    return result


def asked_for(scenario: Scenario) -> int:
    """Count the runs of a study: every point with every discipline and every seed.

    Raise ValueError if the varying values cannot be parsed.
    """
    return study(scenario).runs


ATTEMPTS = 3
"""The most attempts at a run whose results are not in the store afterwards."""


@dataclass
class _Done:
    """The outcome of several studies: each run is in `metrics`, `errors` or `lost`, or was interrupted."""

    store: Path
    wanted: frozenset[bytes]
    metrics: polars.DataFrame | None = None
    simulated: set[bytes] = field(default_factory=set)
    errors: dict[bytes, str] = field(default_factory=dict)
    lost: frozenset[bytes] = frozenset()
    damage: dict[str, int] = field(default_factory=dict)
    interrupted: bool = False


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
    # Another executor may use the memory of other machines.
    free = None if executor else psutil.virtual_memory().available
    plans = [Plan.of(study, free) for study in studies]
    kept = Store(store)
    try:
        done = _do_missing(plans, store, kept, jobs, executor, free, progress)
        return [_together(plan, done) for plan in plans]
    finally:
        kept.close()


def stored(study: Study, store: Store) -> Sweep:
    """Return the sweep of those runs of a study that a store has; nothing is run."""
    plan = Plan.of(study)
    done = _Done(store.folder, frozenset(key for _, _, _, key in plan.runs()))
    done.metrics = store.frame(done.wanted)
    return _together(plan, done)


def _do_missing(
    plans: Sequence[Plan],
    folder: Path,
    store: Store,
    jobs: int | None,
    executor: Executor | None,
    free: int | None,
    progress: Progress | None,
) -> _Done:
    """Do the missing runs, then check that the store has them: other processes may remove or damage its files."""
    done = _Done(folder, frozenset(key for plan in plans for _, _, _, key in plan.runs()))
    _tidy(store)
    missing = _missing(plans, store, store.finished(set(done.wanted)))
    if missing:
        store.prove(any(plan.study.series for plan in plans))
    for _ in range(ATTEMPTS):
        if missing:
            performing = executor
            if performing is None:
                workers = chosen_workers(jobs, len(missing))
                limits = [at_a_time(plan.study.engine, workers, plan.memory) for plan in plans]
                fit = max(1, int((free or 0) // max(1, *(plan.memory for plan in plans))))
                performing = threads.executor(min(fit, *limits))
            try:
                _do(plans, missing, done, store, performing, progress)
            except KeyboardInterrupt:
                done.interrupted = True
            store.close()
            _tidy(store)
        done.metrics = store.frame(done.wanted)
        there = set(done.metrics["key"])
        missing = {key: cost for key, cost in _missing(plans, store, there).items() if key not in done.errors}
        if not missing or done.interrupted:
            break
    done.lost = frozenset() if done.interrupted else frozenset(missing)
    done.damage = dict(store.damage)
    return done


def _missing(plans: Sequence[Plan], store: Store, there: Set[bytes]) -> dict[bytes, float]:
    """Return the work of each run that is missing or lacks its series, by key."""
    recorded = store.recorded() if any(plan.study.series for plan in plans) else set()
    return {key: cost for plan in plans for key, cost in plan.missing(there, recorded).items()}


def _tidy(store: Store) -> None:
    """Compact the store if possible; on a full or read-only disk the journals stay as they are."""
    with suppress(OSError):
        store.compact()


def _do(
    plans: Sequence[Plan],
    missing: Mapping[bytes, float],
    done: _Done,
    store: Store,
    executor: Executor,
    progress: Progress | None,
) -> None:
    """Do the missing runs, and store each when it finishes."""
    total = sum(missing.values())
    there = len(done.wanted) - len(missing) - len(done.errors)
    finished, count = 0.0, 0
    # Studies with series first: their runs also serve the studies without.
    ordered = sorted(plans, key=lambda plan: not plan.study.series)
    named = {key: plan.study for plan in ordered if plan.study.series for _, _, _, key in plan.runs()}

    def tasks() -> Iterator[Task]:
        todo = set(missing)
        for plan in ordered:
            yield from plan.tasks(todo)

    def on_done(task: Task, outcome: Outcome) -> None:
        nonlocal finished, count
        if outcome.error:
            done.errors[task.key] = outcome.error
        else:
            if outcome.series:
                store.add_series(named[task.key].series_name(task.key), outcome.series)
            store.add(outcome.payload)
            done.simulated.add(task.key)
            count += 1
        finished += task.cost

    def watch(under_way: float) -> None:
        if progress:
            fraction = min((finished + under_way) / total, 1.0)
            progress(Standing(fraction, there + count, len(done.wanted), len(done.errors)))

    executor(tasks(), on_done, watch)
    watch(0.0)


def _together(plan: Plan, done: _Done) -> Sweep:
    """Assemble a plan's sweep, in the order of points, disciplines and seeds."""
    assert done.metrics is not None
    study = plan.study
    there = set(done.metrics["key"])
    rows = Rows()
    failures = list(plan.failures)
    for number, label, seed, key in plan.runs():
        if key in done.errors:
            failures.append(plan.failure(number, label, seed, done.errors[key]))
        elif key in done.lost:
            error = f"done and not in {done.store} afterwards: another program changes its files; choose another store"
            failures.append(replace(plan.failure(number, label, seed, error), lost=True))
        elif key in there:
            rows.append(number, label, seed, key)
    columns, units = parameters(study.design, rows.points)
    return Sweep(
        scenario=study.scenario,
        aqms=tuple(study.variants),
        parameters=units,
        seeds=tuple(study.seeds),
        method=study.design.method,
        sample_seed=study.design.sample_seed,
        frame=framed(columns, rows, done.metrics),
        failures=tuple(failures),
        wanted=study.runs,
        simulated=len(done.simulated.intersection(rows.keys)),
        damage=done.damage,
        interrupted=done.interrupted,
        version=study.engine.version,
        engine_name=str(study.engine),
        variants={label: study.variants[label] for label in study.named},
    )
