"""The command ``aqmlab reproduce``."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli.terminal import (
    FAILED,
    INTERRUPTED,
    LOST,
    command_line,
    one_interrupt,
    progress_bar,
    require_folder,
    require_writable_folder,
    stop,
)

if TYPE_CHECKING:
    from aqmlab.papers import Paper
    from aqmlab.papers.reproduction import Reproduction
    from aqmlab.papers.run.sweep import Effort

_ALL = "all"
_OUT = Path("out/reproduce")
_INDEX = "index.html"
_SEEDS, _QUICK_SEEDS = 5, 1
_MOST_FAILURES = 20
"""The largest number of a paper's failed runs that are listed; all are in findings.json."""


def reproduce(
    paper: Annotated[
        str | None,
        typer.Argument(
            metavar="PAPER", help="A paper, all of them, or a folder with a paper.py; by default they are listed."
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="NAME", help="This figure or table, with the claims that it shows. Repeatable."),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="N", min=1, help=f"Seeds of each run; default: {_SEEDS}, or 1 with --quick."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", metavar="N", min=1, help="Runs at a time; default: all cores.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The fewest points that still judge each claim; no sensitivity table.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help=f"Write the report there; default: {_OUT}, of one paper {_OUT}/NAME."
        ),
    ] = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", metavar="DIR", help=f"Keep finished runs there; default: DIR/store, or {_OUT}/store."),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option("--cluster", metavar="ADDRESS", help="A Dask scheduler: tcp://HOST:PORT, or the file it wrote."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")] = False,
) -> None:
    """Reproduce a paper: every figure and table, and a verdict on every claim.

    Finished work is kept: rerunning the command does only the missing part, even after Ctrl-C or kill -9.
    """
    from aqmlab.execute.replication import MOST_SEEDS
    from aqmlab.papers.run.sweep import Effort

    if cluster is not None and jobs is not None:
        raise typer.BadParameter("the workers of --cluster say how many runs there are at a time", param_hint="--jobs")
    if seeds is not None and seeds > MOST_SEEDS:
        raise typer.BadParameter(f"{seeds}: must be at most {MOST_SEEDS}", param_hint="--seeds")
    require_folder(store)
    effort = Effort(seeds=seeds or (_QUICK_SEEDS if quick else _SEEDS), quick=quick, only=frozenset(only or ()))
    kept = store or (out or _OUT) / "store"
    if paper is None:
        _list(effort, kept, jobs, json)
        return
    papers = _papers(paper, effort)
    if out is None:
        out = _OUT if paper == _ALL else _OUT / next(iter(papers.values())).name
    require_writable_folder(out, _names(papers, all_=paper == _ALL))
    folders = {told: out / one.name if paper == _ALL else out for told, one in papers.items()}
    with one_interrupt():
        work = _Work(papers, folders, effort, kept, jobs, cluster, json)
        try:
            work.do()
        except KeyboardInterrupt:
            work.interrupted = True
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if paper == _ALL and not work.interrupted:
            work.summarise(out)
        if json:
            _print(work.done, alone=paper != _ALL)
    if work.interrupted:
        told = "; ".join(
            f"{name}: {one.findings.done} of {one.findings.wanted} runs are there" for name, one in work.done.items()
        )
        stop(INTERRUPTED, f"interrupted{f': {told}' if told else ''}; the same again does the rest")
    if work.errors:
        stop(LOST if work.lost else FAILED, "\n".join(work.errors))


def _names(papers: Mapping[str, Paper], all_: bool) -> list[str]:
    """List the files to be written."""
    from aqmlab.papers.show.texts import FINDINGS, files

    names = [_INDEX] if all_ else []
    for paper in papers.values():
        own = ["report.html", FINDINGS, *(file for item in paper.items for file in files(item))]
        names += [f"{paper.name}/{name}" if all_ else name for name in own]
    return names


def _papers(told: str, effort: Effort) -> dict[str, Paper]:
    """Load the requested papers by name; refuse figures that none of them has."""
    from aqmlab.papers.describe import library

    try:
        papers = {name: library.load(name) for name in (library.names() if told == _ALL else [told])}
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="PAPER") from None
    items = {name: [item.name for item in paper.items] for name, paper in papers.items()}
    if strange := sorted(effort.only.difference(*items.values())):
        there = "; ".join(f"{papers[name].name} has {', '.join(own)}" for name, own in items.items())
        raise typer.BadParameter(f"{', '.join(strange)}: {there}", param_hint="--only")
    return {name: paper for name, paper in papers.items() if not effort.only or effort.only.intersection(items[name])}


def _list(effort: Effort, store: Path, jobs: int | None, json: bool) -> None:
    from aqmlab.execute import threads
    from aqmlab.files import json_text
    from aqmlab.papers.describe import library
    from aqmlab.papers.run.estimate import estimates, measured_speed
    from aqmlab.papers.show import terminal

    if effort.only:
        raise typer.BadParameter("say of which paper", param_hint="--only")
    papers = [library.load(name) for name in library.names()]
    speed, cores = measured_speed(), jobs or threads.cores()
    found = estimates(papers, effort, store, speed)
    if json:
        typer.echo(json_text({one.paper.name: one.document(cores) for one in found}), nl=False)
        return
    quick = [] if effort.quick else estimates(papers, replace(effort, seeds=_QUICK_SEEDS, quick=True), store, speed)
    typer.echo(terminal.listed(found, quick, cores))
    typer.echo(
        f"\nTimes are estimates for the runs that are not in {store}, with {effort.seeds} "
        f"seed{'s' if effort.seeds > 1 else ''} on {cores} core{'s' if cores > 1 else ''};\n"
        "that of a figure or table has the claims that it shows in it; drawing comes on top.\n"
        "aqmlab reproduce NAME does all of a paper, aqmlab reproduce NAME --only fig7 a part, aqmlab reproduce all "
        "does them all."
    )


