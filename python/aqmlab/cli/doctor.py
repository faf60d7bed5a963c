"""The command ``aqmlab doctor``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED


class Needed(StrEnum):
    """The engines that ``aqmlab doctor --engine`` accepts, spelled as in the module that checks them."""

    PACKET = "packet"
    FLUID = "fluid"
    LINUX = "linux"
    VIRTUAL = "linux:clock=virtual"
    REAL = "linux:clock=real"


def doctor(
    engine: Annotated[
        Needed,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help=f"The engine that decides on the exit status, one of {', '.join(Needed)}; 1 if it cannot run.",
        ),
    ] = Needed.PACKET,
    json: options.Json = False,
) -> None:
    """Check what this machine can run.

    Each obstacle is printed with its remedy. Nothing is changed or installed.
    """
    from aqmlab.execute.preflight import ENGINES, examine, verdict
    from aqmlab.files import json_text
    from aqmlab.reports import preflight

    found = examine()
    verdicts = {group: verdict(group, found) for group in dict.fromkeys(ENGINES.values())}
    if json:
        typer.echo(json_text(preflight.document(found, verdicts.values())), nl=False)
    else:
        typer.echo(preflight.text(found, verdicts.values()))
    if not all(verdicts[group].ready for group in (ENGINES["packet"], ENGINES[engine])):
        raise typer.Exit(FAILED)
