"""The command ``aqmlab check``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED, progress_bar

if TYPE_CHECKING:
    from aqmlab.workshop.check import Checked

_MARKS = {True: "passed", False: "FAILED", None: "-"}


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py[:CLASS]",
            help="A file with queue disciplines or congestion controls, or one of its classes.",
        ),
    ],
    speed: Annotated[
        bool, typer.Option("--speed", help="Also measure the packets per second of CPU time, in Python and compiled.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Test queue disciplines and congestion controls of your own.

    Each class is declared, read, and run in small scenarios that try its limits: no exception, no lost packet, the same
    results after another run, in a new process and compiled. The exit status is 1 if a test failed.
    """
    from aqmlab.workshop.check import TESTS, speeds
    from aqmlab.workshop.check import check as checked

    if ".py" not in file:
        raise typer.BadParameter(f"{file!r}: must be a file of Python, such as mine.py", param_hint="FILE.py")
    try:
        with progress_bar(lambda: "checking") as progress:
            outcomes = checked(file, progress)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FILE.py") from None
    measured = {one.reference: speeds(os.path.abspath(one.reference)) for one in outcomes if speed and one.passed}
    if json:
        from aqmlab.files import json_text

        documents = [{**_document(one), "speed": measured.get(one.reference)} for one in outcomes]
        typer.echo(json_text({"checked": documents}).rstrip())
    else:
        width = max(map(len, TESTS))
        typer.echo("\n\n".join(_text(one, width, measured.get(one.reference)) for one in outcomes))
    if not all(one.passed for one in outcomes):
        raise typer.Exit(FAILED)


def _document(one: Checked) -> dict[str, object]:
    tests = {f.name: {"passed": f.passed, "detail": f.detail} for f in one.findings}
    return {"reference": one.reference, "passed": one.passed, "tests": tests}


def _text(one: Checked, width: int, speed: Mapping[str, float | None] | None) -> str:
    import textwrap

    from aqmlab.text import printable

    lines = [one.reference]
    for finding in one.findings:
        head = f"  {finding.name.ljust(width)}  {_MARKS[finding.passed].ljust(6)}  "
        body = textwrap.wrap(printable(finding.detail), 110 - len(head), break_on_hyphens=False) or [""]
        lines += [f"{head}{body[0]}", *(" " * len(head) + part for part in body[1:])]
    if speed:
        rates = ", ".join(f"{rate:,.0f} {name}" for name, rate in speed.items() if rate)
        lines.append(f"  {'speed'.ljust(width)}  packets per second of CPU time: {rates}")
    return "\n".join(lines)
