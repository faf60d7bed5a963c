"""The command ``aqmlab advise``."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import completion, options, racing
from aqmlab.cli.delivery import deliver, of_runs, require_different, require_writable_file, require_writable_folder
from aqmlab.cli.scenarios import loaded
from aqmlab.cli.terminal import BAD_USAGE, stop

if TYPE_CHECKING:
    from aqmlab.advice.answer import Advice
    from aqmlab.advice.link import Link


def _router(name: str | None) -> str | None:
    """Return the name of a router without Linux's tc, or None for Linux."""
    from aqmlab.advice.routers import ROUTERS

    if name in (None, "linux", *ROUTERS):
        return name if name in ROUTERS else None
    raise typer.BadParameter(f"{name}: must be one of linux, {', '.join(ROUTERS)}")


def advise(
    link: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LINK]",
            autocompletion=completion.scenario,
            help="A scenario's file or name: its [dumbbell], [[wifi]], [[cell]] or [[cable]] is the link, and its "
            "disciplines are your default. Or describe the link by --down, --up and --rtt.",
        ),
    ] = None,
    down: options.Down = None,
    up: Annotated[
        str | None, typer.Option("--up", metavar="RATE", help="Rate of the uplink; default: that of the downlink.")
    ] = None,
    rtt: options.Rtt = None,
    users: Annotated[
        str,
        typer.Option(
            "--users",
            metavar="WHO",
            help="The users, who decide the loads: home, office, cellular, or numbers: '4 people, 2 calls, 1 game'.",
        ),
    ] = "home",
    link_layer: options.LinkLayer = None,
    overhead: Annotated[
        int | None,
        typer.Option("--overhead", metavar="BYTES", min=-64, max=256, help="Bytes added from the IP header on."),
    ] = None,
    mpu: Annotated[
        int | None, typer.Option("--mpu", metavar="BYTES", min=0, max=256, help="Least length of a packet on the link.")
    ] = None,
    aqm: Annotated[
        str | None,
        typer.Option("--aqm", metavar="SPEC", help="Print the lines of this configuration, not those of the best."),
    ] = None,
    router: Annotated[
        str | None,
        typer.Option(
            "--router",
            metavar="NAME",
            callback=_router,
            help="Advise what this router has, with its lines: linux, freebsd (OPNsense, pfSense), mikrotik, cisco, "
            "junos; default: linux, with OpenWrt.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Try every discipline of aqmlab, also those that no router has.")
    ] = False,
    within: racing.Within = racing.WITHIN,
    most_seeds: Annotated[
        int | None, options.seeds("Run each load of a configuration at most N times; default: 41.", "--most-seeds")
    ] = None,
    jobs: options.Jobs = None,
    json: options.Json = False,
    out: Annotated[
        Path | None,
        options.out(help="Write the answer, figure, scenarios, lines to paste and finished runs to this folder."),
    ] = None,
    csv: options.Csv = None,
    figure_format: options.FigureFormat = None,
) -> None:
    """Find the queue discipline for a link, and how to configure it.

    The disciplines of a Linux or OpenWrt router, with values that suit the link, race over loads: an idle link, one
    download, uploads, the web, video calls, many flows. Those that are clearly worse drop out, so that the seeds go to
    those that are close.

    The answer is a ranking with intervals, the trade-off of delay and goodput, and the lines to paste: tc, OpenWrt's
    sqm, and the kernel's own values, or those of another router. If nothing is better than your default, it says so.

    With --out the finished runs are kept: after Ctrl-C, or with more time, the same command goes on.
    """
    from aqmlab.advice.advise import advise as raced
    from aqmlab.advice.answer import FILES
    from aqmlab.advice.race import MOST
    from aqmlab.files import figure_files
    from aqmlab.kinds import ADVICE

    formats = options.chosen_formats(figure_format, out)
    numbers = {"overhead": overhead, "mpu": mpu}
    said = [link_layer, *(f"{word} {value}" for word, value in numbers.items() if value is not None)]
    chosen = _link(_only(link), down, up, rtt, users, " ".join(word for word in said if word))
    if aqm is not None or router is not None:
        require_lines(chosen, aqm, router)
    names = [ADVICE, *FILES, *figure_files(["tradeoff"], formats)]
    if out:
        require_writable_folder(out, names)
    if csv:
        require_writable_file(csv, "--csv")
        require_different([("--csv", csv)], out, names)
    racing.perform(
        lambda store, limit, progress: raced(chosen, store, limit, most_seeds or MOST, jobs, every, progress, router),
        out,
        within,
        lambda advice: _deliver(advice.showing(aqm), json, out, csv, formats),
    )


def _only(names: list[str] | None) -> str | None:
    """Return the only name, or None; refuse several, with the command that makes one scenario of them."""
    if names and len(names) > 1:
        told = shlex.join(names)
        raise typer.BadParameter(
            f"{told}: several files: first `aqmlab import {told} --out link.toml`, then `aqmlab advise link.toml`",
            param_hint="LINK",
        )
    return names[0] if names else None


def require_lines(link: Link, aqm: str | None, router: str | None) -> None:
    """Refuse a configuration for which there are no lines, and a router that has none for this link."""
    from aqmlab.advice.advise import configurations

    there = configurations(link, router)
    if not there:
        raise typer.BadParameter(f"{router}: it has no configuration for this link", param_hint="--router")
    if aqm is not None and aqm not in there:
        raise typer.BadParameter(f"{aqm}: must be one of {', '.join(there)}", param_hint="--aqm")


def _deliver(advice: Advice, json: bool, out: Path | None, csv: Path | None, formats: Sequence[str]) -> None:
    from aqmlab.files import figure_files, json_text, write_text
    from aqmlab.kinds import ADVICE

    def save(folder: Path) -> list[str]:
        from aqmlab.figures import advice as figures
        from aqmlab.figures import matplotlib

        matplotlib.save(figures.figure(advice), folder, formats, "tradeoff")
        names = advice.save(folder)
        write_text(folder / ADVICE, json_text(advice.document()))
        return [ADVICE, *figure_files(["tradeoff"], formats), *names]

    deliver(advice, json, out, save, of_runs(csv))


def _link(name: str | None, down: str | None, up: str | None, rtt: str | None, users: str, layer: str) -> Link:
    """Return the link of a file or of the options; refuse both together, and a link that cannot be."""
    from aqmlab.advice.bad_link import BadLink
    from aqmlab.advice.link import Link

    given = {"--down": down, "--up": up, "--rtt": rtt}
    try:
        if name is not None:
            if option := next((option for option, value in given.items() if value is not None), None):
                raise BadLink(option, f"not allowed with {name}, which has it: omit one of them")
            return Link.of(loaded(name), name, users, layer)
        for option, example in (("--down", "100mbit"), ("--rtt", "15-80ms")):
            if given[option] is None:
                raise BadLink(option, f"missing: give it, as in {option} {example}, or the file of a link")
        assert down is not None
        assert rtt is not None
        return Link.given(down, up or down, rtt, users, layer)
    except BadLink as error:
        if error.where.startswith("--"):
            raise typer.BadParameter(error.problem, param_hint=error.where) from None
        stop(BAD_USAGE, str(error))