def _told(paper: Paper, one: Reproduction, folder: Path) -> str:
    """Describe the outcome of a paper."""
    from aqmlab.papers.show import terminal

    found, claims = one.findings, one.document["claims"]
    parts = [f"{paper.name}: {paper.title}"]
    if claims:
        parts += [terminal.verdicts(claims), terminal.counted(claims)]
    parts.append(terminal.runs(one))
    if one.written:
        there = f"written to {folder}: " if one.drawing else f"nothing to do; in {folder}: "
        parts.append(there + terminal.files(one.document))
    damage = [
        f"{file}: damaged; {runs} runs that it held are lost, those of this paper were done again"
        for file, runs in found.damage.items()
    ]
    return "\n".join([*parts, *damage])


def _print(done: Mapping[str, Reproduction], alone: bool) -> None:
    from aqmlab.files import json_text

    for one in done.values() if alone else ():
        typer.echo(json_text(one.document), nl=False)
    if not alone:
        typer.echo(json_text({name: one.document for name, one in done.items()}), nl=False)


def _is_older(file: Path, others: Iterable[Path]) -> bool:
    """Check whether a file is missing, or older than one of the others."""
    made = [one.stat().st_mtime_ns for one in others if one.is_file()]
    return not file.is_file() or file.stat().st_mtime_ns < max(made, default=0)


class _Work:
    """The reproduction of papers one after another, with their outcomes and errors."""

    def __init__(
        self,
        papers: Mapping[str, Paper],
        folders: Mapping[str, Path],
        effort: Effort,
        store: Path,
        jobs: int | None,
        cluster: str | None,
        json: bool,
    ) -> None:
        self._papers, self._folders, self._effort = papers, folders, effort
        self._store, self._jobs, self._cluster, self._quiet = store, jobs, cluster, json
        self.done: dict[str, Reproduction] = {}
        self.errors: list[str] = []
        self.lost = False
        self.interrupted = False

    def do(self) -> None:
        """Reproduce each paper; an error in one is kept for the end."""
        for told, paper in self._papers.items():
            try:
                one = self._reproduce(told, paper)
            except (OSError, MemoryError):
                raise  # it would recur in the next paper
            except Exception as error:
                self.errors.append(f"{paper.name}: {type(error).__name__}: {error}")
                continue
            self.done[paper.name] = one
            if not self._quiet:
                typer.echo(_told(paper, one, self._folders[told]) + "\n")
            self._note(paper, one)
            if one.findings.interrupted:
                self.interrupted = True
                return

    def _reproduce(self, told: str, paper: Paper) -> Reproduction:
        from aqmlab.papers.describe import library
        from aqmlab.papers.reproduction import reproduce

        effort = replace(self._effort, only=self._effort.only.intersection(item.name for item in paper.items))
        now = ["looking"]
        with progress_bar(lambda: f"{paper.name}: {now[0]}") as show:

            def watch(what: str, fraction: float) -> None:
                now[0] = what
                if show:
                    show(fraction)

            return reproduce(
                paper,
                effort,
                self._folders[told],
                self._store,
                command_line(),
                sources=library.folder(told),
                jobs=self._jobs,
                cluster=self._cluster,
                watch=watch if show else None,
            )

    def _note(self, paper: Paper, one: Reproduction) -> None:
        """Record the errors and failures of a paper."""
        self.errors += [f"{paper.name}: {what}: {error}" for what, error in one.errors.items()]
        failures = one.findings.failures
        self.lost |= any(failure.lost for failure in failures)
        self.errors += [f"{paper.name}: {failure}" for failure in failures[:_MOST_FAILURES]]
        if len(failures) > _MOST_FAILURES:
            self.errors.append(f"{paper.name}: … {len(failures) - _MOST_FAILURES} more runs failed")

    def summarise(self, out: Path) -> None:
        """Write the page over all reproduced papers, and print the counts of verdicts and the total time."""
        from aqmlab.papers.show import overview, terminal
        from aqmlab.papers.show.texts import FINDINGS, lasted

        if not self.done:
            return
        found = {name: one.document for name, one in self.done.items()}
        seconds = sum(one.running + one.drawing for one in self.done.values())
        if _is_older(out / _INDEX, [self._folders[told] / FINDINGS for told in self._papers]):
            overview.save(found, out / _INDEX, command_line(), seconds)
        claims = [claim for document in found.values() for claim in document["claims"]]
        count = f"{len(found)} paper{'s' if len(found) > 1 else ''}"
        told = f"{count} in {lasted(seconds)}: {terminal.counted(claims)}\nwritten to {out}: {_INDEX}"
        typer.echo(told, err=self._quiet)
