"""The command ``aqmlab sweep``."""

from __future__ import annotations

import signal
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.terminal import (
    FAILED,
    FIGURES,
    INTERRUPTED,
    LOST,
    STDIN,
    command_line,
    loaded,
    one_interrupt,
    progress_bar,
    require_folder,
    require_writable_folder,
    stop,
    with_settings,
)

if TYPE_CHECKING:
    from aqmlab.scenario import Scenario
    from aqmlab.sweeps.result import Sweep
    from aqmlab.sweeps.runner import Progress, Standing

_MOST_FAILURES = 20
"""The largest number of failures that are listed; all are in sweep.json."""


class Method(StrEnum):
    """The method of choosing points."""

    GRID = "grid"
    PAIRED = "paired"
    RANDOM = "random"
    LATIN = "latin"


def sweep(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="STUDY",
            help="A TOML file, with [sweep] or without, - for the standard input, or a shipped scenario.",
        ),
    ],
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="PATH=VALUES",
            help="What varies: aqm.q0=20,40..160 or traffic.long.tcp=rfc,linux. Repeatable. "
            "With --method random or latin also uniform(20, 160), log(1 ms, 1 s).",
        ),
    ] = None,
    aqm: Annotated[
        list[str] | None,
        typer.Option("--aqm", metavar="SPEC", help="NAME, NAME:KEY=VALUE,… or all; each is run at every point."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a value of all points. Repeatable."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="N", min=1, help="N runs of each point and discipline, all with equal seeds."),
    ] = None,
    method: Annotated[Method | None, typer.Option("--method", help="How the points are chosen.")] = None,
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", min=1, help="How many points random or latin draw.")
    ] = None,
    sample_seed: Annotated[
        int | None, typer.Option("--sample-seed", metavar="N", min=0, help="Where their randomness starts from.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Runs at a time; default: all cores.")
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="A Dask scheduler: tcp://HOST:PORT, or the file it wrote."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write results, figure and report there; default: out/NAME."),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help="Keep finished runs there, to share; default: DIR/store of --out."),
    ] = None,
) -> None:
    """Simulate a scenario at many points, with several queue disciplines at each.

    Finished runs are kept: rerunning the command computes only missing runs, even after Ctrl-C or kill -9.
    """
    from aqmlab.sweeps.runner import SweepInterrupted
    from aqmlab.sweeps.runner import sweep as simulated

    if cluster is not None and jobs is not None:
        raise typer.BadParameter("the workers of --cluster say how many runs there are at a time", param_hint="--jobs")
    base = _set(loaded(scenario), aqm, set_)
    folder = out or Path("out") / ("stdin" if scenario == STDIN else Path(scenario).stem)
    require_writable_folder(folder, ["sweep.json", "scenario.toml", "results/00000.parquet", *FIGURES, "report.html"])
    require_folder(store)
    interrupted = False
    with one_interrupt():
        try:
            standing = _Standing()
            with progress_bar(standing.told) as show:
                result = simulated(
                    base,
                    _varied(vary),
                    aqm or None,
                    seeds,
                    method=method and method.value,
                    samples=samples,
                    sample_seed=sample_seed,
                    store=store or folder / "store",
                    jobs=jobs,
                    cluster=cluster,
                    progress=standing.shown_by(show) if show else None,
                )
        except SweepInterrupted as error:
            result, interrupted = error.finished, True
        except ValueError as error:
            if type(error) is not ValueError:
                raise  # an error in the scenario
            raise typer.BadParameter(str(error)) from None
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # keep the finished runs
        _deliver(result, folder, json)
    if interrupted:
        stop(INTERRUPTED, f"interrupted: {result.done} of {result.wanted} runs are there; the same again does the rest")
    if result.failures:
        _list_failures(result, folder)


def _set(scenario: Scenario, aqms: list[str] | None, settings: list[str] | None) -> Scenario:
    for setting in settings or ():
        if setting.lstrip().startswith("aqm") and (aqms or (scenario.study or {}).get("aqm", "auto") != "auto"):
            raise typer.BadParameter(
                f"{setting}: say it in --aqm NAME:KEY=VALUE, or for all that know it with --vary {setting}",
                param_hint="--set",
            )
    return with_settings(scenario, settings)


def _varied(options: list[str] | None) -> dict[str, object]:
    varied: dict[str, object] = {}
    for option in options or ():
        path, equals, text = option.partition("=")
        if not equals or not path.strip():
            raise typer.BadParameter(f"{option}: must be PATH=VALUES", param_hint="--vary")
        if path.strip() in varied:
            raise typer.BadParameter(f"{path.strip()} given twice", param_hint="--vary")
        varied[path.strip()] = text
    return varied


class _Standing:
    """The progress of the sweep, for the bar."""

    def __init__(self) -> None:
        self.now: Standing | None = None

    def told(self) -> str:
        if not self.now:
            return "looking"
        failed = f", {self.now.failed} failed" if self.now.failed else ""
        return f"{self.now.done} of {self.now.wanted} runs{failed}"

    def shown_by(self, show: Callable[[float], None]) -> Progress:
        def progress(standing: Standing) -> None:
            self.now = standing
            show(standing.fraction)

        return progress


def _deliver(result: Sweep, folder: Path, json: bool) -> None:
    from aqmlab.files import json_text

    try:
        typer.echo(json_text(result.document()) if json else repr(result), nl=not json)
    finally:  # save even if the reader closes the pipe early
        files = _write(result, folder)
    for file, runs in result.damage.items():
        again = "those of this sweep were done again" if result.done == result.wanted else "the same again does them"
        typer.echo(f"{file}: damaged; {runs} runs that it held are lost, {again}", err=True)
    typer.echo(f"{'' if json else chr(10)}written to {folder}: {', '.join(files)}", err=json)


def _write(result: Sweep, folder: Path) -> list[str]:
    """Write all files unless they are up to date, and return their names."""
    drawn: list[str] = []
    if result.done:
        drawn += [*(FIGURES if result.parameters else []), "report.html"]
    there = all((folder / name).is_file() for name in (*drawn, "report.html"))
    if not (there and result.is_saved_in(folder)):
        (folder / "report.html").unlink(missing_ok=True)  # written last: it marks the others as complete
        for name in set(FIGURES).difference(drawn):
            (folder / name).unlink(missing_ok=True)  # from an earlier sweep
        result.save(folder)
        if result.done:
            from aqmlab.figures import matplotlib, sweep
            from aqmlab.reports import sweep_html

            if result.parameters:
                matplotlib.save(sweep.sweep(result), folder)
            sweep_html.save(result, folder / "report.html", command_line())
    return ["sweep.json", "results/*.parquet", *drawn]


def _list_failures(result: Sweep, folder: Path) -> None:
    shown = [f"  {failure}" for failure in result.failures[:_MOST_FAILURES]]
    if len(result.failures) > _MOST_FAILURES:
        shown.append(f"  … {len(result.failures) - _MOST_FAILURES} more: {folder / 'sweep.json'}")
    status = LOST if any(failure.lost for failure in result.failures) else FAILED
    stop(status, "\n".join([f"{len(result.failures)} failed:", *shown]))
