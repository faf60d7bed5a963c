"""The command ``aqmlab run``."""

from __future__ import annotations

from typing import Annotated

import typer

from aqmlab.cli import options, replications, scenarios
from aqmlab.cli.terminal import warn

_KERNEL = "kernel:"
"""Begins the name of a queue discipline of the kernel."""


def run(
    scenario: options.Scenario,
    aqm: options.Aqm = None,
    set_: options.Settings = None,
    seed: options.Seed = None,
    seeds: options.Seeds = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: options.Out = None,
    check: options.Check = False,
    engine: options.Engine = "packet",
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Show queue, throughput, drops, marks and queueing delay at the observed link while the run is under "
            "way; with --seeds, those of the first run.",
        ),
    ] = False,
) -> None:
    """Simulate a scenario."""
    from aqmlab.cli import live

    label = aqm if aqm and aqm.startswith(_KERNEL) else None
    if label:
        engine, aqm = _with_qdisc(engine, label.removeprefix(_KERNEL).strip()), "droptail"
    chosen = scenarios.changed(scenarios.seeded(scenario, seed, seeds), aqm, set_)
    watched = None
    if watch and (reason := live.obstacle()):
        warn([f"{reason}: the run is not shown"])
    elif watch:
        watched = live.Watched(chosen.title, chosen.duration, chosen.seed, seeds or 1)
    variants = {label or chosen.aqm: chosen}
    replications.perform(variants, [engine], seeds, jobs, check, json, out, single=True, watched=watched)


def _with_qdisc(engine: str, words: str) -> str:
    """Add a queue discipline of the kernel, in tc's words, to the options of the linux engine."""
    from aqmlab.execute.engine import Engine

    chosen = Engine.parse(engine)
    if chosen.name != "linux":
        raise typer.BadParameter(f"{_KERNEL}{words}: the kernel's disciplines need --engine linux", param_hint="--aqm")
    try:
        return str(Engine(chosen.name, (*chosen.options, ("qdisc", words))))
    except ValueError as error:
        raise typer.BadParameter(f"{_KERNEL}{words}: {error}", param_hint="--aqm") from None
