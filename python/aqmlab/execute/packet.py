"""The packet engine: it simulates every packet."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace

from aqmlab import _core
from aqmlab.execute.glance import Glance
from aqmlab.execute.task import Outcome, Task, advance, as_parquet, packed, scenario_of
from aqmlab.files import replacing
from aqmlab.results.series import Recording
from aqmlab.scenario import Scenario

_SMALL = 20_000
"""A run of fewer packets is small: it takes some ten milliseconds."""

_LAST = threading.local()
"""Each thread's last small run, kept until the next run has its memory: reuse saves a third of a small run's time."""


def version(options: Mapping[str, str]) -> str:
    """Return the version of the simulator."""
    return _core.engine_version


def check(scenario: Scenario, options: Mapping[str, str]) -> None:
    """Raise ScenarioError if the scenario is not valid, or has programs."""
    scenario.check()
    scenario._core.check_computed()


def perform(task: Task, options: Mapping[str, str], watch: Callable[[float], bool]) -> Outcome | None:
    """Simulate a task; return None if `watch`, which is called with the fraction done, has returned False."""
    if not task.fates:
        return _perform(task, watch)
    with suppress(_Stopped), replacing(task.fates) as file:
        outcome = _perform(replace(task, fates=file), watch)
        if outcome is None:
            raise _Stopped  # half a file of packets is none
        return outcome
    return None


class _Stopped(Exception):  # noqa: N818  not an error
    """Raised where a run that writes a file has been stopped."""


def _perform(task: Task, watch: Callable[[float], bool]) -> Outcome | None:
    try:
        return _attempted(task, watch)
    except _core.StackError as error:
        return Outcome(error=str(error))


def _attempted(task: Task, watch: Callable[[float], bool]) -> Outcome | None:
    scenario = scenario_of(task)
    if _calls_python(task, scenario):
        return _interpreted(task, scenario, watch)
    try:
        return _performed(task, scenario, watch, False)
    except _core.CompiledCodeError:
        outcome = _interpreted(task, scenario, watch)  # raises the exception with its line, or has none
        _give_up(scenario)
        return outcome


def _calls_python(task: Task, scenario: _core.Scenario) -> bool:
    """Return whether a run calls a user's own disciplines in Python, and not as compiled code."""
    algorithms = scenario.own_algorithms
    if not algorithms:
        return False
    from aqmlab.own.compiled import interpreted

    return interpreted(algorithms, task.cost)


def _give_up(scenario: _core.Scenario) -> None:
    """Let a scenario's own disciplines run in Python from now on."""
    from aqmlab.own.compiled import give_up
    from aqmlab.own.source import declared

    for one in scenario.own_algorithms:
        give_up(declared(*one))


def _interpreted(task: Task, scenario: _core.Scenario, watch: Callable[[float], bool]) -> Outcome | None:
    """Simulate a task whose disciplines are called in Python."""
    from aqmlab.own.running import interruptible

    with interruptible():
        return _performed(task, scenario, watch, True)


def _performed(
    task: Task, scenario: _core.Scenario, watch: Callable[[float], bool], interpreted: bool
) -> Outcome | None:
    """Simulate a task; a user's own disciplines are called in Python, or compiled if they can be."""
    simulation = _core.Simulation(scenario, task.seed, task.check, task.fates, interpreted)
    batches: list[tuple[Glance, int]] = []
    if task.batches:
        going = _advance_in_batches(simulation, scenario, task.batches, watch, batches)
    elif task.on_glance:
        going = _advance_in_steps(simulation, scenario.duration, watch, task.on_glance)
    else:
        going = advance(simulation, scenario.duration, watch)
    if not going:
        return None
    if task.check and (violations := simulation.violations()):
        return Outcome(error=f"the accounts of its packets do not balance: {'; '.join(violations)}")
    if task.cost < _SMALL:
        _LAST.simulation = simulation
    recording = None
    if task.recording:
        recording = Recording(simulation.series(), simulation.cwnd(), simulation.flows(), simulation.qlogs())
    return Outcome(
        packed(task, simulation.results()),
        series=as_parquet(simulation.flows() or simulation.series()) if task.series else b"",
        recording=recording,
        batches=tuple(batches),
    )


def _advance_in_batches(
    simulation: _core.Simulation,
    scenario: _core.Scenario,
    count: int,
    watch: Callable[[float], bool],
    batches: list[tuple[Glance, int]],
) -> bool:
    """Simulate as `advance` does, and note the state at the ends of the warm-up and of each batch."""
    duration, warmup = scenario.duration, scenario.warmup
    for batch in range(count + 1):
        # The last is the duration itself, without rounding.
        until = duration if batch == count else warmup + (duration - warmup) * batch / count
        if not simulation.advance(until, lambda now: watch(now / duration)):
            return False
        text, delivered = simulation.glance(), simulation.delivered()
        if text is None or delivered is None:
            return False
        batches.append((Glance.read(text), delivered))
    return watch(1.0)


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
