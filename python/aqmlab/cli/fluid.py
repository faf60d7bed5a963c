"""The command ``aqmlab fluid``."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.terminal import (
    FAILED,
    FIGURES,
    INTERRUPTED,
    command_line,
    loaded,
    one_interrupt,
    progress_bar,
    require_writable_folder,
    stop,
    with_settings,
)

if TYPE_CHECKING:
    from aqmlab.results.comparison import Comparison

_SOON = 2.0
"""Seconds that the integration may take before a progress bar is shown."""


def fluid(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A TOML file, - for the standard input, or the name of a shipped scenario."
        ),
    ],
    aqm: Annotated[
        str | None,
        typer.Option("--aqm", metavar="SPEC", help="NAME or NAME:KEY=VALUE,… instead of the file's."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a value: traffic.long.count=100. Repeatable."),
    ] = None,
    packet_seeds: Annotated[
        int | None,
        typer.Option(
            "--packet-seeds", metavar="N", min=1, help="Simulate packets too, N runs, and draw both in one figure."
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Of these runs, how many at a time.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write results, series, figure and report there."),
    ] = None,
) -> None:
    """Integrate the fluid model of a scenario: the mean of the queue that `run` simulates, within milliseconds."""
    from aqmlab.execute.fluid import fluid
    from aqmlab.execute.replication import Interrupted, RunFailed, chosen_seeds, run
    from aqmlab.results.comparison import Comparison, files

    if jobs is not None and packet_seeds is None:
        raise typer.BadParameter("it is of --packet-seeds", param_hint="--jobs")
    base = loaded(scenario)
    chosen = with_settings(base if aqm is None else base.with_aqm(aqm), set_)
    if out:
        names = files(
            dict.fromkeys(("fluid", "packet"), chosen), chosen_seeds(chosen, packet_seeds), packet_seeds is None
        )
        require_writable_folder(out, [*names, *FIGURES, "report.html"])
    stopped: Interrupted | RunFailed | None = None
    with one_interrupt():
        with _late_bar() as progress:
            results = {"fluid": fluid(chosen, progress=progress)}
        if packet_seeds is not None:
            try:
                with progress_bar() as bar:
                    results["packet"] = run(chosen, packet_seeds, jobs, bar)
            except (Interrupted, RunFailed) as error:
                results.update(zip(["packet"], error.finished.values(), strict=False))
                stopped = error
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # keep the finished runs
        _deliver(Comparison(results), packet_seeds is None, json, out)
    if stopped:
        kept = f"; what was finished is reported{f' and saved in {out}' if out else ''}"
        stop(INTERRUPTED if isinstance(stopped, Interrupted) else FAILED, f"{stopped}{kept}")


@contextmanager
def _late_bar() -> Iterator[Callable[[float], None]]:
    """Show a progress bar only after some time: in most cases there is nothing to wait for."""
    began = time.monotonic()
    bar: Callable[[float], None] | None = None
    with ExitStack() as stack:

        def show(fraction: float) -> None:
            nonlocal bar, began
            if time.monotonic() - began > _SOON:
                bar, began = stack.enter_context(progress_bar(lambda: "integrating")), float("inf")
            if bar:
                bar(fraction)

        yield show


def _deliver(results: Comparison, alone: bool, json: bool, out: Path | None) -> None:
    from aqmlab.files import json_text

    shown = results["fluid"] if alone else results
    try:
        typer.echo(json_text(shown.document()) if json else repr(shown), nl=not json)
    finally:  # save even if the reader closes the pipe early
        if out:
            from aqmlab.figures import fluid, matplotlib, runs
            from aqmlab.reports import html

            shown.save(out)
            timed = runs.recorded(results)
            show = fluid.beside if len(timed) == 2 else runs.comparison
            matplotlib.save(show(results), out)
            html.save(results, out / "report.html", command_line())
    if out:
        name = "result" if alone else "comparison"
        written = f"written to {out}: {name}.json, figure.png, figure.svg, report.html"
        typer.echo(written if json else f"\n{written}", err=json)
