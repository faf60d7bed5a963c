"""What the traffic at the observed link did over time, in bins as wide as other tools have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """The traffic of some entries at the observed link in the first run of a result.

    ``start`` of each bin and ``step`` are in s, the ``rate`` in bit/s, and ``wait`` is the mean wait in the queue in s
    of the packets sent in the bin, NaN if there were none.
    """

    start: Array
    step: float
    rate: Array
    wait: Array


def course(
    result: Result, entries: Sequence[str], least: float = 0.0, most: int | None = None, since: float = 0.0
) -> Course:
    """Return the course of some traffic entries, in bins of at least ``least`` seconds, and at most ``most`` of them.

    It begins at ``since``. Raise `LookupError` if the run recorded no series.
    """
    series = recorded(result, since)
    start = series["t"].to_numpy()
    step = float(start[1] - start[0]) if len(start) > 1 else result.scenario.duration
    merged = max(1, int(np.ceil(round(least / step, 6))), 1 if most is None else -(-len(start) // most))
    firsts = np.arange(0, len(start), merged)
    quantities = ("throughput", "delay", "departures")
    columns = [[f"{result.link}.{entry}.{which}" for entry in entries] for which in quantities]
    rates, waits, sent = (np.stack([series[name].to_numpy().astype(float) for name in names]) for names in columns)
    weight = np.add.reduceat(sent.sum(axis=0), firsts)
    waited = np.add.reduceat((sent * np.nan_to_num(waits)).sum(axis=0), firsts)
    return Course(
        start=start[firsts],
        step=step * merged,
        rate=np.add.reduceat(rates.sum(axis=0), firsts) / np.diff(firsts, append=len(start)),
        wait=np.divide(waited, weight, out=np.full(len(firsts), np.nan), where=weight > 0),
    )


def recorded(result: Result, since: float) -> polars.DataFrame:
    """Return the series of the first run in the bins that begin at ``since`` or later; the last bin at least."""
    series = result.series
    first = min(int(np.searchsorted(series["t"].to_numpy(), since - 1e-9)), len(series) - 1)
    return series[first:]
