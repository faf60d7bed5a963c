"""The warm-up that a scenario needs, by MSER-5 of pilot runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aqmlab.results.mser import mser5
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
    """Raised when a run is too short to find the end of its warm-up, with the series that has not settled."""


_LENGTHS = (1, 2, 4)
"""The lengths of the pilot runs, over that of the scenario: where no end is found, a longer run may tell."""


def replaced(scenario: Scenario, warmup: str | None) -> Scenario:
    """Return the scenario without its own warm-up, of whatever length, if another is to be found."""
    return scenario if warmup is None else scenario.with_(warmup="0 s")


def pilot(scenario: Scenario, length: int) -> Scenario:
    """Return the scenario of a pilot run: all of it is recorded."""
    duration = f"{scenario.duration * length:.9f} s"
    return scenario.with_({"record.series": True, "record.cwnd": "auto"}, warmup="0 s", duration=duration)


def settled(
    scenarios: Mapping[str, Scenario], perform: Callable[[Mapping[str, Scenario]], Comparison]
) -> dict[str, Scenario]:
    """Return the scenarios with the warm-up that the slowest of them needs, given a function that performs pilot runs.

    Raise `NotSettled` if it does not end in the first half of the scenarios' duration.
    """
    half = min(scenario.duration for scenario in scenarios.values()) / 2
    for length in _LENGTHS:
        results = perform({label: pilot(scenario, length) for label, scenario in scenarios.items()})
        ends = {(label, name): end for label, result in results.items() for name, end in warmups(result).items()}
        known = [end for end in ends.values() if end is not None]
        if len(known) == len(ends) and max(known) <= half:
            return {label: scenario.with_(warmup=f"{max(known):.9f} s") for label, scenario in scenarios.items()}
        if len(known) == len(ends):
            break
    label, name = max(ends, key=lambda which: math.inf if ends[which] is None else ends[which] or 0.0)
    end = ends[label, name]
    of = f"{label}: " if len(results) > 1 else ""
    when = "" if end is None else f", but by {end:.3g} s"
    raise NotSettled(
        f"warmup = {AUTO!r}: {of}the {name} of the observed link does not settle in the first half, {half:g} s{when}; "
        "set a longer duration, or the warm-up itself"
    )


def warmups(result: Result) -> dict[str, float | None]:
    """Return the end of the warm-up of a result's queue and throughput, in s; None where the series does not tell."""
    bins = result.series["t"].to_numpy()
    step = float(bins[1] - bins[0]) if len(bins) > 1 else math.inf
    cuts = {name: mser5(values) for name, values in _series(result).items()}
    return {name: None if cut is None else cut * step for name, cut in cuts.items()}


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
