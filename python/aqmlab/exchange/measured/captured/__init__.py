"""Transfers over TCP in captures that tcpdump and others wrote, at the sender, the receiver or both."""

from collections.abc import Callable, Sequence
from pathlib import Path

from aqmlab.exchange.measured.captured.segments import HOW, is_capture
from aqmlab.exchange.measured.measurement import Measured

__all__ = ["HOW", "is_capture", "read"]


def read(paths: Sequence[Path], progress: Callable[[float], None] | None = None) -> list[Measured]:
    """Read captures of one link at one time; see the module `reader`."""
    from aqmlab.exchange.measured.captured.reader import read

    return read(paths, progress)
