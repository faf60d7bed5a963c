"""Running sweeps: every point, with every queue discipline, with the same seeds; only what is not there already."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab import _core
from aqmlab.execute import threads
from aqmlab.execute.replication import chosen_workers
from aqmlab.execute.task import Engine, Outcome, Task
from aqmlab.scenario import Scenario
from aqmlab.sweeps.result import Rows, Sweep, framed, parameters
from aqmlab.sweeps.store import Store
from aqmlab.sweeps.study import Plan, Study, study

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, slots=True)
class Standing:
    """How far a sweep is.

    Parameters
    ----------
    fraction : float
        The share of the work to do now that is done, by the packets that it takes.
    done : int
        How many runs are there, those of earlier calls included.
    wanted : int
        How many there shall be.
    failed : int
        How many failed.
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
        What was finished by then.
    """

    def __init__(self, finished: Sweep) -> None:
        self.finished = finished
        super().__init__(f"interrupted: {finished.done} of {finished.wanted} runs finished")


def sweep(
    scenario: Scenario,
    vary: Mapping[str, object] | None = None,
    aqms: Iterable[str] | None = None,
    seeds: int | Iterable[int] | None = None,
    *,
    method: str | None = None,
    samples: int | None = None,
    sample_seed: int | None = None,
    out: str | os.PathLike[str] | None = None,
    store: str | os.PathLike[str] | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Simulate a scenario at many points, each with several queue disciplines.

    Every point of every discipline has the same seeds, so that differences are those of the disciplines and not of
    chance. What the scenario's `[sweep]` says holds unless it is said here.

    Parameters
    ----------
    scenario : Scenario
        What to simulate.
    vary : mapping
        What each parameter takes, by its dotted path: ``{"aqm.q0": "20,40..160", "traffic.long.count": [100, 400]}``;
        see `aqmlab.sweeps.points.design`. A parameter ``aqm.KEY`` goes to the disciplines that know it.
    aqms : iterable of str
        The queue disciplines, as for `compare`; by default the scenario's own.
    seeds : int or iterable of int
        As for `run`.
    method : str
        ``grid``, ``paired``, ``random`` or ``latin``; by default grid.
    samples : int
        How many points to draw, with ``random`` and ``latin``.
    sample_seed : int
        Where the randomness of these points starts from.
    out : str or PathLike
        Where to write results to, and to keep finished runs; by default nowhere.
    store : str or PathLike
        Where to keep finished runs, if not in ``out/store``: sweeps may share it.
    jobs : int
        How many runs at a time; by default as many as there are cores.
    cluster : str
        The address of a Dask scheduler, whose workers are to do the runs: ``tcp://host:8786``, or the path of the file
        that it wrote its address to. By default this machine's cores do them.
    engine : callable
        What does the runs, if neither of them.
    progress : callable
        Called now and then, from the calling thread, with how far it is.

    Returns
    -------
    Sweep
        The metrics of all runs, and what failed.

    Raises
    ------
    ScenarioError
        If the scenario is valid at no point.
    ValueError
        If what varies cannot be read.
    ClusterError
        If the cluster cannot do them; what was finished is in the store.
    SweepInterrupted
        If the user presses Ctrl-C; it carries what was finished, which is also in the store.
    """
    wanted = study(scenario, vary, aqms, seeds, method, samples, sample_seed)
    with ExitStack() as stack:
        if store is None:
            store = Path(out) / "store" if out else stack.enter_context(tempfile.TemporaryDirectory())
        result = run_all([wanted], Path(store), jobs, cluster, engine, progress)[0]
    if out:
        result.save(out)
    if result.interrupted:
        raise SweepInterrupted(result)
    return result


def asked_for(scenario: Scenario) -> int:
    """Count the runs that a study asks for.

    Parameters
    ----------
    scenario : Scenario
        The study.

    Returns
    -------
    int
        Every point with every discipline and every seed.

    Raises
    ------
    ValueError
        If what varies cannot be read.
    """
    return study(scenario).runs


ATTEMPTS = 3
"""How often a run is done at most whose results are not in the store afterwards."""


