"""The command ``aqmlab run``."""

from __future__ import annotations

from typing import Annotated

import typer

from aqmlab.cli import options, replications, scenarios
from aqmlab.cli.terminal import warn


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

    chosen = scenarios.changed(scenarios.seeded(scenario, seed, seeds), aqm, set_)
    watched = None
    if watch and (reason := live.obstacle()):
        warn([f"{reason}: the run is not shown"])
    elif watch:
        watched = live.Watched(chosen.title, chosen.duration, chosen.seed, seeds or 1)
    replications.perform({chosen.aqm: chosen}, [engine], seeds, jobs, check, json, out, single=True, watched=watched)
