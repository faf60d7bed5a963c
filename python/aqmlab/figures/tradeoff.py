"""The trade-off between goodput and queueing delay: each result as a point, better the further up and to the right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures import engines
from aqmlab.figures.model import Axis, Curve, Figure, Grid, Note, Panel, Shape, grounded, limits, marks
from aqmlab.figures.runs import MANY, colours
from aqmlab.results.cases import discipline, disciplines
from aqmlab.results.metrics import METRICS
from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.results.result import Result
    from aqmlab.results.summary import Summary

GOODPUT = "link_goodput"
"""That of the observed link: it is no more than the link's rate, where goodputs in both directions together may be."""

DELAYS = ("queue_delay_mean", "queue_delay_p95")
"""The delays, each with a panel."""

EXPLAINED = "better: up and to the right; the delay axis is reversed"
"""How to read the figure."""

_WIDE = 10.0
"""The ratio of the greatest to the least delay from which the axis is logarithmic."""

_ROOM = 0.12
"""The room around the points, as a fraction of their range."""

_EDGE = 0.03
"""The room for a mark at 0, as a fraction of the range."""

_REACH = 0.5
"""The part of an interval's bar that is shown beyond the points, as a fraction of their range."""

_SIZE, _LARGE = (280.0, 240.0), (460.0, 360.0)
"""About the size of a panel in points, to place the labels; the second is that of a panel with many."""

_CHARACTER, _LINE = 4.8, 11.0
"""Points: about the width of a character of a label, and the height of its line."""

_MARK = 2.5
"""Points around a mark or a bar that labels keep free."""

_BESIDE = 7.0
"""Points between the mean and its label."""


@dataclass(frozen=True)
class Point:
    """A result: delay and goodput of each run, their means, and half of the means' intervals, in the axes' units."""

    label: str
    runs: tuple[tuple[float, float], ...]
    mean: tuple[float, float]
    halves: tuple[float | None, float | None]


def tradeoff(results: Mapping[str, Result]) -> Figure:
    """Show the goodput over the mean queueing delay and over its 95th percentile.

    Each run has a mark, and the mean of several a larger one with its label, crossed by the 95 % confidence intervals.
    More than `MANY` results have larger panels. Raise `LookupError` if no result has a goodput and such a delay.
    """
    found = {name: _points(results, name) for name in DELAYS}
    drawn = [_panel(name, points, results) for name, points in found.items() if points]
    if not drawn:
        raise LookupError("these results have no goodput or no queueing delay")
    many = len(results) > MANY
    across, height = (1, 5.0) if many else (len(drawn), 3.4)
    return Figure(
        title=next(iter(results.values())).scenario.title,
        rows=[[Grid(panels=drawn, across=across, height=height, same_y=not many)]],
        small_print=explained(results),
    )


def is_drawn(results: Mapping[str, Result]) -> bool:
    """Return whether a result has what `tradeoff` shows."""
    return any(_points(results, name) for name in DELAYS)


def explained(results: Mapping[str, Result]) -> str:
    """Write the small print: how to read the axes and, if there are several runs, the marks and the bars."""
    if all(len(result.runs) == 1 for result in results.values()):
        return EXPLAINED
    return f"{EXPLAINED}; hollow: the runs; filled: their mean, with 95 % confidence intervals (Student)"


def _points(results: Mapping[str, Result], name: str) -> list[Point]:
    x, y = METRICS[name], METRICS[GOODPUT]
    found = []
    for label, result in results.items():
        delay, goodput = result[name], result[GOODPUT]
        if delay.mean is None or goodput.mean is None:
            continue
        pairs = [(run.metrics[name], run.metrics[GOODPUT]) for run in result.runs]
        runs = tuple((a * x.scale, b * y.scale) for a, b in pairs if a is not None and b is not None)
        halves = (_half(delay, x.scale), _half(goodput, y.scale))
        mean = (delay.mean * x.scale, goodput.mean * y.scale)
        found.append(Point(label, runs, mean, halves))
    return found


def _half(summary: Summary, scale: float) -> float | None:
    return None if summary.ci95 is None else summary.ci95 * scale


def _panel(name: str, points: Sequence[Point], results: Mapping[str, Result]) -> Panel:
    return scattered("", METRICS[name].axis, METRICS[GOODPUT].axis, points, colours(results), _marks(results))


def scattered(
    title: str, delay: str, goodput: str, points: Sequence[Point], shade: Mapping[str, str], mark: Mapping[str, str]
) -> Panel:
    """Return a panel of points; `delay` and `goodput` label its axes, `shade` and `mark` have colours and marks."""
    delays = [point.mean[0] for point in points]
    log = is_wide(delays)
    across, upright = (
        grounded(Axis(label, *extent(points, axis, wide), log=wide), [], "x")
        for axis, label, wide in ((0, delay, log), (1, goodput, False))
    )
    x, y = (limits([axis], [], "x") for axis in (across, upright))
    shapes: list[Shape] = []
    for point in points:
        look: Any = {"colour": shade[point.label], "mark": mark[point.label]}
        for bar in _bars(point, x, y):
            shapes.append(Curve(x=bar[0], y=bar[1], colour=shade[point.label], width=1.1))
        if len(point.runs) > 1:
            at = np.array(point.runs, float)
            shapes.append(Curve(x=at[:, 0], y=at[:, 1], width=0.0, hollow=True, size=3.2, **look))
    for point in points:
        at = np.array([point.mean], float)
        look = {"colour": shade[point.label], "mark": mark[point.label]}
        shapes.append(Curve(x=at[:, 0], y=at[:, 1], width=0.0, size=6.5, name=point.label, **look))
    shapes += labels(points, shade, x, y, log)
    return Panel(
        title=title,
        x=replace(across, label=f"{across.label}, reversed", downwards=True),
        y=upright,
        shapes=shapes,
    )


