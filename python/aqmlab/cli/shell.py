"""The command ``aqmlab shell``."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aqmlab.cli import options, replications, scenarios
from aqmlab.cli.terminal import FAILED, STOPPING, complain, stop, warn

if TYPE_CHECKING:
    from aqmlab.cli.replications import Simulated
    from aqmlab.execute.glance import Glance
    from aqmlab.execute.shell import Place
    from aqmlab.results.result import Result
    from aqmlab.scenario import Scenario

NOT_FOUND = 127
"""The exit status of a command that does not exist, as of a shell."""


def _terminal(path: Path | None) -> Path | None:
    """Refuse a file that is no terminal."""
    if path is not None:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY)
        except OSError as error:
            raise typer.BadParameter(f"{path}: {error.strerror}") from None
        try:
            if not os.isatty(descriptor):
                raise typer.BadParameter(f"{path}: no terminal; give what `tty` prints in another window")
        finally:
            os.close(descriptor)
    return path


def shell(
    scenario: options.Scenario,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="[-- COMMAND…]", show_default=False, help="The command; default: $SHELL."),
    ] = None,
    aqm: options.Aqm = None,
    set_: options.Settings = None,
    seed: options.Seed = None,
    alone: Annotated[bool, typer.Option("--alone", help="Leave the traffic of the scenario out.")] = False,
    node: Annotated[
        str | None,
        typer.Option(
            "--node",
            metavar="NODE",
            help="The node of the shell, one end of a traffic entry, whose other end is the peer's; default: where the "
            "first entry goes.",
        ),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            "--peer",
            metavar="COMMAND",
            help="Start a server at the peer before the command, as in --peer 'iperf3 -s'. It ends with the shell. "
            "Repeatable.",
        ),
    ] = None,
    outside: Annotated[
        bool,
        typer.Option(
            "--outside",
            help="Let the peer forward to the machine's own network, by slirp4netns: the shell reaches the Internet "
            "over the link.",
        ),
    ] = False,
    watch_on: Annotated[
        Path | None,
        typer.Option(
            "--watch-on",
            metavar="TERMINAL",
            callback=_terminal,
            help="Show queue, throughput, drops, marks and queueing delay at the observed link on this terminal: what "
            "`tty` prints in another window, as in /dev/pts/3, or /dev/tty for a command that prints nothing.",
        ),
    ] = None,
    out: options.Out = None,
    figure_format: options.FigureFormat = None,
) -> None:
    """Open a shell behind the link of a scenario, in real time.

    All that its programs send goes through the network of the scenario to a peer, and back. The exit status is that of
    the command. All messages of aqmlab are on the standard error.
    """
    from aqmlab import ScenarioError
    from aqmlab.execute import shell as shells
    from aqmlab.execute.engine import Engine
    from aqmlab.execute.variants import labelled, with_discipline
    from aqmlab.reports.parts import Choice
    from aqmlab.results.comparison import Comparison
    from aqmlab.results.result import KERNEL

    formats = options.chosen_formats(figure_format, out)
    words = command or [os.environ.get("SHELL") or "/bin/sh"]
    engine = "linux:clock=real"
    scenarios.refuse_both(set_, {"seed": ("--seed", seed)})
    scenarios.refuse_idle(set_, "shell", [engine], idle=("duration", "warmup"))
    base = scenarios.seeded(scenario, seed, None)
    chosen = scenarios.with_settings(base if aqm is None else with_discipline(base, aqm), set_)
    try:
        beside = shells.with_shell(chosen, node, alone)
    except ScenarioError:
        raise
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--node") from None
    label = aqm if aqm and aqm.startswith(KERNEL) else beside.aqm
    try:
        ((_, performing),) = labelled({label: beside}, [Engine.parse(engine)]).values()
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--aqm") from None
    if outside and shutil.which(shells.OUTSIDE) is None:
        missing = f"needs {shells.OUTSIDE}, which is not there (Debian: apt install {shells.OUTSIDE})"
        raise typer.BadParameter(missing, param_hint="--outside")
    performing.check(beside)
    if shutil.which(words[0]) is None:
        stop(NOT_FOUND, f"{words[0]}: no such command; give one after --")
    status = 0

    def simulate() -> Simulated:
        nonlocal status
        with _signals() as received, _shown(watch_on, beside.title, beside.seed) as see:
            ended = shells.run(
                beside,
                performing,
                words,
                peer or (),
                outside,
                lambda place: complain(_told(place, beside, label)),
                see,
                lambda: bool(received),
            )
        status = 128 + received[0] if received else ended.status
        if ended.result is None or ended.place is None:
            complain(ended.error)
            status = status or FAILED
            return Comparison({}), None
        warn([*filter(None, [ended.error]), *_late(ended.result, ended.place)])
        return Comparison({label: ended.result}), None

    own = Choice((str(beside.resolved["observe"]),), shells.WAYS)
    with redirect_stdout(sys.stderr):
        replications.report({label: beside}, None, simulate, False, out, True, formats=formats, choice=own)
    raise typer.Exit(status)


def _told(place: Place, beside: Scenario, aqm: str) -> str:
    """Describe the place of a shell in its first lines."""
    hours = beside.duration / 3600
    latest = f", after {hours:g} h at the latest" if hours < 24 else ""
    way = ("to", "from")[place.way]
    return "\n".join(
        [
            f"{beside.title}: link {place.link}, {place.rate / 1e6:g} Mbit/s {way} the shell, {aqm}; "
            f"{1e3 * place.round_trip:.1f} ms round trip if nothing waits",
            f"peer: {place.peer}, also by the name peer; `peer COMMAND` runs a command there, as in: peer iperf3 -s -D",
            f"shell: {place.shell}; all that runs in it ends with it{latest}",
        ]
    )


def _late(result: Result, place: Place) -> list[str]:
    """Warn if one packet in a hundred was later than a full packet takes at the observed link."""
    late, packet = result.engine.get("timing_error_p99") or 0.0, 8 * 1500 / place.rate  # none without a packet
    if late <= packet:
        return []
    return [
        f"one packet in a hundred was {1e6 * late:.0f} µs late or more; a packet takes {1e6 * packet:.0f} µs at link "
        f"{place.link}: this machine has too much to do for it (aqmlab doctor)"
    ]


@contextmanager
def _shown(terminal: Path | None, title: str, seed: int) -> Iterator[Callable[[Glance], None]]:
    """Yield a function that takes glances, and shows them on a terminal if there is one."""
    if terminal is None:
        yield lambda _: None
        return
    from aqmlab.cli.live import Watched, live

    watched = Watched(title, None, seed)
    with terminal.open("w", encoding="utf-8") as stream, live(watched, stream) as update:

        def see(glance: Glance) -> None:
            watched.see(glance)
            update(0.0)

        yield see


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Note the signals that stop a command, and leave Ctrl-C to the shell; yield those noted."""
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in STOPPING}
    for number in STOPPING:
        if before[number] is not signal.SIG_IGN:
            # Not SIG_IGN, which the command would inherit.
            note = (lambda *_: None) if number == signal.SIGINT else (lambda number, _: received.append(number))
            signal.signal(number, note)
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
