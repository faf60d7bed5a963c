"""The Linux engine: a scenario's traffic from the sockets of a real kernel, through our own router."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NoReturn

from aqmlab.execute.engine import EngineUnavailable

if TYPE_CHECKING:
    from aqmlab.execute.task import Outcome, Task
    from aqmlab.scenario import Scenario


def version(options: Mapping[str, str]) -> str:
    """Identify the kernel, the programs and the clock, on which results depend; it is asked for every run.

    Raise `EngineUnavailable` if one of them is missing.
    """
    _unavailable(options)


def check(scenario: Scenario, options: Mapping[str, str]) -> None:
    """Raise ScenarioError for a scenario that the kernel cannot have, `EngineUnavailable` if programs are missing."""
    scenario.check()
    _unavailable(options)


def perform(task: Task, options: Mapping[str, str], watch: Callable[[float], bool]) -> Outcome | None:
    """Perform a task; return None if `watch`, which is called with the fraction done, has returned False.

    The payload is that of the packet engine: a metric that cannot be measured is there, and None. The recording is
    there if the task asks for it, even without any series. An error may be raised.
    """
    _unavailable(options)


def _unavailable(options: Mapping[str, str]) -> NoReturn:
    raise EngineUnavailable(
        f"the linux engine's programs are not built: aqmlab-router and aqmlab-traffic, for clock={options['clock']}: "
        "choose the packet engine"
    )
