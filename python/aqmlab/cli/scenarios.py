"""Scenarios as command lines describe them."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from aqmlab.reports.parts import Choice
    from aqmlab.scenario import Scenario

STDIN = "-"
"""The name of the standard input in place of a scenario's file."""


def loaded(name: str) -> Scenario:
    """Load the scenario of a command from a name, as for `Scenario.load`, or from `STDIN`; it is not yet checked."""
    from aqmlab import Scenario, ScenarioError, _core

    if name != STDIN:
        return Scenario.load(name)
    data = sys.stdin.buffer.read(_core.longest + 1)
    try:
        return Scenario.parse(data.decode(), "<stdin>")
    except UnicodeDecodeError:
        raise ScenarioError("<stdin>: not UTF-8 text: save it as UTF-8") from None


def seeded(name: str, seed: int | None, seeds: int | None, warmup: str | None = None) -> Scenario:
    """Load a scenario and set its seed; refuse ``--seed`` with ``--seeds``. A warm-up to be found replaces its own."""
    from aqmlab.runs.warmup import replaced

    if seed is not None and seeds is not None:
        raise typer.BadParameter("give --seed or --seeds, not both", param_hint="--seeds")
    scenario = replaced(loaded(name), warmup)
    return scenario if seed is None else scenario.with_(seed=seed)


def refuse_both(settings: Sequence[str] | None, options: Mapping[str, tuple[str, object]]) -> None:
    """Refuse a setting of a path that an option sets as well, given the option of each path and its value."""
    for setting in settings or ():
        option, value = options.get(setting.partition("=")[0].strip(), ("", None))
        if value is not None and value is not False:
            raise typer.BadParameter(f"{setting}: {option} sets it too: omit one of them", param_hint="--set")


_NO_STUDY = {"sweep": "only `aqmlab sweep` reads it"}
"""The table that every other command leaves alone, with the reason."""

_OVER_TIME = ("step", "series", "cwnd", "flows")
"""The keys of ``record`` that no number of a table depends on."""


def refuse_idle(
    settings: Sequence[str] | None, command: str, engines: Sequence[str] = (), idle: Sequence[str] = ()
) -> None:
    """Refuse a setting that a command or the only engine would ignore; ``idle`` are paths that the command ignores."""
    from aqmlab.execute.engine import PACKETS, Engine

    reasons = {} if command == "sweep" else dict(_NO_STUDY)
    if command in ("sweep", "tune"):
        why = f"{command} keeps nothing over time: set it in `aqmlab run`"
        reasons |= {f"record.{key}": why for key in _OVER_TIME}
    reasons |= dict.fromkeys(idle, f"{command} does not depend on it")
    chosen = [Engine.parse(engine) for engine in engines]
    if chosen and PACKETS not in chosen:
        packets, series = {"fluid", "linux"}, {"fluid"}
        unable = {"record.flows": packets, "record.qlog": packets, "record.cwnd": series, "record.loss_event": series}
        for path, names in unable.items():
            if all(engine.name in names for engine in chosen):
                reasons.setdefault(path, f"the {chosen[0]} engine does not record it")
    for setting in settings or ():
        path, _, value = (part.strip() for part in setting.partition("="))
        for idle_path, why in reasons.items():
            if f"{path}.".startswith(f"{idle_path}."):
                raise typer.BadParameter(f"{setting}: would have no effect: {why}; omit it", param_hint="--set")
            key = idle_path.removeprefix(f"{path}.")
            if key != idle_path and re.search(rf"\b{re.escape(key)}\b", value):
                problem = f"{setting}: {idle_path} would have no effect: {why}; omit {key}"
                raise typer.BadParameter(problem, param_hint="--set")


def changed(scenario: Scenario, aqm: str | None, settings: Sequence[str] | None) -> Scenario:
    """Apply ``--aqm`` and then the settings of ``--set`` to a scenario; the result is not yet checked."""
    return with_settings(scenario if aqm is None else scenario.with_(aqm=aqm), settings)


def with_settings(scenario: Scenario, settings: Sequence[str] | None) -> Scenario:
    """Apply the ``PATH=VALUE`` settings of ``--set`` to a scenario; the result is not yet checked.

    Refuse one that would replace, in part or whole, what an earlier one or ``--aqm`` sets.
    """
    for path, text in pairs(settings, "--set", "VALUE").items():
        if earlier := scenario._core.replaced(path):
            problem = f"{path}={text}: would replace what {earlier} sets: omit one of them"
            if earlier.startswith(f"--set {path}."):
                problem += f", or give {path} first"
            raise typer.BadParameter(problem, param_hint="--set")
        scenario = scenario._with_text(path, text.strip())
    return scenario


def choice(
    scenario: Scenario, links: Sequence[str] | None, classes: Sequence[str] | None, metrics: Sequence[str] | None
) -> Choice | None:
    """Return the choice of ``--link``, ``--class`` and ``--metric``; refuse what the scenario or no result has."""
    if not (links or classes or metrics):
        return None
    from aqmlab.reports.parts import Choice
    from aqmlab.results.metrics import METRICS

    entries = [entry["name"] for entry in scenario.resolved["traffic"]]
    for option, chosen, known in (
        ("--link", links, scenario.managed_links),
        ("--class", classes, entries),
        ("--metric", metrics, METRICS),
    ):
        for name in chosen or ():
            if name not in known:
                raise typer.BadParameter(f"{name}: must be one of {', '.join(known)}", param_hint=option)
    return Choice(tuple(links or ()), tuple(classes or ()), tuple(metrics or ()))


def pairs(given: Sequence[str] | None, option: str, value: str) -> dict[str, str]:
    """Split the texts of a repeatable option at their first ``=``; refuse a path given twice."""
    found: dict[str, str] = {}
    for text in given or ():
        path, equals, rest = text.partition("=")
        path = path.strip()
        if not equals or not path:
            raise typer.BadParameter(f"{text}: must be PATH={value}", param_hint=option)
        if path in found:
            raise typer.BadParameter(f"{path} given twice", param_hint=option)
        found[path] = rest
    return found
