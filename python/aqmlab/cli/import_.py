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
        str | None, typer.Option("--down", metavar="RATE", help="Rate of a downlink that no file states, as 100mbit.")
    ] = None,
    up: Annotated[
        str | None, typer.Option("--up", metavar="RATE", help="Rate of an uplink that no file states, as 20mbit.")
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
    from aqmlab.foreign.scenario import scenario

    given = _given(down, up, rtt, wan, lan, of)
    try:
        text = scenario(read(files), given)
    except Unreadable as error:
        stop(BAD_USAGE, str(error))
    if out is None:
        typer.echo(text, nl=False)
        return
    if out.suffix != ".toml":
        out.mkdir(parents=True, exist_ok=True)
        out /= "link.toml"
    write_text(out, text)
    typer.echo(f"written to {out}; `aqmlab advise {out}` says what would be better")


def _given(down: str | None, up: str | None, rtt: str | None, wan: str, lan: str, of: str) -> Given:
    from aqmlab.foreign.scenario import Given

    return Given(
        down=_quantity("--down", down, "bit/s", "100mbit"),
        up=_quantity("--up", up, "bit/s", "20mbit"),
        round_trips=_round_trips(rtt),
        wan=wan,
        lan=lan,
        of=of,
    )


def _round_trips(text: str | None) -> tuple[float, ...]:
    """Read ``40ms`` or ``15-80ms``; a number without a unit has that of the other."""
    if text is None:
        return ()
    low, dash, high = text.partition("-")
    unit = high.strip().lstrip("0123456789.")
    ends = (low if low.strip()[-1:].isalpha() else f"{low}{unit}", high) if dash else (text,)
    found = [_quantity("--rtt", end, "s", "40ms or 15-80ms") or 0.0 for end in ends]
    if found != sorted(found):
        raise typer.BadParameter(f"{text}: must be from the shortest to the longest", param_hint="--rtt")
    return tuple(found)


def _quantity(option: str, text: str | None, unit: str, like: str) -> float | None:
    from aqmlab import _core

    if text is None:
        return None
    found = _core.in_base_unit(text)
    if found is None or found[1] != unit or found[0] <= 0:
        raise typer.BadParameter(
            f"{text}: must be {'a rate' if unit == 'bit/s' else 'a time'}, as {like}", param_hint=option
        )
    return float(found[0])
