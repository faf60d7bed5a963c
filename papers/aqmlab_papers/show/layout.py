"""The layout of a paper's figures: panels as printed, colours of the paper, legend and small print."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures import model
from aqmlab.figures.model import COLOURS, GREY, Axis, Bars, Grid, Shape, marks
from aqmlab.text import span
from aqmlab_papers.describe.paper import Curve, Figure, Panel, Paper
from aqmlab_papers.judge.findings import Drawn
from aqmlab_papers.run.evidence import Evidence
from aqmlab_papers.show.texts import heading, seeds

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW = 30
"""The largest number of points of a line that has a mark at each of them."""

_THIN = 200
"""The number of points from which a line is thinner."""

MOST = 1000
"""The number of points to which a longer curve is thinned: more than any figure has pixels across."""

_SAME, _WIDER = 0.9, 2
"""The share of equal points from which one line hides another, and the most lines for which that one is widened."""

_DASHES, _DOTS = (5.0, 2.5), (1.4, 1.8)
"""Strokes and gaps of a dashed or printed line at the left axis, and of one at the right axis."""


def sheet(drawn: Drawn, colours: Mapping[str, str], evidence: Evidence) -> model.Figure:
    """Lay out a figure with the colours of its paper, from `colours`."""
    figure = drawn.item
    assert isinstance(figure, Figure)
    look = dict(zip(colours, marks(len(colours)), strict=True))
    panels = [_panel(panel, drawn, colours, look, evidence.hero) for panel in figure.panels]
    across = max(1, min(figure.across, len(panels)))
    deep = -(-len(panels) // across)
    height = 3.4 if deep == across == 1 else 1.45 if across == 1 and deep > 2 else 2.35
    title = f"{heading(figure)}: {figure.title}"
    if len(panels) == 1 and title.endswith(f": {panels[0].title}"):
        panels = [replace(one, title="") for one in panels]
    return model.Figure(
        name=figure.name,
        title=title,
        rows=[[Grid(panels=panels, across=across, height=height)]],
        legend=_has_legend(panels),
        small_print=_explained(drawn, panels, evidence),
    )


def _panel(panel: Panel, drawn: Drawn, colours: Mapping[str, str], look: Mapping[str, str], hero: str) -> model.Panel:
    curves = [curve for curve in drawn.curves if curve.panel in panel.letters and len(curve.x)]
    categories = _categories(curves)
    bars = list(dict.fromkeys(curve.name for curve in curves if curve.style == "bars"))
    letter = f"({panel.letter})" if panel.letter else ""
    upright = panel.right[1].label if panel.right else ""
    return model.Panel(
        title=" ".join(part for part in (letter, panel.title) if part),
        x=model.Axis(panel.x.label, panel.x.low, panel.x.high, panel.x.log, categories),
        y=panel.y,
        shapes=_told_apart(
            [
                _shape(
                    curve,
                    categories,
                    bars,
                    colours[curve.name],
                    look[curve.name],
                    upright if curve.panel != panel.letter else "",
                    hero,
                )
                for curve in curves
            ]
        ),
        right=panel.right and panel.right[1],
    )


def _categories(curves: Sequence[Curve]) -> list[str]:
    texts = [curve for curve in curves if isinstance(curve.x[0], str)]
    if texts:
        return list(dict.fromkeys(str(x) for curve in curves for x in curve.x))
    if any(curve.style == "bars" for curve in curves):
        return [f"{x:g}" for x in sorted({float(x) for curve in curves for x in curve.x})]
    return []


def _told_apart(shapes: Sequence[Shape]) -> list[Shape]:
    """Widen each line that others would hide, so that it is seen on both sides of them."""
    drawn = sorted(shapes, key=lambda shape: isinstance(shape, model.Curve) and shape.above)

    def wide(place: int, shape: Shape) -> Shape:
        if not isinstance(shape, model.Curve):
            return shape
        over = sum(_hides(other, shape) for other in drawn[place + 1 :])
        return replace(shape, width=shape.width * (1 + 2 * min(over, _WIDER)))

    widened = {id(shape): wide(place, shape) for place, shape in enumerate(drawn)}
    return [widened[id(shape)] for shape in shapes]


def _hides(over: Shape, under: model.Curve) -> bool:
    """Check whether nearly all points of two solid lines at one axis are the same."""
    if not isinstance(over, model.Curve) or over.dash or not over.width or over.right != under.right:
        return False
    same = np.array_equal(over.x, under.x) and np.isclose(over.y, under.y, equal_nan=True)
    return bool(np.mean(same) > _SAME)


def _shape(
    curve: Curve, categories: Sequence[str], bars: Sequence[str], colour: str, mark: str, right: str, hero: str
) -> Shape:
    """Return a curve's shape; ``right`` is the label of the right axis if it belongs to that."""
    if categories:
        x = np.array([categories.index(x if isinstance(x, str) else f"{x:g}") for x in curve.x], float)
    else:
        x = np.asarray(curve.x, float)
    y = np.asarray(curve.y, float)
    interval = None
    if curve.low is not None and curve.high is not None:
        interval = np.asarray(curve.low, float), np.asarray(curve.high, float)
    on_bars = curve.style == "points" and curve.name in bars
    if curve.style == "bars" or on_bars:
        width = 0.8 / len(bars)
        x = x + (bars.index(curve.name) - (len(bars) - 1) / 2) * width
    if curve.style == "bars":
        return Bars(at=x, value=y, colours=[colour] * len(x), name=curve.name, width=width, interval=interval)
    printed = curve.style == "printed"
    line = curve.style != "points"
    marked = not line or (curve.style in ("line", "printed") and len(x) <= FEW)
    found = model.Curve(
        x=x,
        y=y,
        colour=GREY if printed else colour,
        name=curve.name,
        width=0.0 if not line else 1.3 if len(x) <= _THIN else 0.8,
        dash=(_DOTS if right else _DASHES) if printed or curve.style == "dashed" else (),
        mark=mark if marked else "",
        steps=curve.style == "steps",
        band=line and len(x) > 1,
        interval=interval,
        right=bool(right),
        above=curve.name.partition(", ")[0] == hero,
    )
    if on_bars:
        # The place of a mark tells whose it is; in the colour of its bar it would not be seen. The legend has its axis.
        found = replace(found, name=right or curve.name, colour="#222222", mark="circle", hollow=True, size=6.5)
    return found.thinned(MOST)


