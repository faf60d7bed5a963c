"""The steps that run, compare and fluid share: simulate, print and save."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from aqmlab.cli.delivery import (
    Export,
    deliver,
    draw,
    require_different,
    require_writable_file,
    require_writable_folder,
)
from aqmlab.cli.precision import Bar, reached, remedy, require_engines, require_seeded
from aqmlab.cli.terminal import FAILED, UNREACHED, interrupted_status, one_interrupt, progress_bar, stop
from aqmlab.files import DEFAULT_FORMATS, FIGURES, REPORT, figure_files

if TYPE_CHECKING:
    from aqmlab.cli.live import Watched
    from aqmlab.execute.engine import Engine
    from aqmlab.execute.progress import OnProgress
    from aqmlab.reports.parts import Choice
    from aqmlab.results.comparison import Comparison
    from aqmlab.results.result import Result
    from aqmlab.runs.cases import Interrupted, RunFailed
    from aqmlab.runs.stages import Until
    from aqmlab.runs.until import NotReached
    from aqmlab.scenario import Scenario

    Simulated = tuple[Comparison, Interrupted | RunFailed | NotReached | None]


def simulated(
    scenarios: Mapping[str, Scenario],
    seeds: int | None,
    jobs: int | None,
    check: bool = False,
    engines: Sequence[Engine] | None = None,
    watched: Watched | None = None,
    fates: Path | None = None,
    until: Until | None = None,
    warmup: str | None = None,
) -> Simulated:
    """Simulate scenarios; after Ctrl-C, a failure or a limit, return the finished runs together with the error.

    ``watched`` shows the first run while it is under way, instead of a progress bar; ``fates`` is the file for
    the fates of its packets.
    """
    from aqmlab.execute.engine import PACKETS
    from aqmlab.runs.cases import Interrupted, RunFailed
    from aqmlab.runs.replication import compare_scenarios
    from aqmlab.runs.until import NotReached

    bar = Bar()
    see = None
    if watched:
        from aqmlab.cli.live import live

        see = watched.see
    chosen = engines or [PACKETS]
    try:
        with live(watched) if watched else progress_bar(bar.text) as show:
            progress: OnProgress | None = (lambda now: show(now.fraction)) if show else None
            return (
                compare_scenarios(scenarios, seeds, jobs, progress, check, chosen, see, fates, until, warmup, bar.look),
                None,
            )
    except (Interrupted, RunFailed, NotReached) as error:
        return error.finished, error


def perform(
    scenarios: Mapping[str, Scenario],
    engines: Sequence[str],
    seeds: int | None,
    jobs: int | None,
    check: bool,
    json: bool,
    out: Path | None,
    single: bool,
    watched: Watched | None = None,
    fates: Path | None = None,
    until: Until | None = None,
    warmup: str | None = None,
    baseline: str | None = None,
    exports: Sequence[Export] = (),
    formats: Sequence[str] = DEFAULT_FORMATS,
    choice: Choice | None = None,
    flows: bool = False,
    more: Callable[[Result], str] | None = None,
) -> None:
    """Let engines, as `--engine` names them, perform scenarios; see `simulated` and `report`.

    ``baseline`` is the label of the discipline that the others are compared with, by default the first.
    """
    from aqmlab.execute.engine import PACKETS, Engine
    from aqmlab.execute.variants import labelled
    from aqmlab.results.cases import disciplines
    from aqmlab.results.result import NoSuchMetric
    from aqmlab.runs.warmup import NotSettled

    chosen = [Engine.parse(engine) for engine in engines]
    other = next((engine for engine in chosen if engine != PACKETS), None)
    if check and other:
        raise typer.BadParameter(f"the {other.name} engine does not account for packets; omit it", param_hint="--check")
    if flows and other:
        raise typer.BadParameter(f"the {other.name} engine does not record flows; omit it", param_hint="--flows")
    try:
        cases = {label: scenario for label, (scenario, _) in labelled(scenarios, chosen).items()}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--engine" if single else "--engines") from None
    if until:
        require_engines(until, chosen)
    else:
        require_seeded(seeds, chosen)
    if fates and (unable := next((engine for engine in chosen if engine.name == "fluid"), None)):
        raise typer.BadParameter(f"the {unable} engine has no packets; omit it", param_hint="--pcapng")
    if fates and not os.access(fates.parent, os.W_OK):
        raise typer.BadParameter(f"{fates}: {fates.parent} is no folder that can be written to", param_hint="--pcapng")

    def simulate() -> Simulated:
        try:
            results, stopped = simulated(scenarios, seeds, jobs, check, chosen, watched, fates, until, warmup)
        except NotSettled as error:
            raise typer.BadParameter(str(error), param_hint="--warmup") from None
        except NoSuchMetric as error:
            raise typer.BadParameter(str(error), param_hint="--until") from None
        # After an interrupt no run of the baseline may have finished.
        return results.against(baseline) if baseline in disciplines(results) else results, stopped

    least = seeds or (until.least if until else None)
    report(cases, least, simulate, json, out, single, check, until, exports, formats, choice, flows, more, fates)
    if fates:
        typer.echo(f"written to {fates}: the fate of every packet", err=json)


def report(
    scenarios: Mapping[str, Scenario],
    seeds: int | None,
    simulate: Callable[[], Simulated],
    json: bool,
    out: Path | None,
    single: bool,
    checked: bool = False,
    until: Until | None = None,
    exports: Sequence[Export] = (),
    formats: Sequence[str] = DEFAULT_FORMATS,
    choice: Choice | None = None,
    flows: bool = False,
    more: Callable[[Result], str] | None = None,
    fates: Path | None = None,
) -> None:
    """Call ``simulate``, print and save; after Ctrl-C, a failure or a limit, do so with the finished runs and exit.

    The results have the labels of ``scenarios``. If ``single`` is true only the first result is printed and saved,
    otherwise all of them as a comparison. ``checked`` states whether the packets of the runs are accounted for. The
    ``exports`` are written as well, and ``formats`` are those of the figures. Of a ``choice`` only its tables are
    printed; ``flows`` lists the flows as well. ``more`` returns the text below them, for the first result.
    ``simulate`` writes ``fates``.
    """
    from aqmlab.results.comparison import files
    from aqmlab.runs.cases import Interrupted
    from aqmlab.runs.seeds import chosen_seeds
    from aqmlab.runs.until import NotReached

    names: list[str] = []
    if out:
        chosen = chosen_seeds(next(iter(scenarios.values())), seeds)
        figures = figure_files(FIGURES[:1] if len(scenarios) == 1 else FIGURES, formats)
        names = [*files(scenarios, chosen, single), *figures, REPORT]
        require_writable_folder(out, names)
    asked = [(export.option, export.file) for export in exports] + ([("--pcapng", fates)] if fates else [])
    for option, file in asked:
        require_writable_file(file, option)
    require_different(asked, out, names)
    with one_interrupt() as ignore_interrupts:
        results, stopped = simulate()
        ignore_interrupts()  # keep the finished runs
        if results:
            shown = next(iter(results.values())) if single else results

            def save(folder: Path) -> list[str]:
                shown.save(folder)
                return [f"{'result' if single else 'comparison'}.json", *draw(results, folder, formats)]

            def printed() -> str:
                from aqmlab.reports.parts import whole

                below = f"\n\n{more(next(iter(results.values())))}" if more else ""
                return whole(results, results.baseline, choice, flows) + below

            deliver(shown, json, out, save, exports, printed)
    if results and until and not stopped:
        for line in reached(until, results):
            typer.echo(line, err=json)
    if results and checked:
        count = sum(len(result.runs) for result in results.values())
        runs = "the run" if count == 1 else f"each of the {count} runs"
        typer.echo(f"checked: every packet of {runs} is accounted for", err=json)
    if stopped:
        kept = f"; the finished runs are reported{f' and saved in {out}' if out else ''}" if results else ""
        status = {Interrupted: interrupted_status(), NotReached: UNREACHED}.get(type(stopped), FAILED)
        stop(status, f"{stopped}{remedy(stopped)}{kept}")
