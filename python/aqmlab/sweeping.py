"""Running sweeps: every point, with every queue discipline, with the same seeds; only what is not there already."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from aqmlab import _core, local
from aqmlab.design import DRAWN, Design, Point, Scalar, design
from aqmlab.listing import parameter_names
from aqmlab.replication import chosen_seeds, chosen_workers, refuse_no_scenario, spelled_out
from aqmlab.scenario import Scenario, Settings
from aqmlab.store import Store
from aqmlab.sweeps import Failure, Rows, Sweep, framed, parameters
from aqmlab.task import Engine, Outcome, Task, digest, key

_BARE: Settings = {"record.series": False, "record.cwnd": "auto"}
"""A sweep records no series: the metrics are the same without, and a run of interest is soon repeated."""

_BLOCK = 64
"""How many scenarios take turns: their seeds are done one after the other, each scenario is read once."""


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
        see `aqmlab.design.design`. A parameter ``aqm.KEY`` goes to the disciplines that know it.
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
    if cluster is not None:
        if jobs is not None or engine is not None:
            raise ValueError(
                f"cluster = {cluster!r}: its workers say how many runs there are at a time, not jobs or engine"
            )
        from aqmlab.cluster import engine as cluster_engine

        engine = cluster_engine(cluster)
    study = _study(scenario, vary, aqms, seeds, method, samples, sample_seed)
    with ExitStack() as stack:
        if store is None:
            store = Path(out) / "store" if out else stack.enter_context(tempfile.TemporaryDirectory())
        kept = Store(Path(store))
        stack.callback(kept.close)
        result = _run(study, kept, jobs, engine, progress)
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
    study = _study(scenario, None, None, None, None, None, None)
    return study.runs


@dataclass(frozen=True)
class _Study:
    """What to run: every point with every discipline and every seed."""

    scenario: Scenario
    variants: Mapping[str, Scenario]
    design: Design
    seeds: list[int]

    @property
    def runs(self) -> int:
        """How many runs there shall be."""
        return len(self.design.points) * len(self.variants) * len(self.seeds)

    def scenario_at(self, label: str, point: Point) -> Scenario:
        """Give the scenario of a point."""
        core = self.variants[label].core
        for path, value in zip(self.design.paths, point, strict=True):
            if _is_for(path, self.variants[label]):
                core = core.with_value(path, value)
        return Scenario(core)


def _study(
    scenario: Scenario,
    vary: Mapping[str, object] | None,
    aqms: Iterable[str] | None,
    seeds: int | Iterable[int] | None,
    method: str | None,
    samples: int | None,
    sample_seed: int | None,
) -> _Study:
    refuse_no_scenario(scenario)
    scenario.check()  # which tells of the whole file, and not of its [sweep] alone
    said = scenario.study or {"vary": [], "aqm": "auto", "seeds": 1, "method": "grid", "samples": 100, "sample_seed": 1}
    written = {entry["path"]: entry for entry in said["vary"]}
    chosen = {path: entry["value"] for path, entry in written.items()} | dict(vary or {})
    own = {path: f"{entry['origin']}: sweep.vary.{path}" for path, entry in written.items() if path not in (vary or {})}
    method = method or said["method"]
    if method not in DRAWN and (samples, sample_seed) != (None, None):
        raise ValueError(f"samples and sample_seed are for methods {' and '.join(DRAWN)}; the method is {method}")
    points = design(
        chosen,
        method,
        said["samples"] if samples is None else samples,
        said["sample_seed"] if sample_seed is None else sample_seed,
        own,
    )
    base = scenario.base
    labels = aqms if aqms is not None else ([] if said["aqm"] == "auto" else said["aqm"])
    variants = {label: base.with_aqm(label) for label in spelled_out(labels)} or {base.aqm: base}
    for path, value in zip(points.paths, points.points[0], strict=True):
        _refuse_unknown(path, value, own.get(path, f"--vary {path}"), base, variants)
    for variant in variants.values():
        _refuse_same(points, variant)
    return _Study(base, variants, points, chosen_seeds(base, said["seeds"] if seeds is None else seeds))


def _refuse_unknown(path: str, value: Scalar, where: str, base: Scenario, variants: Mapping[str, Scenario]) -> None:
    """Refuse a path that is nowhere, at once: else it would be found at each of a million points."""
    knowing = [variant for variant in variants.values() if _is_for(path, variant)]
    for variant in knowing or [base]:
        try:
            variant.with_({path: value}).check()
        except _core.ScenarioError as error:
            _, _, problem = str(error).partition(": ")
            if any(sign in problem for sign in _NOWHERE):
                raise _core.ScenarioError(f"{where}: {problem}") from None
    if not knowing:
        raise ValueError(f"{where}: none of {', '.join(variants)} has {path.removeprefix('aqm.')}")


def _refuse_same(points: Design, variant: Scenario) -> None:
    """Refuse two names of one parameter: the last would count, and points would be called what they are not."""
    paths = [path for path in points.paths if _is_for(path, variant)]
    changed: dict[frozenset[str], str] = {}
    for path in paths if len(paths) > 1 else ():
        index = points.paths.index(path)
        own = dict.fromkeys(point[index] for point in points.points)
        documents = [variant.resolved]
        for value in list(own)[:2]:
            with suppress(_core.ScenarioError):
                documents.append(variant.with_({path: value}).resolved)
        told = [frozenset(_leaves(document)) for document in documents]
        places = frozenset(place for one in told for place, _ in one ^ told[0])
        if places and changed.setdefault(places, path) != path:
            raise ValueError(f"{changed[places]} and {path} are one parameter: let only one of them vary")


def _leaves(document: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Give every value in a document, with its place."""
    if isinstance(document, dict | list):
        for key, inside in document.items() if isinstance(document, dict) else enumerate(document):
            yield from _leaves(inside, f"{place}.{key}")
    else:
        yield place, repr(document)


