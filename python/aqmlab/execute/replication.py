"""Running scenarios: replications in parallel on all cores."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from aqmlab import _core
from aqmlab.execute import threads
from aqmlab.execute.glance import Glance
from aqmlab.execute.task import Outcome, Task, opened
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import Result, Run
from aqmlab.results.series import Recording
from aqmlab.scenario import Scenario, Settings, disciplines

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
) -> Result:
    """Simulate a scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    seeds : int or iterable of int
        The number of replications, which have the seeds s, s + 1, … where s is the scenario's seed; or the seeds
        themselves. By default one run with the scenario's seed.
    jobs : int
        The number of runs at a time; by default the number of cores.
    progress : callable
        Called from time to time, from the calling thread, with the fraction of the work done.
    check : bool
        Account for every packet, and fail if the account or the metrics are impossible; this takes time and changes no
        result.

    Returns
    -------
    Result
        Metrics and series.

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    MemoryError
        If the runs would need more memory than is free.
    RunFailed
        If a run aborts.
    Interrupted
        If the user presses Ctrl-C; it carries the finished runs.
    """
    require_scenario(scenario)
    return compare_scenarios({scenario.aqm: scenario}, seeds, jobs, progress, check)[scenario.aqm]


def compare(
    scenario: Scenario,
    aqms: Iterable[str],
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Comparison:
    """Simulate a scenario with several queue disciplines.

    Parameters
    ----------
    scenario : Scenario
        The scenario to simulate.
    aqms : iterable of str
        The disciplines, each ``name`` or ``name:key=value,key=value``; these strings label the results. ``all`` stands
        for every name in `aqmlab.disciplines`.
    seeds : int or iterable of int
        As for `run`; all disciplines have the same seeds.
    jobs : int
        The number of runs at a time; by default the number of cores.
    progress : callable
        Called from time to time, from the calling thread, with the fraction of the work done.
    check : bool
        Account for every packet, and fail if the account or the metrics are impossible; this takes time and changes no
        result.

    Returns
    -------
    Comparison
        A result for each discipline.

    Raises
    ------
    ScenarioError
        If the scenario is not valid with one of the disciplines.
    MemoryError
        If the runs would need more memory than is free.
    RunFailed
        If a run aborts.
    Interrupted
        If the user presses Ctrl-C; it carries the finished runs.
    """
    require_scenario(scenario)
    return compare_scenarios(
        {spec: scenario.with_aqm(spec) for spec in spelled_out(aqms)}, seeds, jobs, progress, check
    )


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


def compare_scenarios(
    scenarios: Mapping[str, Scenario],
    seeds: int | Iterable[int] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    check: bool = False,
    on_glance: Callable[[Glance], None] | None = None,
) -> Comparison:
    """Simulate several scenarios, by label; the other arguments are those of `run`.

    `on_glance` is called with the state of the first run while it is under way (see `Task`).
    """
    if not scenarios:
        raise ValueError("nothing to simulate")
    scenarios = {label: scenario.anew() for label, scenario in scenarios.items()}
    for scenario in scenarios.values():
        scenario.check()
    if same := repeated(scenarios):
        raise ValueError(f"{same[0]} and {same[1]} are the same")
    if isinstance(seeds, Iterable):
        seeds = list(seeds)  # each scenario iterates over them
    chosen = {label: chosen_seeds(scenario, seeds) for label, scenario in scenarios.items()}
    costs = {label: max(scenario.packets, 1.0) for label, scenario in scenarios.items()}
    # Seed after seed: if the runs are stopped, all scenarios have finished about the same number.
    tasks = [
        Task(scenarios[label].core, seed, b"", label, costs[label], recording=True, check=check)
        for row in zip(*chosen.values(), strict=True)
        for label, seed in zip(chosen, row, strict=True)
    ]
    tasks[0] = replace(tasks[0], on_glance=on_glance)
    workers = chosen_workers(jobs, len(tasks))
    _refuse_too_much_memory(scenarios.values(), len(tasks) // len(scenarios), workers)
    outcomes: dict[Task, Outcome] = {}
    try:
        _perform(tasks, outcomes, workers, progress)
    except KeyboardInterrupt:
        raise Interrupted(_finished(scenarios, tasks, outcomes), len(tasks)) from None
    finished = _finished(scenarios, tasks, outcomes)
    for task in tasks:
        if error := outcomes[task].error:
            raise RunFailed(f"run failed: {task.label}, seed {task.seed}: {error}", finished) from outcomes[task].cause
    return finished


def repeated(scenarios: Mapping[str, Scenario]) -> tuple[str, str] | None:
    """Return two labels of equal scenarios, whose results would be the same, or None if all valid scenarios differ."""
    seen: dict[str, str] = {}
    for label, scenario in scenarios.items():
        first = seen.setdefault(json.dumps(scenario.resolved, sort_keys=True), label)
        if first != label:
            return first, label
    return None


def _perform(tasks: Sequence[Task], outcomes: dict[Task, Outcome], workers: int, progress: Progress | None) -> None:
    """Perform tasks in parallel, starting them in order, and collect their outcomes."""
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

    threads.executor(workers)(iter(tasks), on_done, watch)
    if progress:
        progress(1.0)


def _finished(scenarios: Mapping[str, Scenario], tasks: Sequence[Task], outcomes: Mapping[Task, Outcome]) -> Comparison:
    """Collect the finished runs in the order of the tasks."""
    runs: dict[str, list[Run]] = {label: [] for label in scenarios}
    recordings: dict[str, dict[int, Recording]] = {label: {} for label in scenarios}
    for task in tasks:
        outcome = outcomes.get(task)
        if outcome and outcome.recording:
            # Parsed here: in the threads, parsing would hold up the other runs.
            runs[task.label].append(Run(**opened(outcome.payload, len(task.key))[1]))
            recordings[task.label][task.seed] = outcome.recording
    return Comparison(
        {
            label: Result(scenario, runs[label], recordings[label], _core.__version__)
            for label, scenario in scenarios.items()
            if runs[label]
        }
    )


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
        count = _whole("seeds", seeds)
        if not 1 <= count <= MOST_SEEDS:
            raise ValueError(f"seeds = {count}: must be in [1, {MOST_SEEDS}]")
        chosen = list(range(scenario.seed, scenario.seed + count))
    else:
        chosen = [_whole("seeds", seed) for seed in seeds]
        if not 1 <= len(chosen) <= MOST_SEEDS:
            raise ValueError(f"seeds: {len(chosen)} given; their number must be in [1, {MOST_SEEDS}]")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"seeds = {chosen}: must all be different")
    for extreme in (min(chosen), max(chosen)):
        scenario.with_(seed=extreme).check()  # the schema defines the valid seeds
    return chosen


def _whole(name: str, value: object) -> int:
    """Convert a whole number of any type, NumPy's included; raise TypeError for anything else."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name} = {value!r}: must be a whole number")
    return operator.index(value)


