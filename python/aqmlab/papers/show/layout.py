"""How a paper's figures are shown, whatever draws them: their panels, colours, legend and small print."""

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
"""Of how many points at most a line has a mark at each."""

MARKS = marks(len(COLOURS))
"""For whoever cannot see the colours, in the order of use."""

MOST = 1000
"""How many points of a curve are drawn: more than any figure is wide in pixels."""


@dataclass(frozen=True, eq=False)
class Line:
    """A curve as it is drawn.

    Parameters
    ----------
    name : str
        What the legend says.
    style : str
        As of `Curve`.
    x : numpy.ndarray
        Where its points are; of categories their numbers.
    y : numpy.ndarray
        Their values; NaN where there is none.
    low : numpy.ndarray or None
        Where the intervals begin.
    high : numpy.ndarray or None
        Where they end.
    """

    name: str
    style: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None

    @property
    def banded(self) -> bool:
        """Whether its intervals are a band, and not a bar at each point."""
        return self.low is not None and self.style not in ("points", "bars") and len(self.x) > 1

    @property
    def marked(self) -> bool:
        """Whether each point has a mark."""
        return self.style == "points" or (self.style == "line" and len(self.x) <= FEW)


@dataclass(frozen=True, eq=False)
class Plot:
    """A panel with its curves.

    Parameters
    ----------
    panel : Panel
        The panel.
    lines : sequence of Line
        Its curves.
    categories : sequence of str
        What stands along its x axis in place of numbers; empty if numbers do.
    """

    panel: Panel
    lines: Sequence[Line]
    categories: Sequence[str]

    @property
    def title(self) -> str:
        """Its letter and what it shows."""
        letter = f"({self.panel.letter})" if self.panel.letter else ""
        return " ".join(part for part in (letter, self.panel.title) if part)

    def texts(self, width: int) -> list[list[str]]:
        """Break what stands along the x axis in place of numbers.

        Parameters
        ----------
        width : int
            How many characters go in a line.

        Returns
        -------
        list of list of str
            Of each category its lines.
        """
        return [textwrap.wrap(printable(text), width) or [""] for text in self.categories]

    @property
    def bars(self) -> list[str]:
        """The names of those of its curves that are bars."""
        return list(dict.fromkeys(line.name for line in self.lines if line.style == "bars"))

    @property
    def never_negative(self) -> bool:
        """Whether no value is negative, though an interval may be."""
        values = np.concatenate([line.y for line in self.lines]) if self.lines else np.array([0.0])
        return not bool((values < 0).any())

    @property
    def cut(self) -> bool:
        """Whether a point is outside the axes, as the paper's ranges are kept."""
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
    """Lay out a figure.

    Parameters
    ----------
    drawn : Drawn
        A figure with its data.

    Returns
    -------
    list of Plot
        Its panels, in order. Long curves have at most `MOST` points, the extremes among them.
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
    """Pick the least and the greatest of neighbours, so that no peak is lost."""
    edges = np.linspace(0, len(y), MOST // 2 + 1).astype(int)
    kept = {0, len(y) - 1}
    for first, end in pairwise(edges):
        own = y[first:end]
        known = np.flatnonzero(~np.isnan(own))
        if len(known) < len(own):
            kept.add(int(first + np.flatnonzero(np.isnan(own))[0]))  # a gap stays one
        if len(known):
            kept |= {int(first + known[np.argmin(own[known])]), int(first + known[np.argmax(own[known])])}
    return np.array(sorted(kept))


@dataclass(frozen=True, eq=False)
class Sheet:
    """All that a figure shows: what draws it needs nothing else.

    Parameters
    ----------
    name : str
        The figure's name.
    title : str
        Its number and title.
    plots : sequence of Plot
        Its panels.
    across : int
        How many panels are beside each other.
    names : sequence of str
        What the legend has; nothing if there is none.
    colours : mapping
        The colour of each curve, by its name.
    marks : mapping
        The mark of each curve, by its name, one of `MARKS`.
    small_print : str
        What stands at its foot: seeds, what the bands are.
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
    """Lay out a figure.

    Parameters
    ----------
    drawn : Drawn
        A figure with its data.
    colours : mapping
        Of the paper; see `colours`.
    evidence : Evidence
        What it is drawn from.

    Returns
    -------
    Sheet
        What it shows.
    """
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
    """Give each curve a colour, the same in all figures of a paper.

    Parameters
    ----------
    paper : Paper
        The paper: its disciplines come first, in the order of its experiments.
    drawn : iterable of Drawn
        Its figures.

    Returns
    -------
    dict
        A colour by name. Two names have one colour only if no figure has both, or there are more than colours.
    """
    labels = [set(experiment.aqms) for experiment in paper.experiments]
    together = [*labels, *({curve.name for curve in one.curves} for one in drawn)]
    names = chain((label for one in paper.experiments for label in one.aqms), *(_names(one) for one in drawn))
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        beside = set().union(*(group for group in together if name in group))
        # The paper's own disciplines are apart even if no figure has both.
        taken = [colour for other, colour in found.items() if other in beside or len(found) < len(COLOURS)]
        found[name] = min(COLOURS, key=lambda colour: (taken.count(colour), COLOURS.index(colour)))
    return found


def _names(drawn: Drawn) -> list[str]:
    return list(dict.fromkeys(curve.name for curve in drawn.curves))


def legend(figure: Sequence[Plot]) -> list[str]:
    """Say what the legend of a figure has.

    Parameters
    ----------
    figure : sequence of Plot
        Its panels.

    Returns
    -------
    list of str
        The names in order; none if the titles of the panels say them already.
    """
    names = list(dict.fromkeys(line.name for plot in figure for line in plot.lines))
    told = all(len({line.name for line in plot.lines}) <= 1 for plot in figure) and all(
        line.name in plot.title for plot in figure for line in plot.lines
    )
    alone = len(names) == 1 and all(len(plot.lines) <= 1 for plot in figure)
    return [] if told or alone else names


def explained(drawn: Drawn, panels: Sequence[Plot], evidence: Evidence) -> str:
    """Say what a figure is of and what its bands are.

    Parameters
    ----------
    drawn : Drawn
        The figure.
    panels : sequence of Plot
        Its panels.
    evidence : Evidence
        What it is drawn from.

    Returns
    -------
    str
        A line of small print.
    """
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
