"""Figures: results in, a matplotlib figure out. The report draws the same with plotly."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from aqmlab.distribution import curve, panels
from aqmlab.distribution import share as share_axis
from aqmlab.files import replacing
from aqmlab.metrics import DISTRIBUTIONS, METRICS
from aqmlab.table import printable, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

    from aqmlab.result import Result

BARS = ("queue_mean", "queue_mad", "loss_ratio", "goodput")
"""The metrics shown as bars."""

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f4b8b", "#000000")
"""Colours that people with any colour vision tell apart (Okabe and Ito), in the order of use."""

_LABEL_WIDTH = 20
"""How many characters of a label go in a line beside the bars."""

_STYLE: Any = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "aqmlab",  # the same results give the same file
}


def colour(index: int) -> str:
    """Give the colour of the result with this index.

    Parameters
    ----------
    index : int
        From 0.

    Returns
    -------
    str
        A colour.
    """
    return COLOURS[index % len(COLOURS)]


def recorded(results: Mapping[str, Result]) -> dict[str, Result]:
    """Pick the results that have series to draw.

    Parameters
    ----------
    results : mapping
        Results by label.

    Returns
    -------
    dict
        Those whose first run recorded the queue.
    """
    return {label: one for label, one in results.items() if one.recordings[one.seeds[0]].queue is not None}


def comparison(results: Mapping[str, Result], figure: Figure | None = None) -> Figure:
    """Draw the queue over time, a panel for each result, and the main metrics as bars.

    Parameters
    ----------
    results : mapping
        Results by label.
    figure : matplotlib.figure.Figure
        An empty figure to draw in; by default a new one of pyplot's.

    Returns
    -------
    matplotlib.figure.Figure
        The figure. Of several seeds the panels show the first; bars have 95 % confidence intervals.
    """
    with mpl.rc_context(_STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        timed = recorded(results)
        figure.set_size_inches(12 if timed else 5, max(6.0, 1.6 * len(timed), 0.9 * len(results) + 3))
        first = next(iter(results.values()))
        figure.suptitle(printable(first.scenario.title), fontsize=12, parse_math=False)
        if timed:
            left, right = cast("list[SubFigure]", figure.subfigures(1, 2, width_ratios=[2.4, 1]))
            panels = np.atleast_1d(left.subplots(len(timed), 1, sharex=True, sharey=True))
            indices = {label: index for index, label in enumerate(results)}
            for axes, (label, result) in zip(panels, timed.items(), strict=True):
                _queue(axes, label, result, colour(indices[label]))
            panels[0].set_ylim(bottom=0)
            panels[-1].set_xlabel("Time (s)", loc="left")
            left.text(
                0.99,
                0.0,
                f"{curves(timed)}line, band: mean, least and greatest of each bin; dashes: target; grey: warm-up",
                ha="right",
                va="bottom",
                fontsize=7,
                color="#666666",
            )
            left.supylabel("Queue (packets)", fontsize=10)
        else:
            right = cast("SubFigure", figure.subfigures(1, 1))
        for axes, name in zip(right.subplots(len(BARS), 1), BARS, strict=True):
            _bars(axes, name, results)
    return figure


def distribution(results: Mapping[str, Result], name: str, figure: Figure | None = None) -> Figure:
    """Draw a distribution, a panel for each traffic entry or link that has it and a curve for each result.

    Parameters
    ----------
    results : mapping
        Results by label.
    name : str
        Which, of `aqmlab.DISTRIBUTIONS`.
    figure : matplotlib.figure.Figure
        An empty figure to draw in; by default a new one of pyplot's.

    Returns
    -------
    matplotlib.figure.Figure
        The figure; of several seeds it shows the means.

    Raises
    ------
    LookupError
        If no result has values of it.
    """
    shown = panels(results, name)
    if not shown:
        raise LookupError(f"these results have no values of {name}")
    metric = DISTRIBUTIONS[name]
    indices = {label: index for index, label in enumerate(results)}
    with mpl.rc_context(_STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        figure.set_size_inches(1 + 4 * len(shown), 3.6)
        drawn = np.atleast_1d(figure.subplots(1, len(shown), sharey=True))
        for axes, (owner, curves) in zip(drawn, shown.items(), strict=True):
            for label, numbers in curves.items():
                line = {"color": colour(indices[label]), "label": printable(label)}
                axes.plot(*curve(name, numbers), marker="." if metric.counted else "", linewidth=1.2, **line)
            axes.set_title(printable(owner), loc="left", fontsize=9, parse_math=False)
            axes.set_xlabel(metric.axis)
            axes.legend(fontsize=8)
            if metric.counted:
                axes.set_yscale("log")
                axes.xaxis.get_major_locator().set_params(integer=True)
        drawn[0].set_ylabel(share_axis(name))
    return figure


def save(results: Mapping[str, Result], folder: Path) -> None:
    """Write the figure as figure.png and figure.svg.

    Parameters
    ----------
    results : mapping
        Results by label.
    folder : Path
        Where to.
    """
    with warnings.catch_warnings(), mpl.rc_context(_STYLE):
        warnings.simplefilter("ignore", UserWarning)  # a glyph that no font has, a panel without room
        figure = comparison(results, Figure())
        with replacing(folder / "figure.png") as file:
            figure.savefig(file, dpi=150)
        with replacing(folder / "figure.svg") as file:
            figure.savefig(file, metadata={"Date": None})


def band(result: Result, quantity: str = "queue") -> dict[str, NDArray[np.float64]]:
    """Give a quantity of the observed link over time.

    Parameters
    ----------
    result : Result
        The result whose first run to take.
    quantity : str
        ``queue``, or a signal of the algorithm.

    Returns
    -------
    dict
        ``t``, and ``min``, ``mean`` and ``max`` of each bin.
    """
    series, link = result.series, result.link
    return {
        "t": series["t"].to_numpy(),
        **{which: series[f"{link}.{quantity}.{which}"].to_numpy() for which in ("min", "mean", "max")},
    }


def curves(timed: Mapping[str, Result]) -> str:
    """Say which run the curves are of.

    Parameters
    ----------
    timed : mapping
        The results whose first run is drawn.

    Returns
    -------
    str
        ``curves: seed 1, the first of 3; ``, or nothing when there is one run.
    """
    many = max(len(result.seeds) for result in timed.values())
    drawn = sorted({result.seeds[0] for result in timed.values()})
    return f"curves: seed {', '.join(map(str, drawn))}, the first of {many}; " if many > 1 else ""


def _wrapped(label: str) -> str:
    """Break a long label after commas and colons, so that the bars keep their room."""
    lines = [""]
    for part in re.findall(r"[^,:]*[,:]?", printable(label)):
        if lines[-1] and len(lines[-1] + part) > _LABEL_WIDTH:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


def _queue(axes: Axes, label: str, result: Result, line: str) -> None:
    queue = band(result)
    axes.fill_between(queue["t"], queue["min"], queue["max"], color=line, alpha=0.25, linewidth=0)
    axes.plot(queue["t"], queue["mean"], color=line, linewidth=0.9)
    if result.scenario.target is not None:
        axes.axhline(result.scenario.target, color="#444444", linewidth=0.8, linestyle=(0, (5, 3)))
    if result.scenario.warmup:
        axes.axvspan(0, result.scenario.warmup, color="#888888", alpha=0.08, linewidth=0)
    axes.set_xlim(0, result.scenario.duration)
    axes.set_title(printable(label), loc="left", fontsize=9, fontweight="bold", color=line, pad=3, parse_math=False)


def _bars(axes: Axes, name: str, results: Mapping[str, Result]) -> None:
    metric = METRICS[name]
    labels = list(results)
    summaries = [result.summary[name] for result in results.values()]
    values = [(summary.mean or 0.0) * metric.scale for summary in summaries]
    spread = [(summary.ci95 or 0.0) * metric.scale for summary in summaries]
    places = np.arange(len(labels))
    error = spread if any(spread) else None
    axes.barh(
        places, values, xerr=error, height=0.65, color=[colour(index) for index in range(len(labels))], capsize=2.5
    )
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
    axes.set_yticks(places, [_wrapped(label) for label in labels], parse_math=False)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.margins(x=0.18)
    axes.set_xlim(left=0)
    axes.grid(axis="y", visible=False)
    axes.set_title(metric.axis, loc="left", fontsize=9)
