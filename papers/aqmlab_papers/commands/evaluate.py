"""The command ``aqmlab evaluate``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion, options
from aqmlab.cli.delivery import require_writable_folder
from aqmlab.cli.terminal import (
    FAILED,
    LOST,
    MOST_FAILURES,
    command_line,
    interrupted_status,
    one_interrupt,
    progress_bar,
    stop,
)

if TYPE_CHECKING:
    from aqmlab_papers.evaluation.evaluate import Evaluation

_SEEDS, _QUICK_SEEDS = 10, 3


class Rfc(StrEnum):
    """The RFCs by which something is evaluated."""

    AQM = "7928"
    TCP = "9743"


class Correction(StrEnum):
    """The procedures that bound errors over all tests."""

    HOLM = "holm"
    BH = "bh"


def evaluate(
    rfc: Annotated[
        Rfc,
        typer.Option(
            "--rfc", help="The RFC: 7928 evaluates queue disciplines, 9743 senders, by their congestion control."
        ),
    ] = Rfc.AQM,
    aqm: Annotated[list[str] | None, options.aqms(help="A queue discipline, also FILE.py:CLASS, to evaluate")] = None,
    tcp: Annotated[
        list[str] | None,
        typer.Option(
            "--tcp",
            metavar="SPEC",
            autocompletion=completion.tcp,
            help="With --rfc 9743, a sender to evaluate: a preset or flavour of TCP, NAME or NAME:KEY=VALUE,…, or all. "
            "Repeatable.",
        ),
    ] = None,
    section: Annotated[
        list[str] | None,
        typer.Option(
            "--section", metavar="NUMBER", help="Do this section of the RFC: 5.2, or 5 for all of it. Repeatable."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="SPEC",
            autocompletion=completion.subject,
            help="The discipline or sender with which the others are compared; default: droptail, or with --rfc 9743 "
            "`linux:congestion=reno`.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        options.seeds(help=f"Repeat each run with N seeds; default: {_SEEDS}, or {_QUICK_SEEDS} with --quick."),
    ] = None,
    correction: Annotated[
        Correction,
        typer.Option(
            "--correction",
            help="What bounds the errors of all tests: holm, the probability of a false verdict; bh, their share.",
        ),
    ] = Correction.HOLM,
    jobs: options.Jobs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"Run {_QUICK_SEEDS} seeds: figures as a whole, and few verdicts.")
    ] = False,
    out: Annotated[
        Path | None, options.out(help="Write the report to this folder; default: `out/rfc7928` or `out/rfc9743`.")
    ] = None,
    store: Annotated[
        Path | None, options.store(help="Keep finished runs in this folder; default: store in --out.")
    ] = None,
    cluster: options.Cluster = None,
    engine: options.Engine = "packet",
    json: options.Json = False,
) -> None:
    """Evaluate queue disciplines by RFC 7928, or senders by RFC 9743.

    Every guideline of the RFC is a scenario. The report has a scorecard of disciplines by sections, with a verdict on
    each measure: better, worse, or no difference shown, compared with drop-tail, and a bound on the errors of all tests
    together. Each number leads to its figure, its scenario and the command that repeats it.

    With --rfc 9743 it is senders that are compared, each given with --tcp, and the reference is Reno. What that RFC
    asks for and is not done is listed as open.

    Finished runs are kept: rerunning the command computes only missing runs, even after Ctrl-C or kill -9, and one more
    discipline or sender costs its own runs only.
    """
    from aqmlab.execute.engine import Engine
    from aqmlab.execute.variants import spelled_out
    from aqmlab.files import json_text
    from aqmlab_papers.evaluation.evaluate import evaluate as evaluated
    from aqmlab_papers.evaluation.evaluate import require_sections
    from aqmlab_papers.evaluation.run import Effort
    from aqmlab_papers.evaluation.show.files import DOCUMENT, REPORT, TABLE
    from aqmlab_papers.evaluation.standards import STANDARDS

    options.require_jobs_or_cluster(jobs, cluster)
    standard = STANDARDS[rfc]
    option = f"--{standard.key}"
    given, others = (tcp, aqm) if rfc == Rfc.TCP else (aqm, tcp)
    if others:
        other = next(one for one in STANDARDS.values() if one != standard)
        raise typer.BadParameter(
            f"{others[0]}: for --rfc {other.number}; --rfc {rfc} evaluates {standard.nouns}, with {option}",
            param_hint=f"--{other.key}",
        )
    if not given:
        example = "cubic" if rfc == Rfc.TCP else "codel"
        raise typer.BadParameter(
            f"missing: give a {standard.noun}, as in {option} {example}, or {option} all", param_hint=option
        )
    sections = section or []
    try:
        require_sections(standard, sections)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--section") from None
    if against == "all":
        raise typer.BadParameter(f"all: must be one {standard.noun}", param_hint="--against")
    try:
        labels = spelled_out(given, standard.every)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    count = seeds or (_QUICK_SEEDS if quick else _SEEDS)
    effort = Effort(labels, against or standard.reference, count, sections, Engine.parse(engine), standard)
    try:
        effort.require()
    except ValueError as error:
        if type(error) is not ValueError:
            raise  # an error in a scenario, which names its place
        raise typer.BadParameter(str(error), param_hint=option if effort.engine.seeded else "--engine") from None
    folder = out or Path(f"out/rfc{rfc}")
    require_writable_folder(folder, [REPORT, TABLE, DOCUMENT])
    step = "reading the store"
    with one_interrupt() as ignore_interrupts:
        with progress_bar(lambda: step) as show:

            def watch(current: str, fraction: float) -> None:
                nonlocal step
                step = current
                if show:
                    show(fraction)

            try:
                done = evaluated(
                    effort,
                    folder,
                    store or folder / "store",
                    command_line(),
                    correction=correction.value,
                    jobs=jobs,
                    cluster=cluster,
                    watch=watch if show else None,
                )
            except KeyboardInterrupt:
                stop(interrupted_status(), "interrupted; rerunning the command computes the rest")
        ignore_interrupts()
        _report(done, folder, json)
        if json and done.document:
            typer.echo(json_text(done.document), nl=False)
    _finish(done)


def _report(done: Evaluation, folder: Path, json: bool) -> None:
    """Print the scorecard, the numbers of runs, and the place of the files."""
    if done.document is None or json:
        return
    from aqmlab_papers.evaluation.show import terminal
    from aqmlab_papers.evaluation.show.files import REPORT, TABLE
    from aqmlab_papers.show.texts import lasted

    found = done.evidence
    typer.echo(terminal.scorecard(done.document))
    runs = f"{found.done} of {found.wanted} runs, {found.simulated} of them new"
    typer.echo(f"\n{runs}, in {lasted(done.running)}; figures and report in {lasted(done.drawing)}.")
    typer.echo(f"Written to {folder}: {REPORT}, {TABLE}, figures, scenarios.")


def _finish(done: Evaluation) -> None:
    """Exit with an error if runs are missing."""
    found = done.evidence
    for file, runs in found.damage.items():
        typer.echo(f"{file}: damaged; {runs} of its runs were lost, and those of this evaluation repeated", err=True)
    if found.interrupted:
        counts = f"{found.done} of {found.wanted} runs are finished"
        stop(interrupted_status(), f"interrupted: {counts}; rerunning the command computes the rest")
    if found.failures:
        shown = [f"  {failure}" for failure in found.failures[:MOST_FAILURES]]
        more = len(found.failures) - MOST_FAILURES
        shown += [f"  … {more} more"] if more > 0 else []
        lost = any(failure.lost for failure in found.failures)
        stop(LOST if lost else FAILED, "\n".join([f"{len(found.failures)} runs failed:", *shown]))
