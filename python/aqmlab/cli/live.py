"""A live picture in the terminal of a run under way."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from aqmlab.cli.picture import picture

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aqmlab.execute.glance import Glance

_EVERY = 0.1
"""The least time between two pictures, in s."""
_MOST = 4096
"""The number of glances above which every second one is forgotten: more than a picture has columns."""


class Watched:
    """A run as its glances show it. They come from the thread of the run, and the picture is drawn in another.

    Parameters
    ----------
    title : str
        The title of the scenario.
    duration : float or None
        The simulated time of the run, in s; None of one that has no end yet.
    seed : int
        The seed of the run.
    runs : int
        The number of runs, of which this is the first.
    """

    def __init__(self, title: str, duration: float | None, seed: int, runs: int = 1) -> None:
        from aqmlab.execute.glance import Glance

        self.title, self.duration, self.seed, self.runs = title, duration, seed, runs
        self.glances = [Glance(0.0, 0, 0.0, 0, 0, 0, 0, 0, 0.0)]
        self.done = 0.0
        """The share of the work of all runs that is done."""
        self._began = time.monotonic()
        self._took = 0.0

    def see(self, glance: Glance) -> None:
        """Take in a glance at the run."""
        # The other thread may copy the list at any moment, in which it must be whole.
        if glance.t > self.glances[-1].t:
            self.glances.append(glance)
        elif len(self.glances) > 1:
            self.glances[-1] = glance
        if len(self.glances) > _MOST:
            del self.glances[1:-1:2]
        self._took = time.monotonic() - self._began

    def lines(self, width: int, height: int) -> list[str]:
        """Return the picture and, above it, the run and how far it is."""
        from aqmlab.text import printable

        glances = self.glances.copy()
        t = glances[-1].t
        run = f"seed {self.seed}"
        if self.duration is None:
            return [_sides(printable(self.title), f"{run}, {t:.1f} s", width), *picture(glances, width, height - 1)]
        how_far = f"{t:.4g} of {self.duration:g} s, {t / self.duration:.0%}"
        speed = f"{t / self._took:.3g} x real time" if self._took > 0.0 else "setting up"
        others = f"all {self.runs} runs: {self.done:.0%}" if self.runs > 1 else ""
        above = [_sides(printable(self.title), run, width), _sides(f"{how_far}, {speed}", others, width)]
        return above + picture(glances, width, height - len(above))


def _sides(left: str, right: str, width: int) -> str:
    """Return a line with a text at each side; the left one is cut if there is no room for both."""
    room = width - len(right) - bool(right)
    return f"{left if len(left) <= room else f'{left[: room - 1]}…':{room}} {right}".rstrip()


def obstacle() -> str | None:
    """Return the reason why no picture can be shown, if there is one."""
    if not sys.stderr.isatty() or os.environ.get("TERM") in ("dumb", "unknown"):
        return "--watch needs a terminal, on which the standard error is shown"
    if "utf" not in (sys.stderr.encoding or "").lower():
        return f"--watch needs a terminal with UTF-8, and the encoding is {sys.stderr.encoding}"
    return None


@contextmanager
def live(watched: Watched, terminal: IO[str] | None = None) -> Iterator[Callable[[float], None]]:
    """Show a run on a terminal, by default the standard error, and leave the last picture there.

    Yields a function that takes the share of the work done of all runs, and redraws the picture at intervals.
    """
    from rich.console import Console, ConsoleDimensions, Group
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=terminal is None, file=terminal)

    def drawn() -> RenderableType:
        # Rich would ask this program's own terminal; one without a size has zeros.
        if terminal and all(size := os.get_terminal_size(terminal.fileno())):
            console.size = ConsoleDimensions(*size)
        # The line below the picture is the cursor's.
        lines = watched.lines(console.width, console.height - 1)
        return Group(*(Text(line, no_wrap=True, overflow="crop") for line in lines))

    last = time.monotonic()
    own = terminal is None  # where this program prints, too
    with Live(drawn(), console=console, auto_refresh=False, redirect_stdout=own, redirect_stderr=own) as screen:

        def update(done: float) -> None:
            nonlocal last
            watched.done = done
            if done >= 1.0 or time.monotonic() - last >= _EVERY:
                last = time.monotonic()
                screen.update(drawn(), refresh=True)

        yield update
