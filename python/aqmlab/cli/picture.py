"""The picture of a run under way, as lines of text: four plots over time, drawn with Braille characters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aqmlab.execute.glance import Glance

    Array = NDArray[np.float64]

_TWO_COLUMNS = 100
"""The least width, in characters, at which two plots stand side by side."""
_GAP = " " * 3
"""Between them."""
_AXIS = 6
"""Characters of a number at an axis."""
_HIGHEST = 12
"""The most lines of a plot."""
_ROUND = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""The numbers at which an axis may end, times a power of ten."""
_PREFIXES = {
    "bit/s": ((1e9, "G"), (1e6, "M"), (1e3, "k")),
    "s": ((1.0, ""), (1e-3, "m"), (1e-6, "µ")),
}
_BLANK = 0x2800
_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bits of a Braille character, which has four rows of two dots."""


@dataclass(frozen=True)
class Curve:
    """A quantity over time: its mean in each interval of the time so far, over all of it, and its present value.

    NaN stands where there is none.
    """

    name: str
    values: Array
    mean: float
    now: float


@dataclass(frozen=True)
class Panel:
    """One plot: a line, the sum of the curves, and below it the first curve as an area if ``filled`` is true.

    ``short`` is the name of a single curve in a narrow terminal.
    """

    unit: str
    curves: tuple[Curve] | tuple[Curve, Curve]
    short: str = ""
    filled: bool = False


def picture(glances: Sequence[Glance], width: int, height: int) -> list[str]:
    """Draw a run from the glances at it, in the order of their times, the first at the start of the run.

    The plots are queue, throughput, drops and marks, and queueing delay, over the time so far; each has the present
    value (that of the last interval drawn, except for the queue), the mean over all the time, and the largest value
    drawn. The picture has at most ``width`` characters and ``height`` lines, unless they are fewer than 40 and 9.
    """
    across = 2 if width >= _TWO_COLUMNS else 1
    wide = (width - len(_GAP) * (across - 1)) // across
    rows = min(max((height - 1) * across // 4 - 1, 1), _HIGHEST)
    columns = wide - _AXIS - 1
    blocks = [[_heading(panel, wide), *_plot(panel, columns, rows)] for panel in panels(glances, 2 * columns)]
    axis = [_time_axis(glances[-1].t if glances else 0.0, columns)]
    lines = []
    for row in [*(blocks[first : first + across] for first in range(0, 4, across)), [axis] * across]:
        lines += [_GAP.join(part.ljust(wide) for part in parts).rstrip() for parts in zip(*row, strict=True)]
    return lines


def panels(glances: Sequence[Glance], count: int) -> list[Panel]:
    """Return the plots, with ``count`` values in each curve, for intervals of equal length."""
    import numpy as np

    end = glances[-1].t if glances else 0.0
    fields = ("t", "queue_area", "departed_bytes", "drops", "marks", "waited", "departures")
    t, area, sent, drops, marks, waited, departures = (
        np.array([getattr(glance, name) for glance in glances], dtype=float) for name in fields
    )

    def over(sums: Array, base: Array, name: str, factor: float = 1.0) -> Curve:
        """Return the quotient of the changes in both in each interval, and over all the time."""
        if end <= 0.0:
            return Curve(name, np.full(count, np.nan), np.nan, np.nan)
        # What happens between two glances is taken to be spread evenly.
        edges = np.linspace(0.0, end, count + 1)
        steps, bases = (np.diff(np.interp(edges, t, column)) for column in (sums, base))
        values = np.divide(steps * factor, bases, out=np.full(count, np.nan), where=bases > 0.0)
        mean = float(sums[-1] / base[-1]) * factor if base[-1] > 0.0 else np.nan
        return Curve(name, values, mean, float(values[-1]))

    queue = over(area, t, "queue")
    if glances:
        queue = replace(queue, now=glances[-1].queue)
    fates: tuple[Curve] | tuple[Curve, Curve] = (over(drops, t, "drops"),)
    if glances and glances[-1].marks:
        fates = *fates, over(marks, t, "marks")
    return [
        Panel("packets", (queue,)),
        Panel("bit/s", (over(sent, t, "throughput", 8.0),), "sent"),
        Panel("/s", fates, filled=True),
        Panel("s", (over(waited, departures, "queueing delay"),), "delay"),
    ]


def _heading(panel: Panel, width: int) -> str:
    """Return the longest heading that fits."""
    factor, unit = _unit(panel)
    now, mean = (
        [_number(value / factor) for value in values]
        for values in ([curve.now for curve in panel.curves], [curve.mean for curve in panel.curves])
    )
    # The present queue may be longer than its mean in any interval.
    most = _number(max(_largest(panel), sum(curve.now for curve in panel.curves)) / factor)
    names = [curve.name for curve in panel.curves]

    def variants() -> Iterator[str]:
        if len(names) == 1:
            for name in (names[0], panel.short or names[0]):
                yield f"{name} {now[0]}, mean {mean[0]}, max {most} {unit}"
        else:
            for legend in (" (area)", " (line above)"), ("", ""):
                parts = " + ".join(f"{name}{key} {value}" for name, key, value in zip(names, legend, now, strict=True))
                yield f"{parts}, mean {' + '.join(mean)}, max {most} {unit}"
            yield f"{'+'.join(names)} {'+'.join(now)}, mean {'+'.join(mean)} {unit}"

    for text in variants():
        if len(text) <= width:
            return text
    return text[: width - 1] + "…"


def _plot(panel: Panel, columns: int, rows: int) -> list[str]:
    """Return the lines of a plot, each with the axis at its left."""
    import numpy as np

    top = _end_of_axis(_largest(panel))
    dots = np.arange(4 * rows, 0, -1)[:, np.newaxis]

    def levels(values: Array) -> Array:
        return np.minimum(np.ceil(values / top * 4 * rows), 4 * rows)

    # The line goes from each level to just before the next one; comparisons with NaN are false.
    line = levels(np.sum([curve.values for curve in panel.curves], axis=0))
    before = np.concatenate([line[:1], line[:-1]])
    before = np.where(np.isnan(before), line, before)
    drawn = (dots <= np.maximum(line, before - 1)) & (dots >= np.minimum(line, before + 1))
    if panel.filled:
        drawn |= dots <= levels(panel.curves[0].values)
    bits = np.einsum("rdck,dk->rc", drawn.reshape(rows, 4, columns, 2).astype(int), np.array(_DOTS))
    labels = [""] * rows
    labels[-1] = "0"
    labels[0] = _number(top / _unit(panel)[0])
    return [
        f"{label:>{_AXIS}}{'┤' if label else '│'}{''.join(chr(_BLANK + bit) if bit else ' ' for bit in row)}"
        for label, row in zip(labels, bits, strict=True)
    ]


def _time_axis(end: float, columns: int) -> str:
    """Return the labels of the time so far."""
    labels = "0".ljust(columns)
    last, middle = f"{_number(end)} s", _number(end / 2)
    half = columns // 2
    labels = labels[:half] + middle + labels[half + len(middle) :]
    return f"{'':>{_AXIS}}└{labels[: columns - len(last)]}{last}"


def _largest(panel: Panel) -> float:
    """Return the largest value drawn."""
    import numpy as np

    return float(np.max(np.nan_to_num(np.sum([curve.values for curve in panel.curves], axis=0)), initial=0.0))


def _end_of_axis(largest: float) -> float:
    """Return a round number, at most a hundredth less than this one."""
    if largest <= 0.0:
        return 1.0
    power = float(f"1e{f'{largest:e}'.split('e')[1]}")
    return next(end * power for end in _ROUND if end * power >= 0.99 * largest)


def _unit(panel: Panel) -> tuple[float, str]:
    """Return the unit in which the panel's numbers are written, and its size in the base unit."""
    top = _end_of_axis(_largest(panel))
    for size, prefix in _PREFIXES.get(panel.unit, ()):
        if top >= size:
            return size, prefix + panel.unit
    return 1.0, panel.unit


def _number(value: float) -> str:
    """Write a number with three digits, or all those before the decimal point."""
    if value != value:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100.0 else f"{value:.3g}"
