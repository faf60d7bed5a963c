"""The command ``aqmlab validate``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion
from aqmlab.cli.scenarios import loaded
from aqmlab.cli.terminal import BAD_USAGE, complain

if TYPE_CHECKING:
    from aqmlab.scenario import Scenario


def validate(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="SCENARIO...",
            autocompletion=completion.scenario,
            help="TOML files, names of shipped scenarios, or -.",
        ),
    ],
) -> None:
    """Check scenarios without running them."""
    from aqmlab.reports.cautions import cautions

    valid = True
    for file in files:
        try:
            scenario = loaded(file)
            typer.echo(f"{file}: valid: {_summary(scenario)}")
            for line in [*_extended(scenario), *_round_trips(scenario), *cautions([scenario])]:
                typer.echo(f"  {line}")
        except ValueError as error:
            valid = False
            complain(str(error))
    if not valid:
        raise typer.Exit(BAD_USAGE)


def _extended(scenario: Scenario) -> Iterator[str]:
    """Describe what the scenario's file extends, and what it changes there."""
    from aqmlab.text import printable

    if not (extension := scenario._extension):
        return
    yield printable("extends " + ", which extends ".join(extension["files"]))
    for change in extension["changes"]:
        if change["new"] is None:
            yield f"  {change['path']} is gone; it was {change['old']}"
        else:
            earlier = "new" if change["old"] is None else f"it was {change['old']}"
            yield f"  {change['path']} = {change['new']} ({earlier})"


def _round_trips(scenario: Scenario) -> Iterator[str]:
    """Describe the round trips of the traffic of a dumbbell."""
    from aqmlab.reports.cautions import round_trips
    from aqmlab.text import printable

    parts = []
    for name, ways in round_trips(scenario).items():
        if ways:
            least, most = f"{1e3 * ways[0]:.6g}", f"{1e3 * ways[-1]:.6g}"
            parts.append(f"{printable(name)} {least if least == most else f'{least} to {most}'} ms")
    if parts:
        yield f"round trips without a queue: {', '.join(parts)}"


def _summary(scenario: Scenario) -> str:
    """Describe the size of a scenario; raise ValueError if it is not valid."""
    scenario.check()
    sweep = ""
    if scenario._study:
        from aqmlab.runs.runner import asked_for

        sweep = f"; its sweep has {asked_for(scenario)} runs"
    slots = f", up to {scenario._slots:.2g} slots" if scenario._slots else ""
    return (
        f"{scenario.aqm}{_buffer(scenario)}, {scenario.duration:g} s, about {scenario._packets:.2g} packets{slots} and "
        f"{scenario._memory / 1e6:.2g} MB of memory{sweep}"
    )


def _buffer(scenario: Scenario) -> str:
    """Name the observed queue's limit if the scenario says a time or bandwidth-delay products instead."""
    from aqmlab import _core
    from aqmlab.scenario import cables

    resolved = scenario.resolved
    tables = cables(resolved) | {"bottleneck": resolved.get("dumbbell", {})}
    written = str(tables.get(resolved["observe"], {}).get("buffer", ""))
    found = _core.in_base_unit(written)
    return f", a buffer of {scenario.buffer} ({written})" if found and found[1] in ("s", "BDP") else ""
