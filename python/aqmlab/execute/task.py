"""One run: its task, its outcome, and the key that identifies it."""

from __future__ import annotations

import hashlib
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from aqmlab import _core
from aqmlab.execute.glance import Glance
from aqmlab.files import parquet
from aqmlab.results.series import Recording
from aqmlab.scenario import Scenario

FORMAT = 1
"""The version of the payload's format; runs of another version are not read."""

_SMALL = 20_000
"""A run of fewer packets is small: it takes some ten milliseconds."""

_NOT_IN_RESULTS = {"record": ("step", "series", "cwnd")}
"""The scenario's keys, other than title and seed, that do not affect its results."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run to perform.

    `scenario` is TOML. If the task stays in this process it may be a parsed scenario, whose traces are not read again.
    `key` identifies the run in a store (see `key`), and is empty for a parsed scenario. `label` names the run in
    messages, and `cost` is its work: an estimated number of packets.

    The outcome always has the results. If `series` is true it also has the recorded queues and signals as a file; if
    `recording` is true instead, it has all recorded series, in the engine's memory. If `check` is true every packet is
    accounted for, and the run fails if the accounts do not balance.

    `on_glance`, if set, is called from the thread of the run with the state of the observed link, about ten times a
    second and at least a hundred times in all. Such a task cannot be sent to another process.
    """

    scenario: str | _core.Scenario
    seed: int
    key: bytes
    label: str
    cost: float
    series: bool = False
    recording: bool = False
    check: bool = False
    on_glance: Callable[[Glance], None] | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a task.

    `payload` has the key and the compressed results, as the store keeps them; it is empty if the run failed. `error` is
    the reason of a failure, otherwise empty. `series` has queues and signals over time as a Parquet file (see
    `Result.series_of`) and `recording` all recorded series, each if the task asks for it. A recording cannot be sent to
    another process.
    """

    payload: bytes = b""
    error: str = ""
    series: bytes = b""
    recording: Recording | None = None
    cause: BaseException | None = field(default=None, compare=False)

    def __getstate__(self) -> tuple[object, ...]:
        # The fields in their order, without the cause: not every exception can go to another process.
        return self.payload, self.error, self.series, self.recording, None


Executor = Callable[[Iterator[Task], Callable[[Task, Outcome], None], Callable[[float], None]], None]
"""A function that performs tasks, called as ``executor(tasks, on_done, watch)``.

It takes `tasks` when it has room for them, from one thread at a time. It calls ``on_done(task, outcome)`` once per
task, from any thread, but from one at a time. About ten times a second it calls ``watch(under_way)`` from the thread
that called it, with the work done so far of the tasks under way (0 if unknown). It returns when all tasks are done. If
`watch`, `on_done` or `tasks` raises an error, or the user presses Ctrl-C, it stops the tasks under way and raises that
error.
"""


def digest(scenario: Scenario) -> str:
    """Hash everything that determines a scenario's results, except seed and engine.

    Return the SHA-256, in hexadecimal, of its canonical JSON with every default filled in. A trace counts by the
    packets that were read, not by its path or present content. Raise ScenarioError if the scenario is not valid.
    """
    resolved = scenario.resolved
    for name in ("title", "seed"):
        resolved.pop(name, None)
    for table, names in _NOT_IN_RESULTS.items():
        for name in names:
            resolved[table].pop(name, None)
    traces = iter(scenario.core.traces())
    for entry in resolved["traffic"]:
        if entry["kind"] == "trace":
            entry["file"] = hashlib.sha256(next(traces)).hexdigest()
    return _sha256(resolved).hex()


def key(scenario: str, seed: int) -> bytes:
    """Return the key of a run: SHA-256 of the canonical JSON of the scenario's `digest`, seed, engine and format."""
    return _sha256({"engine": _core.engine_version, "format": FORMAT, "scenario": scenario, "seed": seed})


def _sha256(document: dict[str, Any]) -> bytes:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).digest()


_LAST = threading.local()
"""Each thread's last small run, kept until the next run has its memory: reuse saves a third of a small run's time."""


