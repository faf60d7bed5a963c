"""Figures of results: results in, a matplotlib figure out. The report draws the same with plotly."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from aqmlab.files import replacing
from aqmlab.results.distribution import curve, panels
from aqmlab.results.distribution import share as share_axis
from aqmlab.results.metrics import DISTRIBUTIONS, METRICS
from aqmlab.results.summary import share
from aqmlab.text import printable, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

BARS = ("queue_mean", "queue_mad", "loss_ratio", "goodput")
"""The metrics shown as bars."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f4b8b", "#000000")
"""Colours that people with any colour vision can distinguish (Okabe and Ito), in the order of use."""

MANY = len(COLOURS)
"""The largest number of results with a colour each; of more, each has a row and a small panel instead."""

ACROSS = 5
"""The number of small panels in a row."""

_LABEL_WIDTH = 20
"""The number of characters of a label in one line beside the bars."""

_ROW_WIDTH, _PANEL_WIDTH = 34, 30
"""The number of characters in one line beside a row, and above a small panel."""

SMALL_BINS = 250
"""The number of bins for which a small panel has room."""

_ROW_HEIGHT, _PANEL_HEIGHT = 0.19, 1.15
"""The height of a row and of a small panel, in inches."""

STYLE: Any = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "aqmlab",  # the same results yield the same file
}


def colours(results: Mapping[str, Result]) -> dict[str, str]:
    """Assign a colour to each result by label; more than `MANY` range from dark to light by their mean queue."""
    if len(results) <= MANY:
        return dict(zip(results, COLOURS, strict=False))
    scale = mpl.colormaps["viridis"]
    # The lightest yellows are invisible on white.
    shades = [mpl.colors.to_hex(scale(0.9 * rank / (len(results) - 1))) for rank in range(len(results))]
    ranked = dict(zip(by_queue(results), shades, strict=True))
    return {label: ranked[label] for label in results}


def recorded(results: Mapping[str, Result]) -> dict[str, Result]:
    """Select the results whose first run recorded the queue."""
    return {label: one for label, one in results.items() if one.recordings[one.seeds[0]].queue is not None}


def comparison(results: Mapping[str, Result], figure: Figure | None = None) -> Figure:
    """Draw the queue over time, a panel for each result, and the main metrics as bars with 95 % confidence intervals.

    The panels show the first seed. More than `MANY` results are sorted by their mean queue, each with a row of dots and
    a small panel. ``figure`` is an empty figure to draw in, by default a new one from pyplot.
    """
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        if len(results) > MANY:
            _many(results, figure)
            return figure
        timed = recorded(results)
        figure.set_size_inches(12 if timed else 5, max(6.0, 1.6 * len(timed), 0.9 * len(results) + 3))
        first = next(iter(results.values()))
        figure.suptitle(printable(first.scenario.title), fontsize=12, parse_math=False)
        if timed:
            left, right = cast("list[SubFigure]", figure.subfigures(1, 2, width_ratios=[2.4, 1]))
            panels = np.atleast_1d(left.subplots(len(timed), 1, sharex=True, sharey=True))
            colour = colours(results)
            for axes, (label, result) in zip(panels, timed.items(), strict=True):
                _queue(axes, printable(label), result, colour[label])
            panels[0].set_ylim(bottom=0)
            panels[-1].set_xlabel("Time (s)", loc="left")
            left.text(
                0.99,
                0.0,
                _explained(timed),
                ha="right",
                va="bottom",
                fontsize=7,
                color="#666666",
            )
            left.supylabel("Queue (packets)", fontsize=10)
        else:
            right = cast("SubFigure", figure.subfigures(1, 1))
        for axes, name in zip(right.subplots(len(BARS), 1), BARS, strict=True):
            bars(axes, name, results)
    return figure


def by_queue(results: Mapping[str, Result]) -> dict[str, Result]:
    """Sort results by their mean queue, the shortest first and those without one last, as `comparison` shows many."""
    means = {label: result.summary["queue_mean"].mean for label, result in results.items()}
    return {label: results[label] for label in sorted(results, key=lambda label: (means[label] is None, means[label]))}