_NOWHERE = (": unknown key", ": no such entry", ": name ")
"""How messages begin that speak of a path, whatever the value."""


def _is_for(path: str, variant: Scenario) -> bool:
    """Tell whether a parameter that varies is one of this discipline, or none of a discipline."""
    head, _, rest = path.partition(".")
    return head != "aqm" or rest.partition(".")[0] in _names(variant.aqm)


@cache
def _names(aqm: str) -> frozenset[str]:
    return frozenset(parameter_names(aqm))


@dataclass
class _Plan:
    """What is to be done, and what cannot be."""

    study: _Study
    digests: dict[tuple[int, str], str] = field(default_factory=dict)
    """By the number of the point and the label of the discipline."""
    costs: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    """That the largest run needs."""
    failures: list[Failure] = field(default_factory=list)

    @classmethod
    def of(cls, study: _Study, free: int | None = None) -> _Plan:
        """Look at every point with every discipline; refuse those that need more than the memory that is free."""
        plan = cls(study)
        first: Exception | None = None
        for number, point in enumerate(study.design.points):
            for label in study.variants:
                try:
                    scenario = study.scenario_at(label, point).with_(_BARE)
                    name = digest(scenario)
                    if free is not None and scenario.memory > free:
                        need = f"about {scenario.memory / 1e9:.1f} GB of memory needed"
                        raise MemoryError(f"{need}, and {free / 1e9:.1f} GB are free; fewer flows need less")
                    plan.costs[name] = max(scenario.packets, 1.0)
                    plan.memory = max(plan.memory, scenario.memory)
                    plan.digests[number, label] = name
                except (_core.ScenarioError, OSError, MemoryError) as error:
                    first = first or error
                    plan.failures.append(plan.failure(number, label, None, str(error)))
        if first and not plan.digests:
            raise first
        return plan

    def failure(self, number: int, label: str, seed: int | None, error: str) -> Failure:
        """Say which point failed, and why."""
        point = self.study.design.points[number]
        return Failure(label, dict(zip(self.study.design.paths, point, strict=True)), seed, error)

    def runs(self) -> Iterator[tuple[int, str, int, bytes]]:
        """Give every run that can be done: number of the point, label, seed, key."""
        for (number, label), name in self.digests.items():
            for seed in self.study.seeds:
                yield number, label, seed, key(name, seed)

    def tasks(self, missing: Iterable[bytes]) -> Iterator[Task]:
        """Give each run that is missing once; of some scenarios at a time seed after seed."""
        todo = set(missing)
        pairs = iter(self.digests)
        while block := list(itertools.islice(pairs, _BLOCK)):
            texts: dict[tuple[int, str], str] = {}
            for seed, (number, label) in itertools.product(self.study.seeds, block):
                own = key(self.digests[number, label], seed)
                if own not in todo:
                    continue
                todo.remove(own)  # another discipline or point may mean the same
                point = self.study.design.points[number]
                if (number, label) not in texts:
                    texts[number, label] = self.study.scenario_at(label, point).with_(_BARE).to_toml()
                name = ", ".join(part for part in (label, self.study.design.label(point), f"seed {seed}") if part)
                yield Task(texts[number, label], seed, own, name, self.costs[self.digests[number, label]])


