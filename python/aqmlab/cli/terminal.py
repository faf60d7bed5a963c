"""The terminal: streams, messages, exit statuses, interrupts, progress."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer

if TYPE_CHECKING:
    from aqmlab.execute.progress import OnProgress, Progress

BAD_USAGE, FAILED, LOST, UNREACHED, NOT_REMADE, BEYOND, FOUND = 2, 1, 3, 4, 5, 6, 7
"""Exit statuses; `interrupted_status` returns that after a signal."""

MOST_FAILURES = 20
"""The largest number of failed runs that are listed."""

STOPPING = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""The signals that stop a command in order: finished runs are kept, and temporary files are removed."""

_received: list[int] = []
"""Those that have come."""


class _Messages(io.TextIOBase):
    """A standard error stream that ignores write errors, such as a closed pipe or a full disk."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self._stream.errors


def open_streams() -> None:
    """Let the standard streams write any text; open a stream that the caller has closed on the null device."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # In this order each stream gets its own descriptor number, which no later file can then take.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    # Characters that the terminal lacks, such as ±, become question marks instead of an error.
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace", line_buffering=True)
        sys.stderr = _Messages(sys.stderr)


def command_line() -> str:
    """Return the command line, which a report quotes; bytes that are not UTF-8 are replaced."""
    return os.fsencode(shlex.join(["aqmlab", *sys.argv[1:]])).decode(errors="replace")


def complain(message: str) -> None:
    """Print an error message to the standard error, with control characters escaped: names of files may contain any."""
    from aqmlab.text import printable

    typer.echo("\n".join(map(printable, message.split("\n"))), err=True)


def stop(code: int, message: str) -> NoReturn:
    """Print a message to the standard error and exit with status ``code``."""
    complain(message)
    raise typer.Exit(code)


def warn(texts: Iterable[str]) -> None:
    """Print warnings to the standard error."""
    for text in texts:
        typer.echo(f"warning: {text}", err=True)


def catch_signals() -> None:
    """Let SIGTERM and SIGHUP do what Ctrl-C does; a signal that the caller ignores stays ignored."""
    for number in STOPPING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, _: object) -> NoReturn:
    _received.append(number)
    raise KeyboardInterrupt


def interrupted_status() -> int:
    """Return the exit status after an interrupt: 128 and the number of the first signal."""
    return 128 + next(iter(_received), signal.SIGINT)


@contextmanager
def shown_warnings() -> Iterator[None]:
    """Print the library's warnings about this machine, each subject once."""
    from aqmlab.execute.caution import MachineWarning

    seen = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def shown(message: Warning | str, category: type[Warning], *place: Any, **where: Any) -> None:
            subject = str(message).partition(":")[0]
            if not issubclass(category, MachineWarning):
                show(message, category, *place, **where)
            elif subject not in seen:
                seen.add(subject)
                warn([str(message)])

        warnings.simplefilter("always", MachineWarning)
        warnings.showwarning = shown
        yield


@contextmanager
def one_interrupt() -> Iterator[Callable[[], None]]:
    """Let the first Ctrl-C stop the runs, and ignore later ones, which would lose the finished runs.

    SIGTERM and SIGHUP do the same after `catch_signals`. Yields a function that lets all of them be ignored from its
    call on.
    """
    before = {number: signal.getsignal(number) for number in STOPPING}
    # Others are ignored, as SIGINT is in the background, and must stay so, or belong to the program around.
    caught = [number for number in STOPPING if before[number] in (signal.default_int_handler, _interrupt)]

    def ignore() -> None:
        for number in caught:
            # Not SIG_IGN, which a program that a thread starts at this moment would inherit: SIGTERM must end it.
            signal.signal(number, lambda *_: None)

    def stop(number: int, frame: object) -> NoReturn:
        ignore()
        _interrupt(number, frame)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield ignore
    finally:
        for number in caught:
            signal.signal(number, before[number])


@contextmanager
def progress_bar(activity: Callable[[], str] = lambda: "simulating") -> Iterator[Callable[[float], None] | None]:
    """Show a progress bar on the standard error if that is a terminal.

    ``activity`` returns the text before the bar. Yields a function that takes the fraction of the work done, or None
    without a terminal.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TimeRemainingColumn

    with Progress(
        "{task.description}",
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as bar:
        task = bar.add_task(activity(), total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction, description=activity())


@contextmanager
def runs_bar(activity: str = "simulating") -> Iterator[OnProgress]:
    """Show a progress bar with the number of runs before it; ``activity`` stands there until one is known."""
    with progress_bar(lambda: activity) as show:

        def follow(progress: Progress) -> None:
            nonlocal activity
            activity = str(progress)
            if show:
                show(progress.fraction)

        yield follow
