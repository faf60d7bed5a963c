"""The fluid model of a scenario: differential equations for windows and queue, integrated by the engine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

from aqmlab import _core
from aqmlab.execute.progress import OnProgress, Progress
from aqmlab.execute.task import Outcome, Task, advance, as_parquet, packed, scenario_of
from aqmlab.results.result import Result, Run
from aqmlab.results.series import Recording
from aqmlab.scenario import Scenario, require_scenario


def fluid(
    scenario: Scenario,
    *,
    tcp: Literal["padhye", "square-root"] = "padhye",
    slow_start: bool = True,
    thinned: bool = True,
    merged: bool = False,
    constant_rtt: bool = False,
    step: float | None = None,
    progress: OnProgress | None = None,
) -> Result:
    """Integrate the fluid model of a scenario: the mean behaviour that `run` simulates, without randomness.

    With ``tcp="square-root"``, ``slow_start=False``, ``thinned=False`` and ``constant_rtt=True`` these are equations
    (4) and (5) of the LRED paper.

    Parameters
    ----------
    scenario : Scenario
        The scenario to model: one managed queue, greedy or short TCP flows, UDP.
    tcp : str
        The relation of window and loss ratio: ``padhye`` includes time-outs, ``square-root`` does not.
    slow_start : bool
        Flows start in slow start until a first loss, instead of in congestion avoidance.
    thinned : bool
        Packets dropped early do not reach the queue.
    merged : bool
        Replace w(t) w(t - R) by w(t)^2, as papers do to linearise.
    constant_rtt : bool
        Keep the round-trip times as they are at the target, instead of letting them follow the queue.
    step : float
        The longest step in seconds, at most a quarter of the shortest round trip; by default that quarter or, if
        shorter, 10 ms or the step that the algorithm's own average requires.
    progress : callable
        Called from time to time with the `Progress`.

    Returns
    -------
    Result
        Metrics and series as from `run`, for a single run. ``not_modelled`` lists what the equations leave out, and
        which omissions matter for this run. Metrics that they do not describe (time-outs, percentiles of delays)
        are None.

    Raises
    ------
    ScenarioError
        If the scenario is not valid, or the equations cannot describe it; the message gives the reason.
    """
    require_scenario(scenario)
    scenario = scenario._reloaded()
    options: dict[str, Any] = {
        "tcp": tcp,
        "slow_start": slow_start,
        "thinned": thinned,
        "merged": merged,
        "constant_rtt": constant_rtt,
    }
    if step is not None:
        if not math.isfinite(step):
            raise _core.ScenarioError(f"fluid option step = {step}: must be in [1e-7, 1] s")
        options["step"] = step
    model = _core.Fluid(scenario._core, json.dumps(options))

    def watch(fraction: float) -> bool:
        if progress:
            progress(Progress(fraction, int(fraction >= 1.0), 1))
        return True

    advance(model, scenario.duration, watch)
    run = Run(**json.loads(model.results()))
    recordings = {run.seed: Recording(model.series(), None)}
    changed = [f"{name}={value}" for name, value in options.items() if value != (fluid.__kwdefaults__ or {})[name]]
    return Result(
        scenario,
        [run],
        recordings,
        _core.__version__,
        _left_out(scenario._core, model),
        "fluid",
        engine_version=",".join([_core.fluid_version, *changed]),  # no engine has the options of this function
    )


def version(options: Mapping[str, str]) -> str:
    """Return the version of the equations and their integration."""
    return _core.fluid_version


def check(scenario: Scenario, options: Mapping[str, str]) -> None:
    """Raise ScenarioError if the scenario is not valid, or the equations cannot describe it."""
    scenario.check()
    scenario._core.fluid_model()


def perform(task: Task, options: Mapping[str, str], watch: Callable[[float], bool]) -> Outcome | None:
    """Integrate a task's scenario as `fluid` does by default; return None if `watch` has returned False."""
    scenario = scenario_of(task)
    model = _core.Fluid(scenario, "{}")
    if not advance(model, scenario.duration, watch):
        return None
    return Outcome(
        packed(task, model.results()),
        series=as_parquet(model.series()) if task.series else b"",
        recording=Recording(model.series(), None) if task.recording else None,
        not_modelled=_left_out(scenario, model),
    )


def _left_out(scenario: _core.Scenario, model: _core.Fluid) -> tuple[str, ...]:
    """List what the equations leave out, and which omissions matter for this run."""
    return (*json.loads(scenario.fluid_model())["not_modelled"], *model.remarks())