def _run(study: _Study, store: Store, jobs: int | None, engine: Engine | None, progress: Progress | None) -> Sweep:
    """Do what is missing, and put together what is there."""
    import psutil

    # Elsewhere there is other memory.
    free = None if engine else psutil.virtual_memory().available
    plan = _Plan.of(study, free)
    wanted = {own: plan.costs[plan.digests[number, label]] for number, label, _, own in plan.runs()}
    _tidy(store)
    there = store.finished(set(wanted))
    missing = {own: cost for own, cost in wanted.items() if own not in there}
    errors: dict[bytes, str] = {}
    interrupted = False
    if missing:
        if engine is None:
            fit = max(1, int((free or 0) // max(plan.memory, 1)))
            engine = local.engine(min(chosen_workers(jobs, len(missing)), fit))
        try:
            _do(plan, missing, len(there), store, engine, errors, progress)
        except KeyboardInterrupt:
            interrupted = True
        store.close()
        _tidy(store)
    return _together(plan, store, wanted, len(missing), errors, interrupted)


def _tidy(store: Store) -> None:
    """Make parts of journals, if that can be: on a full disk, or one that may only be read, all is there as it is."""
    with suppress(OSError):
        store.compact()


def _do(
    plan: _Plan,
    missing: Mapping[bytes, float],
    there: int,
    store: Store,
    engine: Engine,
    errors: dict[bytes, str],
    progress: Progress | None,
) -> None:
    """Do the runs that are missing, and keep each when it is done."""
    total = sum(missing.values())
    finished, count = 0.0, 0

    def on_done(task: Task, outcome: Outcome) -> None:
        nonlocal finished, count
        if outcome.error:
            errors[task.key] = outcome.error
        else:
            store.add(outcome.payload)
            count += 1
        finished += task.cost

    def watch(under_way: float) -> None:
        if progress:
            fraction = min((finished + under_way) / total, 1.0)
            progress(Standing(fraction, there + count, there + len(missing), len(errors)))

    engine(plan.tasks(missing), on_done, watch)
    watch(0.0)


def _together(
    plan: _Plan,
    store: Store,
    wanted: Mapping[bytes, float],
    missing: int,
    errors: Mapping[bytes, str],
    interrupted: bool,
) -> Sweep:
    """Put together what is there, in the order of points, disciplines and seeds, whatever was done first."""
    study = plan.study
    rows = Rows()
    failures = list(plan.failures)
    for number, label, seed, own in plan.runs():
        if own in errors:
            failures.append(plan.failure(number, label, seed, errors[own]))
        else:
            rows.append(number, label, seed, own)
    columns, units = parameters(study.design, rows.points)
    return Sweep(
        scenario=study.scenario,
        aqms=tuple(study.variants),
        parameters=units,
        seeds=tuple(study.seeds),
        method=study.design.method,
        sample_seed=study.design.sample_seed,
        frame=framed(columns, rows, store.frame(wanted)),
        failures=tuple(failures),
        wanted=study.runs,
        simulated=missing - len(errors),
        damage=dict(store.damage),
        interrupted=interrupted,
        version=_core.engine_version,
    )
