"""The layout of a paper's figures, independent of the renderer: panels, colours, legend and small print."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.runs import COLOURS
from aqmlab.figures.sweep import marks
from aqmlab.papers.describe.paper import Axis, Curve, Figure, Panel, Paper
from aqmlab.papers.judge.findings import Drawn
from aqmlab.papers.run.evidence import Evidence
from aqmlab.papers.show.texts import heading, seeds
from aqmlab.text import printable, span

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 30
"""The largest number of points of a line that has a mark at each of them."""

MARKS = marks(len(COLOURS))
"""Marks in the order of use, for readers who cannot distinguish the colours."""

MOST = 1000
"""The number of points to which a longer curve is thinned: more than any figure has pixels across."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve as drawn.

    ``x`` has the indices of the categories if there are any. ``y`` is NaN where there is no value; ``low`` and ``high``
    are the ends of the intervals, or None.
    """

    name: str
    style: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None

    @property
    def banded(self) -> bool:
        """Whether its intervals are drawn as a band rather than a bar at each point."""
        return self.low is not None and self.style not in ("points", "bars") and len(self.x) > 1

    @property
    def marked(self) -> bool:
        """Whether each point has a mark."""
        return self.style == "points" or (self.style == "line" and len(self.x) <= FEW)


@dataclass(frozen=True, eq=False)
class Plot:
    """A panel with its curves; ``categories`` are the labels along its x axis, empty if the axis is numeric."""

    panel: Panel
    lines: Sequence[Line]
    categories: Sequence[str]

    @property
    def title(self) -> str:
        """Its letter and its title."""
        letter = f"({self.panel.letter})" if self.panel.letter else ""
        return " ".join(part for part in (letter, self.panel.title) if part)

    def texts(self, width: int) -> list[list[str]]:
        """Wrap the label of each category to lines of ``width`` characters."""
        return [textwrap.wrap(printable(text), width) or [""] for text in self.categories]

    @property
    def bars(self) -> list[str]:
        """The names of its curves that are drawn as bars."""
        return list(dict.fromkeys(line.name for line in self.lines if line.style == "bars"))

    @property
    def never_negative(self) -> bool:
        """Whether all values are non-negative, even where an interval is not."""
        values = np.concatenate([line.y for line in self.lines]) if self.lines else np.array([0.0])
        return not bool((values < 0).any())

    @property
    def cut(self) -> bool:
        """Whether a point is outside the axes, which have the paper's ranges."""
        return any(
            _outside(line.y, self.panel.y) or (not self.categories and _outside(line.x, self.panel.x))
            for line in self.lines
        )


def _outside(values: NDArray[np.float64], axis: Axis) -> bool:
    low = -np.inf if axis.low is None else axis.low
    high = np.inf if axis.high is None else axis.high
    slack = 1e-9 * max(abs(end) for end in (low, high, 0.0) if np.isfinite(end))
    return bool(((values < low - slack) | (values > high + slack)).any())


def plots(drawn: Drawn) -> list[Plot]:
    """Lay out the panels of a figure, in order.

    A curve of more than `MOST` points is thinned to about that number; except with style ``points``, the extremes are
    kept.
    """
    assert isinstance(drawn.item, Figure)
    found = []
    for panel in drawn.item.panels:
        curves = [curve for curve in drawn.curves if curve.panel == panel.letter and len(curve.x)]
        categories = _categories(curves)
        found.append(Plot(panel, [_line(curve, categories) for curve in curves], categories))
    return found


def _categories(curves: Sequence[Curve]) -> list[str]:
    if not any(_is_text(curve) or curve.style == "bars" for curve in curves):
        return []
    if any(_is_text(curve) for curve in curves):
        return list(dict.fromkeys(str(x) for curve in curves for x in curve.x))
    return [f"{x:g}" for x in sorted({float(x) for curve in curves for x in curve.x})]


def _is_text(curve: Curve) -> bool:
    return isinstance(curve.x[0], str)


def _line(curve: Curve, categories: Sequence[str]) -> Line:
    if categories:
        places = [categories.index(x if isinstance(x, str) else f"{x:g}") for x in curve.x]
        x = np.array(places, float)
    else:
        x = np.asarray(curve.x, float)
    y = np.asarray(curve.y, float)
    low, high = (None if told is None else np.asarray(told, float) for told in (curve.low, curve.high))
    if low is None or high is None:
        low = high = None
    if len(x) > MOST:
        kept = _extremes(y) if curve.style != "points" else np.linspace(0, len(x) - 1, MOST).astype(int)
        x, y = x[kept], y[kept]
        low, high = (None if told is None else told[kept] for told in (low, high))
    return Line(curve.name, curve.style, x, y, low, high)


