"""The command ``aqmlab cite``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion, options, scenarios
from aqmlab.cli.terminal import BAD_USAGE, stop

if TYPE_CHECKING:
    from aqmlab.references.cite import Citations


class Form(StrEnum):
    """The forms of ``--format``."""

    BOTH = "both"
    TEXT = "text"
    BIBTEX = "bibtex"


def cite(
    found: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO|RESULT",
            autocompletion=completion.scenario,
            help="A scenario as for `aqmlab run`, or a folder that --out of run, compare, sweep, reproduce or evaluate "
            "wrote, or a .json file that --json printed.",
        ),
    ],
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            "--aqm",
            metavar="SPEC",
            autocompletion=completion.aqm,
            help="Replace the queue discipline of the scenario: NAME, NAME:KEY=VALUE,… or all. Repeatable.",
        ),
    ] = None,
    set_: options.Settings = None,
    engine: options.Engine = options.PACKET,
    form: Annotated[
        Form | None,
        typer.Option("--format", help="Print a list of references, BibTeX, or both; default: both."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Print references for a scenario or a result.

    They are aqmlab itself, the paper if the scenario is one of a paper, and the sources of every queue discipline, TCP,
    kind of traffic, engine and model in use, as the documentation names them. No packet is simulated.
    """
    from aqmlab.references import cite

    if found.endswith(".zip") and Path(found).is_file():
        raise typer.BadParameter(f"{found}: an archive; unpack it and give its folder", param_hint="SCENARIO|RESULT")
    if json and form:
        raise typer.BadParameter("not allowed with --json, which has the text and BibTeX", param_hint="--format")
    if cite.is_result(found):
        given = {"--aqm": aqm, "--set": set_, "--engine": engine != options.PACKET}
        if changes := [option for option, value in given.items() if value]:
            raise typer.BadParameter(f"applies to a scenario only; {found} is a result", param_hint=changes[0])
        try:
            references = cite.cite(Path(found))
        except ValueError as error:
            stop(BAD_USAGE, str(error))
    else:
        references = _of_scenario(found, aqm or [], set_, engine)
    if json:
        from aqmlab.files import json_text

        typer.echo(json_text(references.document()).rstrip())
        return
    parts = {Form.TEXT: references.text, Form.BIBTEX: references.bibtex}
    typer.echo("\n\n".join(text for name, text in parts.items() if form in (None, Form.BOTH, name)))


def _of_scenario(name: str, aqm: list[str], settings: list[str] | None, engine: str) -> Citations:
    from aqmlab.execute.variants import spelled_out
    from aqmlab.references.cite import of_scenarios

    base = scenarios.loaded(name)
    try:
        specs = spelled_out(aqm)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--aqm") from None
    chosen = [base.with_(aqm=spec) for spec in specs] or [base]
    return of_scenarios(name, [scenarios.with_settings(one, settings) for one in chosen], engine)
