"""Shorthand for the curves of a figure."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from aqmlab.results.summary import Summary
from aqmlab_papers.describe.paper import Curve
from aqmlab_papers.describe.reader import reader
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.run.runs import At

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
        for panel, quantity in metrics.items():
            metric, scale = (quantity, 1.0) if isinstance(quantity, str) else quantity
            for label in labels or runs.labels:
                yield runs.curve(panel, metric, label, x, at=at, scale=scale, x_scale=x_scale, fill=fill)

    return reader(curves, experiment)


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

    return reader(curves, experiment)


def mean_curve(
    panel: str,
    name: str,
    x: Sequence[float] | Sequence[str],
    summaries: Iterable[Summary],
    *,
    scale: float = 1.0,
    style: str = "line",
) -> Curve:
    """Return the curve of means with their 95 % confidence intervals, one for each of ``x``.

    A point without a value is NaN; if any point lacks an interval, none has one.
    """
    points = list(summaries)
    means = [math.nan if point.mean is None else point.mean * scale for point in points]
    if any(point.ci95 is None for point in points):
        return Curve(panel, name, x, means, style=style)
    halves = [(point.ci95 or 0.0) * scale for point in points]
    low, high = ([mean + sign * half for mean, half in zip(means, halves, strict=True)] for sign in (-1, 1))
    return Curve(panel, name, x, means, low, high, style)


def bars(panel: str, name: str, places: Sequence[str], summaries: Iterable[Summary], scale: float = 1.0) -> Curve:
    """Return bars for means with their 95 % confidence intervals, one for each category in ``places``.

    Missing values and intervals are as in `mean_curve`.
    """
    return mean_curve(panel, name, places, summaries, scale=scale, style="bars")
