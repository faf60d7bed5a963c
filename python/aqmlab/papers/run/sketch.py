"""Shorthand for the curves of a figure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from aqmlab.papers.describe.paper import Curve
from aqmlab.papers.run.evidence import At, Evidence
from aqmlab.results.summary import Summary

Curves = Callable[[Evidence], Iterator[Curve]]


def over(
    experiment: str,
    x: str,
    metrics: Mapping[str, str | tuple[str, float]],
    *,
    at: At | None = None,
    labels: Sequence[str] | None = None,
    x_scale: float = 1.0,
    fill: float | None = None,
) -> Curves:
    """Return a function for `Figure` that draws metrics over a parameter or another metric.

    ``metrics`` maps the letter of each panel to a metric, or to a metric and the factor for its values. A panel has one
    curve for each discipline, or for each of ``labels``. ``x`` is the dotted path of a parameter or the name of a
    metric; ``fill`` is the value of runs without one.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        for panel, told in metrics.items():
            metric, scale = (told, 1.0) if isinstance(told, str) else told
            for label in labels or runs.labels:
                yield runs.curve(panel, metric, label, x, at=at, scale=scale, x_scale=x_scale, fill=fill)

    return curves


def over_time(
    experiment: str,
    panels: Mapping[str, tuple[str, At]],
    *,
    quantity: str = "queue.mean",
    bin: float = 0.0,
    scale: float = 1.0,
    name: str | None = None,
) -> Curves:
    """Return a function for `Figure` that draws a queue or a signal over time, a discipline at one point in each panel.

    ``panels`` maps the letter of each panel to the label of the discipline and the point. The experiment must keep
    series; the other parameters are as for `Runs.over_time`.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        for panel, (label, at) in panels.items():
            yield runs.over_time(panel, label, quantity=quantity, at=at, bin=bin, scale=scale, name=name)

    return curves


def bars(panel: str, name: str, places: Sequence[str], told: Sequence[Summary], scale: float = 1.0) -> Curve:
    """Return bars for means with their 95 % confidence intervals, one for each category in ``places``.

    A bar without a value is NaN; if any bar lacks an interval, none has one.
    """
    means = [math.nan if one.mean is None else one.mean * scale for one in told]
    if any(one.ci95 is None for one in told):
        return Curve(panel, name, places, means, style="bars")
    halves = [(one.ci95 or 0.0) * scale for one in told]
    low, high = ([mean + sign * half for mean, half in zip(means, halves, strict=True)] for sign in (-1, 1))
    return Curve(panel, name, places, means, low, high, "bars")
