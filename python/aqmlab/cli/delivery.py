"""The output of a command: the result on the standard output, and its files."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from aqmlab.cli.command import current
from aqmlab.cli.terminal import command_line
from aqmlab.files import DEFAULT_FORMATS, REPORT

if TYPE_CHECKING:
    from aqmlab.results.comparison import Comparison
    from aqmlab.results.result import Result
    from aqmlab.runs.swept import Sweep


_PROGRAM = re.compile(r".*?\.py(?=:)")
"""The file of a discipline of the user's own."""


class Deliverable(Protocol):
    """A result that can be printed."""

    def document(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        ...


@dataclass(frozen=True)
class Export:
    """A file that a command writes besides those of ``--out``: ``option`` asks for it, ``what`` names the content."""

    option: str
    file: Path
    what: str
    content: Callable[[Any], bytes | Iterable[bytes]]
    """Returns the content of the file for a result, in one piece or several."""


def of_runs(csv: Path | None) -> list[Export]:
    """Return what ``--csv`` asks for."""
    return [Export("--csv", csv, "the metrics of every run", _csv)] if csv else []


def _csv(result: Result | Comparison | Sweep) -> Iterator[bytes]:
    from aqmlab.runs.swept import Sweep

    frames = result.table.frames() if isinstance(result, Sweep) else iter([result.frame])
    for place, frame in enumerate(frames):
        yield frame.write_csv(include_header=not place).encode()


def require_writable_file(file: Path, option: str) -> None:
    """Check before the simulation that a file can be written; ``option`` names it."""
    from aqmlab.files import prove

    _require_no_input(file, option)
    try:
        prove(file)
    except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
        raise typer.BadParameter(f"{file}: {error.strerror}: {error.filename}", param_hint=option) from None


def require_different(files: Iterable[tuple[str, Path]], out: Path | None, names: Iterable[str]) -> None:
    """Refuse a file that two options write: ``files``, each with its option, and ``names`` in the folder ``out``."""
    written = {(out / name).resolve(): "--out" for name in names} if out else {}
    for option, file in files:
        if (other := written.setdefault(file.resolve(), option)) != option:
            raise typer.BadParameter(f"{file}: {other} writes it as well; choose another name", param_hint=option)


def _require_no_input(file: Path, option: str) -> None:
    """Refuse to write over a file that the command reads."""
    if file.is_file() and any(file.samefile(one) for one in _inputs(option)):
        problem = f"{file}: this command reads it, and would write over it; choose another name"
        raise typer.BadParameter(problem, param_hint=option)


def _inputs(option: str) -> Iterator[Path]:
    """Yield the files that a command line names, except in an option, and those that scenarios among them name."""
    from aqmlab.text import texts

    context = current.get()
    given = dict(context.params) if context else {}
    for one in context.command.params if context else ():
        if option in one.opts:
            given.pop(str(one.name), None)
    todo = [(Path(), text) for _, text in texts(given)]
    seen: set[Path] = set()
    while todo:
        folder, text = todo.pop()
        # A discipline is FILE:CLASS, a setting PATH=VALUE, a measurement NAME=FILE.
        for name in {part for whole in (text, text.partition("=")[2]) for part in (whole, *_PROGRAM.findall(whole))}:
            path = (folder / name.strip().strip("\"'")).absolute()
            if "\0" in name or path in seen or not os.path.isfile(path):
                continue
            seen.add(path)
            yield path
            if path.suffix == ".toml":
                import tomllib

                with suppress(OSError, ValueError):  # the command itself says what is wrong with it
                    inside = tomllib.loads(path.read_text(encoding="utf-8"))
                    todo += [(path.parent, one) for _, one in texts(inside)]


def require_writable_folder(out: Path, names: Iterable[str]) -> None:
    """Create a folder, and check before the simulation that the files can be written.

    ``names`` are their paths relative to the folder. Refused are a folder that has the results of another command, and
    a file of such a name that no command has written: one without a head beside it (see `Kind`), or a figure in a
    format that the report's command did not write.
    """
    from aqmlab.files import figure_files, mark_of, prove
    from aqmlab.kinds import ADVICE, ANALYSIS, CALIBRATION, HEADS, TUNED

    names, known = list(names), (*HEADS, ADVICE, TUNED, ANALYSIS, CALIBRATION)
    heads = {Path(name).parent: out / name for name in names if Path(name).name in known}
    written = {folder for folder, head in heads.items() if head.is_file() or mark_of(head).is_file()}
    for head in heads.values():
        if others := [name for name in known if name != head.name and head.with_name(name).is_file()]:
            problem = (
                f"{head.parent}: has {others[0]}, the results of another command; choose another folder, or remove it"
            )
            raise typer.BadParameter(problem, param_hint="--out")
    for name in names:
        # The page about several results has no head beside it.
        ours = Path(name).parent in written if Path(name).parent in heads else bool(written)
        drawn = _drawn_before(out) if name in figure_files() and (out / REPORT).is_file() else [name]
        if (out / name).is_file() and not (ours and name in drawn):
            _require_no_input(out / name, "--out")
            problem = f"{out / name}: no result of aqmlab, and would be written over; choose another folder"
            raise typer.BadParameter(problem, param_hint="--out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise typer.BadParameter(f"{out}: not a folder", param_hint="--out") from None
    proved: set[Path] = set()
    for name in names:
        _require_no_input(out / name, "--out")
        try:
            # One file proves that its folder is writable; the others need a check only if their paths exist already.
            if (out / name).parent not in proved or os.path.lexists(out / name):
                prove(out / name)
            proved.add((out / name).parent)
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            problem = f"{error.filename}: in the way of {name}; choose another folder, or move it"
            raise typer.BadParameter(problem, param_hint="--out") from None


def deliver(
    result: Deliverable,
    json: bool,
    out: Path | None,
    save: Callable[[Path], Sequence[str]],
    exports: Sequence[Export] = (),
    printed: Callable[[], str] | None = None,
) -> None:
    """Print a result; if there is a folder, write the files with ``save(out)`` and print the names that it returns.

    ``exports`` are written as well. ``printed`` returns the text of the result, by default its repr.
    """
    from aqmlab.files import json_text, write_whole

    files: Sequence[str] = ()
    try:
        text = printed or (lambda: repr(result))
        typer.echo(json_text(result.document()) if json else text(), nl=not json)
    finally:  # save even if the reader closes the pipe early
        if out:
            files = save(out)
        for export in exports:
            write_whole(export.file, export.content(result))
    written = [f"written to {out}: {', '.join(files)}"] if files else []
    written += [f"written to {export.file}: {export.what}" for export in exports]
    if written:
        typer.echo("\n".join(written if json else ["", *written]), err=json)


def _drawn_before(folder: Path) -> list[str]:
    """List the files of figures that the command wrote whose report is in a folder; none without a report."""
    from aqmlab.archive import shown
    from aqmlab.files import figure_files

    try:
        words = shlex.split(shown.command(folder))
    except ValueError:
        return []
    if not words:
        return []
    option = "--figure-format"
    given = [after for word, after in zip(words, [*words[1:], ""], strict=True) if word == option]
    given += [word.removeprefix(f"{option}=") for word in words if word.startswith(f"{option}=")]
    return figure_files(formats=given[-1].split(",") if given else DEFAULT_FORMATS)


def undraw(folder: Path, files: Iterable[str]) -> None:
    """Remove the figures that an earlier command wrote to a folder, except those of these names."""
    for name in set(_drawn_before(folder)).difference(files):
        (folder / name).unlink(missing_ok=True)


def draw(results: Comparison | Sweep, folder: Path, formats: Sequence[str]) -> list[str]:
    """Write the figures and the report of results that have runs; return the names of the files.

    Figures that were written there before, under other names, are removed.
    """
    from aqmlab.files import figure_files, write_text
    from aqmlab.reports import folder as shown

    figures = dict(shown.figures(results))
    files = figure_files(figures, formats)
    undraw(folder, files)
    if figures:
        from aqmlab.figures import matplotlib

        for name, figure in figures.items():
            matplotlib.save(figure, folder, formats, name)
    write_text(folder / REPORT, shown.report(results, command_line()))
    return [*files, REPORT]
