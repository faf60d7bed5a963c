"""Running sweeps: every point with every queue discipline and the same seeds; runs in the store are not repeated."""

from __future__ import annotations

import itertools
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.execute import threads
from aqmlab.execute.engine import Engine
from aqmlab.execute.limits import free_memory
from aqmlab.execute.progress import OnProgress, Progress
from aqmlab.execute.task import Executor, Outcome, Task
from aqmlab.results.result import PACKET
from aqmlab.runs.key_arrays import Keys, array, distinct, each, keys_of, places
from aqmlab.runs.memory import at_a_time, chosen_workers
from aqmlab.runs.plan import Plan, Study, keep, kept
from aqmlab.runs.pool import Errors, Pool, Stock
from aqmlab.runs.store import Store, together
from aqmlab.runs.study import require_unset, study
from aqmlab.runs.swept import Failure, Sweep, parameters
from aqmlab.runs.table import SLICE, RunTable, joined
from aqmlab.scenario import Scenario, Settings

if TYPE_CHECKING:
    import polars


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
    *,
    vary: Mapping[str, object] | None = None,
    aqms: Iterable[str] | Mapping[str, str | Settings] | None = None,
    seeds: int | Iterable[int] | None = None,
    method: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
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
        see `aqmlab.runs.points.design`. A parameter ``aqm.KEY`` applies to the disciplines that have it.
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
        Called from time to time, from the calling thread, with the `Progress`.
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
    require_unset(wanted)
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


@dataclass
class _Done:
    """The outcome of several studies: each task is in the store or in `errors`, or was lost or interrupted.

    `simulated` has the keys of the runs that were done now, one after the other. If `asked` is false, runs that are not
    in the store are not lost: they were not asked for.
    """

    store: Store
    simulated: bytearray = field(default_factory=bytearray)
    errors: Errors = field(default_factory=dict)
    interrupted: bool = False
    asked: bool = True

    def reasons(self, study: Study) -> dict[bytes, str]:
        """Return why runs failed, by key; those of a study with series, why they failed with these."""
        failed = self.errors.items()
        return {key: error for (key, name), error in failed if not study.series or name == study.series_name(key)}


def run_all(
    studies: Sequence[Study],
    store: Path,
    jobs: int | None = None,
    cluster: str | None = None,
    executor: Executor | None = None,
    progress: OnProgress | None = None,
) -> list[Sweep]:
    """Simulate several studies as one: runs that they share are done once, and no core waits between studies.

    The arguments are those of `sweep`; the store also keeps the series of studies that want them. Return the sweep of
    each study. After Ctrl-C the sweeps are ``interrupted`` and have the finished runs. Raise ScenarioError if a
    scenario is not valid at any point, and ClusterError if the cluster cannot do the runs; the finished runs are in the
    store.
    """
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
    free = None if executor else free_memory()
    plans = [plan.within(free) for plan in _planned(studies, store, progress)]
    try:
        return _done(plans, shared, jobs, executor, free, progress)
    finally:
        shared.close()


def _planned(studies: Sequence[Study], store: Path, progress: OnProgress | None) -> list[Plan]:
    """Plan the studies, and report how many runs have been checked about ten times a second."""
    wanted = sum(study.runs for study in studies)
    checked, shown = 0, time.monotonic()

    def watch(scenarios: int, seeds: int) -> None:
        nonlocal shown
        if progress and time.monotonic() - shown > threads.SLICE:
            shown = time.monotonic()
            progress(Progress(0.0, 0, wanted, 0, checked + scenarios * seeds))

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
    return _sweeps([plan], _Done(store, asked=False), [distinct(plan.keys)])[0]


