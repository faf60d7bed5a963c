"""The command ``aqmlab check``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED, progress_bar

if TYPE_CHECKING:
    from aqmlab.workshop.check import Checked

_MARKS = {True: "passed", False: "FAILED", None: "-"}


def check(
    file: Annotated[
        str, typer.Argument(metavar="FILE.py[:CLASS]", help="A file with queue disciplines, or one of its classes.")
    ],
    json: options.Json = False,
) -> None:
    """Test queue disciplines of your own.

    Each class is declared, read, and run in small scenarios that try its limits: no exception, no lost packet, the same
    results after another run, in a new process and compiled. The exit status is 1 if a test failed.
    """
    from aqmlab.workshop.check import TESTS
    from aqmlab.workshop.check import check as checked

    if ".py" not in file:
        raise typer.BadParameter(f"{file!r}: must be a file of Python, such as mine.py", param_hint="FILE.py")
    try:
        with progress_bar(lambda: "checking") as progress:
            outcomes = checked(file, progress)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="FILE.py") from None
    if json:
        from aqmlab.files import json_text

        typer.echo(json_text({"checked": [_document(one) for one in outcomes]}).rstrip())
    else:
        width = max(map(len, TESTS))
        typer.echo("\n\n".join(_text(one, width) for one in outcomes))
    if not all(one.passed for one in outcomes):
        raise typer.Exit(FAILED)


def _document(one: Checked) -> dict[str, object]:
    tests = {f.name: {"passed": f.passed, "detail": f.detail} for f in one.findings}
    return {"reference": one.reference, "passed": one.passed, "tests": tests}


def _text(one: Checked, width: int) -> str:
    import textwrap

    from aqmlab.text import printable

    lines = [one.reference]
    for finding in one.findings:
        head = f"  {finding.name.ljust(width)}  {_MARKS[finding.passed].ljust(6)}  "
        body = textwrap.wrap(printable(finding.detail), 110 - len(head), break_on_hyphens=False) or [""]
        lines += [f"{head}{body[0]}", *(" " * len(head) + part for part in body[1:])]
    return "\n".join(lines)
