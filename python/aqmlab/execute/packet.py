"""The packet engine: it simulates every packet."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from aqmlab import _core
from aqmlab.execute.task import Outcome, Task, advance, as_parquet, packed, scenario_of
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
    """Raise ScenarioError if the scenario is not valid."""
    scenario.check()


def perform(task: Task, options: Mapping[str, str], watch: Callable[[float], bool]) -> Outcome | None:
    """Simulate a task; return None if `watch`, which is called with the fraction done, has returned False."""
    scenario = scenario_of(task)
    simulation = _core.Simulation(scenario, task.seed, task.check)
    if not advance(simulation, scenario.duration, watch):
        return None
    if task.check and (violations := simulation.violations()):
        return Outcome(error=f"the accounts of its packets do not balance: {'; '.join(violations)}")
    if task.cost < _SMALL:
        _LAST.simulation = simulation
    return Outcome(
        packed(task, simulation.results()),
        series=as_parquet(simulation.series()) if task.series else b"",
        recording=Recording(simulation.series(), simulation.cwnd()) if task.recording else None,
    )