def _done(
    plans: Sequence[Plan],
    store: Store,
    jobs: int | None,
    executor: Executor | None,
    free: int | None,
    progress: OnProgress | None,
) -> list[Sweep]:
    """Do the missing runs, and read them from the store; do those again that other processes removed or damaged."""
    done = _Done(store)
    pool = Pool(plans)
    stock = pool.stock(store, done.errors)
    if stock.tasks:
        store.prove(any(plan.study.series for plan in plans))
    elif progress:  # the last number of runs is that without repetitions, and not that of the planner
        progress(Progress(1.0, len(pool.keys), len(pool.keys), 0))
    attempts = ATTEMPTS
    while True:
        if stock.tasks:
            performing = executor
            if performing is None:
                workers = chosen_workers(jobs, stock.tasks)
                limits = [at_a_time(plan.study.engine, workers, plan.memory) for plan in plans]
                fit = max(1, int((free or 0) // max(1, *(plan.estimate for plan in plans))))
                performing = threads.executor(min(fit, *limits))
            attempts -= 1
            try:
                _do(pool, stock, done, performing, executor is None, progress)
            except KeyboardInterrupt:
                done.interrupted = True
            store.close()
            stock = pool.stock(store, done.errors)
            if stock.tasks and attempts and not done.interrupted:
                continue
        _tidy(store)
        there = [distinct(plan.keys[flags]) for plan, flags in zip(plans, stock.there, strict=True)]
        sweeps = _sweeps(plans, done, there)
        if done.interrupted or not attempts or not any(failure.lost for sweep in sweeps for failure in sweep.failures):
            return sweeps
        attempts -= 1
        stock = pool.stock(store, done.errors)


def _tidy(store: Store) -> None:
    """Compact the store if possible; on a full or read-only disk the journals stay as they are."""
    with suppress(OSError):
        store.compact()


def _do(pool: Pool, stock: Stock, done: _Done, executor: Executor, here: bool, progress: OnProgress | None) -> None:
    """Perform the tasks, and store each run when it finishes; `here` is that of `Plan.tasks`."""
    total = pool.work(stock)
    failed = {key for key, _ in done.errors}
    count, further = pool.counts(stock, failed)
    finished = 0.0

    def on_done(task: Task, outcome: Outcome) -> None:
        nonlocal finished, count
        if outcome.error:
            done.errors[task.key, task.series] = outcome.error
            failed.add(task.key)
        else:
            if outcome.series:
                done.store.add_series(task.series, outcome.series)
            done.store.add(outcome.payload)
            done.simulated.extend(task.key)
        if further[task.key]:
            further[task.key] -= 1
        elif task.key not in failed:
            count += 1
        finished += task.cost

    def watch(under_way: float) -> None:
        if done.store.has_closed:
            _tidy(done.store)  # now and then: of a million runs it takes minutes
        if progress:
            fraction = min((finished + under_way) / total, 1.0)
            progress(Progress(fraction, count, len(pool.keys), len(failed)))

    executor(pool.tasks(stock, here), on_done, watch)
    watch(0.0)


def _sweeps(plans: Sequence[Plan], done: _Done, there: Sequence[Keys]) -> list[Sweep]:
    """Assemble the sweep of each plan from its runs that are there; if they are many, each plan reads the store."""
    every = distinct(np.concatenate(there))
    if len(every) > (SLICE if len(plans) == 1 else MOST_TOGETHER):
        found = [_sweep(plan, done, done.store.metrics(own)) for plan, own in zip(plans, there, strict=True)]
    else:
        metrics = together(done.store.metrics(every))
        keys = keys_of(metrics["key"])
        found = [
            _sweep(plan, done, [metrics.filter(places(own, keys) >= 0)]) for plan, own in zip(plans, there, strict=True)
        ]
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
    reasons = done.reasons(plan.study)
    lost = f"done and not in {done.store.folder} afterwards: another program changes its files; choose another store"
    for number, label, seed, key in itertools.compress(plan.runs(), absent):
        if key in reasons:
            yield plan.failure(number, label, seed, reasons[key])
        elif done.asked and not done.interrupted:
            yield replace(plan.failure(number, label, seed, lost), lost=True)
