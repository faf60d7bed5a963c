"""The command ``aqmlab compare``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options, replications
from aqmlab.cli.scenarios import seeded, with_settings
from aqmlab.cli.terminal import warn

if TYPE_CHECKING:
    from aqmlab.scenario import Scenario

_DISCIPLINE = re.compile(r"\s*(link\s*\.[^.]+\.\s*)?aqm\s*(\.\s*name\s*)?")
"""The paths of a scenario that select its queue discipline."""


def compare(
    scenario: options.Scenario,
    aqm: Annotated[list[str] | None, options.aqms(help="A queue discipline to compare")] = None,
    set_: options.Settings = None,
    seed: options.Seed = None,
    seeds: options.Seeds = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: options.Out = None,
    check: options.Check = False,
    engines: options.Engines = "packet",
) -> None:
    """Simulate a scenario with several disciplines or engines.

    With several engines --aqm may be omitted: the discipline is then that of the file. An engine that cannot perform
    the scenario is left out, with a warning.

    A target queue set in the file is kept for every discipline that has one, unless its SPEC sets another. --set
    aqm.KEY=VALUE applies to every discipline that has KEY.
    """
    from aqmlab.execute.engine import listed
    from aqmlab.execute.replication import repeated, spelled_out

    for setting in set_ or ():
        if _DISCIPLINE.fullmatch(setting.partition("=")[0]):
            raise typer.BadParameter(f"{setting}: select queue disciplines with --aqm", param_hint="--set")
    chosen_engines = listed(engines)
    if not aqm and len(chosen_engines) == 1:
        raise typer.BadParameter("nothing to compare: give --aqm, or several --engines", param_hint="--aqm")
    base = seeded(scenario, seed, seeds)
    try:
        specs = spelled_out(aqm or ())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--aqm") from None
    variants = {spec: base.with_aqm(spec) for spec in specs} or {base.aqm: base}
    if unknown := [key for key in _keys(set_) if not any(_has(variant, key) for variant in variants.values())]:
        problem = f"no discipline of {', '.join(variants)} has {', '.join(unknown)}"
        raise typer.BadParameter(problem, param_hint="--set")
    chosen = {
        spec: with_settings(variant, [text for text in set_ or () if all(_has(variant, key) for key in _keys([text]))])
        for spec, variant in variants.items()
    }
    if same := repeated(chosen):
        raise typer.BadParameter(f"{same[0]} and {same[1]} are the same", param_hint="--aqm")
    able = _able(chosen_engines, chosen.values()) if len(chosen_engines) > 1 else chosen_engines
    replications.perform(chosen, able, seeds, jobs, check, json, out, single=False)


def _able(engines: Sequence[str], scenarios: Iterable[Scenario]) -> list[str]:
    """Return the engines that can perform all scenarios, and warn of the others; raise the first reason if none can."""
    from aqmlab import ScenarioError
    from aqmlab.execute.engine import Engine, EngineUnavailable

    reasons: dict[str, Exception] = {}
    for engine in engines:
        try:
            for scenario in scenarios:
                Engine.parse(engine).check(scenario)
        except (ScenarioError, EngineUnavailable) as error:
            reasons[engine] = error
    if len(reasons) == len(engines):
        raise next(iter(reasons.values()))
    warn(f"without the {engine} engine: {reason}" for engine, reason in reasons.items())
    return [engine for engine in engines if engine not in reasons]


def _keys(settings: Sequence[str] | None) -> list[str]:
    """Return the KEY of each setting of the form aqm.KEY=VALUE."""
    paths = [setting.partition("=")[0].strip() for setting in settings or ()]
    return [path.removeprefix("aqm.") for path in paths if path.startswith("aqm.")]


def _has(scenario: Scenario, key: str) -> bool:
    """Check whether the discipline of a scenario has a parameter."""
    from aqmlab.scenario import parameter_names

    return key in parameter_names(scenario.aqm)
