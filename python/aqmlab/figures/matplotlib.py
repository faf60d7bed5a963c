"""Draws figures with matplotlib, at fixed places: the same figure has the same bytes, and no layout is searched for."""

from __future__ import annotations

import io
import shutil
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib import ft2font
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text
from matplotlib.ticker import LogLocator, MaxNLocator, MultipleLocator, NullFormatter

from aqmlab.figures.model import GREY, Arrow, Axis, Bars, Curve, Figure, Grid, Guide, Note, Panel, Shade
from aqmlab.files import DEFAULT_FORMATS, replacing
from aqmlab.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.figures.model import Array

Range = tuple[float, float]

STYLE: Any = {
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9,
    "grid.color": "#e5e5e5",
    "grid.linewidth": 0.6,
    "svg.hashsalt": "aqmlab",  # the same figure yields the same file
    "pdf.fonttype": 42,  # texts stay texts, which journals demand and readers can search
    "pgf.rcfonts": False,  # texts have the fonts of the document that includes the figure
}

_MARKS = {
    "circle": "o",
    "square": "s",
    "triangle": "^",
    "diamond": "D",
    "triangle-down": "v",
    "triangle-left": "<",
    "triangle-right": ">",
    "plus": "P",
    "pixel": ",",
}

_WIDTHS = {1: 7.4, 2: 9.6, 3: 12.0, 4: 13.0}
"""The width of a figure in inches by the number of panels side by side; with more, it has that of four."""

_MARGIN, _BETWEEN, _BETWEEN_GRIDS, _SMALL_PRINT = 0.15, 0.16, 0.3, 0.17
"""Inches: margin, gap between panels, gap between grids, height of a line of small print."""

# Texts are counted and not measured: their measures depend on the fonts of a machine, and those of PGF on TeX. Then the
# places of panels, and with them all coordinates in a file, would differ from machine to machine.
_LABEL, _NUMBERS, _CHARACTER = 0.24, 0.46, 0.072
"""Inches beside a panel: for the label of its axis, for numbers, and for each character of a category."""

_TEXT, _TITLE, _DIGIT = 0.068, 0.08, 0.08
"""Inches for each character of a text beside a bar, of a title, and of a number at an axis."""

DENSE = 400.0
"""The ratio of the ends of a logarithmic axis below which 2 and 5 have ticks with numbers, beside the powers of ten."""

_PLAIN = (1e-3, 1e5)
"""The ends between which the numbers of a logarithmic axis are written without powers."""

DPI = 130

_OPTIONS: dict[str, dict[str, Any]] = {
    "png": {"dpi": DPI},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
    "pgf": {},
}

_TEX = ("xelatex", "lualatex", "pdflatex")
"""The programs that can measure the texts of a PGF figure, the first that is there is taken."""

_TEX_CHARACTERS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    **{character: f"\\{character}" for character in "$&#{}"},
}
"""The characters that TeX does not take as they are, apart from those that matplotlib escapes."""


@dataclass(frozen=True)
class _Room:
    """The sizes of a grid in inches: of a panel, and of what surrounds it."""

    width: float
    height: float
    left: float
    gap: float
    right: float
    above: float
    below: float
    gap_below: float

    def total(self, grid: Grid) -> float:
        """Return the height of the whole grid."""
        return grid.deep * (self.above + self.height) + (grid.deep - 1) * self.gap_below + self.below


def draw(figure: Figure, canvas: Canvas | None = None) -> Canvas:
    """Draw a figure in ``canvas``, an empty figure of matplotlib, by default a new one from pyplot."""
    with mpl.rc_context(STYLE):
        if canvas is None:
            from matplotlib import pyplot

            canvas = pyplot.figure()
        _draw(figure, canvas)
    return canvas


def images(figure: Figure, formats: Sequence[str] = DEFAULT_FORMATS) -> dict[str, bytes]:
    """Draw a figure in some of `FIGURE_FORMATS`; the same figure yields the same bytes.

    Raise `TexError` if ``pgf`` is one of them and this machine has no TeX that can measure its texts.
    """
    found = {}
    with warnings.catch_warnings(), mpl.rc_context(STYLE):
        warnings.simplefilter("ignore", UserWarning)  # a missing glyph, an interval below a logarithmic axis
        canvas = draw(figure, Canvas())
        for form in sorted(formats, key=lambda form: form == "pgf"):  # for which the texts are changed
            found[form] = _pgf(canvas) if form == "pgf" else _saved(canvas, form)
    return found