def chosen_workers(jobs: int | None, tasks: int) -> int:
    """Return the number of runs at a time: `jobs` or, by default, the number of cores, but at most `tasks`."""
    if jobs is not None:
        jobs = _whole("jobs", jobs)
        if jobs < 1:
            raise ValueError(f"jobs = {jobs}: must be at least 1")
    return min(jobs or threads.cores(), tasks)


def _refuse_too_much_memory(scenarios: Iterable[Scenario], seeds: int, workers: int) -> None:
    """Raise MemoryError if the largest simultaneous runs, and the series of all runs, exceed the free memory."""
    import psutil

    kept, passing = 0, []
    for scenario in scenarios:
        bare = scenario.with_(_UNRECORDED).memory
        kept += (scenario.memory - bare) * seeds
        passing += [bare] * min(seeds, workers)
    need = kept + sum(sorted(passing)[-workers:])
    free = psutil.virtual_memory().available
    if need > free:
        runs = f" for {workers} simultaneous runs" if workers > 1 else ""
        remedy = f"use fewer {'jobs' if workers > 1 else 'flows'}"
        if kept > free / 2:
            remedy += ", or record no series: those of all runs are kept in memory"
        raise MemoryError(
            f"about {need / 1e9:.1f} GB of memory are needed{runs}, and {free / 1e9:.1f} GB are free: {remedy}"
        )
