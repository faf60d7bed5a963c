"""What the traffic at the observed link did over time, in bins as wide as other tools have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Course:
    """The traffic of some entries at the observed link in the first run of a result.

    ``start`` of each bin and ``step`` are in s, the ``rate`` in bit/s, and ``wait`` is the mean wait in the queue in s
    of the bytes sent in the bin, NaN if there were none.
    """

    start: Array
    step: float
    rate: Array
    wait: Array


def course(result: Result, entries: Sequence[str], least: float = 0.0, most: int | None = None) -> Course:
    """Return the course of some traffic entries, in bins of at least ``least`` seconds, and at most ``most`` of them.

    Raise `LookupError` if the run recorded no series.
    """
    series = result.series
    start = series["t"].to_numpy()
    step = float(start[1] - start[0]) if len(start) > 1 else result.scenario.duration
    merged = max(1, int(np.ceil(round(least / step, 6))), 1 if most is None else -(-len(start) // most))
    firsts = np.arange(0, len(start), merged)
    columns = [[f"{result.link}.{entry}.{which}" for entry in entries] for which in ("throughput", "delay")]
    rates, waits = (np.stack([series[name].to_numpy().astype(float) for name in names]) for names in columns)
    known = np.where(np.isnan(waits), 0.0, rates)
    weight = np.add.reduceat(known.sum(axis=0), firsts)
    waited = np.add.reduceat((known * np.nan_to_num(waits)).sum(axis=0), firsts)
    return Course(
        start=start[firsts],
        step=step * merged,
        rate=np.add.reduceat(rates.sum(axis=0), firsts) / np.diff(firsts, append=len(start)),
        wait=np.divide(waited, weight, out=np.full(len(firsts), np.nan), where=weight > 0),
    )
