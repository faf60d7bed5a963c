"""The command ``aqmlab compare``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options, precision, replications, scenarios
from aqmlab.cli.delivery import of_runs
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
    until: options.Until = None,
    most_seeds: options.MostSeeds = None,
    within: options.Within = None,
    long_run: options.LongRun = False,
    warmup: options.Warmup = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: options.Out = None,
    check: options.Check = False,
    engines: options.Engines = "packet",
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", metavar="NAME", help="The discipline that the others are compared with; default: the first."
        ),
    ] = None,
    csv: options.Csv = None,
    figure_format: options.FigureFormat = None,
    links: options.Links = None,
    classes: options.Classes = None,
    metrics: options.Metrics = None,
    flows: options.Flows = False,
) -> None:
    """Simulate a scenario with several disciplines or engines.

    With several engines --aqm may be omitted: the discipline is then that of the file. An engine that cannot perform
    the scenario is left out, with a warning. A discipline of Linux, kernel:WORDS, runs on the linux engine only.

    The parameters of each discipline are its defaults and those of its SPEC, not those of the file, but a target queue
    set in the file (q0) is kept for every discipline that has one, unless its SPEC sets another. --set aqm.KEY=VALUE
    applies to every discipline that has KEY and whose SPEC does not set it.

    The differences between the disciplines are taken seed by seed, with 95 % intervals if there are several seeds.

    With --until each discipline stops when its own intervals are narrow; all have the same seeds as far as they go.
    """
    from aqmlab.execute.engine import listed
    from aqmlab.execute.variants import repeated, spelled_out, with_discipline

    for setting in set_ or ():
        if _DISCIPLINE.fullmatch(setting.partition("=")[0]):
            raise typer.BadParameter(f"{setting}: select queue disciplines with --aqm", param_hint="--set")
    asked = precision.asked(until, seeds, most_seeds, within, long_run)
    chosen_engines = listed(engines)
    formats = options.chosen_formats(figure_format, out)
    if not aqm and len(chosen_engines) == 1:
        raise typer.BadParameter("nothing to compare: give --aqm, or several --engines", param_hint="--aqm")
    scenarios.refuse_both(
        set_, {"seed": ("--seed", seed), "warmup": ("--warmup", warmup), "record.flows": ("--flows", flows)}
    )
    scenarios.refuse_idle(set_, "compare", chosen_engines)
    base = seeded(scenario, seed, seeds, warmup)
    try:
        specs = spelled_out(aqm or ())
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--aqm") from None
    variants = {spec: with_discipline(base, spec) for spec in specs} or {base.aqm: base}
    if unknown := [key for key in _keys(set_) if not any(_has(variant, key) for variant in variants.values())]:
        problem = f"no discipline of {', '.join(variants)} has {', '.join(unknown)}"
        raise typer.BadParameter(problem, param_hint="--set")
    chosen = {
        spec: with_settings(variant, [text for text in set_ or () if all(_has(variant, key) for key in _keys([text]))])
        for spec, variant in variants.items()
    }
    if same := repeated(chosen):
        raise typer.BadParameter(f"{same[0]} and {same[1]} are the same", param_hint="--aqm")
    choice = scenarios.choice(base, links, classes, metrics)
    if flows:
        chosen = {spec: variant.with_({"record.flows": True}) for spec, variant in chosen.items()}
    if baseline is not None:
        baseline = _baseline(baseline, list(chosen))
    able = _able(chosen_engines, chosen) if len(chosen_engines) > 1 else chosen_engines
    replications.perform(
        chosen,
        able,
        seeds,
        jobs,
        check,
        json,
        out,
        single=False,
        until=asked,
        warmup=warmup,
        baseline=baseline,
        exports=of_runs(csv),
        formats=formats,
        choice=choice,
        flows=flows,
    )


def _baseline(name: str, labels: Sequence[str]) -> str:
    """Return the label that is ``name`` or, if there is one only, the label of that discipline with parameters."""
    found = [label for label in labels if label == name] or [one for one in labels if one.partition(":")[0] == name]
    if len(labels) < 2:
        raise typer.BadParameter(f"{name}: there is one discipline; give several with --aqm", param_hint="--baseline")
    if len(found) != 1:
        among = ", ".join(found or labels)
        raise typer.BadParameter(f"{name}: must be one of {among}", param_hint="--baseline")
    return found[0]


def _able(engines: Sequence[str], scenarios: Mapping[str, Scenario]) -> list[str]:
    """Return the engines that can perform the scenarios, by label, and warn of the others.

    Raise the first reason if no engine can, or if none remains that has one of the disciplines.
    """
    from aqmlab import ScenarioError
    from aqmlab.execute.engine import Engine, EngineUnavailable
    from aqmlab.execute.variants import performing

    chosen = [Engine.parse(engine) for engine in engines]
    reasons: dict[Engine, Exception] = {}
    try:
        having = {label: performing(label, chosen) for label in scenarios}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--engines") from None
    for engine in chosen:
        try:
            for label, scenario in scenarios.items():
                if engine in having[label]:
                    having[label][engine].check(scenario)
        except (ScenarioError, EngineUnavailable) as error:
            reasons[engine] = error
    for able in having.values():
        if not able.keys() - reasons.keys():
            raise next(reason for engine, reason in reasons.items() if engine in able)
    warn(f"without the {engine} engine: {reason}" for engine, reason in reasons.items())
    for label, able in having.items():
        if lacking := [str(engine) for engine in chosen if engine not in able and engine not in reasons]:
            warn([f"{label}: not on {', '.join(lacking)}: only the linux engine has the kernel's disciplines"])
    return [text for text, engine in zip(engines, chosen, strict=True) if engine not in reasons]


def _keys(settings: Sequence[str] | None) -> list[str]:
    """Return the KEY of each setting of the form aqm.KEY=VALUE."""
    paths = [setting.partition("=")[0].strip() for setting in settings or ()]
    return [path.removeprefix("aqm.") for path in paths if path.startswith("aqm.")]


def _has(scenario: Scenario, key: str) -> bool:
    """Check whether the discipline of a scenario has a parameter."""
    from aqmlab.scenario import parameter_names

    return key in parameter_names(scenario)
