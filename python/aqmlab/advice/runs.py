"""The runs of a race, kept in a store: those that it has are not repeated."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aqmlab.execute import threads
from aqmlab.execute.engine import PACKETS
from aqmlab.execute.task import Outcome, Task, digest, key, sources
from aqmlab.runs.memory import chosen_workers
from aqmlab.runs.store import Store
from aqmlab.runs.until import OutOfTime
from aqmlab.scenario import Scenario

Progress = Callable[[float], None]
Rows = Mapping[bytes, Mapping[str, float | None]]


class RunsFailed(RuntimeError):  # noqa: N818  the run failed; the calling program has no error
    """Raised when a run aborts; the finished runs are in the store."""


@dataclass(frozen=True)
class Course:
    """A scenario of a race, with its name in messages, its text and its digest."""

    name: str
    scenario: Scenario
    text: str
    digest: str
    cost: float

    @classmethod
    def of(cls, name: str, scenario: Scenario) -> Course:
        """Check a scenario."""
        scenario.check()
        return cls(name, scenario, scenario.to_toml(), digest(scenario), PACKETS.work(scenario))

    def key(self, seed: int) -> bytes:
        """Return the key of a run in the store."""
        return key(self.digest, seed)

    def task(self, seed: int) -> Task:
        """Return a run."""
        own = sources(self.scenario)
        return Task(self.text, seed, self.key(seed), f"{self.name}, seed {seed}", self.cost, sources=own)


class Runs:
    """The runs in a folder, and a limit on the time of those that are missing.

    `jobs` is the number of runs at a time, `within` the limit in s, `progress` a function that takes the part of it
    that has passed.
    """

    def __init__(
        self, folder: Path, jobs: int | None = None, within: float | None = None, progress: Progress | None = None
    ) -> None:
        self._store = Store(folder)
        self._jobs = jobs
        self._within = within
        self._progress = progress
        self._began = time.monotonic()
        self._rows: dict[bytes, Mapping[str, float | None]] = {}
        self.simulated = 0
        """The runs of this call."""

    @property
    def rows(self) -> Rows:
        """The metrics of the runs that were asked for and are there, by key."""
        return self._rows

    def perform(self, wanted: Iterable[tuple[Course, int]]) -> BaseException | None:
        """Do those of the courses and seeds that are missing, in their order; return what stopped them, if it did.

        That is an `OutOfTime`, a `KeyboardInterrupt`, or the `RunsFailed` of the first run that aborted.
        """
        asked = {course.key(seed): (course, seed) for course, seed in wanted}
        self._take(asked.keys() - self._rows.keys())
        missing = [course.task(seed) for one, (course, seed) in asked.items() if one not in self._rows]
        stopped: BaseException | None = None
        if missing:
            self._store.prove(False)
            failed: list[str] = []
            try:
                threads.executor(chosen_workers(self._jobs, len(missing)))(
                    iter(missing), lambda task, outcome: self._keep(task, outcome, failed), self._watch
                )
            except (OutOfTime, KeyboardInterrupt) as reason:
                stopped = reason
            self._store.close()
            self._take(asked.keys() - self._rows.keys())
            if failed and stopped is None:
                stopped = RunsFailed(f"run failed: {failed[0]}")
        return stopped

    def _keep(self, task: Task, outcome: Outcome, failed: list[str]) -> None:
        if outcome.error:
            failed.append(f"{task.label}: {outcome.error}")
        else:
            self._store.add(outcome.payload)
            self.simulated += 1

    def _take(self, keys: Iterable[bytes]) -> None:
        """Read the metrics of stored runs."""
        wanted = set(keys)
        if wanted and self._store.finished(wanted):
            self._rows.update((row.pop("key"), row) for row in self._store.frame(wanted).iter_rows(named=True))

    def _watch(self, _: float) -> None:
        if self._within is None:
            return
        passed = (time.monotonic() - self._began) / self._within
        if passed > 1:
            raise OutOfTime
        if self._progress:
            self._progress(passed)