def distribution(results: Mapping[str, Result], name: str, figure: Figure | None = None) -> Figure:
    """Draw a distribution of `aqmlab.DISTRIBUTIONS`: a panel for each traffic entry or link, a curve for each result.

    With several seeds, curves show the means. ``figure`` is an empty figure to draw in, by default a new one from
    pyplot. Raises `LookupError` if no result has values of the distribution.
    """
    shown = panels(results, name)
    if not shown:
        raise LookupError(f"these results have no values of {name}")
    metric = DISTRIBUTIONS[name]
    colour = colours(results)
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        figure.set_size_inches(1 + 4 * len(shown), 3.6)
        drawn = np.atleast_1d(figure.subplots(1, len(shown), sharey=True))
        for axes, (owner, curves) in zip(drawn, shown.items(), strict=True):
            for label, numbers in curves.items():
                line = {"color": colour[label], "label": printable(label)}
                axes.plot(*curve(name, numbers), marker="." if metric.counted else "", linewidth=1.2, **line)
            axes.set_title(printable(owner), loc="left", fontsize=9, parse_math=False)
            axes.set_xlabel(metric.axis)
            if len(results) <= MANY:
                axes.legend(fontsize=8)
            if metric.counted:
                axes.set_yscale("log")
                axes.xaxis.get_major_locator().set_params(integer=True)
        drawn[0].set_ylabel(share_axis(name))
        if len(results) > MANY:
            handles = {line.get_label(): line for axes in drawn for line in axes.lines}
            named = [(handles[text], text) for text in map(printable, by_queue(results)) if text in handles]
            figure.set_size_inches(3 + 4 * len(shown), max(3.6, 0.14 * len(named) + 0.7))
            figure.legend(*zip(*named, strict=True), loc="outside right upper", fontsize=7, labelspacing=0.25)
    return figure


def save(
    results: Mapping[str, Result],
    folder: Path,
    draw: Callable[[Mapping[str, Result], Figure], Figure] = comparison,
) -> None:
    """Write the figure of ``draw(results, figure)`` to ``folder`` as ``figure.png`` and ``figure.svg``."""
    with warnings.catch_warnings(), mpl.rc_context(STYLE):
        warnings.simplefilter("ignore", UserWarning)  # a missing glyph, a panel without room
        figure = draw(results, Figure())
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # keep the layout: computing it takes longest
        with replacing(folder / "figure.png") as file:
            figure.savefig(file, dpi=150)
        with replacing(folder / "figure.svg") as file:
            figure.savefig(file, metadata={"Date": None})


