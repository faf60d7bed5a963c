"""The interval of a mean over one long run, by batch means.

A run is divided into 400 short batches. If the means of neighbouring ones are little correlated, or less so when the
batches are twice as long, batches ten times as long count as independent, and the means of these 40 have Student's
interval with 39 degrees of freedom. Otherwise the run is too short.

# Departures from the source
A correlation counts as none if that of independent values exceeds it in one case of twenty; in the source it must not
be above 0, so that half of all runs that are long enough have to be longer. The length of the next run follows from the
width of the interval (see `aqmlab.runs.until`); in the source runs have 600, 800, 1200, 1600, … observations. A
batch is a span of time in place of a number of observations. A mean over packets, such as that of their delays, is the
ratio of two sums over the batch, and has the interval of ratios that is usual for regenerative cycles: z = sum - ratio
* count takes the place of the batch's mean.

# Sources
Law and Carson, "A sequential procedure for determining the length of a steady-state simulation", Operations Research
27(5), 1979; Law, Simulation Modeling and Analysis, section 9.5.3. Schmeiser, "Batch size effects in the analysis of
simulation output", Operations Research 30(3), 1982: more than 30 batches make an interval hardly narrower.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.results.student import quantile
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHORT, BATCHES = 400, 40
"""The number of short batches, and of the batches that the interval is made of."""

_CORRELATED = 0.4
"""The correlation of neighbouring short batches from which on the run is too short."""
_NOISE = 1.645 / math.sqrt(SHORT)
"""The correlation that `SHORT` independent values exceed in one case of twenty."""


def correlation(values: NDArray[np.float64]) -> float:
    """Estimate the correlation of neighbouring values, with the jackknife of the source; 0 if all are equal."""
    half = len(values) // 2
    return 2 * _lag1(values) - (_lag1(values[:half]) + _lag1(values[half:])) / 2


def _lag1(values: NDArray[np.float64]) -> float:
    deviations = values - values.mean()
    square = float(deviations @ deviations)
    return float(deviations[1:] @ deviations[:-1]) / square if square > 0 else 0.0


def independent(values: NDArray[np.float64]) -> bool:
    """Whether `BATCHES` means of the values, one for each short batch, count as independent."""
    short = correlation(values)
    if short <= _NOISE:
        return True
    return short < _CORRELATED and correlation(values.reshape(-1, 2).mean(axis=1)) < short


def estimate(sums: Sequence[float], counts: Sequence[float]) -> Summary | None:
    """Summarise the ratio of all sums to all counts, given those of `SHORT` batches; None if the run is too short.

    The counts are durations for a mean over time, packets for a mean over packets. `Summary.n` is `BATCHES`. Without a
    count there is no value.
    """
    import numpy as np

    if len(sums) != SHORT:
        raise ValueError(f"{len(sums)} batches: must be {SHORT}")
    above, below = np.asarray(sums, float), np.asarray(counts, float)
    total = float(below.sum())
    if total == 0:
        return Summary(None, None, None, 0)
    ratio = float(above.sum()) / total
    deviations = (above - ratio * below) / (total / SHORT)
    if not independent(deviations):
        return None
    means = deviations.reshape(BATCHES, -1).mean(axis=1)
    std = float(means.std(ddof=1))
    return Summary(ratio, std, quantile(0.95, BATCHES - 1) * std / math.sqrt(BATCHES), BATCHES)
