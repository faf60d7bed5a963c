"""One long run in place of many: the intervals of its metrics, by batch means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from aqmlab.execute.glance import Glance
from aqmlab.results import batch_means
from aqmlab.results.precision import Condition
from aqmlab.results.result import Metrics
from aqmlab.results.summary import Summary
from aqmlab.scenario import Scenario

Mark = tuple[Glance, int]
"""The observed link and the payload bytes delivered, at the end of a batch."""


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A metric as the ratio of two counters, which `sum` and `count` read."""

    sum: Callable[[Mark], float]
    count: Callable[[Mark], float]


_RATIOS = {
    "queue_mean": _Ratio(lambda mark: mark[0].queue_area, lambda mark: mark[0].t),
    "queue_delay_mean": _Ratio(lambda mark: mark[0].waited, lambda mark: mark[0].departures),
    "throughput": _Ratio(lambda mark: 8.0 * mark[0].departed_bytes, lambda mark: mark[0].t),
    "goodput": _Ratio(lambda mark: 8.0 * mark[1], lambda mark: mark[0].t),
    "loss_ratio": _Ratio(lambda mark: mark[0].drops, lambda mark: mark[0].arrivals),
    "mark_ratio": _Ratio(lambda mark: mark[0].marks, lambda mark: mark[0].arrivals),
}
"""The metrics that have an interval in one run."""


def check(asked: Sequence[Condition]) -> None:
    """Raise ValueError if one of the metrics has no interval in one run."""
    if unable := next((one for one in asked if one.name not in _RATIOS), None):
        raise ValueError(f"{unable.name}: one long run has intervals of {', '.join(_RATIOS)} only: omit long_run")


def lengthened(scenario: Scenario, lengths: float) -> Scenario:
    """Return a scenario whose measured time, after the warm-up, is this many times as long."""
    if lengths == 1:
        return scenario
    return scenario.with_(duration=f"{scenario.warmup + lengths * (scenario.duration - scenario.warmup):.9f} s")


def intervals(metrics: Metrics, marks: Sequence[Mark]) -> dict[str, Summary]:
    """Return the statistics of the metrics of a run; those of batches that are correlated have no interval."""
    found = {}
    for name, ratio in _RATIOS.items():
        sums, counts = (_steps(list(map(read, marks))) for read in (ratio.sum, ratio.count))
        by_batches = batch_means.estimate(sums, counts)
        found[name] = replace(by_batches or Summary(None, None, None, batch_means.BATCHES), mean=metrics[name])
    return found


def _steps(totals: Sequence[float]) -> list[float]:
    return [after - before for before, after in pairwise(totals)]
