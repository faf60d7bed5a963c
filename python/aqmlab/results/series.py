"""The series of a run: the engine's columns or a file, read on first access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from aqmlab.files import parquet
from aqmlab.sealed import Stored

if TYPE_CHECKING:
    import polars

    from aqmlab._core import ArrowStream

NAMES = r"(series|cwnd)-\d+\.parquet"
"""The names of the files of series."""


@dataclass(frozen=True)
class Recording:
    """The series of one run, read on first access.

    `queue` has queues and the disciplines' signals, `cwnd` the congestion windows: as the engine's columns, as a
    Parquet file, or None if they were not recorded.
    """

    queue: ArrowStream | Stored | None
    cwnd: ArrowStream | Stored | None

    @cached_property
    def queue_frame(self) -> polars.DataFrame:
        """Queues and signals as a frame; LookupError if they were not recorded."""
        return _frame(self.queue, "series", "record.series = true")

    @cached_property
    def cwnd_frame(self) -> polars.DataFrame:
        """Congestion windows as a frame; LookupError if they were not recorded."""
        return _frame(self.cwnd, "congestion windows", 'record.cwnd = "10 ms"')

    def files(self, seed: int) -> Iterator[tuple[str, bytes]]:
        """Yield the name and content of a Parquet file for each recorded series."""
        if self.queue is not None:
            yield f"series-{seed}.parquet", parquet(self.queue_frame)
        if self.cwnd is not None:
            yield f"cwnd-{seed}.parquet", parquet(self.cwnd_frame)

    @classmethod
    def of(cls, files: Mapping[str, Stored], seed: int) -> Self:
        """Return the series of a run, from the files of a result."""
        return cls(*(files.get(f"{name}-{seed}.parquet") for name in ("series", "cwnd")))


def _frame(source: ArrowStream | Stored | None, recorded: str, setting: str) -> polars.DataFrame:
    import polars

    if source is None:
        raise LookupError(f"this run recorded no {recorded}: set {setting}")
    return source.frame() if isinstance(source, Stored) else polars.DataFrame(source)
