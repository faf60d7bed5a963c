"""What the commands share: how they end, and what they show while they work."""

from __future__ import annotations

import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import typer

if TYPE_CHECKING:
    from aqmlab.scenario import Scenario

BAD_USAGE, FAILED, INTERRUPTED = 2, 1, 128 + signal.SIGINT


def stop(code: int, message: str) -> NoReturn:
    """End the command.

    Parameters
    ----------
    code : int
        Its exit status.
    message : str
        What to say on the standard error output.
    """
    typer.echo(message, err=True)
    raise typer.Exit(code)


def with_settings(scenario: Scenario, settings: Sequence[str] | None) -> Scenario:
    """Change what ``--set`` says.

    Parameters
    ----------
    scenario : Scenario
        What to change.
    settings : sequence of str
        ``PATH=VALUE`` each.

    Returns
    -------
    Scenario
        The changed scenario, not yet checked.
    """
    for setting in settings or ():
        path, equals, text = setting.partition("=")
        if not equals:
            raise typer.BadParameter(f"{setting}: must be PATH=VALUE", param_hint="--set")
        scenario = scenario.with_text(path.strip(), text.strip())
    return scenario


def refuse_bad_folder(out: Path) -> None:
    """Make a folder and try to write there.

    Parameters
    ----------
    out : Path
        The folder.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise typer.BadParameter(f"{out}: not a folder", param_hint="--out") from None
    with tempfile.TemporaryFile(dir=out):
        pass


@contextmanager
def one_interrupt() -> Iterator[None]:
    """Let the first Ctrl-C stop the runs, and ignore those that follow: they would lose what was finished.

    Yields
    ------
    None
        Nothing.
    """

    def stop(*_: object) -> NoReturn:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # and not, as in the background, ignored
        signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress_bar(told: Callable[[], str] = lambda: "simulating") -> Iterator[Callable[[float], None] | None]:
    """Show a bar on the standard error output if people see it.

    Parameters
    ----------
    told : callable
        Gives what to say before the bar.

    Yields
    ------
    callable or None
        Takes the fraction of the work that is done; none where nobody sees it.
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
        task = bar.add_task(told(), total=1.0)
        yield lambda fraction: bar.update(task, completed=fraction, description=told())
