"""The terminal: streams, messages, exit statuses, interrupts, progress."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

import typer

BAD_USAGE, FAILED, LOST, UNREACHED, INTERRUPTED = 2, 1, 3, 4, 128 + signal.SIGINT
"""Exit statuses."""

MOST_FAILURES = 20
"""The largest number of failed runs that are listed."""


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


@contextmanager
def one_interrupt() -> Iterator[None]:
    """Let the first Ctrl-C stop the runs, and ignore later ones, which would lose the finished runs."""

    def stop(*_: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # in the background it is ignored, and must stay so
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


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
