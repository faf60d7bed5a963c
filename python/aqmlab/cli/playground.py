"""The command ``aqmlab playground``."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion, options, scenarios
from aqmlab.cli.terminal import interrupted_status
from aqmlab.files import read_whole

if TYPE_CHECKING:
    from aqmlab.playground.address import Address
    from aqmlab.playground.server import Server
    from aqmlab.scenario import Scenario

FIRST = "playground"
"""The scenario that options change if none is given."""

STDIN_NAME = "scenario.toml"
"""The name that the page gives to the text from the standard input."""


def playground(
    scenario: Annotated[
        str | None,
        typer.Argument(
            metavar="SCENARIO",
            autocompletion=completion.scenario,
            help="A TOML file, the name of a shipped scenario, or - for standard input; default: the page's first.",
        ),
    ] = None,
    aqm: Annotated[
        list[str] | None,
        typer.Option(
            "--aqm",
            metavar="SPEC",
            autocompletion=completion.aqm,
            help="A queue discipline to show, at most three beside each other: NAME or NAME:KEY=VALUE,…; default: that "
            "of the file. Repeatable.",
        ),
    ] = None,
    set_: options.Settings = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", min=0, help="Begin with this seed; default: that of the file.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="P", min=1, max=65535, help="Serve the page at this port; default: a free one."),
    ] = None,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address of the page, and do not open the browser.")
    ] = False,
) -> None:
    """Open a scenario in the browser and change it while it runs.

    The page simulates the scenario itself, packet by packet, with the same engine as `aqmlab run`. A change of a rate,
    a delay, a buffer or a discipline takes effect at once. The address has the scenario and all changes.

    The page is served to this machine alone until Ctrl-C, after which the exit status is 0.
    """
    address = addressed(scenario, aqm, set_, seed)
    from aqmlab.playground.built import PAGE, built

    built(PAGE)
    try:
        with _server(port) as server:
            url = server.url(address)
            typer.echo(url)
            typer.echo("Ctrl-C ends the playground", err=True)
            if not no_open:
                _open(url)
            server.serve_forever()
    except KeyboardInterrupt:
        if interrupted_status() != 128 + signal.SIGINT:
            raise


def addressed(scenario: str | None, aqm: Sequence[str] | None, set_: Sequence[str] | None, seed: int | None) -> Address:
    """Return the address of a view that a command line describes; refuse one that a page cannot simulate."""
    from aqmlab.playground.address import Address

    if scenario is None and not aqm and not set_ and seed is None:
        return Address()
    name = FIRST if scenario is None else scenario
    base = scenarios.loaded(name)
    _require_playable(base if seed is None else base.with_(seed=seed), name, aqm or (), set_)
    settings = (f"{path}={text.strip()}" for path, text in scenarios.pairs(set_, "--set", "VALUE").items())
    view = Address(aqms=tuple(aqm or ()), settings=tuple(settings), seed=seed)
    if name != scenarios.STDIN and not Path(name).is_file():
        return replace(view, scenario=name.removesuffix(".toml"))
    return replace(view, toml=_text(name, base), name=STDIN_NAME if name == scenarios.STDIN else Path(name).name)


def _require_playable(base: Scenario, name: str, aqm: Sequence[str], set_: Sequence[str] | None) -> None:
    """Refuse disciplines that cannot be shown beside each other, and scenarios that are not valid or not for a page."""
    from aqmlab.execute.variants import repeated
    from aqmlab.playground.address import MOST
    from aqmlab.playground.limits import require_playable
    from aqmlab.results.result import KERNEL

    if len(aqm) > MOST:
        problem = f"{len(aqm)} given: the playground shows at most {MOST} at a time: leave some out"
        raise typer.BadParameter(problem, param_hint="--aqm")
    for spec in aqm:
        if spec.startswith(KERNEL):
            problem = f"{spec}: the playground has no kernel: choose one of `aqmlab list aqms`; `aqmlab run` with "
            raise typer.BadParameter(f"{problem}--engine linux performs it", param_hint="--aqm")
        if list(aqm).count(spec) > 1:
            raise typer.BadParameter(f"{spec} given twice", param_hint="--aqm")
    variants = {spec: scenarios.changed(base, spec, set_) for spec in aqm} or {
        base.aqm: scenarios.with_settings(base, set_)
    }
    for spec, variant in variants.items():
        require_playable(variant, f"--aqm {spec}" if ".py:" in spec else name)
    if same := repeated(variants):
        raise typer.BadParameter(f"{same[0]} and {same[1]} are the same", param_hint="--aqm")


def _text(name: str, scenario: Scenario) -> str:
    """Return the text of a scenario's file. If that extends another file, or is read, it is written anew as a whole."""
    if name == scenarios.STDIN or scenario._extension:
        return scenario.to_toml()
    return read_whole(Path(name)).decode()


def _server(port: int | None) -> Server:
    """Return a server at a port; refuse one that is not free."""
    from aqmlab.playground.server import Server
    from aqmlab.reports.opened import opened

    try:
        return Server(port or 0, opened)
    except OSError as error:
        if port is None:
            raise
        problem = f"{port}: {error.strerror}: choose another port, or omit --port for a free one"
        raise typer.BadParameter(problem, param_hint="--port") from None


def _open(url: str) -> None:
    """Open the browser. One in the terminal does not return before it is left, and must not hold up the server."""
    import threading
    import webbrowser

    threading.Thread(target=webbrowser.open, args=[url], daemon=True).start()
