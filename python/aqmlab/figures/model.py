"""The data of a figure, independent of its renderer: shapes in panels, panels in grids, grids in rows.

`aqmlab.figures.matplotlib` and `aqmlab.figures.browser` draw the same figure, with the same axes, colours and texts.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.text import wrapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Interval = tuple[Array, Array]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#5f4b8b", "#000000")
"""Colours that people with any colour vision can distinguish (Okabe and Ito), in the order of use."""

MARKS = ("circle", "square", "triangle", "diamond", "triangle-down", "triangle-left", "triangle-right", "plus")
"""Marks in the order of use, for readers who cannot distinguish the colours."""

GREY = "#666666"

_BESIDE_ALL, _BESIDE_EACH = 34, 20
"""The number of characters in one line beside the first panel of a row, and where each panel has such labels."""

_MORE = ("#882255", "#999933", "#88ccee", "#cc6677", "#117733", "#aa4499", "#ddcc77", "#332288")
"""Further colours, of a palette for any colour vision; their lines are dashed."""

_DASHED = (4.0, 1.6)

_DARK_TO_LIGHT = ("#440154", "#482878", "#3e4a89", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b")
"""The colour map ``viridis`` without its lightest yellows, which are invisible on white."""


@dataclass(frozen=True)
class Axis:
    """An axis of a panel.

    Parameters
    ----------
    label : str
        Its label, with the unit: ``Average queue length (packets)``.
    low : float or None
        Its lower end; by default it follows from the data.
    high : float or None
        Its upper end; by default it follows from the data.
    log : bool
        Whether it is logarithmic.
    categories : sequence of str
        The labels of 0, 1, 2, …; empty if the axis has numbers.
    downwards : bool
        Whether it points downwards, or to the left.
    step : float or None
        The distance between ticks; by default the renderer chooses it.
    whole : bool
        Whether only whole numbers have ticks.
    """

    label: str
    low: float | None = None
    high: float | None = None
    log: bool = False
    categories: Sequence[str] = ()
    downwards: bool = False
    step: float | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        if self.log and self.low is not None and self.low <= 0:
            raise ValueError(f"low = {self.low}: must be above 0 on a logarithmic axis")


@dataclass(frozen=True, eq=False, kw_only=True)
class Curve:
    """Points, joined by a line or not.

    ``y`` is NaN where there is no value. ``interval`` has the lower and the upper end at each point, drawn as a band
    or as a bar at each point. ``width`` is in typographic points; 0 leaves out the line. ``dash`` has the lengths of
    strokes and gaps in units of the width; ``opacity`` is the line's. ``mark`` is one of `MARKS` or empty, ``size`` its
    size in points. A curve is read off the right axis if ``right``, and drawn on top of the others if ``above``.
    """

    x: Array
    y: Array
    colour: str
    name: str = ""
    width: float = 1.4
    dash: tuple[float, ...] = ()
    opacity: float = 1.0
    mark: str = ""
    hollow: bool = False
    size: float = 4.4
    steps: bool = False
    interval: Interval | None = None
    band: bool = True
    right: bool = False
    above: bool = False

    def thinned(self, most: int) -> Curve:
        """Return the curve with at most about ``most`` points; a line keeps its extremes and its gaps."""
        if len(self.x) <= most:
            return self
        if self.width:
            kept = extremes([self.y, *(self.interval or ())], most)
        else:
            kept = np.linspace(0, len(self.x) - 1, most).astype(int)
        interval = None if self.interval is None else (self.interval[0][kept], self.interval[1][kept])
        return replace(self, x=self.x[kept], y=self.y[kept], interval=interval)


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars:
    """Bars from 0 to ``value`` at ``at``, each with its colour, and with a text at its end if there are texts.

    Horizontal bars run along x, and ``at`` is on the y axis. ``gap`` is the part of ``width`` that is left free.
    """

    at: Array
    value: Array
    colours: Sequence[str]
    name: str = ""
    width: float = 0.65
    gap: float = 0.08
    interval: Interval | None = None
    horizontal: bool = False
    texts: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Guide:
    """A straight line across a panel, at ``value`` of the y axis or, if upright, of the x axis."""

    value: float
    upright: bool = False
    colour: str = "#444444"
    width: float = 0.8
    dash: tuple[float, ...] = (5, 3)


@dataclass(frozen=True, kw_only=True)
class Shade:
    """A shaded part of a panel, from ``start`` to ``end`` of the x axis."""

    start: float
    end: float
    colour: str = "#888888"
    opacity: float = 0.08


@dataclass(frozen=True, kw_only=True)
class Note:
    """A text at a point, moved by ``dx`` and ``dy`` typographic points, to the right of it or to the left.

    A thin line joins the text to the point if it is ``joined``.
    """

    text: str
    x: float
    y: float
    colour: str = "#222222"
    dx: float = 0.0
    dy: float = 0.0
    left: bool = False
    joined: bool = False


@dataclass(frozen=True, kw_only=True)
class Arrow:
    """The head of an arrow at a point, in the direction of another."""

    x: float
    y: float
    to_x: float
    to_y: float
    colour: str


Shape = Curve | Bars | Guide | Shade | Note | Arrow


@dataclass(frozen=True, eq=False, kw_only=True)
class Panel:
    """Shapes in a pair of axes, drawn in their order, curves ``above`` last; ``square`` gives both axes one scale.

    ``right`` is a second y axis, that of the curves that are ``right``, which lie above the other shapes. It has
    numbers, not categories, and each panel has its own.
    """

    title: str
    x: Axis
    y: Axis
    shapes: Sequence[Shape]
    colour: str = ""
    square: bool = False
    right: Axis | None = None

    def __post_init__(self) -> None:
        if self.right is None and any(curve.right for curve in self.curves):
            raise ValueError("a curve is read off the right axis, and the panel has none")
        if self.right and self.right.categories:
            raise ValueError(f"right = {self.right}: must have numbers, not categories")

    def visible(self, low: float) -> list[Shape]:
        """Return its shapes in the order of drawing; the left axis begins at ``low``.

        Intervals are cut off where a logarithmic axis begins.
        """
        floors = {False: low if self.y.log else None, True: None}
        if self.right and self.right.log:
            floors[True] = self.right_limits[0]
        ordered = sorted(self.shapes, key=lambda shape: isinstance(shape, Curve) and shape.above)
        return [_cut(shape, floors[shape.right]) if isinstance(shape, Curve) else shape for shape in ordered]

    @property
    def right_limits(self) -> tuple[float, float]:
        """The range of the right axis, which must be there."""
        assert self.right is not None
        return limits([self.right], [self], "right")

    def with_texts(self, high: float, width: float, character: float) -> float:
        """Return the upper end of the x axis, at least ``high``, at which the texts of horizontal bars have room.

        ``width`` is that of the panel, ``character`` that of a character of the texts, both in the same unit.
        """
        for shape in self.shapes:
            if isinstance(shape, Bars) and shape.horizontal and shape.texts:
                ends = np.fmax(shape.value, shape.interval[1]) if shape.interval else shape.value
                for end, text in zip(np.nan_to_num(ends), shape.texts, strict=True):
                    free = width - (len(text) + 1.5) * character
                    high = max(high, float(end) * width / max(free, width / 4))
        return high

    @property
    def curves(self) -> Iterator[Curve]:
        """Its curves."""
        return (shape for shape in self.shapes if isinstance(shape, Curve))


def _cut(curve: Curve, floor: float | None) -> Curve:
    """Cut off the intervals of a curve at ``floor``, if there is one."""
    if floor is None or not curve.interval:
        return curve
    low, high = (np.maximum(end, floor) for end in curve.interval)
    return replace(curve, interval=(low, high))


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """Panels in rows of ``across``, each ``height`` inches high.

    ``weight`` is the width relative to the other grids of its row. With ``same_x`` and ``same_y`` all panels have the
    same range, and only those at the edge have the label and the numbers.
    """

    panels: Sequence[Panel]
    across: int = 1
    height: float = 2.35
    weight: float = 1.0
    same_x: bool = False
    same_y: bool = False

    @property
    def deep(self) -> int:
        """The number of its rows."""
        return -(-len(self.panels) // self.across)

    @property
    def characters(self) -> int:
        """The number of characters of a category beside a panel in one line."""
        return _BESIDE_ALL if self.same_y else _BESIDE_EACH

    def beside(self, category: str) -> list[str]:
        """Break a category that stands beside a panel into lines, after commas and colons where possible."""
        lines = wrapped(category, self.characters)
        return [part for line in lines for part in textwrap.wrap(line, self.characters) or [""]]

    def at_left(self, place: int) -> bool:
        """Whether the panel at ``place`` is in the first column."""
        return place % self.across == 0

    def at_bottom(self, place: int) -> bool:
        """Whether no panel is below that at ``place``."""
        return place + self.across >= len(self.panels)

    @property
    def limits(self) -> list[tuple[tuple[float, float], tuple[float, float]]]:
        """The ranges of x and of y for each panel."""
        panels = list(self.panels)
        along = [limits([panel.x], [panel], "x") for panel in panels]
        upright = [limits([panel.y], [panel], "y") for panel in panels]
        if self.same_x and panels:
            along = [limits([panel.x for panel in panels], panels, "x")] * len(panels)
        if self.same_y and panels:
            upright = [limits([panel.y for panel in panels], panels, "y")] * len(panels)
        return list(zip(along, upright, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class Figure:
    """Grids one beneath the other, and beside each other within a row.

    ``legend`` adds an entry for each name of a shape; ``small_print`` stands below.
    """

    title: str
    rows: Sequence[Sequence[Grid]]
    name: str = ""
    legend: bool = False
    small_print: str = ""

    @property
    def grids(self) -> list[Grid]:
        """All grids."""
        return [grid for row in self.rows for grid in row]

    @property
    def panels(self) -> list[Panel]:
        """All panels."""
        return [panel for grid in self.grids for panel in grid.panels]

    @property
    def entries(self) -> dict[str, Curve | Bars]:
        """The entries of the legend: each name with the first shape that has it, marked if any of them is."""
        if not self.legend:
            return {}
        found: dict[str, Curve | Bars] = {}
        for shape in (shape for panel in self.panels for shape in panel.shapes):
            if isinstance(shape, Curve | Bars) and shape.name:
                first = found.setdefault(shape.name, shape)
                if isinstance(first, Curve) and isinstance(shape, Curve) and shape.mark and not first.mark:
                    found[shape.name] = replace(first, mark=shape.mark)
        return found


LEAST_SPAN = 0.1
"""The least range of an axis that does not start at 0, as a fraction of its upper end: 1 % is no corner of a panel."""


def grounded(axis: Axis, panels: Sequence[Panel], which: str) -> Axis:
    """Return an axis, along ``which`` of its panels, that starts at 0 or has its start in its label.

    It starts at 0 if the values fill half of it then. The ends that the axis sets are kept as bounds of the values.
    """
    low, high = limits([axis], panels, which)
    if axis.log or low <= 0:
        return axis
    if low < high / 2:
        return replace(axis, low=0.0, high=high)
    if high - low < LEAST_SPAN * high:
        low = high * (1 - LEAST_SPAN)
        high += _PADDING[which] * (high - low)
    step = 10.0 ** np.floor(np.log10(high - low)) / 2
    low = float(f"{np.floor(low / step) * step:.12g}")
    return replace(axis, label=f"{axis.label}, from {low:g}", low=low, high=high)


_NOISE = 1e-9
"""The relative difference below which values count as equal."""

_PADDING = {"x": 0.02, "y": 0.05, "right": 0.05}
"""The room between data and the edge of a panel, as a fraction of the range."""

_MARK = 0.0125
"""Half the size of a mark, as a fraction of the range of a small panel."""


def limits(axes: Sequence[Axis], panels: Sequence[Panel], which: str) -> tuple[float, float]:
    """Return the range that shows everything in ``panels``, along ``which``: ``x``, ``y`` or ``right``.

    The ends that an axis sets are kept, unless a mark that stands there would be cut. The range has no negative part
    unless a value has, even if an interval does.
    """
    categories = max(len(axis.categories) for axis in axes)
    if categories:
        return -0.6, categories - 0.4
    log = axes[0].log
    values = ends = marked = np.empty(0)
    for shape in (shape for panel in panels for shape in panel.shapes):
        more, around = _extent(shape, which)
        values, ends = np.concatenate([values, more]), np.concatenate([ends, more, around])
        if isinstance(shape, Curve) and shape.mark in MARKS:
            marked = np.concatenate([marked, more])
    ends = ends[np.isfinite(ends) & ((ends > 0) if log else True)]
    low, high = _padded(ends, log, _PADDING[which])
    if low < 0 and not (values < 0).any():
        low = 0.0
    lows, highs = (
        [end for end in each if end is not None] for each in zip(*((a.low, a.high) for a in axes), strict=True)
    )
    low, high = min(lows, default=low), max(highs, default=high)
    if high > low:
        return _uncut(low, high, marked, log, _PADDING[which])
    if highs and not lows:
        return (high / 10 if log else high - 1), high
    return low, low * 10 if log else low + 1


def _uncut(low: float, high: float, marked: Array, log: bool, padding: float) -> tuple[float, float]:
    """Move an end outwards by a fraction of the range if a mark within the range would be cut there."""
    shown = marked[(marked >= low - _NOISE * (high - low)) & (marked <= high + _NOISE * (high - low))]
    if not len(shown):
        return low, high
    start, end, first, last = (np.log if log else np.asarray)([low, high, shown.min(), shown.max()])
    span = end - start
    below, above = (padding * span if free < _MARK * span else 0.0 for free in (first - start, end - last))
    return (low / math.exp(below), high * math.exp(above)) if log else (low - below, high + above)


def _padded(ends: Array, log: bool, padding: float) -> tuple[float, float]:
    if not len(ends):
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(ends.min()), float(ends.max())
    if high - low < _NOISE * max(abs(low), abs(high)):  # a difference by rounding is no effect
        low = high = (low + high) / 2
    if log:
        room = (high / low) ** padding if high > low else 2.0
        return low / room, high * room
    room = padding * (high - low) or 0.05 * abs(high) or 0.5
    return low - room, high + room


def _extent(shape: Shape, which: str) -> tuple[Array, Array]:
    """Return the coordinates of a shape along ``which``, and the ends of its intervals."""
    none = np.empty(0)
    if isinstance(shape, Curve):
        if which == "x":
            return shape.x, none
        if shape.right != (which == "right"):
            return none, none
        return shape.y, np.concatenate(shape.interval or (none,))
    if which == "right":
        return none, none
    if isinstance(shape, Bars):
        if (which == "x") != shape.horizontal:
            return none, np.concatenate([shape.at - shape.width / 2, shape.at + shape.width / 2])
        return np.append(shape.value, 0.0), np.concatenate(shape.interval or (none,))
    if isinstance(shape, Guide) and shape.upright == (which == "x"):
        return np.array([shape.value]), none
    return none, none


def extremes(series: Sequence[Array], most: int) -> NDArray[np.int_]:
    """Select about ``most`` places: the least and the greatest value of each series among neighbours, and each gap."""
    count = len(series[0])
    edges = np.linspace(0, count, most // (2 * len(series)) + 1).astype(int)
    kept = {0, count - 1}
    for y in series:
        for first, end in pairwise(edges):
            part = y[first:end]
            known = np.flatnonzero(~np.isnan(part))
            if len(known) < len(part):
                kept.add(int(first + np.flatnonzero(np.isnan(part))[0]))
            if len(known):
                kept |= {int(first + known[np.argmin(part[known])]), int(first + known[np.argmax(part[known])])}
    return np.array(sorted(kept))


def shades(count: int) -> list[str]:
    """Return ``count`` colours, each unlike the others; if these are too few, shades from dark to light."""
    distinct = COLOURS + _MORE
    if count <= len(distinct):
        return list(distinct[:count])
    known = np.array([list(bytes.fromhex(colour[1:])) for colour in _DARK_TO_LIGHT], float)
    places = np.linspace(0, len(known) - 1, count)
    channels = [np.interp(places, np.arange(len(known)), channel).round().astype(int) for channel in known.T]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*channels, strict=True)]


def dash(colour: str) -> tuple[float, ...]:
    """Return the dashes of a curve, by its colour: those beyond the first colours are dashed."""
    return _DASHED if colour in _MORE else ()


def marks(count: int) -> list[str]:
    """Return ``count`` marks; those of many curves repeat."""
    return [MARKS[place % len(MARKS)] for place in range(count)]