def band(result: Result, quantity: str = "queue", most: int | None = None) -> dict[str, NDArray[np.float64]]:
    """Return a quantity of the observed link over time in the first run.

    ``quantity`` is ``queue`` or a signal of the algorithm. The result has ``t``, and ``min``, ``mean`` and ``max`` of
    each bin; neighbouring bins are merged to at most ``most`` bins, if given.
    """
    series, link = result.series, result.link
    least, mean, greatest = (series[f"{link}.{quantity}.{which}"].to_numpy() for which in ("min", "mean", "max"))
    t = series["t"].to_numpy()
    if most is not None and len(t) > most:
        firsts = np.arange(0, len(t), -(-len(t) // most))
        mean = np.add.reduceat(mean, firsts) / np.diff(firsts, append=len(t))
        t, least, greatest = t[firsts], np.minimum.reduceat(least, firsts), np.maximum.reduceat(greatest, firsts)
    return {"t": t, "min": least, "mean": mean, "max": greatest}


def curves(timed: Mapping[str, Result]) -> str:
    """Describe which run the curves show: ``curves: seed 1, the first of 3; ``; empty if there is one run."""
    many = max(len(result.seeds) for result in timed.values())
    drawn = sorted({result.seeds[0] for result in timed.values()})
    return f"curves: seed {', '.join(map(str, drawn))}, the first of {many}; " if many > 1 else ""


def _many(results: Mapping[str, Result], figure: Figure) -> None:
    """Draw a row of dots for each result, and its queue in a small panel."""
    results = by_queue(results)
    timed = recorded(results)
    labels = ["\n".join(wrapped(label, _ROW_WIDTH)) for label in results]
    lines = max(label.count("\n") + 1 for label in labels)
    heights = [1.1 + _ROW_HEIGHT * lines * len(results)]
    if timed:
        deep = -(-len(timed) // ACROSS)
        titles = {label: "\n".join(wrapped(label, _PANEL_WIDTH)) for label in timed}
        more = max(title.count("\n") for title in titles.values())
        heights.append(0.6 + (_PANEL_HEIGHT + 0.14 * more) * deep)
    figure.set_size_inches(12, sum(heights))
    figure.suptitle(printable(next(iter(results.values())).scenario.title), fontsize=13, parse_math=False)
    parts = np.atleast_1d(cast("Any", figure.subfigures(len(heights), 1, height_ratios=heights)))
    rows = parts[0].subplots(1, len(BARS), sharey=True)
    for axes, name in zip(rows, BARS, strict=True):
        _dots(axes, name, results)
    rows[0].set_yticks(np.arange(len(labels)), labels, fontsize=8.5, parse_math=False)
    rows[0].set_ylim(len(labels) - 0.5, -0.5)
    if not timed:
        return
    panels = parts[1].subplots(deep, ACROSS, squeeze=False)
    for axes, (label, result) in zip(panels.flat, timed.items(), strict=False):
        _queue(axes, titles[label], result, COLOURS[0], small=True)
    drawn, unused = panels.flat[: len(timed)], panels.flat[len(timed) :]
    # Axes shared by matplotlib take several times as long to draw.
    top = max(axes.get_ylim()[1] for axes in drawn)
    for place, axes in enumerate(drawn):
        axes.set_ylim(0, top)
        axes.tick_params(labelleft=place % ACROSS == 0, labelbottom=place >= len(timed) - ACROSS)
    for axes in unused:
        axes.remove()
    parts[1].supxlabel(f"Time (s); {_explained(timed)}", fontsize=8, color="#666666")
    parts[1].supylabel("Queue (packets)", fontsize=9)


def _dots(axes: Axes, name: str, results: Mapping[str, Result]) -> None:
    """Draw a metric as a dot in each row, with its interval and, on the right, its value."""
    metric = METRICS[name]
    summaries = [result.summary[name] for result in results.values()]
    places = np.arange(len(summaries))
    values = [np.nan if one.mean is None else one.mean * metric.scale for one in summaries]
    spreads = [(one.ci95 or 0.0) * metric.scale for one in summaries]
    error = spreads if any(spreads) else None
    axes.errorbar(values, places, xerr=error, fmt="o", color=COLOURS[0], markersize=4.5, elinewidth=1.4)
    low, high = axes.get_xlim()
    axes.set_xlim(max(low, -0.04 * high), high)  # no metric is negative, even where its interval is
    for place, (result, summary) in enumerate(zip(results.values(), summaries, strict=True)):
        if place % 2 == 0:
            axes.axhspan(place - 0.5, place + 0.5, color="#f3f5f7", linewidth=0, zorder=0)
        text = metric.text(summary.mean) + share(summary, len(result.runs))
        style: Any = {"ha": "right", "va": "center", "fontsize": 7.5, "color": "#444444"}
        axes.text(1.15, place, text, transform=axes.get_yaxis_transform(), **style)
    axes.set_title(metric.axis, loc="left", fontsize=9.5, fontweight="bold")
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def _explained(timed: Mapping[str, Result]) -> str:
    return f"{curves(timed)}line, band: mean, least and greatest of each bin; dashes: target; grey: warm-up"


def _queue(axes: Axes, title: str, result: Result, line: str, small: bool = False) -> None:
    queue = band(result, most=SMALL_BINS if small else None)
    axes.fill_between(queue["t"], queue["min"], queue["max"], color=line, alpha=0.25, linewidth=0)
    axes.plot(queue["t"], queue["mean"], color=line, linewidth=0.9)
    if result.scenario.target is not None:
        axes.axhline(result.scenario.target, color="#444444", linewidth=0.8, linestyle=(0, (5, 3)))
    if result.scenario.warmup:
        axes.axvspan(0, result.scenario.warmup, color="#888888", alpha=0.08, linewidth=0)
    axes.set_xlim(0, result.scenario.duration)
    size = 8 if small else 9
    axes.set_title(title, loc="left", fontsize=size, fontweight="bold", color=line, pad=3, parse_math=False)


def bars(axes: Axes, name: str, results: Mapping[str, Result]) -> None:
    """Draw a metric of `aqmlab.METRICS` as a bar for each result, with its interval and its value."""
    metric = METRICS[name]
    labels = list(results)
    summaries = [result.summary[name] for result in results.values()]
    values = [(summary.mean or 0.0) * metric.scale for summary in summaries]
    spread = [(summary.ci95 or 0.0) * metric.scale for summary in summaries]
    places = np.arange(len(labels))
    error = spread if any(spread) else None
    axes.barh(places, values, xerr=error, height=0.65, color=list(colours(results).values()), capsize=2.5)
    for place, result, value, more in zip(places, results.values(), values, spread, strict=True):
        summary = result.summary[name]
        axes.annotate(
            metric.text(summary.mean) + share(summary, len(result.runs)),
            (value + more, place),
            (4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
        )
    axes.set_yticks(places, ["\n".join(wrapped(label, _LABEL_WIDTH)) for label in labels], parse_math=False)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.margins(x=0.18)
    axes.set_xlim(left=0)
    axes.grid(axis="y", visible=False)
    axes.set_title(metric.axis, loc="left", fontsize=9)
