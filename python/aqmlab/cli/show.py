"""The command ``aqmlab show``."""

from __future__ import annotations

from typing import Annotated

import typer

from aqmlab.cli import completion


def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=completion.named,
            help="A queue discipline, FILE.py:CLASS, tcp:PRESET, a kind of traffic, or a scenario.",
        ),
    ],
) -> None:
    """Describe a queue discipline, TCP, kind of traffic or scenario.

    The description has a summary and, where they exist, parameters and signals.
    """
    from aqmlab.reports import listing

    try:
        typer.echo(listing.page(name))
    except KeyError as error:
        raise typer.BadParameter(error.args[0], param_hint="NAME") from None
