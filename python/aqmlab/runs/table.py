"""The table of a sweep's runs: in memory or, if they are many, in files that are read piece by piece."""

from __future__ import annotations

import io
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.files import parquet, read_whole, write_whole
from aqmlab.kinds import SWEEP_TABLE
from aqmlab.runs.key_arrays import Keys, keys_of, places
from aqmlab.runs.store import place, together
from aqmlab.sealed import Stored

if TYPE_CHECKING:
    import polars

SLICE = 20_000
"""The most rows of a file, and the most in memory at a time."""


@dataclass(frozen=True)
class RunTable:
    """Rows in slices, each a frame or a Parquet file; all have the same columns.

    Files that a sweep saved are `Stored`: they are verified whenever they are read. Others are in `folder`, which is
    kept as long as the table exists.
    """

    slices: tuple[polars.DataFrame | Path | Stored, ...]
    folder: _Folder | None = None

    @cached_property
    def schema(self) -> polars.Schema:
        """The types of the columns, by name."""
        return self.scan().collect_schema()

    @cached_property
    def length(self) -> int:
        """The number of rows."""
        import polars

        return int(self.scan().select(polars.len()).collect().item())

    @cached_property
    def frame(self) -> polars.DataFrame:
        """All rows in memory."""
        import polars

        return polars.concat(self.frames())

    def scan(self) -> polars.LazyFrame:
        """Return a query of all rows, for which polars reads only the columns that it needs.

        Raise ValueError if a saved file is no longer the one that was saved.
        """
        import polars

        return polars.concat([_lazy(one) for one in self.slices])

    def files(self) -> Iterator[bytes]:
        """Yield each slice as the content of a Parquet file."""
        import polars

        for one in self.slices:
            if isinstance(one, polars.DataFrame):
                yield from (parquet(rows, SWEEP_TABLE) for rows in one.iter_slices(SLICE) if len(one))
                if not len(one):
                    yield parquet(one, SWEEP_TABLE)
            else:
                yield _content(one)

    def frames(self) -> Iterator[polars.DataFrame]:
        """Yield the rows of each slice."""
        import polars

        for one in self.slices:
            yield one if isinstance(one, polars.DataFrame) else polars.read_parquet(io.BytesIO(_content(one)))

    def equals(self, other: RunTable) -> bool:
        """Return whether another table has the same rows, however it is sliced."""
        if self.schema != other.schema or self.length != other.length:
            return False
        return all(one.equals(two) for one, two in zip(_pieces(self), _pieces(other), strict=True))


def _lazy(one: polars.DataFrame | Path | Stored) -> polars.LazyFrame:
    import polars

    if isinstance(one, polars.DataFrame):
        return one.lazy()
    if isinstance(one, Stored):
        one.read()  # it may have changed since it was saved
        one = one.path
    return polars.scan_parquet(one, glob=False)


def _content(one: Path | Stored) -> bytes:
    return one.read() if isinstance(one, Stored) else read_whole(one)


def _pieces(table: RunTable) -> Iterator[polars.DataFrame]:
    """Yield the rows in pieces of the same size, whatever the slices."""
    import polars

    rest: list[polars.DataFrame] = []
    for frame in table.frames():
        rest.append(frame)
        while sum(map(len, rest)) >= SLICE:
            whole = polars.concat(rest)
            yield whole[:SLICE]
            rest = [whole[SLICE:]]
    yield polars.concat(rest)


class _Folder:
    """A temporary folder that is removed with this object, or at the end of the process that made it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="aqmlab-sweep-"))
        weakref.finalize(self, _remove, self.path, os.getpid())

    def __deepcopy__(self, memo: object) -> _Folder:
        return self


def _remove(folder: Path, pid: int) -> None:
    """Remove a folder, but not at the end of a process that was forked from its owner."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


Heads = Callable[[int, int], "polars.DataFrame"]
"""A function that returns the first columns of the rows from one place up to another."""


