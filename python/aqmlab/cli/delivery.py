"""The output of a command: the result on the standard output, and its files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from aqmlab.cli.terminal import command_line

if TYPE_CHECKING:
    from aqmlab.results.comparison import Comparison
    from aqmlab.sweeps.result import Sweep

FIGURES = ("figure.png", "figure.svg")
"""The files of a figure."""

REPORT = "report.html"


class Deliverable(Protocol):
    """A result that can be printed."""

    def document(self) -> dict[str, Any]:
        """Return the result as a dictionary for JSON."""
        ...


def require_writable_folder(out: Path, names: Iterable[str]) -> None:
    """Create a folder, and check before the simulation that the files can be written.

    ``names`` are their paths relative to the folder.
    """
    from aqmlab.files import prove

    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise typer.BadParameter(f"{out}: not a folder", param_hint="--out") from None
    proved: set[Path] = set()
    for name in names:
        try:
            # One file proves that its folder is writable; the others need a check only if their paths exist already.
            if (out / name).parent not in proved or os.path.lexists(out / name):
                prove(out / name)
            proved.add((out / name).parent)
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            problem = f"{error.filename}: in the way of {name}; choose another folder, or move it"
            raise typer.BadParameter(problem, param_hint="--out") from None


def deliver(result: Deliverable, json: bool, out: Path | None, save: Callable[[Path], Sequence[str]]) -> None:
    """Print a result; if there is a folder, write the files with ``save(out)`` and print the names that it returns."""
    from aqmlab.files import json_text

    files: Sequence[str] = ()
    try:
        typer.echo(json_text(result.document()) if json else repr(result), nl=not json)
    finally:  # save even if the reader closes the pipe early
        if out:
            files = save(out)
    if files:
        written = f"written to {out}: {', '.join(files)}"
        typer.echo(written if json else f"\n{written}", err=json)


def draw(results: Comparison | Sweep, folder: Path) -> list[str]:
    """Write the figure and the report of results that have runs; return the names of the files."""
    from aqmlab.results.comparison import Comparison

    if isinstance(results, Comparison):
        from aqmlab.figures import matplotlib, runs
        from aqmlab.reports import html

        matplotlib.save(runs.comparison(results), folder)
        html.save(results, folder / REPORT, command_line(), results.baseline)
        return [*FIGURES, REPORT]
    from aqmlab.figures import matplotlib, sweep
    from aqmlab.reports import sweep_html

    if results.parameters:
        matplotlib.save(sweep.sweep(results), folder)
    sweep_html.save(results, folder / REPORT, command_line())
    return [*(FIGURES if results.parameters else ()), REPORT]
