"""The series of a run: the engine's columns or a file, read on first access."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from aqmlab.files import parquet
from aqmlab.kinds import CWND, FLOWS, SERIES, Kind
from aqmlab.results.student import quantile
from aqmlab.sealed import Stored

if TYPE_CHECKING:
    import polars

    from aqmlab._core import ArrowStream

NAMES = r"(series|cwnd|flows)-\d+\.parquet"
"""The names of the files of series."""


@dataclass(frozen=True)
class Recording:
    """The series of one run, read on first access.

    `queue` has queues and the disciplines' signals, `cwnd` the congestion windows, `flows` a row for each flow and
    transfer: as the engine's columns, as a Parquet file, or None if they were not recorded. `logs` has, for each
    connection of a stack, the number of its traffic entry, and what its sender and its receiver logged.
    """

    queue: ArrowStream | Stored | None
    cwnd: ArrowStream | Stored | None
    flows: ArrowStream | Stored | None = None
    logs: Sequence[tuple[int, Sequence[bytes | None]]] = ()

    @cached_property
    def queue_frame(self) -> polars.DataFrame:
        """Queues and signals as a frame; LookupError if they were not recorded."""
        return _frame(self.queue, SERIES, "series", "record.series = true")

    @cached_property
    def cwnd_frame(self) -> polars.DataFrame:
        """Congestion windows as a frame; LookupError if they were not recorded."""
        return _frame(self.cwnd, CWND, "congestion windows", 'record.cwnd = "10 ms"')

    @cached_property
    def flows_frame(self) -> polars.DataFrame:
        """Flows and transfers as a frame; LookupError if they were not recorded."""
        return _frame(self.flows, FLOWS, "flows", "record.flows = true or --flows, on the packet engine")

    def files(self, seed: int) -> Iterator[tuple[str, bytes]]:
        """Yield the name and content of a Parquet file for each recorded series; the result itself writes the flows."""
        if self.queue is not None:
            yield f"series-{seed}.parquet", parquet(self.queue_frame, SERIES)
        if self.cwnd is not None:
            yield f"cwnd-{seed}.parquet", parquet(self.cwnd_frame, CWND)

    @classmethod
    def of(cls, files: Mapping[str, Stored], seed: int) -> Self:
        """Return the series of a run, from the files of a result."""
        queue, cwnd, flows = (files.get(f"{name}-{seed}.parquet") for name in ("series", "cwnd", "flows"))
        return cls(queue, cwnd, flows)


def _frame(source: ArrowStream | Stored | None, kind: Kind, recorded: str, setting: str) -> polars.DataFrame:
    import polars

    if source is None:
        raise LookupError(f"this run recorded no {recorded}: set {setting}")
    return source.frame(kind) if isinstance(source, Stored) else polars.DataFrame(source)


def averaged(runs: Sequence[polars.DataFrame]) -> polars.DataFrame:
    """Average the series of several runs bin by bin; see `Result.mean_series`.

    Raise ValueError if their bins differ.
    """
    import numpy as np
    import polars

    first = runs[0]
    if any(not run["t"].equals(first["t"]) for run in runs):
        raise ValueError("the runs have different bins")
    halves = np.array([math.nan, math.nan, *(quantile(0.95, n - 1) / math.sqrt(n) for n in range(2, len(runs) + 1))])
    columns = [first["t"]]
    for name in first.columns[1:]:
        values = np.array([run[name].cast(polars.Float64).to_numpy() for run in runs])  # null becomes NaN
        known = ~np.isnan(values)
        counts = known.sum(axis=0)
        some = counts > 0
        mean = np.divide(np.where(known, values, 0.0).sum(axis=0), counts, out=np.full(len(counts), np.nan), where=some)
        squares = np.where(known, (values - mean) ** 2, 0.0).sum(axis=0)
        half = halves[counts] * np.sqrt(squares / np.maximum(counts - 1, 1))
        least, greatest = np.fmin.reduce(values, axis=0), np.fmax.reduce(values, axis=0)
        for suffix, each in (("", mean), (".least", least), (".greatest", greatest), (".ci95", half)):
            columns.append(polars.Series(f"{name}{suffix}", each).fill_nan(None))
    return polars.DataFrame(columns)
