"""Comparisons of LRED with other disciplines, one check for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aqmlab.papers import At, Check, Runs

Values = list[float | None]


def averaged(lists: Iterable[Values]) -> Values:
    """Return the mean of several quantities for each seed, over the values that exist."""
    found: Values = []
    for seed in zip(*lists, strict=True):
        told = [value for value in seed if value is not None]
        found.append(sum(told) / len(told) if told else None)
    return found


def less(one: Values, other: Values) -> Values:
    """Return ``one - other`` for each seed; None where either is missing."""
    return [
        None if first is None or second is None else first - second for first, second in zip(one, other, strict=True)
    ]


def off_target(runs: Runs, label: str, target: float = 100.0) -> Values:
    """Return the mean distance of mean queues from the target over all points, for each seed (packets)."""
    import polars

    off = (polars.col("queue_mean") - target).abs().mean().alias("off")
    return runs.of(label).group_by("seed").agg(off).sort("seed")["off"].to_list()


def beside(
    runs: Runs,
    what: str,
    metric: str,
    *,
    more: bool = False,
    unit: str = "",
    scale: float = 1.0,
    at: Sequence[At] = (),
    fill: float | None = None,
    others: Sequence[str] | None = None,
) -> list[Check]:
    """Check that LRED has a lower value of a metric than each other discipline, or a higher one if ``more``.

    The differences, averaged over the points ``at``, by default all, are claimed not to be negative. ``what`` names the
    metric in words; ``fill`` replaces missing values.
    """
    points: Sequence[At | None] = at or (None,)
    checks = []
    for other in runs.others if others is None else others:
        pair = (runs.hero, other) if more else (other, runs.hero)
        found = averaged(runs.differences(metric, *pair, point, fill, scale) for point in points)
        checks.append(Check.of(f"{what} of {pair[0]} less that of {pair[1]}", found, unit=unit, least=0))
    return checks


def told(runs: Runs, metric: str, label: str, digits: int = 3, *, at: At | None = None, scale: float = 1.0) -> str:
    """Write the mean of a metric, scaled; a dash where no run has one."""
    mean = runs.mean(metric, label, at, scale=scale).mean
    return "-" if mean is None else f"{mean:.{digits}g}"