def is_wide(delays: Sequence[float]) -> bool:
    """Return whether delays differ so much that their axis is logarithmic."""
    return min(delays) > 0 and max(delays) > _WIDE * min(delays)


def _marks(results: Mapping[str, Result]) -> dict[str, str]:
    """Assign a mark to each label; of several engines, which have a colour each, every discipline has one."""
    names = disciplines(results) if engines.several(results) else list(results)
    chosen = dict(zip(names, marks(len(names)), strict=True))
    return {
        label: chosen[discipline(label, one) if engines.several(results) else label] for label, one in results.items()
    }


def extent(points: Sequence[Point], axis: int, log: bool) -> tuple[float, float]:
    """Return the ends of an axis: all runs have room, and intervals up to a limit, beyond which they are cut off."""
    values = np.array([value[axis] for point in points for value in (*point.runs, point.mean)], float)
    halves = [0.0 if (half := point.halves[axis]) is None else half for point in points]
    middles = np.array([point.mean[axis] for point in points])
    lows, highs = np.maximum(middles - halves, 0.0), middles + halves
    if log:
        lows = np.maximum(lows, values[values > 0].min() / _WIDE)
        values, lows, highs = np.log(values[values > 0]), np.log(lows), np.log(highs)
    low, high = float(values.min()), float(values.max())
    span = (high - low) or (0.5 if log else 0.1 * abs(high)) or 1.0
    low = max(min(low, float(lows.min())), low - _REACH * span) - _ROOM * span
    high = min(max(high, float(highs.max())), high + _REACH * span) + _ROOM * span
    return (float(np.exp(low)), float(np.exp(high))) if log else (max(low, -_EDGE * span), high)


def _bars(point: Point, *ends: tuple[float, float]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the ends of the interval along each axis, cut off at the edge of the panel."""
    for axis, half in enumerate(point.halves):
        if half is not None:
            bar = np.array([point.mean, point.mean], float)
            bar[:, axis] = np.clip([point.mean[axis] - half, point.mean[axis] + half], *ends[axis])
            yield bar[:, 0], bar[:, 1]


def labels(
    points: Sequence[Point], shade: Mapping[str, str], x: tuple[float, float], y: tuple[float, float], log: bool
) -> Iterator[Note]:
    """Yield a label beside each mean, moved to where it covers no mark, no bar and no other label."""
    scale = np.log if log else np.asarray
    size = _LARGE if len(points) > MANY else _SIZE

    def placed(delay: float, goodput: float) -> tuple[float, float]:
        """Return the place of a point in the panel, in typographic points from its lower left corner."""
        along = float((scale(x[1]) - scale(delay)) / (scale(x[1]) - scale(x[0])))
        return along * size[0], (goodput - y[0]) / (y[1] - y[0]) * size[1]

    taken: list[_Box] = []
    for point in points:
        corners = [(place, place) for place in (placed(*one) for one in (*point.runs, point.mean))]
        corners += [(placed(a[0], b[0]), placed(a[1], b[1])) for a, b in _bars(point, x, y)]
        taken += [
            (min(a[0], b[0]) - _MARK, min(a[1], b[1]) - _MARK, max(a[0], b[0]) + _MARK, max(a[1], b[1]) + _MARK)
            for a, b in corners
        ]
    for point in sorted(points, key=lambda point: point.mean[1], reverse=True):
        text = printable(point.label)
        box, dx, dy, left = _free(text, *placed(*point.mean), taken, size)
        taken.append(box)
        joined = abs(dy) > _LINE / 2
        place = {"x": point.mean[0], "y": point.mean[1], "dx": dx, "dy": dy}
        yield Note(text=text, colour=shade[point.label], left=left, joined=joined, **place)


_Box = tuple[float, float, float, float]


def _free(
    text: str, at: float, up: float, taken: Sequence[_Box], size: tuple[float, float]
) -> tuple[_Box, float, float, bool]:
    """Return the nearest free box for a text beside a place; if none is free, that at its right."""
    width = _CHARACTER * len(text)
    chosen = None
    for shift in sorted((step * _LINE / 2 for step in range(-14, 15)), key=abs):
        for left in (False, True):
            start = at - _BESIDE - width if left else at + _BESIDE
            box = (start, up + shift - _LINE / 2, start + width, up + shift + _LINE / 2)
            inside = box[0] >= 0 and box[2] <= size[0] and box[1] >= 0 and box[3] <= size[1]
            found = (box, -_BESIDE if left else _BESIDE, shift, left)
            if inside and not any(_overlap(box, other) for other in taken):
                return found
            chosen = chosen or found
    assert chosen
    return chosen


def _overlap(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
