"""The command ``aqmlab run``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli import options, precision, replications, scenarios
from aqmlab.cli.terminal import warn


def run(
    scenario: options.Scenario,
    aqm: options.Aqm = None,
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
    engine: options.Engine = "packet",
    watch: Annotated[
        bool,
        typer.Option(
            "--watch",
            help="Show queue, throughput, drops, marks and queueing delay at the observed link while the run is under "
            "way; with --seeds, those of the first run.",
        ),
    ] = False,
    pcapng: Annotated[
        Path | None,
        typer.Option(
            "--pcapng",
            metavar="FILE",
            dir_okay=False,
            help="Write the fate of every packet to this file as pcapng; with --seeds, of the first "
            "run. Only the linux engine can.",
        ),
    ] = None,
    csv: options.Csv = None,
    figure_format: options.FigureFormat = None,
    links: options.Links = None,
    classes: options.Classes = None,
    metrics: options.Metrics = None,
    flows: options.Flows = False,
) -> None:
    """Simulate a scenario."""
    from aqmlab.cli import live
    from aqmlab.execute.variants import with_discipline
    from aqmlab.results.result import KERNEL

    formats = options.chosen_formats(figure_format, out)
    base = scenarios.seeded(scenario, seed, seeds)
    chosen = scenarios.with_settings(base if aqm is None else with_discipline(base, aqm), set_)
    choice = scenarios.choice(chosen, links, classes, metrics)
    if flows:
        chosen = chosen.with_({"record.flows": True})
    asked = precision.asked(until, seeds, most_seeds, within, long_run)
    if watch and long_run:
        raise typer.BadParameter("not allowed with --long-run: omit one of them", param_hint="--watch")
    watched = None
    if watch and (reason := live.obstacle()):
        warn([f"{reason}: the run is not shown"])
    elif watch:
        watched = live.Watched(chosen.title, chosen.duration, chosen.seed, seeds or 1)
    variants = {aqm if aqm and aqm.startswith(KERNEL) else chosen.aqm: chosen}
    replications.perform(
        variants,
        [engine],
        seeds,
        jobs,
        check,
        json,
        out,
        single=True,
        watched=watched,
        fates=pcapng,
        until=asked,
        warmup=warmup,
        csv=csv,
        formats=formats,
        choice=choice,
        flows=flows,
    )
