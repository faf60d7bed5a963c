"""The command ``aqmlab run``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options, precision, replications, scenarios
from aqmlab.cli.delivery import Export, of_runs
from aqmlab.cli.terminal import warn

if TYPE_CHECKING:
    from aqmlab.exchange.measured import Measured
    from aqmlab.results.result import Result
    from aqmlab.scenario import Scenario

    Beside = dict[str | None, list[Measured]]

FLENT = ".flent.gz"
"""The ending of flent's files."""


def _flent(file: Path | None) -> Path | None:
    """Refuse a name that flent would not open."""
    if file and not file.name.endswith(FLENT):
        raise typer.BadParameter(f"{file}: must end in {FLENT}, by which flent knows its files")
    return file


def _exports(tc: Path | None, flent: Path | None, qlog: Path | None) -> list[Export]:
    """Return what ``--tc``, ``--flent`` and ``--qlog`` ask for."""
    asked = []
    if tc:
        from aqmlab.exchange.tc import text

        asked.append(Export("--tc", tc, "the queues of the first run, as tc prints them", text))
    if flent:
        from aqmlab.exchange.flent import content

        asked.append(Export("--flent", flent, "the series of the first run, for flent", content))
    if qlog:
        from aqmlab.exchange import qlog as senders

        asked.append(Export("--qlog", qlog, "the senders of the first run, as qlog", senders.text))
    return asked


def _measured(beside: Sequence[str] | None, scenario: Scenario) -> Beside:
    """Read the measurements, by the traffic entry beside which they stand, or None for all traffic."""
    if not beside:
        return {}
    from aqmlab.exchange.measured import read

    found: Beside = {}
    for text in beside:
        name, _, file = text.rpartition("=")
        names = [entry["name"] for entry in scenario.resolved["traffic"]]
        if name and name not in names:
            problem = f"{text}: no traffic entry {name}; those there are: {', '.join(names)}"
            raise typer.BadParameter(problem, param_hint="--beside")
        try:
            found.setdefault(name or None, []).extend(read(file))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--beside") from None
    return found


def _besides(measured: Beside) -> Callable[[Result], str] | None:
    """Return what prints the measurements, if there are any."""
    if not measured:
        return None
    from aqmlab.reports.beside import text

    return lambda result: text(result, measured)


def _drawn(measured: Beside, out: Path | None, formats: Sequence[str]) -> list[Export]:
    """Return the figure of the measurements in each format, if there are any and a folder."""
    if not measured or out is None:
        return []

    def image(form: str) -> Callable[[Result], bytes]:
        def draw(result: Result) -> bytes:
            from aqmlab.figures import matplotlib
            from aqmlab.figures.beside import beside

            return matplotlib.images(beside(result, measured), [form])[form]

        return draw

    return [Export("--out", out / f"beside.{form}", "what was measured and simulated", image(form)) for form in formats]


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
            help="Write the packets to this file as pcapng: on the packet engine what each link with a queue sends and "
            "loses, on the linux engine the fate of each; with --seeds, of the first run.",
        ),
    ] = None,
    tc: Annotated[
        Path | None,
        typer.Option(
            "--tc",
            metavar="FILE",
            dir_okay=False,
            help="Write the queues of the first run to this file as `tc -j -s qdisc show` prints them.",
        ),
    ] = None,
    flent: Annotated[
        Path | None,
        typer.Option(
            "--flent",
            metavar="FILE",
            dir_okay=False,
            callback=_flent,
            help="Write throughput and delay of the first run to this file, NAME.flent.gz, for flent and flent-gui.",
        ),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            "--qlog",
            metavar="FILE",
            dir_okay=False,
            help="Write the senders of the first run to this file as qlog, for qvis: of QUIC what it logs, of TCP its "
            "windows. Sets `record.qlog`, and `record.cwnd` to 10 ms unless it is set.",
        ),
    ] = None,
    beside: Annotated[
        list[str] | None,
        typer.Option(
            "--beside",
            metavar="[NAME=]FILE",
            help="Print a measurement, the file of `iperf3 -J`, `irtt client -o` or flent, beside the simulation: of "
            "traffic entry NAME, or of all traffic. With --out also draw it. Repeatable.",
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
    from aqmlab.execute.variants import with_discipline
    from aqmlab.results.result import KERNEL

    formats = options.chosen_formats(figure_format, out)
    scenarios.refuse_both(
        set_, {"seed": ("--seed", seed), "warmup": ("--warmup", warmup), "record.flows": ("--flows", flows)}
    )
    scenarios.refuse_idle(set_, "run", [engine])
    base = scenarios.seeded(scenario, seed, seeds, warmup)
    chosen = scenarios.with_settings(base if aqm is None else with_discipline(base, aqm), set_)
    choice = scenarios.choice(chosen, links, classes, metrics)
    if flows:
        chosen = chosen.with_({"record.flows": True})
    if qlog:
        from aqmlab.exchange.qlog import recorded

        if engine.startswith("fluid"):
            raise typer.BadParameter("the fluid engine has no senders; omit it", param_hint="--qlog")
        try:
            chosen = recorded(chosen)
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--qlog") from None
    asked = precision.asked(until, seeds, most_seeds, within, long_run)
    if watch and long_run:
        raise typer.BadParameter("not allowed with --long-run: omit one of them", param_hint="--watch")
    watched = None
    if watch:
        from aqmlab.cli import live

        if reason := live.obstacle():
            warn([f"{reason}: the run is not shown"])
        else:
            watched = live.Watched(chosen.title, chosen.duration, chosen.seed, seeds or 1)
    for option, wanted in {"--flent": flent, "--beside": out and beside}.items():
        if wanted and not chosen.resolved["record"]["series"]:
            raise typer.BadParameter("needs series: record.series must be true", param_hint=option)
    measured = _measured(beside, chosen)
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
        exports=[*of_runs(csv), *_exports(tc, flent, qlog), *_drawn(measured, out, formats)],
        formats=formats,
        choice=choice,
        flows=flows,
        more=_besides(measured),
    )
