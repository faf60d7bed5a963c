"""The command ``aqmlab validate``."""

from __future__ import annotations

from typing import Annotated

import typer

from aqmlab.cli.scenarios import loaded
from aqmlab.cli.terminal import BAD_USAGE, complain


def validate(
    files: Annotated[
        list[str], typer.Argument(metavar="SCENARIO...", help="TOML files, names of shipped scenarios, or -.")
    ],
) -> None:
    """Check scenarios without running them."""
    valid = True
    for file in files:
        try:
            typer.echo(f"{file}: valid: {_summary(file)}")
        except ValueError as error:
            valid = False
            complain(str(error))
    if not valid:
        raise typer.Exit(BAD_USAGE)


def _summary(file: str) -> str:
    """Describe the size of a scenario; raise ValueError if it is not valid."""
    scenario = loaded(file)
    scenario.check()
    sweep = ""
    if scenario.study:
        from aqmlab.sweeps.runner import asked_for

        sweep = f"; its sweep has {asked_for(scenario)} runs"
    return (
        f"{scenario.aqm}, {scenario.duration:g} s, about {scenario.packets:.2g} packets and "
        f"{scenario.memory / 1e6:.2g} MB{sweep}"
    )
