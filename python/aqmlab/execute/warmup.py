"""The warm-up that a scenario needs, by MSER-5 of pilot runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aqmlab.results.mser import BATCH, mser5
from aqmlab.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aqmlab.results.comparison import Comparison
    from aqmlab.results.result import Result

AUTO = "auto"
"""The warm-up that is to be found."""

PILOTS = 5
"""The number of pilot runs, whose series are averaged (Hoad, Robinson and Davies, "Automating warm-up length
estimation", Journal of the Operational Research Society 61, 2010)."""


class NotSettled(ValueError):  # noqa: N818  the runs are all right; they are too short
    """Raised when a run is too short to find the end of its warm-up.

    Parameters
    ----------
    message : str
        The series that has not settled, and the cure.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


def pilot(scenario: Scenario) -> Scenario:
    """Return the scenario of a pilot run: all of it is recorded."""
    return scenario.with_({"record.series": True, "record.cwnd": "auto"}, warmup="0 s")


def settled(
    scenarios: Mapping[str, Scenario], perform: Callable[[Mapping[str, Scenario]], Comparison]
) -> dict[str, Scenario]:
    """Return the scenarios with the warm-up that the slowest of them needs, given a function that performs pilot runs.

    Raise `NotSettled` if a run is too short to find it.
    """
    results = perform({label: pilot(scenario) for label, scenario in scenarios.items()})
    longest = max(_warmup(label if len(results) > 1 else "", result) for label, result in results.items())
    return {label: scenario.with_(warmup=f"{longest:.9f} s") for label, scenario in scenarios.items()}


def _warmup(label: str, result: Result) -> float:
    """Return the end of the warm-up of a result's queue and throughput, in s."""
    found = 0.0
    bins = result.series["t"].to_numpy()
    step = float(bins[1] - bins[0]) if len(bins) > 1 else math.inf
    for name, values in _series(result).items():
        cut = mser5(values)
        if cut is None:
            of = f"{label}: " if label else ""
            half = f"its first half, {result.scenario.duration / 2:g} s"
            if len(values) < 10 * BATCH:
                half = f"a series of {len(values)} bins: set a shorter record.step"
            raise NotSettled(
                f"warmup = {AUTO!r}: {of}the {name} of the observed link does not settle in {half}; set a longer "
                "duration, or the warm-up itself"
            )
        found = max(found, cut * step)
    return found


def _series(result: Result) -> dict[str, NDArray[np.float64]]:
    """Return queue and throughput of the observed link, averaged over the runs."""
    import numpy as np
    import polars

    link = result.link
    mine = [name for name in result.series.columns if name.startswith(f"{link}.") and name.endswith(".throughput")]
    mine = [name for name in mine if not name.startswith(f"{link}.lane.")]
    frames = [result.series_of(seed) for seed in result.seeds]
    queues = [frame[f"{link}.queue.mean"].to_numpy() for frame in frames]
    sent = [frame.select(polars.sum_horizontal(mine)).to_series().to_numpy() for frame in frames]
    return {"queue": np.mean(queues, axis=0), "throughput": np.mean(sent, axis=0)}
