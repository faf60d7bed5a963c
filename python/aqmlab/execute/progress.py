"""The progress of runs, as `run`, `compare`, `sweep` and `fluid` report it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a call.

    Parameters
    ----------
    fraction : float
        The share of this call's work that is done, measured in packets.
    done : int
        The number of runs that exist, including those that a store had.
    wanted : int
        The number of runs requested; with `until` the number so far.
    failed : int
        The number of runs that failed.
    checked : int or None
        While the scenarios of a sweep are checked, the number of runs whose scenario has been; otherwise None.
    """

    fraction: float
    done: int
    wanted: int
    failed: int = 0
    checked: int | None = None

    def __str__(self) -> str:
        if self.checked is not None:
            return f"{self.checked} of {self.wanted} runs checked"
        return f"{self.done} of {self.wanted} runs{f', {self.failed} failed' if self.failed else ''}"


OnProgress = Callable[[Progress], None]
"""A function that is called about ten times a second, from the thread that called `run`, `compare` or `sweep`."""