def colours(paper: Paper, drawn: Iterable[Drawn]) -> dict[str, str]:
    """Assign each curve a colour, the same in all figures of a paper; the paper's disciplines come first.

    Two names share a colour only if no figure has both, or if there are more names than colours.
    """
    labels = [set(experiment.aqms) for experiment in paper.experiments]
    together = [*labels, *({curve.name for curve in one.curves} for one in drawn)]
    names = chain((label for one in paper.experiments for label in one.aqms), *(_names(one) for one in drawn))
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        beside = set().union(*(group for group in together if name in group))
        # The paper's disciplines get different colours even if no figure has both.
        taken = [colour for other, colour in found.items() if other in beside or len(found) < len(COLOURS)]
        found[name] = min(COLOURS, key=lambda colour: (taken.count(colour), COLOURS.index(colour)))
    return found


def _names(drawn: Drawn) -> list[str]:
    return list(dict.fromkeys(curve.name for curve in drawn.curves))


def _shapes(panel: model.Panel) -> list[model.Curve | Bars]:
    return [shape for shape in panel.shapes if isinstance(shape, model.Curve | Bars)]


def _has_legend(panels: Sequence[model.Panel]) -> bool:
    """Decide whether a figure needs a legend: not if the titles of its panels already name the curves."""
    shapes = [(panel, shape) for panel in panels for shape in _shapes(panel)]
    titled = all(shape.name in panel.title for panel, shape in shapes) and all(
        len({shape.name for shape in _shapes(panel)}) <= 1 for panel in panels
    )
    alone = len({shape.name for _, shape in shapes}) == 1 and all(len(panel.shapes) <= 1 for panel in panels)
    return not (titled or alone)


def _explained(drawn: Drawn, panels: Sequence[model.Panel], evidence: Evidence) -> str:
    """Write the small print of a figure: seeds, the meaning of bands, points outside the axes."""
    means = {curve.name for curve in drawn.curves if curve.run is None}
    shapes = [shape for panel in panels for shape in _shapes(panel) if shape.interval and shape.name in means]
    bands = [isinstance(shape, model.Curve) and shape.band for shape in shapes]
    parts = [seeds(drawn.item.needs, evidence)]
    kinds = ["bands"] * any(bands) + ["error bars"] * (not all(bands))
    if kinds:
        parts.append(f"{' and '.join(kinds)}: 95 % confidence intervals unless the caption says otherwise")
    runs = sorted({curve.run for curve in drawn.curves if curve.run is not None})
    if runs:
        parts.append(f"curves over time: one run, of seed {span(tuple(runs))}")
    if evidence.quick:
        parts.append("quick: fewer points")
    assert isinstance(drawn.item, Figure)
    cut = [letter.letter for letter, panel in zip(drawn.item.panels, panels, strict=True) if _is_cut(panel)]
    if cut:
        where = f" of {', '.join(cut)}" if any(cut) else ""
        parts.append(f"some points are outside the axes{where}")
    if drawn.item.beyond:
        parts.append("beyond the paper")
    return "; ".join(part for part in parts if part)


def _is_cut(panel: model.Panel) -> bool:
    """Check whether a point is outside the axes, which have the paper's ranges."""
    for shape in _shapes(panel):
        x, y = (shape.x, shape.y) if isinstance(shape, model.Curve) else (shape.at, shape.value)
        upright = panel.right if panel.right and isinstance(shape, model.Curve) and shape.right else panel.y
        if _outside(y, upright) or (not panel.x.categories and _outside(x, panel.x)):
            return True
    return False


def _outside(values: NDArray[np.float64], axis: Axis) -> bool:
    low = -np.inf if axis.low is None else axis.low
    high = np.inf if axis.high is None else axis.high
    slack = 1e-9 * max(abs(end) for end in (low, high, 0.0) if np.isfinite(end))
    return bool(((values < low - slack) | (values > high + slack)).any())