def save(figure: Figure, folder: Path, formats: Sequence[str] = DEFAULT_FORMATS, name: str = "figure") -> None:
    """Write a figure to ``folder`` as ``name`` in some of `FIGURE_FORMATS`; see `images`."""
    for form, data in images(figure, formats).items():
        with replacing(folder / f"{name}.{form}") as file:
            file.write_bytes(data)


def require_tex() -> None:
    """Raise `TexError` if this machine has no TeX that can measure the texts of a figure."""
    canvas = Canvas(figsize=(1, 1))
    canvas.text(0, 0, "A")
    _pgf(canvas)


def maker() -> str:
    """Return the versions of the libraries on which the bytes of images depend."""
    return f"matplotlib {mpl.__version__}, FreeType {ft2font.__freetype_version__}"


class TexError(Exception):
    """PGF needs a TeX that this machine does not have."""


def _saved(canvas: Canvas, form: str) -> bytes:
    file = io.BytesIO()
    canvas.savefig(file, format=form, **_OPTIONS[form])
    return file.getvalue()


def _pgf(canvas: Canvas) -> bytes:
    """Draw as PGF, in which texts are TeX's: TeX measures them, and the characters special to it are escaped."""
    from matplotlib.backends.backend_pgf import LatexError

    remedy = (
        "install one (Debian: apt install texlive-xetex texlive-latex-recommended texlive-pictures), or choose pdf, "
        "whose texts are texts as well"
    )
    tex = next((program for program in _TEX if shutil.which(program)), None)
    if tex is None:
        raise TexError(f"pgf: needs a TeX to measure texts, and {', '.join(_TEX)} are missing: {remedy}")
    _escape(canvas)
    try:
        with mpl.rc_context({"pgf.texsystem": tex}):
            return _saved(canvas, "pgf")
    except (LatexError, OSError, RuntimeError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise TexError(f"pgf: {tex} does not measure texts ({reason}): {remedy}") from error


def _escape(canvas: Canvas) -> None:
    """Escape the texts that are shown as they are; numbers at axes are TeX already."""
    escape = str.maketrans(_TEX_CHARACTERS)
    categories = set()
    for axis in (axis for axes in canvas.axes for axis in (axes.xaxis, axes.yaxis)):
        labels = axis.get_ticklabels()
        if labels and not labels[0].get_parse_math():
            axis.set_ticklabels([label.get_text().translate(escape) for label in labels])
            categories.update(labels)
    for text in canvas.findobj(Text):
        if text not in categories and not text.get_parse_math():
            text.set_text(text.get_text().translate(escape))


def _draw(figure: Figure, canvas: Canvas) -> None:
    across = max((sum(grid.across for grid in row) for row in figure.rows), default=1)
    width = _WIDTHS.get(across, _WIDTHS[4])
    entries = figure.entries
    head = textwrap.wrap(printable(figure.title), int(width * 11))
    foot = textwrap.wrap(printable(figure.small_print), int(width * 17))
    columns = max(1, min(len(entries), int((width - 0.7) / (0.55 + 0.075 * max(map(len, entries), default=1)))))
    beneath = 0.06 + _SMALL_PRINT * len(foot) + (0.1 + 0.2 * -(-len(entries) // columns) if entries else 0.0)
    top = 0.1 + 0.21 * len(head)
    shown = [[grid for grid in row if grid.panels] for row in figure.rows]
    rows = [(row, _levelled(row, _rooms(row, width))) for row in shown if row]
    heights = [rooms[0].total(row[0]) for row, rooms in rows]
    height = top + sum(heights) + beneath
    canvas.set_layout_engine("none")
    canvas.set_size_inches(width, height)
    left: Any = {"x": 0.12 / width, "ha": "left", "parse_math": False}
    canvas.suptitle("\n".join(head), y=1 - 0.08 / height, va="top", fontsize=11, **left)
    for (row, rooms), tall in zip(rows, heights, strict=True):
        start = 0.0
        for grid, room in zip(row, rooms, strict=True):
            _grid(canvas, grid, room, start, top)
            start += room.left + grid.across * room.width + (grid.across - 1) * room.gap + room.right + _BETWEEN_GRIDS
        top += tall
    if entries:
        legend = canvas.legend(
            [_handle(shape) for shape in entries.values()],
            ["\n".join(textwrap.wrap(printable(name), 60)) for name in entries],
            loc="lower center",
            bbox_to_anchor=(0.5, (0.06 + _SMALL_PRINT * len(foot)) / height),
            ncols=columns,
            fontsize=8.5,
            frameon=False,
            borderaxespad=0.0,
            borderpad=0.2,
            columnspacing=1.4,
            labelspacing=0.3,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
    canvas.supxlabel("\n".join(foot), y=0.06 / height, va="bottom", fontsize=7, color=GREY, linespacing=1.35, **left)


def _rooms(row: Sequence[Grid], width: float) -> list[_Room]:
    """Divide the width of a row among its grids."""
    lefts, gaps, rights = [], [], []
    for grid in row:
        sides = [_side(panel, grid) for panel in grid.panels]
        right = max((_right(panel) for panel in grid.panels), default=0.0)
        lefts.append(max(sides, default=0.0) if grid.same_y else max(sides[:: grid.across], default=0.0))
        others = [side for place, side in enumerate(sides) if not grid.at_left(place)]
        gaps.append(right + (_BETWEEN if grid.same_y else _BETWEEN / 2 + max(others, default=0.0)))
        rights.append(max(right, *(_overhang(panel) for panel in grid.panels[grid.across - 1 :: grid.across]), 0.0))
    used = sum(left + (grid.across - 1) * gap for grid, left, gap in zip(row, lefts, gaps, strict=True)) + sum(rights)
    free = width - used - _MARGIN - (len(row) - 1) * _BETWEEN_GRIDS
    share = free / sum(grid.weight for grid in row)
    return [
        _room(grid, share * grid.weight / grid.across, left, gap, right)
        for grid, left, gap, right in zip(row, lefts, gaps, rights, strict=True)
    ]


def _levelled(row: Sequence[Grid], rooms: Sequence[_Room]) -> list[_Room]:
    """Make the panels of lower grids higher, so that all grids of a row end at the same height."""
    most = max(room.total(grid) for grid, room in zip(row, rooms, strict=True))
    return [
        replace(room, height=room.height + (most - room.total(grid)) / grid.deep)
        for grid, room in zip(row, rooms, strict=True)
    ]


def _room(grid: Grid, width: float, left: float, gap: float, right: float) -> _Room:
    titles = max((len(_title(panel, width)) for panel in grid.panels), default=0)
    wraps = max((len(text) for panel in grid.panels for text in _wrapped(panel.x, width)), default=1)
    labelled = any(panel.x.label for panel in grid.panels)
    below = 0.28 + 0.22 * labelled + 0.14 * (wraps - 1)
    return _Room(width, grid.height, left, gap, right, 0.12 + 0.16 * titles, below, 0.08 if grid.same_x else below)


def _title(panel: Panel, width: float) -> list[str]:
    """Break the title of a panel into lines that fit its width in inches."""
    most = max(8, int(width / _TITLE))
    return [line for part in panel.title.split("\n") for line in textwrap.wrap(printable(part), most)]


def _side(panel: Panel, grid: Grid) -> float:
    """Return the room left of a panel, in inches."""
    lines = [line for text in panel.y.categories for line in grid.beside(text)]
    numbers = 0.12 + _CHARACTER * max(map(len, lines)) if lines else _NUMBERS
    return numbers + _LABEL * bool(panel.y.label)


def _right(panel: Panel) -> float:
    """Return the room for the right axis of a panel, in inches."""
    return 0.0 if panel.right is None else _NUMBERS + _LABEL * bool(panel.right.label)


def _overhang(panel: Panel) -> float:
    """Return how far the number at an end that the x axis sets stands out of the margin, in inches."""
    return 0.0 if panel.x.high is None else _DIGIT * len(f"{panel.x.high:g}") / 2 + 0.02 - _MARGIN


def _wrapped(axis: Axis, width: float) -> list[list[str]]:
    """Break the categories below a panel into lines that fit its width in inches."""
    most = max(6, int(width / (_CHARACTER * max(1, len(axis.categories)))))
    return [textwrap.wrap(printable(text), most, break_long_words=False) or [""] for text in axis.categories]


def _grid(canvas: Canvas, grid: Grid, room: _Room, left: float, top: float) -> None:
    width, height = canvas.get_size_inches()
    for place, (panel, ends) in enumerate(zip(grid.panels, grid.limits, strict=True)):
        x = left + room.left + place % grid.across * (room.width + room.gap)
        y = top + room.above + place // grid.across * (room.above + room.height + room.gap_below)
        box = (x / width, 1 - (y + room.height) / height, room.width / width, room.height / height)
        axes = canvas.add_axes(box)
        _panel(axes, panel, room, ends, grid)
        bottom, first = grid.at_bottom(place) or not grid.same_x, grid.at_left(place) or not grid.same_y
        if not bottom:
            axes.tick_params(labelbottom=False)
            axes.set_xlabel("")
        if not first:
            axes.tick_params(labelleft=False)
            axes.set_ylabel("")
        if grid.same_y and not (grid.at_bottom(place) and place == len(grid.panels) - 1):
            _prune(axes, panel)


def _prune(axes: Axes, panel: Panel) -> None:
    """Leave out the last number of the x axis, which would touch the first of the next panel."""
    if not (panel.x.log or panel.x.step or panel.x.categories):
        axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 2.5, 5, 10], prune="upper"))


def _panel(axes: Axes, panel: Panel, room: _Room, ends: tuple[Range, Range], grid: Grid) -> None:
    if panel.square:
        ends = _squared(ends, room)
    x, y = ends
    ends = (x[0], panel.with_texts(x[1], room.width, _TEXT)), y
    for which, axis, reach in zip("xy", (panel.x, panel.y), ends, strict=True):
        _scale(axes, which, axis, reach)
    right = _right_axes(axes, panel, room)
    for shape in panel.visible(y[0]):
        _SHAPES[type(shape)](right if isinstance(shape, Curve) and shape.right else axes, shape)
    if not panel.shapes:
        axes.text(0.5, 0.5, "no data", ha="center", va="center", color=GREY, transform=axes.transAxes)
    title: Any = {"fontsize": 9, "fontweight": "bold", "pad": 4, "parse_math": False}
    axes.set_title("\n".join(_title(panel, room.width)), loc="left", color=panel.colour or "black", **title)
    axes.set_xlabel(printable(panel.x.label), labelpad=2, parse_math=False)
    axes.set_ylabel(_label(panel.y, room), labelpad=3, parse_math=False)
    if panel.x.categories:
        texts = _wrapped(panel.x, room.width)
        axes.set_xticks(range(len(texts)), ["\n".join(text) for text in texts], parse_math=False)
        axes.grid(axis="x", visible=False)
    if panel.y.categories:
        labels = ["\n".join(grid.beside(text)) for text in panel.y.categories]
        axes.set_yticks(range(len(labels)), labels, parse_math=False, fontsize=8.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)


def _scale(axes: Axes, which: str, axis: Axis, reach: Range) -> None:
    """Set the range and the ticks of the x axis or the y axis."""
    low, high = reach
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
        ticks = getattr(axes, f"{which}axis")
        if high < DENSE * low:
            ticks.set(major_locator=LogLocator(subs=(1, 2, 5)), minor_formatter=NullFormatter())
        if low >= _PLAIN[0] and high <= _PLAIN[1]:
            ticks.set_major_formatter("{x:g}")
    axes.set(**{f"{which}lim": (high, low) if axis.downwards else (low, high)})
    if axis.step:
        getattr(axes, f"{which}axis").set_major_locator(MultipleLocator(axis.step))
    elif axis.whole:
        getattr(axes, f"{which}axis").get_major_locator().set_params(integer=True)


def _right_axes(axes: Axes, panel: Panel, room: _Room) -> Axes:
    """Return the axes of curves that are read off the right axis, or if there is none, ``axes``."""
    if panel.right is None:
        return axes
    right = axes.twinx()
    _scale(right, "y", panel.right, panel.right_limits)
    right.grid(visible=False)
    right.spines["right"].set_visible(True)
    right.set_ylabel(_label(panel.right, room), labelpad=4, parse_math=False)
    return right


def _label(axis: Axis, room: _Room) -> str:
    """Return the label of a y axis, broken into lines that fit its height."""
    return "\n".join(textwrap.wrap(printable(axis.label), max(12, int(room.height * 15))))


def _squared(ends: tuple[Range, Range], room: _Room) -> tuple[Range, Range]:
    """Widen one of the ranges, to give both axes the same scale."""
    sizes = (room.width, room.height)
    scale = max((high - low) / size for (low, high), size in zip(ends, sizes, strict=True))
    x, y = (
        ((low + high - scale * size) / 2, (low + high + scale * size) / 2)
        for (low, high), size in zip(ends, sizes, strict=True)
    )
    return x, y


def _curve(axes: Axes, curve: Curve) -> None:
    style: Any = {
        "color": curve.colour,
        "linewidth": curve.width,
        "label": printable(curve.name),
        "alpha": curve.opacity,
    }
    if not curve.width:
        style |= {"linestyle": "none"}
    elif curve.dash:
        style |= {"linestyle": (0, curve.dash)}
    if curve.steps:
        style |= {"drawstyle": "steps-post"}
    if curve.mark == "pixel":
        style |= {"marker": ",", "rasterized": True}
    elif curve.mark:
        style |= {"marker": _MARKS[curve.mark], "markersize": curve.size}
    if curve.hollow:
        style |= {"markerfacecolor": "white", "markeredgewidth": 1.4}
    if curve.interval:
        if curve.band:
            step: Any = "post" if curve.steps else None
            axes.fill_between(curve.x, *curve.interval, color=curve.colour, alpha=0.2, linewidth=0, step=step)
        else:
            reach = _reach(curve.y, *curve.interval)
            axes.errorbar(curve.x, curve.y, yerr=reach, fmt="none", ecolor=curve.colour, elinewidth=1.1, capsize=2)
    axes.plot(curve.x, curve.y, **style)


def _bars(axes: Axes, bars: Bars) -> None:
    thick = bars.width * (1 - bars.gap)
    reach = _reach(bars.value, *bars.interval) if bars.interval else None
    error: Any = {"fmt": "none", "ecolor": "#333333", "elinewidth": 0.9, "capsize": 1.8}
    if bars.horizontal:
        axes.barh(bars.at, bars.value, thick, color=bars.colours)
        if reach is not None:
            axes.errorbar(bars.value, bars.at, xerr=reach, **error)
    else:
        axes.bar(bars.at, bars.value, thick, color=bars.colours)
        if reach is not None:
            axes.errorbar(bars.at, bars.value, yerr=reach, **error)
    ends = np.fmax(bars.value, bars.interval[1]) if bars.interval else bars.value
    for text, at, end in zip(bars.texts, bars.at, np.nan_to_num(ends), strict=bool(bars.texts)):
        place, shift = ((end, at), (4, 0)) if bars.horizontal else ((at, end), (0, 4))
        align: Any = {"va": "center"} if bars.horizontal else {"ha": "center"}
        axes.annotate(text, place, shift, textcoords="offset points", fontsize=8, parse_math=False, **align)


def _reach(middle: Array, low: Array, high: Array) -> Array:
    """Return the distances from each point to the ends of its interval, as ``errorbar`` takes them."""
    return np.maximum(np.stack([middle - low, high - middle]), 0.0)


def _guide(axes: Axes, guide: Guide) -> None:
    line = axes.axvline if guide.upright else axes.axhline
    style = (0, guide.dash) if guide.dash else "solid"
    line(guide.value, color=guide.colour, linewidth=guide.width, linestyle=style, zorder=1.5)


def _shade(axes: Axes, shade: Shade) -> None:
    axes.axvspan(shade.start, shade.end, color=shade.colour, alpha=shade.opacity, linewidth=0)


def _note(axes: Axes, note: Note) -> None:
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8}
    style: Any = {"va": "center", "ha": "right" if note.left else "left", "fontsize": 8.5, "bbox": box, "zorder": 6}
    style |= {"parse_math": False}
    if note.joined:
        style |= {"arrowprops": {"arrowstyle": "-", "color": note.colour, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}}
    shift = (note.dx, note.dy)
    axes.annotate(note.text, (note.x, note.y), shift, textcoords="offset points", color=note.colour, **style)


def _arrow(axes: Axes, arrow: Arrow) -> None:
    look: Any = {"arrowstyle": "-|>", "color": arrow.colour, "mutation_scale": 14}
    axes.annotate("", (arrow.to_x, arrow.to_y), (arrow.x, arrow.y), arrowprops=look)


_SHAPES: dict[type, Any] = {Curve: _curve, Bars: _bars, Guide: _guide, Shade: _shade, Note: _note, Arrow: _arrow}


def _handle(shape: Curve | Bars) -> Line2D | Patch:
    if isinstance(shape, Bars):
        return Patch(color=shape.colours[0])
    dashes: Any = "none" if not shape.width else (0, shape.dash) if shape.dash else "-"
    look: Any = {"marker": _MARKS[shape.mark] if shape.mark else None, "markersize": 4.5, "linewidth": 1.5}
    face = "white" if shape.hollow else None
    return Line2D([], [], color=shape.colour, linestyle=dashes, markerfacecolor=face, **look)