def joined(heads: Heads, keys: Keys, metrics: Iterable[polars.DataFrame]) -> RunTable:
    """Join rows with their metrics; rows without metrics are left out, the others keep their order.

    `keys` has the key of each row, as has the column ``key`` of `heads`. `metrics` yields frames with ``key``, ``seed``
    and metrics; a run may be there more than once. A metric of a traffic entry, link or lane that no run has is left
    out.
    """
    if len(keys) <= SLICE:
        found = together(metrics)
        return RunTable((_joined(heads(0, len(keys)), found, [name for name, has in _valued(found) if has]),))
    folder = _Folder()
    valued = _sorted_into_slices(keys, metrics, folder.path)
    names = sorted((name for name, has in valued.items() if has), key=place)
    files: list[Path] = []
    for start in range(0, len(keys), SLICE):
        rows = _joined(heads(start, start + SLICE), _piece(folder.path, start), names)
        if len(rows):
            files.append(folder.path / f"{len(files):05}.parquet")
            write_whole(files[-1], parquet(rows, SWEEP_TABLE))
    return RunTable(tuple(files), folder) if files else RunTable((_joined(heads(0, 0), together([]), names),))


def _valued(frame: polars.DataFrame) -> Iterator[tuple[str, bool]]:
    """Yield the metrics of a frame, and whether a run has a value; of those of all traffic, always."""
    if frame.is_empty():
        yield from ((name, "." not in name) for name in frame.columns[2:])
        return
    missing = frame.null_count().row(0)  # all columns at once: a sweep may have a thousand
    for name, count in zip(frame.columns, missing, strict=True):
        if name not in ("key", "seed"):
            yield name, "." not in name or count < len(frame)


def _joined(heads: polars.DataFrame, metrics: polars.DataFrame, names: Sequence[str]) -> polars.DataFrame:
    """Join rows with these metrics, which are null where none of the runs has them."""
    import polars

    absent = [polars.lit(None, polars.Float64).alias(name) for name in names if name not in metrics.columns]
    chosen = metrics.with_columns(absent).select("key", *names)
    rows = heads.join(chosen, on="key", how="inner", maintain_order="left")
    return rows.with_columns(polars.col("key").bin.encode("hex"))


def _sorted_into_slices(keys: Keys, metrics: Iterable[polars.DataFrame], folder: Path) -> dict[str, bool]:
    """Write metrics to files, by the slices in which their rows are; return whether a run has a value of each metric.

    Runs are finished about in the order of their rows, so most frames are of one slice or two. But a run may be in all
    slices: that of a discipline without the parameter that varies.
    """
    runs, ranks = np.unique(keys, return_inverse=True)
    slices = -(-len(keys) // SLICE)
    # Each slice that has a run, by the run's place in `runs`.
    pairs = np.unique(ranks.astype(np.int64) * slices + np.arange(len(keys)) // SLICE)
    valued: dict[str, bool] = {}
    for number, frame in enumerate(metrics):
        found = places(runs, keys_of(frame["key"]))
        frame = frame.filter(found >= 0)
        found = found[found >= 0]
        for name, has in _valued(frame):
            valued[name] = valued.get(name, False) or has
        first, last = (np.searchsorted(pairs, found * slices + end) for end in (0, slices))
        for repeat in range(int((last - first).max(initial=0))):
            here = first + repeat < last
            slice_of = np.where(here, pairs[np.minimum(first + repeat, len(pairs) - 1)] % slices, -1)
            for one in np.unique(slice_of[here]):
                buffer = io.BytesIO()
                frame.filter(slice_of == one).write_ipc(buffer, compression="zstd")
                write_whole(folder / f"{one * SLICE}-{number}-{repeat}.piece", buffer.getvalue())
    return valued


def _piece(folder: Path, start: int) -> polars.DataFrame:
    """Read and remove the metrics of the slice that begins at a row."""
    import polars

    files = sorted(folder.glob(f"{start}-*.piece"))
    found = together(polars.read_ipc(file) for file in files)
    for file in files:
        file.unlink()
    return found
