"""Results of several engines over time: a panel for each discipline, and in it a colour for each engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.context import target, warmup
from aqmlab.figures.model import COLOURS, Axis, Curve, Grid, Panel
from aqmlab.results.cases import case, discipline, engine, engines
from aqmlab.results.result import PACKET
from aqmlab.text import printable

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

    Array = NDArray[np.float64]
    Whole = NDArray[np.intp]

BINS = 500
"""The largest number of bins of a curve: with more, the curve of packets would be too dense to read."""

ACROSS = 5
"""The number of panels in a row, if they do not fit one below the other."""

_MOST_BELOW = 8

_DASHES: tuple[tuple[float, ...], ...] = ((), (6.0, 2.0), (1.5, 1.5), (6.0, 2.0, 1.5, 2.0))

QUEUE = "Queue (packets)"

EXPLAINED = "dashes: target; grey: warm-up"
"""How to read a quantity over time."""


def several(results: Mapping[str, Result]) -> bool:
    """Return whether the results are of several engines."""
    return len(engines(results)) > 1


def colours(results: Mapping[str, Result]) -> dict[str, str]:
    """Assign to each label the colour of its engine."""
    names = engines(results)
    return {label: COLOURS[names.index(engine(label, result)) % len(COLOURS)] for label, result in results.items()}


def dashes(results: Mapping[str, Result]) -> dict[str, tuple[float, ...]]:
    """Assign to each label the dashes of its discipline, the first of which has a solid line."""
    groups = _by_discipline(results)
    return {label: _DASHES[place % len(_DASHES)] for place, (_, group) in enumerate(groups) for label in group}


def queues(results: Mapping[str, Result]) -> Grid:
    """Show the queue over time, a panel for each discipline; all results have recorded series.

    With several seeds, each bin shows the mean, least and greatest of the runs' means.
    """
    shade = colours(results)
    return _grid([_panel(group, shade, "queue", QUEUE, title) for title, group in _titled(results)])


def losses(results: Mapping[str, Result]) -> Grid:
    """Show the drop probability over time, or where it is no signal the dropped share, as `queues` shows the queue."""
    shade = colours(results)
    panels = []
    for title, group in _titled(results):
        signal = all("p" in result.signals for result in group.values())
        quantity, label = ("p", "Drop probability (%)") if signal else ("", "Dropped (%)")
        panels.append(_panel(group, shade, quantity, label, title))
    return _grid(panels)


def _by_discipline(results: Mapping[str, Result]) -> list[tuple[str, dict[str, Result]]]:
    """Group results of equal cases; the name of a group is that of a label without its engine."""
    groups: dict[tuple[str, str], tuple[str, dict[str, Result]]] = {}
    for label, result in results.items():
        groups.setdefault(case(label, result), (discipline(label, result), {}))[1][label] = result
    return list(groups.values())


def _titled(results: Mapping[str, Result]) -> list[tuple[str, dict[str, Result]]]:
    """Group results as `_by_discipline` does, with a title for each panel; a single panel has none."""
    groups = _by_discipline(results)
    return [(printable(name) if len(groups) > 1 else "", group) for name, group in groups]


def _grid(panels: list[Panel]) -> Grid:
    below = len(panels) <= _MOST_BELOW
    height = max(1.0, 4.7 / len(panels)) if below else 1.0
    return Grid(panels=panels, across=1 if below else ACROSS, height=min(height, 2.35), weight=2.6, same_x=True)


def _panel(group: Mapping[str, Result], shade: Mapping[str, str], quantity: str, label: str, title: str) -> Panel:
    """Show the curves of several engines, those without randomness on top of the others."""
    first = next(iter(group.values()))
    highest = 0.0
    curves = []
    for name, result in sorted(group.items(), key=lambda item: not item[1].seeded):
        t, runs = _course(result, quantity)
        mean, least, greatest = runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0)
        interval = (least, greatest) if len(runs) > 1 else None
        width = 0.9 if result.seeded else 1.6
        curves.append(Curve(x=t, y=mean, name=_named(name, result), colour=shade[name], width=width, interval=interval))
        late = t > result.scenario.warmup  # the overflow at the start would flatten the rest of the curve
        highest = max(highest, greatest[late].max(initial=0))
    return Panel(
        title=title or label,
        x=Axis("Time (s)", 0.0, first.scenario.duration),
        y=Axis(label if title else "", 0.0, 1.15 * highest if highest > 0 else 1.0),
        shapes=[*warmup(first), *curves, *(target(first) if quantity == "queue" else [])],
    )


def _named(label: str, result: Result) -> str:
    """Describe a curve, for the legend."""
    if not result.seeded:
        return "fluid model"
    name = engine(label, result)
    shown = "packets" if name == PACKET else name
    if len(result.seeds) == 1:
        return f"{shown}, seed {result.seeds[0]}"
    return f"{shown}, mean of {len(result.seeds)} seeds; band: least to greatest"


def _course(result: Result, quantity: str) -> tuple[Array, Array]:
    """Return the midpoints of at most `BINS` bins, and the mean in each bin for each run."""
    series = [result.series_of(seed) for seed in result.seeds]
    t = series[0]["t"].to_numpy()
    firsts = np.arange(0, len(t), -(-len(t) // BINS))
    counts = np.diff(firsts, append=len(t))
    step = result.scenario.duration / len(t)
    runs = [_means(one, result.link, quantity, firsts, counts) for one in series]
    return t[firsts] + step * counts / 2, np.array(runs)


def _means(series: polars.DataFrame, link: str, quantity: str, firsts: Whole, counts: Whole) -> Array:
    """Return the mean of each bin: the queue, a probability in %, or without a quantity the % of arrivals dropped."""

    def sums(name: str) -> Array:
        return np.add.reduceat(series[f"{link}.{name}"].to_numpy().astype(float), firsts)

    if quantity:
        return np.asarray(sums(f"{quantity}.mean") / counts * (1 if quantity == "queue" else 100))
    arrivals = sums("arrivals")
    return np.asarray(100 * np.divide(sums("drops"), arrivals, out=np.zeros_like(arrivals), where=arrivals > 0))
