"""Figures of a sweep: metrics over a parameter, a line with its confidence interval for each queue discipline."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from aqmlab.figures.runs import BARS, COLOURS, MANY, STYLE
from aqmlab.files import replacing
from aqmlab.results.metrics import METRICS, Metric
from aqmlab.text import printable, span, wrapped

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes

    from aqmlab.sweeps.result import Sweep

MOST_FACETS = 5
"""The largest number of values of a second parameter that have a column of panels each."""

_LEGEND_WIDTH = 26
"""The number of characters of a label in one line of the legend."""


def sweep(
    swept: Sweep, x: str | None = None, y: str | Sequence[str] | None = None, figure: Figure | None = None
) -> Figure:
    """Draw metrics over a parameter: a panel for each metric, a column of panels for each value of a second parameter.

    By default ``x`` is the first numeric parameter that varies and ``y`` the main metrics. ``figure`` is an empty
    figure to draw in, by default a new one from pyplot. Raises `LookupError` if there is no such parameter, or nothing
    varies.
    """
    names = list(BARS) if y is None else [y] if isinstance(y, str) else list(y)
    x = abscissa(swept) if x is None else x
    if x not in swept.parameters:
        raise LookupError(f"{x}: must be one of what varies: {', '.join(swept.parameters) or 'nothing'}")
    columns = facets(swept, x)
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        figure.suptitle(printable(swept.scenario.title), fontsize=12, parse_math=False)
        square = len(columns) == 1
        across = min(len(names), 2) if square else len(columns)
        deep = -(-len(names) // across) if square else len(names)
        figure.set_size_inches(1.6 + (4.4 if square else 3.2) * across, 0.9 + 2.9 * deep)
        panels = figure.subplots(deep, across, squeeze=False, sharex=True, sharey=False if square else "row")
        places = list(panels.flat) if square else [axes for row in panels for axes in row]
        drawn = [(name, column) for name in names for column in columns]
        for axes, (name, (told, frame)) in zip(places, drawn, strict=False):
            _panel(axes, swept, frame, x, name)
            metric = described(name)
            title = metric.axis if square else told if axes in panels[0] else ""
            axes.set_title(title, loc="left", fontsize=9.5, fontweight="bold", parse_math=False)
            if not square and axes in panels[:, 0]:
                axes.set_ylabel(metric.axis)
        for axes in places[len(drawn) :]:
            axes.remove()
        for axes in panels[-1]:
            axes.set_xlabel(printable(axis(swept, x)), parse_math=False)
        if square and len(drawn) < len(places):
            panels[-2][-1].tick_params(labelbottom=True)
        handles, labels = panels[0][0].get_legend_handles_labels()
        figure.supxlabel(explained(swept, x), fontsize=7.5, color="#666666")
        if len(labels) > 1:
            figure.legend(handles, labels, loc="outside right upper", fontsize=8.5, frameon=False)
    return figure


def explained(swept: Sweep, x: str) -> str:
    """Write the small print: seeds, the meaning of lines and bands, and the other parameters in which dots differ."""
    runs = len(swept.seeds)
    parts = [frame for _, frame in facets(swept, x)]
    bands = "bands" if all(is_line(swept, frame, x) for frame in parts) else "bars"
    means = f"means of {runs} runs; {bands}: 95 % confidence intervals (Student)" if runs > 1 else "one run each"
    told = f"seed{'s' if runs > 1 else ''} {span(swept.seeds)}; {means}"
    others = ", ".join(_others(swept, parts[0], x))
    return f"{told}; dots differ in {others} too" if others else told


def is_line(swept: Sweep, frame: polars.DataFrame, x: str) -> bool:
    """Decide whether to connect points by a line: over a number, if nothing else varies or the sweep is paired."""
    apart = frame.select("aqm", x).n_unique() == len(frame)
    return frame[x].dtype.is_numeric() and apart and (swept.method == "paired" or not _others(swept, frame, x))


def _others(swept: Sweep, frame: polars.DataFrame, x: str) -> list[str]:
    """List the varying parameters other than ``x``."""
    return [path for path in swept.parameters if path != x and frame[path].n_unique() > 1]


def abscissa(swept: Sweep) -> str:
    """Choose the first varying parameter that is numeric, or else the first; raise `LookupError` if nothing varies."""
    if not swept.parameters:
        raise LookupError("nothing varies: there is nothing to draw over")
    varying = [path for path in swept.parameters if swept.frame[path].n_unique() > 1] or list(swept.parameters)
    return next((path for path in varying if swept.frame[path].dtype.is_numeric()), varying[0])


def facets(swept: Sweep, x: str) -> list[tuple[str, polars.DataFrame]]:
    """Split the summary into parts in which only ``x`` varies, each with its title and rows.

    All rows are one part if there would be too many parts, or if the sweep is not a grid.
    """
    others = _others(swept, swept.frame, x)
    values = swept.summary.select(others).unique(maintain_order=True) if others else None
    if values is None or swept.method != "grid" or not 1 < len(values) <= MOST_FACETS:
        return [("", swept.summary)]
    parts = []
    for row in values.iter_rows(named=True):
        told = ", ".join(f"{path} = {_shown(value, swept.parameters[path])}" for path, value in row.items())
        frame = swept.summary.join(values.filter(**row), on=others, how="semi")
        parts.append((told, frame))
    return parts


def _shown(value: Any, unit: str) -> str:
    text = f"{value:g}" if isinstance(value, int | float) else str(value)
    return printable(f"{text} {unit}" if unit in ("s", "bit/s") else text)


def axis(swept: Sweep, x: str) -> str:
    """Name a parameter with its unit, for an axis: ``aqm.q0 (packets)``."""
    unit = swept.parameters[x]
    return f"{x} ({unit})" if unit else x


def described(name: str) -> Metric:
    """Return the metric of a column such as ``queue_mean`` or ``classes.long.goodput``."""
    owner, _, last = name.rpartition(".")
    metric = METRICS.get(last, Metric(last, last, "", ""))
    if not owner:
        return metric
    label = f"{metric.label} of {owner.partition('.')[2] or owner}"
    return Metric(name, label, metric.unit, metric.definition, metric.shown, metric.scale, metric.digits)


def _panel(axes: Axes, swept: Sweep, frame: polars.DataFrame, x: str, name: str) -> None:
    """Draw a line for each discipline, with a band for its interval; draw dots where there can be no line."""
    metric = described(name)
    numbers = frame[x].dtype.is_numeric()
    line = is_line(swept, frame, x)
    categories = [] if numbers else list(swept.frame[x].unique(maintain_order=True))
    for label, colour, mark in zip(swept.aqms, shades(len(swept.aqms)), marks(len(swept.aqms)), strict=True):
        own = frame.filter(aqm=label).sort(x) if numbers else frame.filter(aqm=label)
        at = own[x].to_numpy() if numbers else np.array([categories.index(value) for value in own[x]])
        mean = own[name].cast(float).to_numpy() * metric.scale
        half = own[f"{name}_ci95"].cast(float).fill_null(0.0).to_numpy() * metric.scale
        told = "\n".join(line.strip() for line in wrapped(label, _LEGEND_WIDTH))
        if line:
            axes.fill_between(at, mean - half, mean + half, color=colour, alpha=0.18, linewidth=0)
            axes.plot(at, mean, color=colour, marker=mark, markersize=4.5, linewidth=1.4, label=told)
        else:
            error = half if half.any() else None
            axes.errorbar(at, mean, yerr=error, color=colour, fmt=mark, markersize=4.5, elinewidth=1.2, label=told)
    if not numbers:
        axes.set_xticks(range(len(categories)), [printable(str(value)) for value in categories], parse_math=False)
    elif _is_spread(frame[x].to_numpy()):
        axes.set_xscale("log")
    axes.margins(x=0.03)
    low, high = axes.get_ylim()
    if low < 0 < high and not (frame[name] < 0).any():
        axes.set_ylim(bottom=0)  # no metric is negative, even where its interval is


def _is_spread(values: np.ndarray[Any, Any]) -> bool:
    """Check whether values suit a logarithmic axis: they grow by factors, over more than a decade."""
    each = np.unique(values)
    if len(each) < 4 or each[0] <= 0 or each[-1] < 20 * each[0]:
        return False
    steps, factors = np.diff(each), np.diff(np.log(each))
    return bool(np.std(factors) / np.mean(factors) < np.std(steps) / np.mean(steps))


def shades(count: int) -> list[str]:
    """Return ``count`` colours: those of `COLOURS`, or if these are too few, shades from dark to light."""
    if count <= MANY:
        return list(COLOURS[:count])
    scale = mpl.colormaps["viridis"]
    return [mpl.colors.to_hex(scale(0.9 * place / (count - 1))) for place in range(count)]


def marks(count: int) -> list[str]:
    """Return ``count`` matplotlib marks, for readers who cannot distinguish the colours; many marks repeat."""
    each = "os^Dv<>P"
    return [each[place % len(each)] for place in range(count)]


def save(swept: Sweep, folder: Path) -> None:
    """Write the figure to ``folder`` as ``figure.png`` and ``figure.svg``."""
    with warnings.catch_warnings(), mpl.rc_context(STYLE):
        warnings.simplefilter("ignore", UserWarning)  # a missing glyph, a panel without room
        figure = sweep(swept, figure=Figure())
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # keep the layout: computing it takes longest
        with replacing(folder / "figure.png") as file:
            figure.savefig(file, dpi=150)
        with replacing(folder / "figure.svg") as file:
            figure.savefig(file, metadata={"Date": None})