@dataclass
class _Done:
    """What came of the runs of several studies: each is in `metrics`, `errors` or `lost`, or was interrupted."""

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
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> list[Sweep]:
    """Simulate several studies as one: what two of them mean is done once, and no core waits between them.

    Parameters
    ----------
    studies : sequence of Study
        What to run; of those that want series, these are kept in the store too.
    store : Path
        Where to keep finished runs.
    jobs : int
        As for `sweep`.
    cluster : str
        As for `sweep`.
    engine : callable
        As for `sweep`.
    progress : callable
        As for `sweep`.

    Returns
    -------
    list of Sweep
        Of each study its sweep. If the user pressed Ctrl-C they are ``interrupted``, and have what was finished.

    Raises
    ------
    ScenarioError
        If a scenario is valid at no point.
    ClusterError
        If the cluster cannot do them; what was finished is in the store.
    """
    import psutil

    if cluster is not None:
        if jobs is not None or engine is not None:
            raise ValueError(
                f"cluster = {cluster!r}: its workers say how many runs there are at a time, not jobs or engine"
            )
        from aqmlab.execute.dask import engine as cluster_engine

        engine = cluster_engine(cluster)
    # Elsewhere there is other memory.
    free = None if engine else psutil.virtual_memory().available
    plans = [Plan.of(study, free) for study in studies]
    kept = Store(store)
    try:
        done = _do_missing(plans, store, kept, jobs, engine, free, progress)
        return [_together(plan, done) for plan in plans]
    finally:
        kept.close()


def _do_missing(
    plans: Sequence[Plan],
    folder: Path,
    store: Store,
    jobs: int | None,
    engine: Engine | None,
    free: int | None,
    progress: Progress | None,
) -> _Done:
    """Do what is not there, and look whether it then is: others may remove or damage files meanwhile."""
    done = _Done(folder, frozenset(own for plan in plans for _, _, _, own in plan.runs()))
    _tidy(store)
    missing = _missing(plans, store, store.finished(set(done.wanted)))
    if missing:
        store.prove(any(plan.study.series for plan in plans))
    for _ in range(ATTEMPTS):
        if missing:
            own = engine
            if own is None:
                fit = max(1, int((free or 0) // max(1, *(plan.memory for plan in plans))))
                own = threads.engine(min(chosen_workers(jobs, len(missing)), fit))
            try:
                _do(plans, missing, done, store, own, progress)
            except KeyboardInterrupt:
                done.interrupted = True
            store.close()
            _tidy(store)
        done.metrics = store.frame(done.wanted)
        there = set(done.metrics["key"])
        missing = {own: cost for own, cost in _missing(plans, store, there).items() if own not in done.errors}
        if not missing or done.interrupted:
            break
    done.lost = frozenset() if done.interrupted else frozenset(missing)
    done.damage = dict(store.damage)
    return done


def _missing(plans: Sequence[Plan], store: Store, there: Set[bytes]) -> dict[bytes, float]:
    """Tell what is not there, or without its series, and how much work it is."""
    recorded = store.recorded() if any(plan.study.series for plan in plans) else set()
    return {own: cost for plan in plans for own, cost in plan.missing(there, recorded).items()}


def _tidy(store: Store) -> None:
    """Make parts of journals, if that can be: on a full disk, or one that may only be read, all is there as it is."""
    with suppress(OSError):
        store.compact()


def _do(
    plans: Sequence[Plan],
    missing: Mapping[bytes, float],
    done: _Done,
    store: Store,
    engine: Engine,
    progress: Progress | None,
) -> None:
    """Do the runs that are missing, and keep each when it is done."""
    total = sum(missing.values())
    there = len(done.wanted) - len(missing) - len(done.errors)
    finished, count = 0.0, 0
    # First those with series: who wants the same run without them has it then, too.
    ordered = sorted(plans, key=lambda plan: not plan.study.series)
    named = {own: plan.study for plan in ordered if plan.study.series for _, _, _, own in plan.runs()}

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

    engine(tasks(), on_done, watch)
    watch(0.0)


def _together(plan: Plan, done: _Done) -> Sweep:
    """Put together what is there, in the order of points, disciplines and seeds, whatever was done first."""
    assert done.metrics is not None
    study = plan.study
    there = set(done.metrics["key"])
    rows = Rows()
    failures = list(plan.failures)
    for number, label, seed, own in plan.runs():
        if own in done.errors:
            failures.append(plan.failure(number, label, seed, done.errors[own]))
        elif own in done.lost:
            error = (
                f"done and not in {done.store} afterwards: something else changes the files there; choose another store"
            )
            failures.append(replace(plan.failure(number, label, seed, error), lost=True))
        elif own in there:
            rows.append(number, label, seed, own)
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
        version=_core.engine_version,
    )
