"""Shorthand for the curves of a figure, and for the cells of a table."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from aqmlab.results.summary import Summary
from aqmlab_papers.describe.paper import Curve
from aqmlab_papers.describe.paper import mean_curve as mean_curve
from aqmlab_papers.describe.per_seed import PerSeed
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


def bars(panel: str, name: str, places: Sequence[str], summaries: Iterable[Summary], scale: float = 1.0) -> Curve:
    """Return bars for means with their 95 % confidence intervals, one for each category in ``places``.

    Missing values and intervals are as in `mean_curve`.
    """
    return mean_curve(panel, name, places, summaries, scale=scale, style="bars")


def cells(name: str, values: PerSeed) -> dict[str, float | None]:
    """Return the cells of a table's row for the mean of a quantity, and for half its 95 % confidence interval."""
    summary = values.summary
    return {name: summary.mean, f"{name} ±": summary.ci95}
