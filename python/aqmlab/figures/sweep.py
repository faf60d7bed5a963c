"""Figures of a sweep: metrics over a parameter, a line with its confidence interval for each queue discipline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures.model import Axis, Curve, Figure, Grid, Panel, dash, grounded, marks, shades
from aqmlab.results.metrics import METRICS, Metric
from aqmlab.text import printable, span

if TYPE_CHECKING:
    import polars

    from aqmlab.runs.swept import Sweep

SWEPT = ("queue_delay_mean", "queue_mad", "loss_ratio", "link_goodput")
"""The metrics that are shown, unless the caller chooses others."""

MOST_DRAWN = 4000
"""The largest number of points of a discipline that are drawn one by one; of more, groups are."""

GROUPS = 400
"""The number of groups, by equal parts of the abscissa."""

MOST_FACETS = 5
"""The largest number of values of a second parameter that have a column of panels each."""


def sweep(swept: Sweep, x: str | None = None, y: str | Sequence[str] | None = None) -> Figure:
    """Show metrics over a parameter: a panel for each metric, a column of panels for each value of a second parameter.

    By default ``x`` is the first numeric parameter that varies and ``y`` the main metrics. Raise `LookupError` if there
    is no such parameter, or nothing varies.
    """
    names = _known(swept) if y is None else [y] if isinstance(y, str) else list(y)
    x = abscissa(swept) if x is None else x
    if x not in swept.parameters:
        raise LookupError(f"{x}: must be one of what varies: {', '.join(swept.parameters) or 'nothing'}")
    columns = facets(swept, x, names)
    alone = len(columns) == 1
    rows = []
    for name in names:
        row = [_panel(swept, frame, x, name, title) for title, frame in columns]
        upright = grounded(Axis(described(name).axis), row, "y")
        rows.append(
            [replace(panel, y=upright if place == 0 else replace(upright, label="")) for place, panel in enumerate(row)]
        )
    if alone:
        panels = [replace(panel, title=panel.y.label, y=replace(panel.y, label="")) for (panel,) in rows]
        grids = [Grid(panels=panels, across=min(len(names), 2), same_x=True)]
    else:
        grids = [Grid(panels=row, across=len(columns), same_x=True, same_y=True) for row in rows]
    return Figure(
        title=swept.scenario.title,
        rows=[[grid] for grid in grids],
        legend=len(swept.aqms) > 1,
        small_print=explained(swept, x),
    )


def _known(swept: Sweep) -> list[str]:
    """List the main metrics that a run of the sweep has."""
    import polars

    counts = swept.scan().select(polars.col(SWEPT).count()).collect().row(0, named=True)
    return [name for name, count in counts.items() if count] or list(SWEPT)


def explained(swept: Sweep, x: str) -> str:
    """Write the small print: seeds, the meaning of lines and bands, and the other parameters in which dots differ."""
    runs = len(swept.seeds)
    parts = [frame for _, frame in facets(swept, x)]
    bands = "bands" if all(is_line(swept, frame, x) for frame in parts) else "bars"
    means = f"means of {runs} runs; {bands}: 95 % confidence intervals (Student)" if runs > 1 else "one run each"
    text = f"seed{'s' if runs > 1 else ''} {span(swept.seeds)}; {means}"
    if any(_is_grouped(swept, frame, x) for frame in parts):
        means = f"means of {runs} runs" if runs > 1 else "one run each"
        return (
            f"seed{'s' if runs > 1 else ''} {span(swept.seeds)}; {means}; "
            f"points in {GROUPS} groups by {x}: mean and range of each"
        )
    others = ", ".join(_others(swept, parts[0], x))
    return f"{text}; dots differ in {others} too" if others else text


def _is_grouped(swept: Sweep, frame: polars.DataFrame, x: str) -> bool:
    """Decide whether points are too many to be drawn one by one."""
    return frame[x].dtype.is_numeric() and len(frame) > MOST_DRAWN * len(swept.aqms)


def _grouped(rows: polars.DataFrame, x: str, name: str, log: bool) -> polars.DataFrame:
    """Return the mean of each group of points, with its middle, its least and its greatest value."""
    import polars

    place = polars.col(x).log() if log else polars.col(x).cast(polars.Float64)
    whole = place.max() - place.min()
    group = ((place - place.min()) / polars.when(whole > 0).then(whole).otherwise(1.0) * GROUPS).floor()
    value = polars.col(name)
    means = [polars.col(x).mean(), value.mean(), value.min().alias("least"), value.max().alias("greatest")]
    return rows.group_by(group.clip(0, GROUPS - 1).alias("group")).agg(means).sort("group")


def is_line(swept: Sweep, frame: polars.DataFrame, x: str) -> bool:
    """Decide whether to connect points by a line: over a number, if nothing else varies or the sweep is paired."""
    apart = frame.select("aqm", x).n_unique() == len(frame) and frame[x].n_unique() > 1
    return frame[x].dtype.is_numeric() and apart and (swept.method == "paired" or not _others(swept, frame, x))


def _others(swept: Sweep, frame: polars.DataFrame, x: str) -> list[str]:
    """List the varying parameters other than ``x``."""
    return [path for path in swept.parameters if path != x and frame[path].n_unique() > 1]


def abscissa(swept: Sweep) -> str:
    """Choose the first varying parameter that is numeric, or else the first; raise `LookupError` if nothing varies."""
    if not swept.parameters:
        raise LookupError("nothing varies: there is nothing to draw over")
    varying = [path for path in swept.parameters if swept.count(path) > 1] or list(swept.parameters)
    return next((path for path in varying if swept.table.schema[path].is_numeric()), varying[0])


def facets(swept: Sweep, x: str, metrics: Sequence[str] = ()) -> list[tuple[str, polars.DataFrame]]:
    """Split the means of some metrics into parts in which only ``x`` varies, each with its title and rows.

    All rows are one part if there would be too many parts, or if the sweep is not a grid.
    """
    means = swept.means(metrics)
    others = _others(swept, means, x)
    values = means.select(others).unique(maintain_order=True) if others else None
    if values is None or swept.method != "grid" or not 1 < len(values) <= MOST_FACETS:
        return [("", means)]
    parts = []
    for row in values.iter_rows(named=True):
        title = ", ".join(f"{path} = {_shown(swept, path, value)}" for path, value in row.items())
        frame = means.join(values.filter(**row), on=others, how="semi")
        parts.append((title, frame))
    return parts


def axis(swept: Sweep, x: str) -> str:
    """Name a parameter with its unit, for an axis: ``aqm.q0 (packets)``."""
    unit, _ = swept.shown[x]
    return f"{x} ({unit})" if unit else x


def _shown(swept: Sweep, path: str, value: Any) -> str:
    unit, factor = swept.shown[path]
    return f"{value * factor:.6g} {unit}".strip() if isinstance(value, int | float) else printable(str(value))


def described(name: str) -> Metric:
    """Return the metric of a column such as ``queue_mean`` or ``classes.long.goodput``."""
    owner, _, last = name.rpartition(".")
    metric = METRICS.get(last, Metric(last, last, "", ""))
    if not owner:
        return metric
    label = f"{metric.label} of {owner.partition('.')[2] or owner}"
    return Metric(name, label, metric.unit, metric.definition, metric.shown, metric.scale, metric.digits)


def _panel(swept: Sweep, frame: polars.DataFrame, x: str, name: str, facet: str) -> Panel:
    """Show a metric: a line for each discipline, with a band for its interval; dots where there can be no line."""
    metric = described(name)
    numbers = frame[x].dtype.is_numeric()
    line = is_line(swept, frame, x)
    categories = [] if numbers else list(frame[x].unique(maintain_order=True))
    log = numbers and _is_spread(frame[x].to_numpy())
    grouped = _is_grouped(swept, frame, x)
    shapes = []
    for label, colour, mark in zip(swept.aqms, shades(len(swept.aqms)), marks(len(swept.aqms)), strict=True):
        rows = frame.select("aqm", x, name, f"{name}_ci95").filter(aqm=label)
        if grouped:
            rows = _grouped(rows, x, name, log)
        elif numbers:
            rows = rows.sort(x)
        at = (
            rows[x].to_numpy() * swept.shown[x][1]
            if numbers
            else np.array([categories.index(value) for value in rows[x]])
        )
        mean = rows[name].cast(float).to_numpy() * metric.scale
        if grouped:
            ends = (rows[end].cast(float).to_numpy() * metric.scale for end in ("least", "greatest"))
            interval: tuple[Any, Any] | None = (next(ends), next(ends))
        else:
            half = rows[f"{name}_ci95"].cast(float).to_numpy() * metric.scale
            interval = None if np.isnan(half).all() else (mean - half, mean + half)
        width = 1.4 if line or grouped else 0.0
        shapes.append(
            Curve(
                x=at.astype(float),
                y=mean,
                name=label,
                colour=colour,
                mark="" if grouped else mark,
                width=width,
                dash=dash(colour),
                band=line or grouped,
                interval=interval,
            )
        )
    return Panel(
        title=facet,
        x=Axis(
            axis(swept, x),
            log=log,
            categories=tuple(printable(str(value)) for value in categories),
        ),
        y=Axis(""),
        shapes=shapes,
    )


def _is_spread(values: np.ndarray[Any, Any]) -> bool:
    """Check whether values suit a logarithmic axis: they grow by factors, over more than a decade."""
    each = np.unique(values)
    if len(each) < 4 or each[0] <= 0 or each[-1] < 20 * each[0]:
        return False
    steps, factors = np.diff(each), np.diff(np.log(each))
    return bool(np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps))
