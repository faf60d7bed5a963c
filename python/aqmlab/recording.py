"""The series of a run: the engine's columns or a file's, read when they are first asked for."""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from aqmlab.files import replacing

if TYPE_CHECKING:
    import polars

    from aqmlab._core import ArrowStream


@dataclass(frozen=True)
class Recording:
    """The series of one run, read when they are first asked for.

    Parameters
    ----------
    queue : ArrowStream, Path or None
        Queues and the algorithms' own signals: the engine's columns, or a Parquet file.
    cwnd : ArrowStream, Path or None
        Congestion windows.
    """

    queue: ArrowStream | Path | None
    cwnd: ArrowStream | Path | None

    @cached_property
    def queue_frame(self) -> polars.DataFrame:
        """Queues and signals as a frame."""
        return _frame(self.queue, "series", "record.series = true")

    @cached_property
    def cwnd_frame(self) -> polars.DataFrame:
        """Congestion windows as a frame."""
        return _frame(self.cwnd, "congestion windows", 'record.cwnd = "10 ms"')

    def save(self, folder: Path, seed: int) -> None:
        """Write what was recorded, as Parquet files.

        Parameters
        ----------
        folder : Path
            Where to.
        seed : int
            The seed of the run, for the names of the files.
        """
        for source, name in ((self.queue, "series"), (self.cwnd, "cwnd")):
            if source is not None:
                frame = self.queue_frame if name == "series" else self.cwnd_frame
                buffer = io.BytesIO()  # polars reports a full disk as one of its own errors
                frame.write_parquet(buffer)
                with replacing(folder / f"{name}-{seed}.parquet") as file:
                    file.write_bytes(buffer.getbuffer())

    @classmethod
    def load(cls, folder: Path, seed: int) -> Self:
        """Find what `save` wrote.

        Parameters
        ----------
        folder : Path
            Where it was written to.
        seed : int
            The seed of the run.

        Returns
        -------
        Recording
            The series of that run.
        """
        files = [folder / f"{name}-{seed}.parquet" for name in ("series", "cwnd")]
        return cls(*(file if file.is_file() else None for file in files))


def _frame(source: ArrowStream | Path | None, what: str, cure: str) -> polars.DataFrame:
    import polars

    if source is None:
        raise LookupError(f"this run recorded no {what}: set {cure}")
    return polars.read_parquet(source) if isinstance(source, Path) else polars.DataFrame(source)