def _extremes(y: NDArray[np.float64]) -> NDArray[np.int_]:
    """Select the least and the greatest of neighbouring points, to keep every peak."""
    edges = np.linspace(0, len(y), MOST // 2 + 1).astype(int)
    kept = {0, len(y) - 1}
    for first, end in pairwise(edges):
        own = y[first:end]
        known = np.flatnonzero(~np.isnan(own))
        if len(known) < len(own):
            kept.add(int(first + np.flatnonzero(np.isnan(own))[0]))  # keep a gap
        if len(known):
            kept |= {int(first + known[np.argmin(own[known])]), int(first + known[np.argmax(own[known])])}
    return np.array(sorted(kept))


@dataclass(frozen=True, eq=False)
class Sheet:
    """All that a renderer needs to draw a figure.

    ``title`` includes the number of the figure. ``across`` is the number of panels in a row. ``names`` are the entries
    of the legend, empty if there is none. ``colours`` and ``marks`` (from `MARKS`) are by the name of the curve.
    """

    name: str
    title: str
    plots: Sequence[Plot]
    across: int
    names: Sequence[str]
    colours: Mapping[str, str]
    marks: Mapping[str, str]
    small_print: str


def sheet(drawn: Drawn, colours: Mapping[str, str], evidence: Evidence) -> Sheet:
    """Lay out a figure with the colours of its paper, from `colours`."""
    figure = drawn.item
    assert isinstance(figure, Figure)
    panels = plots(drawn)
    order = list(colours)
    own = list(dict.fromkeys(line.name for plot in panels for line in plot.lines))
    return Sheet(
        figure.name,
        f"{heading(figure)}: {figure.title}",
        panels,
        max(1, min(figure.across, len(panels))),
        legend(panels),
        {name: colours[name] for name in own},
        {name: MARKS[order.index(name) % len(MARKS)] for name in own},
        explained(drawn, panels, evidence),
    )


def colours(paper: Paper, drawn: Iterable[Drawn]) -> dict[str, str]:
    """Assign each curve a colour, the same in all figures of a paper; the paper's own disciplines come first.

    Two names share a colour only if no figure has both, or if there are more names than colours.
    """
    labels = [set(experiment.aqms) for experiment in paper.experiments]
    together = [*labels, *({curve.name for curve in one.curves} for one in drawn)]
    names = chain((label for one in paper.experiments for label in one.aqms), *(_names(one) for one in drawn))
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        beside = set().union(*(group for group in together if name in group))
        # The paper's own disciplines get different colours even if no figure has both.
        taken = [colour for other, colour in found.items() if other in beside or len(found) < len(COLOURS)]
        found[name] = min(COLOURS, key=lambda colour: (taken.count(colour), COLOURS.index(colour)))
    return found


def _names(drawn: Drawn) -> list[str]:
    return list(dict.fromkeys(curve.name for curve in drawn.curves))


def legend(figure: Sequence[Plot]) -> list[str]:
    """List the entries of a figure's legend; empty if the panels' titles already name the curves."""
    names = list(dict.fromkeys(line.name for plot in figure for line in plot.lines))
    told = all(len({line.name for line in plot.lines}) <= 1 for plot in figure) and all(
        line.name in plot.title for plot in figure for line in plot.lines
    )
    alone = len(names) == 1 and all(len(plot.lines) <= 1 for plot in figure)
    return [] if told or alone else names


def explained(drawn: Drawn, panels: Sequence[Plot], evidence: Evidence) -> str:
    """Write the small print of a figure: seeds, the meaning of bands, points outside the axes."""
    lines = [line for plot in panels for line in plot.lines]
    told = [seeds(drawn.item.needs, evidence)]
    kinds = ["bands"] * any(line.banded for line in lines)
    kinds += ["error bars"] * any(line.low is not None and not line.banded for line in lines)
    if kinds:
        told.append(f"{' and '.join(kinds)}: 95 % confidence intervals unless the caption says otherwise")
    runs = sorted({curve.run for curve in drawn.curves if curve.run is not None})
    if runs:
        told.append(f"curves over time: one run, of seed {span(tuple(runs))}")
    if evidence.quick:
        told.append("quick: fewer points")
    cut = [plot.panel.letter for plot in panels if plot.cut]
    if cut:
        where = f" of {', '.join(cut)}" if any(cut) else ""
        told.append(f"some points are outside the axes{where}")
    if drawn.item.beyond:
        told.append("beyond the paper")
    return "; ".join(part for part in told if part)
