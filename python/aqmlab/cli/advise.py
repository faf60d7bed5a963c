"""The command ``aqmlab advise``."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options
from aqmlab.cli.delivery import deliver, require_writable_file, require_writable_folder
from aqmlab.cli.scenarios import loaded
from aqmlab.cli.terminal import BAD_USAGE, FAILED, UNREACHED, interrupted_status, one_interrupt, progress_bar, stop

if TYPE_CHECKING:
    from aqmlab.advice.advise import Stopped
    from aqmlab.advice.answer import Advice
    from aqmlab.advice.link import Link

FILE = "advice.json"
"""The file of the whole answer."""


def advise(
    link: Annotated[
        str | None,
        typer.Argument(
            metavar="[LINK]",
            help="A scenario's file or name: its [dumbbell] is the link, its [aqm] and [reverse_aqm] are your default. "
            "Or describe the link by --down, --up and --rtt.",
        ),
    ] = None,
    down: Annotated[
        str | None, typer.Option("--down", metavar="RATE", help="Rate of the way down: '100 Mbit/s' or 100mbit.")
    ] = None,
    up: Annotated[
        str | None, typer.Option("--up", metavar="RATE", help="Rate of the way up; default: that of the way down.")
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option("--rtt", metavar="TIMES", help="Round-trip times without queueing: '40 ms' or 15-80ms."),
    ] = None,
    users: Annotated[
        str, typer.Option("--users", metavar="WHO", help="The users, who decide the loads: home, office or cellular.")
    ] = "home",
    every: Annotated[
        bool, typer.Option("--all", help="Try every discipline of aqmlab, also those that no router has.")
    ] = False,
    within: Annotated[
        str, typer.Option("--within", metavar="TIME", callback=options.time, help="Race for at most this time.")
    ] = "90 s",
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
    """Find the queue discipline for a link, with the lines that set it up.

    The disciplines of a Linux or OpenWrt router, with values that suit the link, race over loads: an idle link, one
    download, uploads, the web, calls, many flows. Those that are clearly worse drop out; the seeds go to those that are close.

    The answer is a ranking with intervals, the trade-off of delay and goodput, and the lines to paste: tc, OpenWrt's
    sqm, and the kernel's own values. If nothing is better than your default, it says so.

    With --out the finished runs are kept: after Ctrl-C, or with more time, the same command goes on.
    """
    from aqmlab.advice.advise import Stopped
    from aqmlab.advice.advise import advise as raced
    from aqmlab.advice.answer import ROUTER, SQM
    from aqmlab.advice.race import MOST
    from aqmlab.execute.stages import seconds
    from aqmlab.files import figure_files

    formats = options.chosen_formats(figure_format, out)
    chosen = _link(link, down, up, rtt, users)
    if out:
        require_writable_folder(out, [FILE, ROUTER, SQM, *figure_files(["tradeoff"], formats)])
    if csv:
        require_writable_file(csv, "--csv")
    with one_interrupt() as ignore_interrupts, ExitStack() as stack:
        store = out / "store" if out else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stopped: Stopped | None = None
        state = "racing"
        try:
            with progress_bar(lambda: state) as show:

                def progress(now: str, passed: float) -> None:
                    nonlocal state
                    state = now
                    if show:
                        show(passed)

                advice: Advice | None = raced(
                    chosen, store, seconds(within), most_seeds or MOST, jobs, every, progress if show else None
                )
        except Stopped as error:
            advice, stopped = error.finished, error
        ignore_interrupts()  # keep the finished runs
        if advice:
            _deliver(advice, json, out, csv, formats)
    if stopped:
        _end(stopped, advice, seconds(within), out)


def _deliver(advice: Advice, json: bool, out: Path | None, csv: Path | None, formats: Sequence[str]) -> None:
    from aqmlab.files import figure_files, json_text, write_text

    def save(folder: Path) -> list[str]:
        from aqmlab.figures import advice as figures
        from aqmlab.figures import matplotlib

        matplotlib.save(figures.figure(advice), folder, formats, "tradeoff")
        names = advice.save(folder)
        write_text(folder / FILE, json_text(advice.document()))
        return [FILE, *figure_files(["tradeoff"], formats), *names]

    deliver(advice, json, out, save, (csv, advice.frame) if csv else None)


def _end(stopped: Stopped, advice: Advice | None, within: float, out: Path | None) -> None:
    """Print what stopped the race and how to go on, and exit."""
    from aqmlab.advice.runs import RunsFailed
    from aqmlab.execute.until import OutOfTime

    runs, first = stopped.runs
    kept = f"the finished runs are kept in {out}" if out else "no run is kept: give --out to keep them"
    again = f"; to go on: {shlex.join(['aqmlab', *sys.argv[1:]])}" if out else ""
    if isinstance(stopped.reason, OutOfTime):
        needed = within * max(first / max(runs, 1), 1) * 4
        stop(
            UNREACHED,
            f"--within {within:g} s: {runs} of the {first} runs of the first seed are finished; {kept}; "
            f"give --within '{needed:.0f} s'",
        )
    if isinstance(stopped.reason, RunsFailed):
        stop(FAILED, f"{stopped.reason}; {kept}")
    seeds = f"; the answer is that of {len(advice.present.gains)} seeds" if advice else ""
    stop(interrupted_status(), f"interrupted: {runs} runs are finished{seeds}; {kept}{again}")


def _link(name: str | None, down: str | None, up: str | None, rtt: str | None, users: str) -> Link:
    """Return the link of a file or of the options; refuse both together, and a link that cannot be."""
    from aqmlab.advice.link import BadLink, Link

    given = {"--down": down, "--up": up, "--rtt": rtt}
    try:
        if name is not None:
            if option := next((option for option, value in given.items() if value is not None), None):
                raise BadLink(option, f"not allowed with {name}, which has it: omit one of them")
            return Link.of(loaded(name), name, users)
        for option, example in (("--down", "100mbit"), ("--rtt", "15-80ms")):
            if given[option] is None:
                raise BadLink(option, f"missing: give it, as in {option} {example}, or the file of a link")
        assert down is not None
        assert rtt is not None
        return Link.given(down, up or down, rtt, users)
    except BadLink as error:
        if error.where.startswith("--"):
            raise typer.BadParameter(error.problem, param_hint=error.where) from None
        stop(BAD_USAGE, str(error))
