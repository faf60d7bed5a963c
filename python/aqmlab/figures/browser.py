"""Figures for a web page: their data as JSON, and the style sheet and script by which a browser draws them."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import fields
from importlib import resources
from typing import Any

import numpy as np

from aqmlab.figures.model import Axis, Bars, Curve, Figure, Grid, Panel, Shape
from aqmlab.text import printable

_BELOW = 14
"""The number of characters of a category below a panel in one line."""

_SHORTEST_DASH = 2
"""The length of a dash, in units of the line's width, below which it is a dot."""

_PIXELS = 96
"""The pixels of an inch."""


def style() -> str:
    """Return the style sheet of a page with figures."""
    return _file("uplot/uPlot.min.css") + _file("browser.css")


def script() -> str:
    """Return the script that stands at the end of a page with figures."""
    return _file("uplot/uPlot.iife.min.js") + "\n" + _file("browser.js")


def specification(figure: Figure) -> dict[str, Any]:
    """Return the panels of a figure for JSON; numbers have six significant digits."""
    return {"rows": [[_grid(grid) for grid in row] for row in figure.rows]}


def legend(figure: Figure) -> list[dict[str, str]]:
    """Return the legend: ``name``, ``colour``, ``mark``, and ``kind``: line, dashed, dotted, points or bars."""
    return [
        {
            "name": name,
            "colour": shape.colours[0] if isinstance(shape, Bars) else shape.colour,
            "mark": "" if isinstance(shape, Bars) else shape.mark,
            "kind": _kind(shape),
        }
        for name, shape in figure.entries.items()
    ]


def height(figure: Figure) -> int:
    """Estimate the height of a figure in pixels, for its place in the page before it is drawn."""
    return sum(max(int(grid.deep * (grid.height * _PIXELS + 50)) for grid in row) for row in figure.rows)


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _kind(shape: Curve | Bars) -> str:
    if isinstance(shape, Bars):
        return "bars"
    if not shape.width:
        return "points"
    return "line" if not shape.dash else "dotted" if shape.dash[0] < _SHORTEST_DASH else "dashed"


def _grid(grid: Grid) -> dict[str, Any]:
    panels = [_panel(panel, *ends, grid) for panel, ends in zip(grid.panels, grid.limits, strict=True)]
    size = {"across": grid.across, "height": grid.height, "weight": grid.weight}
    return {**size, "same_x": grid.same_x, "same_y": grid.same_y, "panels": panels}


def _panel(panel: Panel, x: tuple[float, float], y: tuple[float, float], grid: Grid) -> dict[str, Any]:
    return {
        "title": printable(panel.title.replace("\n", " ")),
        "colour": panel.colour,
        "square": panel.square,
        "x": _axis(panel.x, x, [textwrap.wrap(printable(text), _BELOW) for text in panel.x.categories]),
        "y": _axis(panel.y, y, [grid.beside(text) for text in panel.y.categories]),
        "shapes": [_shape(shape) for shape in panel.visible(y[0])],
        **({"right": _axis(panel.right, panel.right_limits, [])} if panel.right else {}),
    }


def _axis(axis: Axis, ends: tuple[float, float], categories: Sequence[Sequence[str]]) -> dict[str, Any]:
    found: dict[str, Any] = {"label": printable(axis.label), "range": list(ends), "log": axis.log}
    if categories:
        found["ticks"] = ["\n".join(lines) for lines in categories]
    if axis.downwards:
        found["down"] = True
    if axis.whole:
        found["whole"] = True
    if axis.step:
        found["step"] = axis.step
    return found


def _shape(shape: Shape) -> dict[str, Any]:
    """Return the attributes of a shape that differ from their defaults."""
    found: dict[str, Any] = {"kind": type(shape).__name__.lower()}
    kept = {"curve": {"band"}, "guide": {"colour", "width", "dash"}, "shade": {"colour", "opacity"}}
    always = kept.get(found["kind"], set()) | {"width", "dx", "dy", "colour"}
    if isinstance(shape, Curve | Bars) and shape.interval:
        found |= zip(("low", "high"), map(_numbers, shape.interval), strict=True)
    for field in fields(shape):
        value = getattr(shape, field.name)
        if field.name not in ("interval", "above") and (field.name in always or value is not field.default):
            found[field.name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _numbers(value)
    return _numbers([value])[0] if isinstance(value, float) else value


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Convert numbers for JSON, to six digits of their spread; None stands for numbers that are not finite."""
    found = [float(value) for value in values]
    known = [value for value in found if math.isfinite(value)]
    spread, greatest = (max(known) - min(known), max(map(abs, known))) if known else (0.0, 0.0)
    digits = 6 if spread == 0 or spread > 1e-3 * greatest else 12
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in found]
