"""The series of a run: the engine's columns or a file's, read when they are first asked for."""

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
"""How the files of series are called."""


@dataclass(frozen=True)
class Recording:
    """The series of one run, read when they are first asked for.

    Parameters
    ----------
    queue : ArrowStream, Stored or None
        Queues and the algorithms' own signals: the engine's columns, or a Parquet file.
    cwnd : ArrowStream, Stored or None
        Congestion windows.
    """

    queue: ArrowStream | Stored | None
    cwnd: ArrowStream | Stored | None

    @cached_property
    def queue_frame(self) -> polars.DataFrame:
        """Queues and signals as a frame."""
        return _frame(self.queue, "series", "record.series = true")

    @cached_property
    def cwnd_frame(self) -> polars.DataFrame:
        """Congestion windows as a frame."""
        return _frame(self.cwnd, "congestion windows", 'record.cwnd = "10 ms"')

    def files(self, seed: int) -> Iterator[tuple[str, bytes]]:
        """Give what was recorded as Parquet files.

        Parameters
        ----------
        seed : int
            The seed of the run, for the names of the files.

        Yields
        ------
        tuple
            Name and content.
        """
        if self.queue is not None:
            yield f"series-{seed}.parquet", parquet(self.queue_frame)
        if self.cwnd is not None:
            yield f"cwnd-{seed}.parquet", parquet(self.cwnd_frame)

    @classmethod
    def of(cls, files: Mapping[str, Stored], seed: int) -> Self:
        """Find what was recorded.

        Parameters
        ----------
        files : mapping
            Those of a result, by their names.
        seed : int
            The seed of the run.

        Returns
        -------
        Recording
            The series of that run.
        """
        return cls(*(files.get(f"{name}-{seed}.parquet") for name in ("series", "cwnd")))


def _frame(source: ArrowStream | Stored | None, what: str, cure: str) -> polars.DataFrame:
    import polars

    if source is None:
        raise LookupError(f"this run recorded no {what}: set {cure}")
    return source.frame() if isinstance(source, Stored) else polars.DataFrame(source)
