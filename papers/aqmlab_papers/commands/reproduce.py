"""The command ``aqmlab reproduce``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from aqmlab.cli import options
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
from aqmlab.files import REPORT

if TYPE_CHECKING:
    from aqmlab.execute.engine import Engine
    from aqmlab_papers import Paper
    from aqmlab_papers.reproduction import Reproduction
    from aqmlab_papers.run.sweep import Effort

_ALL = "all"
_OUT = Path("out/reproduce")
_INDEX = "index.html"
_SEEDS, _QUICK_SEEDS, _MOST_SEEDS = 5, 1, 20


def _completed(incomplete: str) -> list[str]:
    """Complete the name of a paper."""
    from aqmlab_papers.describe import library

    return [name for name in (*library.names(), _ALL) if name.startswith(incomplete)]


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER",
            autocompletion=_completed,
            help="The name of a paper, all, or a folder with a paper.py; default: list the papers.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="NAME",
            help="Reproduce this figure or table and its claims; a claim stands for what shows it. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        options.seeds(
            help=f"Repeat each run with N seeds; default: {_SEEDS}, or {_QUICK_SEEDS} with --quick; 3 on linux."
        ),
    ] = None,
    most_seeds: Annotated[
        int | None,
        options.seeds(
            f"Double the seeds of undecided claims up to N; default: {_MOST_SEEDS}, or --seeds if it is more.",
            "--most-seeds",
        ),
    ] = None,
    jobs: options.Jobs = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run only the points needed to judge each claim, and no sensitivity table.")
    ] = False,
    out: Annotated[
        Path | None,
        options.out(help=f"Write the report to this folder; default: {_OUT}/NAME, or {_OUT} for all papers."),
    ] = None,
    store: Annotated[
        Path | None, options.store(help=f"Keep finished runs in this folder; default: store in --out, or {_OUT}/store.")
    ] = None,
    cluster: options.Cluster = None,
    engine: options.Engine = "packet",
    full: Annotated[
        bool,
        typer.Option("--full", help="With --engine: all that it can repeat, as long and as often as the paper did."),
    ] = False,
    json: options.Json = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the figures, tables and claims with their times; run nothing.")
    ] = False,
) -> None:
    """Reproduce the figures, tables and claims of a paper.

    The report has every figure and table, and a verdict on every claim. Finished work is kept: rerunning the command
    computes only the missing part, even after Ctrl-C or kill -9. With --engine linux real hosts repeat some of the
    experiments, beside what the store has of the simulation.
    """
    from aqmlab.execute.engine import PACKETS, Engine
    from aqmlab.files import json_text
    from aqmlab_papers.run.sweep import Effort

    options.require_jobs_or_cluster(jobs, cluster)
    performing = Engine.parse(engine)
    if full and performing == PACKETS:
        raise typer.BadParameter(
            f"--engine {PACKETS} has no longer runs: use --seeds, or --engine linux", param_hint="--full"
        )
    if full and quick:
        raise typer.BadParameter("--quick is the opposite: omit one of them", param_hint="--full")
    effort = Effort(
        seeds=seeds or (_QUICK_SEEDS if quick else _SEEDS),
        most_seeds=most_seeds or _MOST_SEEDS,
        quick=quick,
        only=frozenset(only or ()),
        engine=performing,
    )
    kept = store or (out or _OUT) / "store"
    if paper is None and performing != PACKETS:
        _refuse("applies only to a PAPER", performing)
    if paper is None and only:
        raise typer.BadParameter("applies only to a PAPER", param_hint="--only")
    papers, effort = _papers(paper or _ALL, effort, full)
    if paper is None or list_:
        _list(papers, replace(effort, only=frozenset()), kept, jobs, json)
        return
    if performing != PACKETS:
        described = next(iter(papers.values())).measured(performing.name)
        own = seeds or (_QUICK_SEEDS if quick else described.full_seeds if full else described.seeds)
        effort = replace(effort, seeds=own, most_seeds=most_seeds or own)
        _tell_time(papers.values(), effort, kept, jobs, json)
    if out is None:
        out = _OUT if paper == _ALL else _OUT / f"{next(iter(papers.values())).name}{_suffix(performing)}"
    require_writable_folder(out, _names(papers, all_=paper == _ALL))
    folders = {name: out / one.name if paper == _ALL else out for name, one in papers.items()}
    with one_interrupt() as ignore_interrupts:
        work = _Work(papers, folders, effort, kept, jobs, cluster, json)
        try:
            work.do()
        except KeyboardInterrupt:
            work.interrupted = True
        ignore_interrupts()
        if paper == _ALL and not work.interrupted:
            work.summarise(out)
        if json:
            documents = {name: one.document for name, one in work.done.items()}
            for document in [documents] if paper == _ALL else documents.values():
                typer.echo(json_text(document), nl=False)
    if work.interrupted:
        counts = "; ".join(
            f"{name}: {one.findings.done} of {one.findings.wanted} runs are finished" for name, one in work.done.items()
        )
        stop(interrupted_status(), f"interrupted{counts and f': {counts}'}; rerunning the command computes the rest")
    if work.errors:
        stop(LOST if work.lost else FAILED, "\n".join(work.errors))


def _names(papers: Mapping[str, Paper], all_: bool) -> list[str]:
    """List the files to be written."""
    from aqmlab_papers.show.texts import FINDINGS, files

    names = [_INDEX] if all_ else []
    for paper in papers.values():
        own = [REPORT, FINDINGS, *(file for item in paper.items for file in files(item))]
        names += [f"{paper.name}/{name}" if all_ else name for name in own]
    return names


def _suffix(engine: Engine) -> str:
    """Return what follows the name of a paper in that of its folder."""
    from aqmlab.execute.engine import PACKETS

    return "" if engine == PACKETS else f"-{engine.name}"


def _tell_time(papers: Iterable[Paper], effort: Effort, store: Path, jobs: int | None, quiet: bool) -> None:
    """Print how long the missing runs of an engine that is slower than the simulator will take."""
    from aqmlab.execute import threads
    from aqmlab_papers.run.estimate import estimates, measured_speed
    from aqmlab_papers.show import terminal

    at_once = effort.engine.most_jobs or min(jobs or threads.cores(), threads.cores())
    for one in estimates(list(papers), effort, store, measured_speed()):
        if one.missing and not quiet:
            typer.echo(f"{terminal.work(one, at_once)}, {at_once} at a time", err=True)


def _papers(name: str, effort: Effort, full: bool) -> tuple[dict[str, Paper], Effort]:
    """Load the requested papers by name or folder; refuse figures that none of them has, and engines that cannot.

    Return them and the effort for them, in which each claim that was named is what shows it.
    """
    from aqmlab.execute.engine import PACKETS
    from aqmlab_papers.describe import library

    try:
        papers = {each: library.load(each) for each in (library.names() if name == _ALL else [name])}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="PAPER") from None
    shown = {claim.name: claim.shown for paper in papers.values() for claim in paper.claims if claim.shown}
    effort = replace(effort, only=frozenset(item for name in effort.only for item in shown.get(name, [name])))
    if effort.engine != PACKETS:
        name_of = effort.engine.name
        try:
            papers = {
                each: one.on(name_of, full=full, quick=effort.quick, only=effort.only) for each, one in papers.items()
            }
        except ValueError as error:
            _refuse(str(error), effort.engine)
    items = {each: [item.name for item in paper.items] for each, paper in papers.items()}
    if unknown := sorted(effort.only.difference(*items.values())):
        known = "; ".join(f"{papers[each].name} has {', '.join(own)}" for each, own in items.items())
        raise typer.BadParameter(f"{', '.join(unknown)}: {known}; --list has the claims", param_hint="--only")
    chosen = [each for each, own in items.items() if not effort.only or effort.only.intersection(own)]
    return {each: papers[each] for each in chosen}, effort


def _refuse(reason: str, engine: Engine) -> NoReturn:
    """Refuse an engine, and state the commands that it has."""
    from aqmlab_papers.describe import library

    papers = map(library.load, library.names())
    able = [paper.name for paper in papers if any(one.engine == engine.name for one in paper.measurements)]
    commands = " or ".join(f"aqmlab reproduce {name} --engine {engine}" for name in able)
    what = (
        f"what this engine can repeat: {commands}" if able else f"no paper has anything that {engine.name} can repeat"
    )
    raise typer.BadParameter(f"{reason}; {what}", param_hint="--engine") from None


def _list(chosen: Mapping[str, Paper], effort: Effort, store: Path, jobs: int | None, json: bool) -> None:
    """Print papers and the estimated time of each."""
    from aqmlab.execute import threads
    from aqmlab.files import json_text
    from aqmlab_papers.run.estimate import estimates, measured_speed
    from aqmlab_papers.show import terminal

    papers = list(chosen.values())
    speed, cores = measured_speed(), jobs or threads.cores()
    found = estimates(papers, effort, store, speed)
    if json:
        typer.echo(json_text({one.paper.name: one.document(cores) for one in found}), nl=False)
        return
    quick = [] if effort.quick else estimates(papers, replace(effort, seeds=_QUICK_SEEDS, quick=True), store, speed)
    typer.echo(terminal.listed(found, quick, cores))
    more = ""
    if effort.looks[-1] > effort.seeds:
        more = f"Runs of claims that they leave undecided are repeated with up to {effort.looks[-1]} seeds.\n"
    typer.echo(
        f"\nTimes are estimates for the runs that are not in {store}, with {effort.seeds} "
        f"seed{'s' if effort.seeds > 1 else ''} on {cores} core{'s' if cores > 1 else ''}.\n{more}The time of a figure "
        "or table includes the claims that it shows; drawing takes additional time.\naqmlab reproduce NAME reproduces "
        "a paper, aqmlab reproduce NAME --only fig7 a part of it, and\naqmlab reproduce all every paper."
    )


def _outcome(paper: Paper, one: Reproduction, folder: Path) -> str:
    """Describe the outcome of a paper."""
    from aqmlab_papers.show import terminal

    found, claims = one.findings, one.document["claims"]
    parts = [f"{paper.name}: {paper.title}"]
    if claims:
        parts += [terminal.verdicts(claims), terminal.counted(claims)]
    parts.append(terminal.runs(one))
    if one.written:
        state = "written to" if one.drawing else "up to date in"
        parts.append(f"{state} {folder}: {terminal.files(one.document)}")
    damage = [
        f"{file}: damaged; {runs} of its runs are lost; those of this paper were repeated"
        for file, runs in found.damage.items()
    ]
    return "\n".join([*parts, *damage])


def _is_older(file: Path, others: Iterable[Path]) -> bool:
    """Check whether a file is missing, or older than one of the others."""
    times = [one.stat().st_mtime_ns for one in others if one.is_file()]
    return not file.is_file() or file.stat().st_mtime_ns < max(times, default=0)


@dataclass
class _Work:
    """The reproduction of papers one after another, with their outcomes and errors."""

    papers: Mapping[str, Paper]
    folders: Mapping[str, Path]
    effort: Effort
    store: Path
    jobs: int | None
    cluster: str | None
    quiet: bool
    done: dict[str, Reproduction] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    lost: bool = False
    interrupted: bool = False

    def do(self) -> None:
        """Reproduce each paper; an error in one is kept for the end."""
        for name, paper in self.papers.items():
            try:
                one = self._reproduce(name, paper)
            except (OSError, MemoryError):
                raise  # it would recur in the next paper
            except Exception as error:
                self.errors.append(f"{paper.name}: {type(error).__name__}: {error}")
                continue
            if not self.quiet:
                typer.echo(_outcome(paper, one, self.folders[name]) + "\n")
            self._note(paper, one)
            # The tables of runs take gigabytes, and from here on nothing reads them.
            self.done[paper.name] = one = replace(one, findings=replace(one.findings, evidence={}))
            if one.findings.interrupted:
                self.interrupted = True
                return

    def _reproduce(self, name: str, paper: Paper) -> Reproduction:
        from aqmlab_papers.describe import library
        from aqmlab_papers.reproduction import reproduce

        effort = replace(self.effort, only=self.effort.only.intersection(item.name for item in paper.items))
        step = "reading the store"
        with progress_bar(lambda: f"{paper.name}: {step}") as show:

            def watch(current: str, fraction: float) -> None:
                nonlocal step
                step = current
                if show:
                    show(fraction)

            return reproduce(
                paper,
                effort,
                self.folders[name],
                self.store,
                command_line(),
                sources=library.folder(name),
                jobs=self.jobs,
                cluster=self.cluster,
                watch=watch if show else None,
            )

    def _note(self, paper: Paper, one: Reproduction) -> None:
        """Record the errors and failures of a paper."""
        self.errors += [f"{paper.name}: {item}: {error}" for item, error in one.errors.items()]
        failures = one.findings.failures
        self.lost |= any(failure.lost for failure in failures)
        self.errors += [f"{paper.name}: {failure}" for failure in failures[:MOST_FAILURES]]
        if len(failures) > MOST_FAILURES:
            self.errors.append(f"{paper.name}: … {len(failures) - MOST_FAILURES} more runs failed")

    def summarise(self, out: Path) -> None:
        """Write the page on all reproduced papers, and print the counts of verdicts and the total time."""
        from aqmlab_papers.show import overview, terminal
        from aqmlab_papers.show.texts import FINDINGS, lasted

        if not self.done:
            return
        found = {name: one.document for name, one in self.done.items()}
        seconds = sum(one.running + one.drawing for one in self.done.values())
        if _is_older(out / _INDEX, [self.folders[name] / FINDINGS for name in self.papers]):
            overview.save(found, out / _INDEX, command_line(), seconds)
        claims = [claim for document in found.values() for claim in document["claims"]]
        count = f"{len(found)} paper{'s' if len(found) > 1 else ''}"
        summary = f"{count} in {lasted(seconds)}: {terminal.counted(claims)}\nwritten to {out}: {_INDEX}"
        typer.echo(summary, err=self.quiet)
