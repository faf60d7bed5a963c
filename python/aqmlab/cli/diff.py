"""The command ``aqmlab diff``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.delivery import deliver
from aqmlab.cli.terminal import BAD_USAGE, BEYOND, stop

_HELP = "A folder that --out of run, compare or sweep wrote, or a file that --json of run or compare printed."


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help=_HELP, show_default=False)],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one of the same kind.", show_default=False)],
    fail: Annotated[
        list[str] | None,
        typer.Option(
            "--fail",
            metavar="LIMIT",
            help="End with status 6 if a metric rises or falls by more: 'rtt_p95 +10 %' (of A's mean), "
            "'goodput -1 Mbit/s', 'call.delay_p95 +2 ms'; of several runs, only if the interval excludes 0. Repeat it.",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Compare two saved results: settings, versions and metrics.

    The differences are B minus A, with 95 % confidence intervals: seed by seed if both have the same seeds, otherwise
    Welch's.
    """
    from aqmlab.diffs.diff import diff

    try:
        found = diff(first, second)
        passed = found.passed(*fail or ())
    except ValueError as error:
        stop(BAD_USAGE, str(error))
    except FileNotFoundError as error:
        raise typer.BadParameter(f"{error.filename!r}: there is no such file or folder", param_hint="A or B") from None
    deliver(found, json, None, lambda folder: [])
    if passed:
        stop(BEYOND, "\n".join(map(str, passed)))
