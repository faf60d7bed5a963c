"""Draw a paper's figures with matplotlib: panels, ranges and letters as printed, with confidence intervals."""

from __future__ import annotations

import io
import textwrap
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from aqmlab.figures.runs import STYLE
from aqmlab.papers.describe.paper import Axis
from aqmlab.papers.show.layout import Line, Plot, Sheet
from aqmlab.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTHS = {1: 7.4, 2: 9.6, 3: 12.0, 4: 13.0}
"""The width of a figure in inches by the number of panels in a row; with more, each has `_NARROW`."""

_NARROW = 3.0

_LEFT, _RIGHT, _BETWEEN, _ABOVE, _BELOW, _SMALL = 0.72, 0.15, 0.75, 0.3, 0.5, 0.17
"""Inches: left and right margin, gap between panels, room above and below a panel, height of a line of small print."""

_DPI = 110


def figure(sheet: Sheet) -> Figure:
    """Draw a figure."""
    shown, names, across = sheet.plots, sheet.names, sheet.across
    deep = -(-len(shown) // across)
    width = _WIDTHS.get(across, _NARROW * across)
    columns = max(1, min(len(names), int((width - _LEFT) / (0.55 + 0.075 * max(map(len, names), default=1)))))
    foot = textwrap.wrap(printable(sheet.small_print), int(width * 17))
    head = textwrap.wrap(printable(sheet.title), int(width * 11))
    beneath = 0.06 + _SMALL * len(foot) + (0.1 + 0.2 * -(-len(names) // columns) if names else 0.0)
    above = 0.1 + 0.21 * len(head)
    each = 3.4 if deep == across == 1 else 1.45 if across == 1 and deep > 2 else 2.35
    inner = (width - _LEFT - _RIGHT - (across - 1) * _BETWEEN) / across
    texts = [plot.texts(max(6, int(inner / (0.08 * max(1, len(plot.categories)))))) for plot in shown]
    below = _BELOW + 0.14 * (max((len(text) for own in texts for text in own), default=1) - 1)
    height = above + beneath + deep * (each + _ABOVE + below)
    with mpl.rc_context(STYLE):
        made = Figure(figsize=(width, height))
        made.text(0.12 / width, 1 - 0.08 / height, "\n".join(head), va="top", fontsize=11, parse_math=False)
        for place, (plot, along) in enumerate(zip(shown, texts, strict=True)):
            left = _LEFT + place % across * (inner + _BETWEEN)
            top = above + _ABOVE + place // across * (each + _ABOVE + below)
            box = (left / width, 1 - (top + each) / height, inner / width, each / height)
            _panel(made.add_axes(box), plot, along, sheet, titled=not sheet.title.endswith(f": {plot.title}"))
        if names:
            handles = [_handle(name, sheet) for name in names]
            made.legend(
                handles,
                ["\n".join(textwrap.wrap(printable(name), 60)) for name in names],
                loc="lower center",
                bbox_to_anchor=(0.5, (0.06 + _SMALL * len(foot)) / height),
                ncols=columns,
                fontsize=8.5,
                frameon=False,
                borderaxespad=0.0,
                borderpad=0.2,
                columnspacing=1.4,
                labelspacing=0.3,
            )
        small: Any = {"fontsize": 7, "color": "#666666", "va": "bottom", "linespacing": 1.35, "parse_math": False}
        made.text(0.12 / width, 0.06 / height, "\n".join(foot), **small)
    return made


def _panel(axes: Axes, plot: Plot, along: Sequence[Sequence[str]], sheet: Sheet, titled: bool) -> None:
    panel, bars = plot.panel, plot.bars
    for line in plot.lines:
        if line.style == "bars":
            _bars(axes, line, bars.index(line.name), len(bars), sheet.colours[line.name])
        else:
            _line(axes, line, sheet.colours[line.name], sheet.marks[line.name])
    if not plot.lines:
        axes.text(0.5, 0.5, "no data", ha="center", va="center", color="#666666", transform=axes.transAxes)
    if titled:
        axes.set_title(printable(plot.title), loc="left", fontsize=9, fontweight="bold", pad=4, parse_math=False)
    axes.set_xlabel(printable(panel.x.label), labelpad=2, parse_math=False)
    label = printable(panel.y.label)
    height = axes.get_position().height * axes.figure.get_figure(root=True).get_figheight()
    axes.set_ylabel("\n".join(textwrap.wrap(label, max(12, int(height * 15)))), labelpad=3, parse_math=False)
    if plot.categories:
        axes.set_xticks(range(len(along)), ["\n".join(lines) for lines in along], parse_math=False)
        axes.set_xlim(-0.6, len(along) - 0.4)
        axes.grid(axis="x", visible=False)
    else:
        _scale(axes, "x", panel.x)
    _scale(axes, "y", panel.y)
    low, high = axes.get_ylim()
    if panel.y.low is None and not panel.y.log and low < 0 < high and plot.never_negative:
        axes.set_ylim(bottom=0)


def _scale(axes: Axes, which: str, axis: Axis) -> None:
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
    elif which == "x":
        axes.margins(x=0.02)
    low, high = getattr(axes, f"get_{which}lim")()
    axes.set(**{f"{which}lim": (low if axis.low is None else axis.low, high if axis.high is None else axis.high)})


def _line(axes: Axes, line: Line, colour: str, mark: str) -> None:
    style: Any = {"color": colour, "linewidth": 1.3 if len(line.x) <= 200 else 0.8}
    if line.marked:
        style |= {"marker": mark, "markersize": 4.2}
    if line.style == "points":
        style |= {"linestyle": "none"}
    elif line.style == "dashed":
        style |= {"linestyle": (0, (5, 2.5))}
    elif line.style == "steps":
        style |= {"drawstyle": "steps-post"}
    if line.banded and line.low is not None and line.high is not None:
        step: Any = "post" if line.style == "steps" else None
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=0.18, linewidth=0, step=step)
    elif line.low is not None:
        axes.errorbar(line.x, line.y, yerr=_reach(line), fmt="none", ecolor=colour, elinewidth=1.1, capsize=2)
    axes.plot(line.x, line.y, **style)


def _bars(axes: Axes, line: Line, place: int, count: int, colour: str) -> None:
    width = 0.8 / count
    at = line.x + (place - (count - 1) / 2) * width
    axes.bar(at, line.y, width * 0.92, color=colour)
    if line.low is not None:
        axes.errorbar(at, line.y, yerr=_reach(line), fmt="none", ecolor="#333333", elinewidth=0.9, capsize=1.8)


def _reach(line: Line) -> np.ndarray[Any, Any]:
    """Return the distances from each point to the ends of its interval, as ``errorbar`` takes them."""
    assert line.low is not None
    assert line.high is not None
    return np.maximum(np.stack([line.y - line.low, line.high - line.y]), 0.0)


def _handle(name: str, sheet: Sheet) -> Line2D | Patch:
    lines = [line for plot in sheet.plots for line in plot.lines if line.name == name]
    if lines[0].style == "bars":
        return Patch(color=sheet.colours[name])
    dashes: Any = {"dashed": (0, (5, 2.5)), "points": "none"}.get(lines[0].style, "-")
    marker = sheet.marks[name] if any(line.marked for line in lines) else None
    return Line2D([], [], color=sheet.colours[name], linestyle=dashes, marker=marker, markersize=4.5, linewidth=1.5)


def images(sheet: Sheet) -> dict[str, bytes]:
    """Draw a figure as ``svg`` and ``png``; the same data yield the same bytes."""
    found = {}
    with warnings.catch_warnings(), mpl.rc_context(STYLE):
        warnings.simplefilter("ignore", UserWarning)  # a missing glyph, an interval below a logarithmic axis
        made = figure(sheet)
        forms: dict[str, dict[str, Any]] = {"svg": {"metadata": {"Date": None}}, "png": {"dpi": _DPI}}
        for form, options in forms.items():
            file = io.BytesIO()
            made.savefig(file, format=form, **options)
            found[form] = file.getvalue()
    return found
