"""The command ``aqmlab import``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import BAD_USAGE, stop

if TYPE_CHECKING:
    from aqmlab.foreign.scenario import Given


def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="What tc shows, scripts of tc, configurations of routers, scripts of simulators, measurements.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ],
    out: Annotated[
        Path | None,
        options.out(help="Write link.toml to this folder, or the scenario to this file, NAME.toml; default: print it."),
    ] = None,
    down: Annotated[
        str | None,
        typer.Option("--down", metavar="RATE", help="Rate of the line down, as 100mbit; default: its shaper's."),
    ] = None,
    up: Annotated[
        str | None, typer.Option("--up", metavar="RATE", help="Rate of the line up, as 20mbit; default: its shaper's.")
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(
            "--rtt",
            metavar="TIMES",
            help="Round trips that no file states: 40ms, or the shortest and the longest with a hyphen.",
        ),
    ] = None,
    wan: Annotated[
        str, typer.Option("--wan", metavar="DEVICE", help="The device that sends to the line, if that is not clear.")
    ] = "",
    lan: Annotated[
        str, typer.Option("--lan", metavar="DEVICE", help="The device that sends to the home, if that is not clear.")
    ] = "",
    of: Annotated[
        str, typer.Option("--of", metavar="NAME", help="The queue or circuit of several; default: the first.")
    ] = "",
) -> None:
    """Make a scenario of what another program says about a link.

    Reads what tc prints (text or JSON), scripts of tc, OpenWrt's sqm and qosmate, cake-autorate, LibreQoS, RouterOS,
    Cisco's policy maps, scripts of ns-2 and ns-3, and command lines of Mahimahi; several files together are one link.
    Each line of the scenario says from which line of which file it is, or that it was assumed; what has no counterpart
    is listed at the end.
    """
    from aqmlab.files import write_text
    from aqmlab.foreign.model import Unreadable
    from aqmlab.foreign.read import read
    from aqmlab.foreign.scenario import by_shapers, scenario

    given = _given(down, up, rtt, wan, lan, of)
    try:
        state = read(files)
        text, shaped = scenario(state, given), by_shapers(state, given)
    except Unreadable as error:
        stop(BAD_USAGE, str(error))
    if out is None:
        typer.echo(text, nl=False)
        return
    if out.suffix != ".toml":
        out.mkdir(parents=True, exist_ok=True)
        out /= "link.toml"
    write_text(out, text)
    said = (
        f"; its rates are those of the shapers, {' and '.join(shaped)}: --down and --up give the line's"
        if shaped
        else ""
    )
    typer.echo(f"written to {out}{said}; `aqmlab advise {out}` says what would be better than these queues")


def _given(down: str | None, up: str | None, rtt: str | None, wan: str, lan: str, of: str) -> Given:
    from aqmlab.advice.bad_link import BadLink
    from aqmlab.advice.link import rate_of, round_trips
    from aqmlab.foreign.scenario import Given

    try:
        return Given(
            down=None if down is None else rate_of("--down", down),
            up=None if up is None else rate_of("--up", up),
            round_trips=() if rtt is None else round_trips(rtt),
            wan=wan,
            lan=lan,
            of=of,
        )
    except BadLink as error:
        raise typer.BadParameter(error.problem, param_hint=error.where) from None
