"""Shared by the commands: arguments, messages, exit statuses, interrupts, progress."""

from __future__ import annotations

import io
import os
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from aqmlab.scenario import Scenario

BAD_USAGE, FAILED, LOST, INTERRUPTED = 2, 1, 3, 128 + signal.SIGINT


STDIN = "-"
"""The name of the standard input in place of a scenario's file."""

FIGURES = ("figure.png", "figure.svg")
"""The files of a figure."""


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
    """Let the standard streams write any text, and open those that the caller has closed on the null device."""
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
    """Return the command line for the reader of a report to repeat; bytes that are not UTF-8 are replaced."""
    return os.fsencode(shlex.join(["aqmlab", *sys.argv[1:]])).decode(errors="replace")


def loaded(name: str) -> Scenario:
    """Load the scenario of a command from a name, as for `Scenario.load`, or from `STDIN`; it is not yet checked."""
    from aqmlab import Scenario, ScenarioError, _core

    if name != STDIN:
        return Scenario.load(name)
    data = sys.stdin.buffer.read(_core.longest + 1)
    try:
        return Scenario.parse(data.decode(), "<stdin>")
    except UnicodeDecodeError:
        raise ScenarioError("<stdin>: not UTF-8 text: save it as UTF-8") from None


def complain(message: str) -> None:
    """Print an error message to the standard error, with control characters escaped: names of files may contain any."""
    from aqmlab.text import printable

    typer.echo("\n".join(map(printable, message.split("\n"))), err=True)


def stop(code: int, message: str) -> NoReturn:
    """Print a message to the standard error and exit with status ``code``."""
    complain(message)
    raise typer.Exit(code)


def with_settings(scenario: Scenario, settings: Sequence[str] | None) -> Scenario:
    """Apply the ``PATH=VALUE`` settings of ``--set`` to a scenario; the result is not yet checked."""
    given: set[str] = set()
    for setting in settings or ():
        path, equals, text = (part.strip() for part in setting.partition("="))
        if not equals:
            raise typer.BadParameter(f"{setting}: must be PATH=VALUE", param_hint="--set")
        if path in given:
            raise typer.BadParameter(f"{path} given twice", param_hint="--set")
        given.add(path)
        scenario = scenario.with_text(path, text)
    return scenario


def require_writable_folder(out: Path, names: Iterable[str]) -> None:
    """Create a folder, and check before the simulation that the files can be written.

    ``names`` are their paths relative to the folder.
    """
    from aqmlab.files import prove

    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise typer.BadParameter(f"{out}: not a folder", param_hint="--out") from None
    proved: set[Path] = set()
    for name in names:
        try:
            # One file proves that its folder is writable; the others need a check only if their paths exist already.
            if (out / name).parent not in proved or os.path.lexists(out / name):
                prove(out / name)
            proved.add((out / name).parent)
        except (FileExistsError, IsADirectoryError, NotADirectoryError) as error:
            problem = f"{error.filename}: in the way of {name}; choose another folder, or move it"
            raise typer.BadParameter(problem, param_hint="--out") from None


def require_folder(store: Path | None) -> None:
    """Refuse a store whose path exists and is not a folder."""
    if store and os.path.lexists(store) and not store.is_dir():
        raise typer.BadParameter(f"{store}: not a folder", param_hint="--store")


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
