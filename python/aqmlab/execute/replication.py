"""Running scenarios: replications in parallel on all cores."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from pathlib import Path

from aqmlab import _core
from aqmlab.execute import threads
from aqmlab.execute.engine import PACKETS, Engine, different
from aqmlab.execute.glance import Glance
from aqmlab.execute.room import Runs, at_a_time, chosen_workers, memory, refuse_too_much_memory, whole
from aqmlab.execute.task import Outcome, Task, opened
from aqmlab.execute.variants import labelled, with_discipline
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import KERNEL, PACKET, Result, Run
from aqmlab.scenario import Scenario, Settings, by_algorithm, disciplines

Progress = Callable[[float], None]

MOST_SEEDS = 100_000
"""The most replications of a scenario in one call."""

_UNRECORDED: Settings = {"record.series": False, "record.cwnd": "auto"}


class Interrupted(KeyboardInterrupt):
    """Raised when the user stops the runs.

    Parameters
    ----------
    finished : Comparison
        The replications that had finished.
    wanted : int
        The number of replications requested.
    """

    def __init__(self, finished: Comparison, wanted: int) -> None:
        self.finished = finished
        count = sum(len(result.runs) for result in finished.values())
        super().__init__(f"interrupted: {count} of {wanted} runs finished")


class RunFailed(RuntimeError):  # noqa: N818  the run failed; the calling program has no error
    """Raised when a run aborts.

    Parameters
    ----------
    message : str
        The run, and the reason.
    finished : Comparison
        The replications that had finished.
    """

    def __init__(self, message: str, finished: Comparison) -> None:
        self.finished = finished
        super().__init__(message)


def run(
    scenario: Scenario,
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
    engine: str = PACKET,
) -> Result:
    """Simulate a scenario, or let another engine perform it.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    seeds : int or iterable of int
        The number of replications, which have the seeds s, s + 1, … where s is the scenario's seed; or the seeds
        themselves. By default one run with the scenario's seed.
    jobs : int
        The number of runs at a time; by default the number of cores. An engine whose clock runs in real time has one.
    progress : callable
        Called from time to time, from the calling thread, with the fraction of the work done.
    check : bool
        Account for every packet, and fail if the account or the metrics are impossible; this takes time and changes no
        result. Only the packet engine can.
    engine : str
        The engine: ``packet``, ``fluid`` (one run, whatever the seeds) or ``linux``, with options as in
        ``linux:clock=real``.

    Returns
    -------
    Result
        Metrics and series.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or the engine cannot perform it.
    ValueError
        If there is no such engine or option.
    EngineUnavailable
        If this machine lacks what the engine needs.
    MemoryError
        If the runs would need more memory than is free.
    RunFailed
        If a run aborts.
    Interrupted
        If the user presses Ctrl-C; it carries the finished runs.
    """
    require_scenario(scenario)
    label = scenario.aqm
    return compare_scenarios({label: scenario}, seeds, jobs, progress, check, [Engine.parse(engine)])[label]


def compare(
    scenario: Scenario,
    aqms: Iterable[str] | None = None,
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
    engines: Sequence[str] = (PACKET,),
) -> Comparison:
    """Simulate a scenario with several queue disciplines, on one engine or several.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    aqms : iterable of str
        The disciplines, each ``name`` or ``name:key=value,key=value``; these strings label the results. ``all`` stands
        for every name in `aqmlab.disciplines`. ``kernel:words`` is a discipline of Linux in tc's words, which only the
        linux engine performs. By default, with several engines, that of the scenario.
    seeds : int or iterable of int
        As for `run`; all disciplines have the same seeds.
    jobs : int
        As for `run`.
    progress : callable
        Called from time to time, from the calling thread, with the fraction of the work done.
    check : bool
        Account for every packet, and fail if the account or the metrics are impossible; this takes time and changes no
        result. Only the packet engine can.
    engines : sequence of str
        The engines, each as for `run`. If there are several, they follow the disciplines in the labels, as in
        ``lred, fluid``, and `Comparison.differences` compares them.

    Returns
    -------
    Comparison
        A result for each discipline and engine.

    Raises
    ------
    ScenarioError
        If the scenario is not valid with one of the disciplines, or an engine cannot perform it.
    ValueError
        If there is nothing to compare, or there is no such engine or option.
    EngineUnavailable
        If this machine lacks what an engine needs.
    MemoryError
        If the runs would need more memory than is free.
    RunFailed
        If a run aborts.
    Interrupted
        If the user presses Ctrl-C; it carries the finished runs.
    """
    require_scenario(scenario)
    chosen = different(engines)
    if aqms is None and len(chosen) == 1:
        raise ValueError("nothing to compare: give aqms, or several engines")
    specs = None if aqms is None else spelled_out(aqms)
    variants = {scenario.aqm: scenario} if specs is None else {spec: with_discipline(scenario, spec) for spec in specs}
    return compare_scenarios(variants, seeds, jobs, progress, check, chosen)


def spelled_out(aqms: Iterable[str]) -> list[str]:
    """Replace ``all`` by the names of all disciplines; a discipline named in addition to ``all`` is listed once.

    Raise TypeError for a single string, ValueError for a discipline given twice.
    """
    if isinstance(aqms, str):
        raise TypeError(f"aqms = {aqms!r}: must be a list of strings: [{aqms!r}]")
    given = list(aqms)
    if twice := sorted({spec for spec in given if given.count(spec) > 1}):
        raise ValueError(f"{', '.join(twice)} given twice")
    every = [name for spec in given for name in (disciplines() if spec == "all" else [spec])]
    return list(dict.fromkeys(every))


@dataclass(frozen=True, slots=True)
class _Case:
    """A scenario, the engine that performs it, and the seeds of its runs."""

    scenario: Scenario
    engine: Engine
    seeds: list[int]

    def tasks(self, label: str, check: bool) -> Iterable[Task]:
        """Yield a task for each run."""
        cost = self.engine.work(self.scenario)
        for seed in self.seeds:
            yield Task(self.scenario.core, seed, b"", label, cost, recording=True, check=check, engine=self.engine)

    def memory(self, at_a_time: int) -> Runs:
        """Return the memory of its runs, of which so many are under way at a time; the series of all are kept."""
        bare = self.scenario.with_(_UNRECORDED)
        during = memory(self.engine, bare)
        return Runs(len(self.seeds), at_a_time, during, memory(self.engine, self.scenario) - during)


def compare_scenarios(
    scenarios: Mapping[str, Scenario],
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
    engines: Sequence[Engine] = (PACKETS,),
    on_glance: Callable[[Glance], None] | None = None,
    fates: Path | None = None,
) -> Comparison:
    """Simulate several scenarios, by label, on several engines as `labelled` combines them.

    The other arguments are those of `run`.
    `on_glance` is called with the state of the first run while it is under way, and `fates` is the file for the fate
    of its packets (see `Task`).
    """
    if not scenarios:
        raise ValueError("nothing to simulate")
    scenarios = {label: scenario.anew() for label, scenario in scenarios.items()}
    combined = labelled(scenarios, engines)
    for scenario, engine in combined.values():
        engine.check(scenario)
    if check and (other := next((engine for engine in engines if engine != PACKETS), None)):
        raise ValueError(f"check = True: the {other.name} engine does not account for packets; omit it")
    if same := repeated(scenarios):
        raise ValueError(f"{same[0]} and {same[1]} are the same")
    if isinstance(seeds, Iterable):
        seeds = list(seeds)  # each scenario iterates over them
    cases = {
        label: _Case(scenario, engine, seeds_on(engine, scenario, seeds))
        for label, (scenario, engine) in combined.items()
    }
    # Seed after seed: if the runs are stopped, all scenarios have finished about the same number.
    rows = zip_longest(*(case.tasks(label, check) for label, case in cases.items()))
    tasks = [task for row in rows for task in row if task]
    tasks[0] = replace(tasks[0], on_glance=on_glance, fates=fates)
    workers = chosen_workers(jobs, len(tasks))
    limits = _limits(cases.values(), workers)
    refuse_too_much_memory(case.memory(limits[case.engine]) for case in cases.values())
    outcomes: dict[Task, Outcome] = {}
    try:
        _perform(tasks, outcomes, limits, progress)
    except KeyboardInterrupt:
        raise Interrupted(_finished(cases, tasks, outcomes), len(tasks)) from None
    finished = _finished(cases, tasks, outcomes)
    for task in tasks:
        if error := outcomes[task].error:
            raise RunFailed(f"run failed: {task.label}, seed {task.seed}: {error}", finished) from outcomes[task].cause
    return finished


def repeated(scenarios: Mapping[str, Scenario]) -> tuple[str, str] | None:
    """Return two labels of equal scenarios, whose results would be the same, or None if all valid scenarios differ."""
    seen: dict[tuple[str, str], str] = {}
    for label, scenario in scenarios.items():
        words = " ".join(label.removeprefix(KERNEL).split()) if label.startswith(KERNEL) else ""
        first = seen.setdefault((words, json.dumps(by_algorithm(scenario.resolved), sort_keys=True)), label)
        if first != label:
            return first, label
    return None


def _limits(cases: Iterable[_Case], workers: int) -> dict[Engine, int]:
    """Return the number of each engine's runs at a time, at most `workers`."""
    largest: dict[Engine, int] = {}
    for case in cases:
        largest[case.engine] = max(largest.get(case.engine, 0), memory(case.engine, case.scenario))
    return {engine: at_a_time(engine, workers, size) for engine, size in largest.items()}