class ScenarioChanged(ValueError):  # noqa: N818  the file changed
    """Raised when a scenario now means another run than when its task was made."""

    def __init__(self) -> None:
        super().__init__("a trace has changed since the runs were planned; rerunning uses its present content")


def scenario_of(task: Task) -> _core.Scenario:
    """Return the scenario of a task; one that is parsed from TOML is verified against the task's key.

    Raise ScenarioError if it is not valid here, ScenarioChanged if it now means another run.
    """
    if isinstance(task.scenario, _core.Scenario):
        return task.scenario
    for _ in range(2):
        scenario, name = _read(task.scenario)
        if key(name, task.seed) == task.key:
            return scenario
        _read.cache_clear()  # a trace may have changed since it was read
    raise ScenarioChanged


@lru_cache(maxsize=256)
def _read(text: str) -> tuple[_core.Scenario, str]:
    """Parse a scenario; return it with its digest."""
    scenario = Scenario.parse(text, "<task>")
    return scenario.core, digest(scenario)


def simulate(task: Task, watch: Callable[[float], bool] | None = None) -> Outcome | None:
    """Perform a task; return its outcome, also if it failed, or None if it was stopped.

    About ten times a second `watch` is called with the fraction done; the run stops when it returns False.
    """
    try:
        scenario = scenario_of(task)
        simulation = _core.Simulation(scenario, task.seed, task.check)
        watch = watch or (lambda _: True)
        if task.on_glance:
            going = _advance_in_steps(simulation, scenario.duration, watch, task.on_glance)
        else:
            going = advance(simulation, scenario.duration, watch)
        if not going:
            return None
        if task.check and (violations := simulation.violations()):
            return Outcome(error=f"the accounts of its packets do not balance: {'; '.join(violations)}")
        if task.cost < _SMALL:
            _LAST.simulation = simulation
        return Outcome(
            task.key + zlib.compress(simulation.results().encode(), 1),
            series=_parquet(simulation.series()) if task.series else b"",
            recording=Recording(simulation.series(), simulation.cwnd()) if task.recording else None,
        )
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # a panic of the engine is not an Exception
        return Outcome(error=f"{type(error).__name__}: {error}", cause=error)


def _parquet(columns: _core.ArrowStream | None) -> bytes:
    import polars

    return parquet(polars.DataFrame(columns))


def advance(simulation: _core.Simulation | _core.Fluid, duration: float, watch: Callable[[float], bool]) -> bool:
    """Simulate until `duration` (simulated seconds); return whether the end was reached.

    `watch` is called with the fraction done: from the set-up on about ten times a second, and at the end. The run stops
    when it returns False.
    """
    return simulation.advance(duration, lambda now: watch(now / duration)) and watch(1.0)


_STEP = 0.1
"""Seconds that a step of a run takes between two glances at it."""
_STEPS = 200
"""The least number of steps, for a picture of a short run, without those at its start."""


def _advance_in_steps(
    simulation: _core.Simulation, duration: float, watch: Callable[[float], bool], on_glance: Callable[[Glance], None]
) -> bool:
    """Simulate as `advance` does, in steps, and call `on_glance` after each; the results are the same."""
    # The first step is tiny, as nothing is known about the run's speed. Steps then at most double.
    until, step = 0.0, duration * 1e-6
    while until < duration:
        began = time.monotonic()
        until = min(until + step, duration)
        if not simulation.advance(until, lambda now: watch(now / duration)):
            return False
        if text := simulation.glance():
            on_glance(Glance.read(text))
        if not watch(until / duration):  # a short step does not ask
            return False
        took = max(time.monotonic() - began, 1e-9)
        step = min(step * min(max(_STEP / took, 0.5), 2.0), duration / _STEPS)
    return True


_KEY_BYTES = hashlib.sha256().digest_size


def opened(payload: bytes, key_bytes: int = _KEY_BYTES) -> tuple[bytes, dict[str, Any]]:
    """Return the key and the run's document (see `Run.document`) from a payload of an `Outcome` or of the store.

    `key_bytes` is the length of the task's key: 0 if the task has none.
    """
    document: dict[str, Any] = json.loads(zlib.decompress(payload[key_bytes:]))
    return payload[:key_bytes], document
