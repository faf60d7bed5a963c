"""The steps that advise and tune share: race within a time, keep the finished runs, and print how to go on."""

from __future__ import annotations

import shlex
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli import options
from aqmlab.cli.terminal import FAILED, UNREACHED, interrupted_status, one_interrupt, progress_bar, stop

if TYPE_CHECKING:
    from aqmlab.advice.race import Stopped

    Progress = Callable[[str, float], None]

Within = Annotated[
    str, typer.Option("--within", metavar="TIME", callback=options.time, help="Run for at most this time.")
]

WITHIN = "90 s"
"""The default of that option."""


def perform(
    race: Callable[[Path, float, Progress | None], Any], out: Path | None, within: str, deliver: Callable[[Any], None]
) -> None:
    """Call ``race`` with the folder of finished runs, the time in s and a progress bar; ``deliver`` takes the answer.

    After Ctrl-C, a failure or the end of the time, deliver the answer so far, print how to go on, and exit.
    """
    from aqmlab.advice.race import Stopped
    from aqmlab.runs.stages import seconds

    limit = seconds(within)
    with one_interrupt() as ignore_interrupts, ExitStack() as stack:
        store = out / "store" if out else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stopped: Stopped | None = None
        state = "reading the store"
        try:
            with progress_bar(lambda: state) as show:

                def progress(now: str, passed: float) -> None:
                    nonlocal state
                    state = now
                    if show:
                        show(passed)

                answer = race(store, limit, progress if show else None)
        except Stopped as error:
            answer, stopped = error.finished, error
        ignore_interrupts()  # keep the finished runs
        if answer is not None:
            deliver(answer)
    if stopped:
        _end(stopped, limit, out)


def _end(stopped: Stopped, within: float, out: Path | None) -> None:
    """Print the reason of the end and how to go on, and exit."""
    from aqmlab.advice.runs import RunsFailed
    from aqmlab.runs.until import OutOfTime

    done, first = stopped.runs
    kept = f"the finished runs are kept in {out}" if out else "no run is kept: give --out to keep them"
    if isinstance(stopped.reason, OutOfTime):
        needed = within * max(first / max(done, 1), 1) * 4
        problem = f"--within {within:g} s: {done} of the {first} runs of the first answer are finished"
        stop(UNREACHED, f"{problem}; {kept}; give --within '{needed:.0f} s'")
    if isinstance(stopped.reason, RunsFailed):
        stop(FAILED, f"{stopped.reason}; {kept}")
    again = f"; to go on: {shlex.join(['aqmlab', *sys.argv[1:]])}" if out else ""
    stop(interrupted_status(), f"interrupted: {done} runs are finished; {kept}{again}")