def _perform(
    tasks: Sequence[Task], outcomes: dict[Task, Outcome], limits: Mapping[Engine, int], progress: Progress | None
) -> None:
    """Perform tasks in parallel, starting them in order, and collect their outcomes.

    Those of an engine that limits the number of runs at a time come last, with no other run beside them.
    """
    total = sum(task.cost for task in tasks)
    finished = reached = 0.0

    def on_done(task: Task, outcome: Outcome) -> None:
        nonlocal finished
        outcomes[task] = outcome
        finished += task.cost

    def watch(under_way: float) -> None:
        nonlocal reached
        if progress:
            # A task that ends at this moment may be counted twice, or not at all.
            reached = max(reached, min((finished + under_way) / total, 1.0))
            progress(reached)

    def limit(task: Task) -> int:
        return limits[task.engine]

    # The sort is stable: it keeps the order of tasks with the same limit.
    for jobs, group in groupby(sorted(tasks, key=limit, reverse=True), limit):
        threads.executor(jobs)(group, on_done, watch)
    if progress:
        progress(1.0)


def _finished(cases: Mapping[str, _Case], tasks: Sequence[Task], outcomes: Mapping[Task, Outcome]) -> Comparison:
    """Collect the finished runs in the order of the tasks."""
    finished: dict[str, list[tuple[Task, Outcome]]] = {label: [] for label in cases}
    for task in tasks:
        outcome = outcomes.get(task)
        if outcome and outcome.recording:
            finished[task.label].append((task, outcome))
    results = {}
    for label, pairs in finished.items():
        if pairs:
            results[label] = Result(
                scenario=cases[label].scenario,
                # Parsed here: in the threads, parsing would hold up the other runs.
                runs=[Run(**opened(outcome.payload, len(task.key))[1]) for task, outcome in pairs],
                recordings={task.seed: outcome.recording for task, outcome in pairs if outcome.recording},
                version=_core.__version__,
                not_modelled=pairs[0][1].not_modelled,
                engine_name=str(cases[label].engine),
            )
    return Comparison(results)


