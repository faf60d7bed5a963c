"""The command ``aqmlab sweep``."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion, options, scenarios
from aqmlab.cli.delivery import (
    deliver,
    draw,
    of_runs,
    require_different,
    require_writable_file,
    require_writable_folder,
    undraw,
)
from aqmlab.cli.precision import require_seeded
from aqmlab.cli.scenarios import STDIN, loaded, pairs, refuse_both, with_settings
from aqmlab.cli.terminal import FAILED, LOST, MOST_FAILURES, interrupted_status, one_interrupt, runs_bar, stop
from aqmlab.files import DEFAULT_FORMATS, FIGURES, REPORT, figure_files

if TYPE_CHECKING:
    from aqmlab.runs.swept import Sweep
    from aqmlab.scenario import Scenario


class Method(StrEnum):
    """The method of choosing points."""

    GRID = "grid"
    PAIRED = "paired"
    RANDOM = "random"
    LATIN = "latin"


def sweep(
    scenario: options.Scenario,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="PATH=VALUES",
            autocompletion=completion.setting,
            help="Vary a parameter: aqm.q0=20,40..160 or traffic.long.tcp=rfc,linux. Repeatable. "
            "With --method random or latin also uniform(20, 160) or log(1 ms, 1 s).",
        ),
    ] = None,
    aqm: Annotated[list[str] | None, options.aqms(help="A queue discipline to run at every point")] = None,
    set_: options.Settings = None,
    seeds: Annotated[
        int | None,
        options.seeds(help="Run each point and discipline N times; all have the same consecutive seeds."),
    ] = None,
    method: Annotated[Method | None, typer.Option("--method", help="The method of choosing points.")] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", min=1, help="Number of points for methods random and latin.")
    ] = None,
    sample_seed: Annotated[
        int | None,
        typer.Option("--sample-seed", metavar="N", min=0, help="Seed with which these points are drawn."),
    ] = None,
    jobs: options.Jobs = None,
    cluster: options.Cluster = None,
    json: options.Json = False,
    out: Annotated[
        Path | None,
        options.out(help="Write the results, figure and report to this folder; default: out/ and the scenario's name."),
    ] = None,
    store: Annotated[
        Path | None,
        options.store(help="Keep finished runs in this folder, which sweeps may share; default: store in --out."),
    ] = None,
    engine: options.Engine = "packet",
    csv: options.Csv = None,
    figure_format: options.FigureFormat = None,
    links: options.Links = None,
    classes: options.Classes = None,
    metrics: options.Metrics = None,
) -> None:
    """Simulate a scenario at many points.

    A point is a combination of values of the parameters that vary. They are given by --vary or by the [sweep] table of
    the file. The disciplines run at each point with the same seeds.

    Finished runs are kept: rerunning the command computes only missing runs, even after Ctrl-C or kill -9.
    """
    from aqmlab.execute.engine import Engine
    from aqmlab.reports import sweep_text
    from aqmlab.runs.runner import SweepInterrupted
    from aqmlab.runs.runner import sweep as simulated

    options.require_jobs_or_cluster(jobs, cluster)
    varied = dict(pairs(vary, "--vary", "VALUES"))
    choices = {"seeds": seeds, "method": method, "samples": samples, "sample_seed": sample_seed, "aqm": aqm}
    refuse_both(
        set_,
        {f"sweep.{key}": (f"--{key.replace('_', '-')}", value) for key, value in choices.items()}
        | {f"sweep.vary.{path}": ("--vary", True) for path in varied},
    )
    scenarios.refuse_idle(set_, "sweep", [engine])
    require_seeded(seeds, [Engine.parse(engine)])
    base = _with_settings(loaded(scenario), aqm, set_)
    if figure_format and not (varied or (base._study or {}).get("vary")):
        problem = "a sweep with one point has no figure: omit it, or give --vary"
        raise typer.BadParameter(problem, param_hint="--figure-format")
    choice = scenarios.choice(base, links, classes, metrics)
    folder = out or Path("out") / ("stdin" if scenario == STDIN else Path(scenario).stem)
    formats = options.chosen_formats(figure_format, folder)
    figures = figure_files(FIGURES[:1], formats)
    names = ["sweep.json", "scenario.toml", "results/00000.parquet", *figures, REPORT]
    require_writable_folder(folder, names)
    if csv:
        require_writable_file(csv, "--csv")
        require_different([("--csv", csv)], folder, names)
    interrupted = False
    with one_interrupt() as ignore_interrupts:
        try:
            with runs_bar("reading the scenario") as progress:
                result = simulated(
                    base,
                    vary=varied,
                    aqms=aqm or None,
                    seeds=seeds,
                    method=method and method.value,
                    samples=samples,
                    sample_seed=sample_seed,
                    store=store or folder / "store",
                    jobs=jobs,
                    cluster=cluster,
                    progress=progress,
                    engine=engine,
                )
        except SweepInterrupted as error:
            result, interrupted = error.finished, True
        except ValueError as error:
            if type(error) is not ValueError:
                raise  # an error in the scenario
            raise typer.BadParameter(str(error)) from None
        ignore_interrupts()  # keep the finished runs
        printed = partial(sweep_text.text, result, choice)
        deliver(result, json, folder, lambda folder: _save(result, folder, formats), of_runs(csv), printed)
        _list_damage(result)
    if interrupted:
        counts = f"{result.done} of {result.wanted} runs are finished"
        stop(interrupted_status(), f"interrupted: {counts}; rerunning the command computes the rest")
    if result.failures:
        _list_failures(result, folder)


def _with_settings(scenario: Scenario, aqms: list[str] | None, settings: list[str] | None) -> Scenario:
    """Apply ``--set``; refuse a parameter of the discipline if several disciplines run."""
    for setting in settings or ():
        if setting.lstrip().startswith("aqm") and (aqms or (scenario._study or {}).get("aqm", "auto") != "auto"):
            raise typer.BadParameter(
                f"{setting}: use --aqm NAME:KEY=VALUE or, for every discipline that has it, --vary {setting}",
                param_hint="--set",
            )
    return with_settings(scenario, settings)


def _save(result: Sweep, folder: Path, formats: Sequence[str] = DEFAULT_FORMATS) -> list[str]:
    """Write all files unless they are up to date, and return their names."""
    figures = figure_files(FIGURES[:1] if result.parameters else (), formats)
    names = [*figures, REPORT] if result.done else []
    complete = all((folder / name).is_file() for name in (*names, REPORT))
    if not (complete and result.is_saved_in(folder)):
        undraw(folder, names)
        (folder / REPORT).unlink(missing_ok=True)  # written last: it marks the others as complete
        result.save(folder)
        if result.done:
            draw(result, folder, formats)
    return ["sweep.json", "results/*.parquet", *names]


def _list_damage(result: Sweep) -> None:
    """Print the damaged files of the store."""
    repair = (
        "those of this sweep were repeated" if result.done == result.wanted else "rerunning the command repeats them"
    )
    for file, runs in result.damage.items():
        typer.echo(f"{file}: damaged; {runs} of its runs are lost; {repair}", err=True)


def _list_failures(result: Sweep, folder: Path) -> None:
    """Print the failures, and exit."""
    shown = [f"  {failure}" for failure in result.failures[:MOST_FAILURES]]
    if len(result.failures) > MOST_FAILURES:
        shown.append(f"  … {len(result.failures) - MOST_FAILURES} more: {folder / 'sweep.json'}")
    status = LOST if any(failure.lost for failure in result.failures) else FAILED
    stop(status, "\n".join([f"{len(result.failures)} failed:", *shown]))
