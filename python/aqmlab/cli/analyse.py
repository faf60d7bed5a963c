"""The command ``aqmlab analyse``: the control loop of a scenario, computed by `aqmlab.analysis.loop`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.cli.terminal import BAD_USAGE, FIGURES, loaded, require_writable_folder, stop, with_settings


def analyse(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO", help="A TOML file, - for the standard input, or the name of a shipped scenario."
        ),
    ],
    aqm: Annotated[
        str | None,
        typer.Option(
            "--aqm",
            metavar="SPEC",
            help="NAME or NAME:KEY=VALUE,… instead of the file's; a target queue that the file sets stays.",
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Change a value: traffic.long.count=100. Repeatable."),
    ] = None,
    at: Annotated[
        str | None,
        typer.Option("--at", metavar="TIME", help="When: '60 s'. The flows and load of then count; default: half-way."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a table.")] = False,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Write analysis and figure there.")] = None,
) -> None:
    """Linearise a scenario's control loop: operating point, gain, phase and delay margins, response time.

    The loop consists of the flows, the queue and the AQM of the observed link. It is linearised around the queue's
    target, with and without the pole of the queue. No packet is simulated.
    """
    from aqmlab import ScenarioError
    from aqmlab.files import json_text

    moment = None if at is None else _seconds(at)
    base = loaded(scenario)
    chosen = with_settings(base if aqm is None else base.with_aqm(aqm), set_)
    chosen.check()
    if out:
        require_writable_folder(out, ["analysis.json", *FIGURES])
    from aqmlab.analysis import loop  # imports numpy and scipy; bad arguments are refused before that

    try:
        found = loop.analyse(chosen, moment)
    except ScenarioError:
        raise
    except ValueError as error:
        stop(BAD_USAGE, str(error))
    try:
        typer.echo(json_text(found.document()) if json else repr(found), nl=not json)
    finally:  # save even if the reader closes the pipe early
        if out:
            found.save(out)
    for text in found.warnings if json else ():
        typer.echo(f"warning: {text}", err=True)
    if out:
        written = f"written to {out}: analysis.json, figure.png, figure.svg"
        typer.echo(written if json else f"\n{written}", err=json)


def _seconds(text: str) -> float:
    from aqmlab._core import in_base_unit

    found = in_base_unit(text)
    if found is None or found[1] != "s":
        raise typer.BadParameter(f"{text}: must be a quantity like '60 s'", param_hint="--at")
    return found[0]