def require_scenario(scenario: object) -> None:
    """Raise TypeError if the argument is not a Scenario; for a string, explain how to load a scenario by name."""
    if not isinstance(scenario, Scenario):
        cure = f": load it with Scenario.load({scenario!r})" if isinstance(scenario, str) else ""
        raise TypeError(f"scenario = {scenario!r}: must be a Scenario{cure}")


def chosen_seeds(scenario: Scenario, seeds: int | Iterable[int] | None) -> list[int]:
    """Return the seeds to run, all different; `seeds` is as for `run`, and a number counts from the scenario's seed."""
    if seeds is None:
        return [scenario.seed]
    if not isinstance(seeds, Iterable):
        count = whole("seeds", seeds)
        if not 1 <= count <= MOST_SEEDS:
            raise ValueError(f"seeds = {count}: must be in [1, {MOST_SEEDS}]")
        chosen = list(range(scenario.seed, scenario.seed + count))
    else:
        chosen = [whole("seeds", seed) for seed in seeds]
        if not 1 <= len(chosen) <= MOST_SEEDS:
            raise ValueError(f"seeds: {len(chosen)} given; their number must be in [1, {MOST_SEEDS}]")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"seeds = {chosen}: must all be different")
    for extreme in (min(chosen), max(chosen)):
        scenario.with_(seed=extreme).check()  # the schema defines the valid seeds
    return chosen


def seeds_on(engine: Engine, scenario: Scenario, seeds: int | Iterable[int] | None) -> list[int]:
    """Return the seeds of an engine's runs: those of `chosen_seeds`, or one if its runs do not depend on them."""
    chosen = chosen_seeds(scenario, seeds)
    return chosen if engine.seeded else [scenario.seed]
