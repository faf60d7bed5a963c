"""Runs of several scenarios in parallel, on all cores."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, zip_longest
from pathlib import Path

from aqmlab import _core
from aqmlab.execute import threads
from aqmlab.execute.engine import PACKETS, Engine
from aqmlab.execute.glance import Glance
from aqmlab.execute.progress import OnProgress, Progress
from aqmlab.execute.task import Outcome, Task, opened
from aqmlab.results.comparison import Comparison
from aqmlab.results.result import Result, Run
from aqmlab.runs import long_run
from aqmlab.runs.memory import Runs, at_a_time, chosen_workers, known_memory, may_fill, refuse_too_much_memory
from aqmlab.runs.until import OutOfTime
from aqmlab.scenario import Scenario, Settings

UNRECORDED: Settings = {"record.series": False, "record.cwnd": "auto"}
"""The settings of a scenario that records no series, and has the same results."""


_FEW = 100
"""More flows than these are what a run needs memory for."""


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


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario, the engine that performs it, the seeds of its runs, and the batches of each (see `Task`)."""

    scenario: Scenario
    engine: Engine
    seeds: Sequence[int]
    batches: int = 0

    def tasks(self, label: str, check: bool) -> Iterable[Task]:
        """Yield a task for each run."""
        cost = self.engine.work(self.scenario)
        for seed in self.seeds:
            yield Task(
                self.scenario._core,
                seed,
                b"",
                label,
                cost,
                recording=True,
                check=check,
                engine=self.engine,
                batches=self.batches,
            )

    def memory(self, at_a_time: int, least: int) -> Runs:
        """Return the memory of its runs, `at_a_time` of which are under way; the series of all are kept.

        A run of the packet engine takes `least` bytes, or those that are known if these are more.
        """
        bare = known_memory(self.engine, self.scenario.with_(UNRECORDED))
        entry = max(self.scenario.resolved["traffic"], key=lambda entry: entry.get("count", 1))
        key = f"traffic.{entry['name']}.count" if entry.get("count", 1) > _FEW else "the buffer"
        kept = known_memory(self.engine, self.scenario) - bare
        return Runs(len(self.seeds), at_a_time, max(bare, least if self.engine == PACKETS else 0), kept, key)


def performed(
    cases: Mapping[str, Case],
    jobs: int | None = None,
    progress: OnProgress | None = None,
    check: bool = False,
    on_glance: Callable[[Glance], None] | None = None,
    fates: Path | None = None,
) -> tuple[Comparison, BaseException | None]:
    """Perform the runs of all cases, by label; return the results of the finished ones, and the error that ended them.

    The error is `Interrupted`, `RunFailed`, or the `OutOfTime` that `progress` has raised.
    `on_glance` is called with the state of the first run while it is under way, and `fates` is the file for the fate
    of its packets (see `Task`).
    """
    # Seed after seed: if the runs are stopped, all scenarios have finished about the same number.
    rows = zip_longest(*(case.tasks(label, check) for label, case in cases.items()))
    tasks = [task for row in rows for task in row if task]
    tasks[0] = replace(tasks[0], on_glance=on_glance, fates=fates)
    workers = chosen_workers(jobs, len(tasks))
    limits = _limits(cases.values(), workers)
    least = _least(cases.values(), workers)
    refuse_too_much_memory(case.memory(limits[case.engine], least) for case in cases.values())
    outcomes: dict[Task, Outcome] = {}
    try:
        _perform(tasks, outcomes, limits, progress)
    except OutOfTime as over:
        return _finished(cases, tasks, outcomes), over
    except KeyboardInterrupt:
        finished = _finished(cases, tasks, outcomes)
        return finished, Interrupted(finished, len(tasks))
    finished = _finished(cases, tasks, outcomes)
    for task in tasks:
        if error := outcomes[task].error:
            failed = RunFailed(f"run failed: {task.label}, seed {task.seed}: {error}", finished)
            failed.__cause__ = outcomes[task].cause
            return finished, failed
    return finished, None


def _limits(cases: Iterable[Case], workers: int) -> dict[Engine, int]:
    """Return the number of each engine's runs at a time, at most `workers`."""
    largest: dict[Engine, int] = {}
    for case in cases:
        largest[case.engine] = max(largest.get(case.engine, 0), known_memory(case.engine, case.scenario))
    return {engine: at_a_time(engine, workers, size) for engine, size in largest.items()}


def _least(cases: Iterable[Case], workers: int) -> int:
    """Return the bytes that each run of the packet engine takes for certain, whose estimate is within a factor of two.

    That of the most work stands for all: each trial costs as much as a small run. There is none where `workers` runs
    cannot fill the memory.
    """
    tried = [case for case in cases if case.engine == PACKETS]
    if not tried:
        return 0
    largest = max((case.scenario for case in tried), key=PACKETS.work)
    known = sum(len(case.seeds) * known_memory(case.engine, case.scenario) for case in tried)
    return largest.with_(UNRECORDED)._memory // 2 if may_fill(known, workers * PACKETS.work(largest)) else 0


def _perform(
    tasks: Sequence[Task], outcomes: dict[Task, Outcome], limits: Mapping[Engine, int], progress: OnProgress | None
) -> None:
    """Perform tasks in parallel, starting them in order, and collect their outcomes.

    Those of an engine that limits the number of runs at a time come last, with no other run beside them.
    """
    total = sum(task.cost for task in tasks)
    finished = reached = 0.0
    failed = 0

    def on_done(task: Task, outcome: Outcome) -> None:
        nonlocal finished, failed
        outcomes[task] = outcome
        finished += task.cost
        failed += bool(outcome.error)

    def report() -> None:
        if progress:
            progress(Progress(reached, len(outcomes) - failed, len(tasks), failed))

    def watch(under_way: float) -> None:
        nonlocal reached
        # A task that ends at this moment may be counted twice, or not at all.
        reached = max(reached, min((finished + under_way) / total, 1.0))
        report()

    def limit(task: Task) -> int:
        return limits[task.engine]

    # The sort is stable: it keeps the order of tasks with the same limit.
    for jobs, group in groupby(sorted(tasks, key=limit, reverse=True), limit):
        threads.executor(jobs)(group, on_done, watch)
    reached = 1.0
    report()


def _finished(cases: Mapping[str, Case], tasks: Sequence[Task], outcomes: Mapping[Task, Outcome]) -> Comparison:
    """Collect the finished runs in the order of the tasks."""
    finished: dict[str, list[tuple[Task, Outcome]]] = {label: [] for label in cases}
    for task in tasks:
        outcome = outcomes.get(task)
        if outcome and outcome.recording:
            finished[task.label].append((task, outcome))
    results = {}
    for label, pairs in finished.items():
        if pairs:
            # Parsed here: in the threads, parsing would hold up the other runs.
            runs = [Run(**opened(outcome.payload, len(task.key))[1]) for task, outcome in pairs]
            results[label] = Result(
                scenario=cases[label].scenario,
                runs=runs,
                recordings={task.seed: outcome.recording for task, outcome in pairs if outcome.recording},
                version=_core.__version__,
                not_modelled=pairs[0][1].not_modelled,
                engine_name=str(cases[label].engine),
                batches=long_run.intervals(runs[0].metrics, pairs[0][1].batches) if cases[label].batches else {},
                engine_version=cases[label].engine.version,
            )
    return Comparison(results)
