"""Parameters and labels of the LRED paper's experiments, and the quantities read from its runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.papers import At, Check, Evidence, Runs
from aqmlab.papers.run.seeds import Values, average, rounded

if TYPE_CHECKING:
    import polars


FLOWS = "traffic.long.count"
ROUND_TRIPS = {n: 0.45 if n <= 500 else n / 1000 - 0.1 for n in range(100, 1001, 100)}
"""R+ (s) for which the paper designs PI*, by the number of flows."""
TARGET = "aqm.q0"
UDP_RATE = "traffic.udp.rate"
LINK = 10e6  # bit/s
UDP_FLOWS = 100
ARRIVAL_RATE = "traffic.short.arrival_rate"
Q0 = 100.0
"""The target queue (packets)."""
HURST = "traffic.noise.hurst"
LITERAL, CORRECTED = "PI*", "PI* (0.7 s)"
PRINTED = {"exp2-light": 0.0025, "exp2-heavy": 0.165}
DROPS, MARKS, PI_MARKS = "LRED", "LRED, marks", "PI, marks"
CLASSES = ("first", "second", "third")
EQUAL = "1 : 1 : 1"
WEIGHTS = {EQUAL: (1, 1, 1), "1 : 2 : 4": (1, 2, 4), "1 : 4 : 16": (1, 4, 16)}


def off_target(runs: Runs, label: str, target: float = 100.0) -> Values:
    """Return the mean distance of mean queues from the target over all points, for each seed (packets)."""
    import polars

    off = (polars.col("queue_mean") - target).abs().mean().alias("off")
    return runs.of(label).group_by("seed").agg(off).sort("seed")["off"].to_list()


def against_others(
    runs: Runs,
    quantity: str,
    metric: str,
    *,
    higher: bool = False,
    unit: str = "",
    scale: float = 1.0,
    at: Sequence[At] = (),
    fill: float | None = None,
    others: Sequence[str] | None = None,
) -> list[Check]:
    """Check that LRED has a lower value of a metric than each other discipline, or a higher one if ``higher``.

    The differences, averaged over the points ``at``, by default all, are claimed not to be negative. ``quantity`` names
    the metric in words; ``fill`` replaces missing values.
    """
    points: Sequence[At | None] = at or (None,)
    checks = []
    for other in runs.others if others is None else others:
        pair = (runs.hero, other) if higher else (other, runs.hero)
        found = average(runs.differences(metric, *pair, point, fill, scale) for point in points)
        checks.append(Check.of(f"{quantity} of {pair[0]} minus that of {pair[1]}", found, unit=unit, least=0))
    return checks


def mean_text(runs: Runs, metric: str, label: str, digits: int = 3, *, at: At | None = None, scale: float = 1.0) -> str:
    """Write the mean of a metric, scaled; a dash where no run has one."""
    return rounded(runs.mean(metric, label, at, scale=scale).mean, digits)


def longest_response(runs: Runs, label: str) -> float:
    """Return the value of a queue that never settles: the run's length (s)."""
    return runs.study.variants[label].duration


def loads(evidence: Evidence) -> list[int]:
    """List the numbers of flows in experiment 1."""
    return evidence["exp1"].points(FLOWS)


def distance(
    runs: Runs, label: str, begin: float, end: float, at: dict[str, float], link: str | None = None
) -> list[float]:
    """Return the mean distance of the queue's 1 s means from q0 between two times (s), for each seed (packets).

    ``link`` is by default the observed one.
    """
    found = []
    for seed in runs.study.seeds:
        curve = runs.over_time("", label, at=at, bin=1.0, seed=seed, link=link)
        x, y = np.asarray(curve.x), np.asarray(curve.y)
        found.append(float(np.abs(y[(x > begin) & (x < end)] - Q0).mean()))
    return found


def between(begin: float, end: float) -> polars.Expr:
    """Return a filter for the bins of a series between two times (s)."""
    import polars

    return (polars.col("t") >= begin) & (polars.col("t") < end)
