"""Short ways to say the curves of a figure."""

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
    """Draw metrics over a parameter, or over another metric: a panel each, a curve for each discipline.

    Parameters
    ----------
    experiment : str
        The experiment.
    x : str
        The parameter's dotted path, or the metric.
    metrics : mapping
        By the letter of the panel the metric; with a number that its values are multiplied with, if need be.
    at : mapping
        At which points.
    labels : sequence of str
        Which disciplines; by default all.
    x_scale : float
        What to multiply x with.
    fill : float
        What stands for a run without a value.

    Returns
    -------
    callable
        For `Figure`.
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
    """Draw a queue or a signal over time, a panel for each discipline at a point.

    Parameters
    ----------
    experiment : str
        The experiment; it must keep series.
    panels : mapping
        By the letter of the panel the discipline's label and the point.
    quantity : str
        As of `Runs.over_time`.
    bin : float
        As of `Runs.over_time`.
    scale : float
        As of `Runs.over_time`.
    name : str
        What the legend says; by default the discipline's label.

    Returns
    -------
    callable
        For `Figure`.
    """

    def curves(evidence: Evidence) -> Iterator[Curve]:
        runs = evidence[experiment]
        for panel, (label, at) in panels.items():
            yield runs.over_time(panel, label, quantity=quantity, at=at, bin=bin, scale=scale, name=name)

    return curves


def bars(panel: str, name: str, places: Sequence[str], told: Sequence[Summary], scale: float = 1.0) -> Curve:
    """Draw means and their 95 % intervals as bars.

    Parameters
    ----------
    panel : str
        The letter of the panel.
    name : str
        What the legend says.
    places : sequence of str
        The category of each bar.
    told : sequence of Summary
        How high each is.
    scale : float
        What to multiply values with.

    Returns
    -------
    Curve
        NaN where there is no value, and no intervals if there is none of some bar.
    """
    means = [math.nan if one.mean is None else one.mean * scale for one in told]
    if any(one.ci95 is None for one in told):
        return Curve(panel, name, places, means, style="bars")
    halves = [(one.ci95 or 0.0) * scale for one in told]
    low, high = ([mean + sign * half for mean, half in zip(means, halves, strict=True)] for sign in (-1, 1))
    return Curve(panel, name, places, means, low, high, "bars")
