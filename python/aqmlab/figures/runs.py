"""Figures of results: the queue over time, the main metrics, distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures import engines
from aqmlab.figures.context import target, warmup
from aqmlab.figures.model import COLOURS, Axis, Bars, Curve, Figure, Grid, Panel, Shape, dash, shades
from aqmlab.figures.wireless import stations
from aqmlab.results.distribution import curve, panels
from aqmlab.results.distribution import share as share_axis
from aqmlab.results.metrics import DISTRIBUTIONS, METRICS
from aqmlab.results.series import averaged
from aqmlab.results.summary import share
from aqmlab.text import printable, wrapped

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

BARS = ("queue_mean", "queue_mad", "loss_ratio", "link_goodput")
"""The metrics shown as bars."""

MANY = len(COLOURS)
"""The largest number of results with a colour each; of more, each has a row of bars and a small panel instead."""

_PANEL_WIDTH = 30
"""The number of characters in one line above a small panel."""

SMALL_BINS = 250
"""The number of bins for which a small panel has room."""


def comparison(results: Mapping[str, Result]) -> Figure:
    """Show the queue over time, a panel for each result, and the main metrics as bars with 95 % confidence intervals.

    The panels show the means over the seeds. More than `MANY` results are sorted by their mean queue, the bars are
    above, and the panels are small. Several engines share the panel of a discipline. Of a wireless LAN, a
    cell or a cable network, what each station, user or modem gets is below.
    """
    if not results:
        raise ValueError("there are no results to draw")
    timed = recorded(results)
    title = next(iter(results.values())).scenario.title
    metrics = main_metrics(results)
    if not timed:
        return Figure(title=title, rows=[[metrics]])
    if engines.several(timed):
        return _beside(timed, title, metrics)
    queues = over_time(results, "queue", engines.QUEUE)
    rows = [[metrics], [queues]] if len(results) > MANY else [[queues, metrics]]
    if len(results) <= MANY and (air := stations(results, colours(results))):
        rows.append([air])
    return Figure(title=title, rows=rows, small_print=explained(timed))


def _beside(timed: Mapping[str, Result], title: str, metrics: Grid) -> Figure:
    """Show the queues on several engines, of a single discipline also the losses, and the main metrics."""
    grid = engines.queues(timed)
    if len(grid.panels) == 1:
        title = f"{title}: {next(iter(timed.values())).discipline}".lstrip(": ")
        grid = replace(grid, panels=[*grid.panels, *engines.losses(timed).panels])
    rows = [[metrics], [grid]] if len(metrics.panels[0].y.categories) > MANY else [[grid, metrics]]
    return Figure(title=title, rows=rows, legend=True, small_print=engines.EXPLAINED)


def distribution(results: Mapping[str, Result], name: str) -> Figure:
    """Show a distribution of `aqmlab.DISTRIBUTIONS`: a panel for each traffic entry or link, a curve for each result.

    With several seeds, curves show the means. Of several engines each has a colour, and each discipline its dashes.
    Raise `LookupError` if no result has values of the distribution.
    """
    shown = panels(results, name)
    if not shown:
        raise LookupError(f"these results have no values of {name}")
    counted = DISTRIBUTIONS[name].counted
    x, y = Axis(DISTRIBUTIONS[name].axis, whole=counted), Axis(share_axis(name), log=counted)
    colour = colours(results)
    dashes = engines.dashes(results) if engines.several(results) else {label: dash(colour[label]) for label in results}
    order = list(by_queue(results)) if len(results) > MANY else list(results)
    drawn = []
    for owner, numbers in shown.items():
        shapes = []
        for label in order:
            if label in numbers:
                values, shares = (np.array(one, float) for one in curve(name, numbers[label]))
                mark = "circle" if counted else ""
                line = Curve(x=values, y=shares, name=label, colour=colour[label], width=1.2, mark=mark, size=2.5)
                shapes.append(replace(line, dash=dashes[label]))
        drawn.append(Panel(title=owner, x=x, y=y, shapes=shapes))
    grid = Grid(panels=drawn, across=min(len(drawn), 4), same_y=True)
    return Figure(title="", rows=[[grid]], legend=True, name=name)


def over_time(results: Mapping[str, Result], quantity: str, label: str) -> Grid:
    """Show a quantity of the observed link over time, a panel for each result that has it."""
    many = len(results) > MANY
    colour = colours(results)
    timed = with_quantity(results, quantity)
    drawn = []
    for place, (name, result) in enumerate((by_queue(timed) if many else timed).items()):
        line = COLOURS[0] if many else colour[name]
        title = "\n".join(wrapped(name, _PANEL_WIDTH)) if many else printable(name)
        first = place % engines.ACROSS == 0 if many else place == len(timed) // 2
        drawn.append(
            Panel(
                title=title,
                x=Axis("Time (s)", 0.0, result.scenario.duration),
                y=Axis(label if first else "", 0.0),
                shapes=_course(name, result, quantity, line, SMALL_BINS if many else None),
                colour=line,
            )
        )
    across, height = (engines.ACROSS, 1.0) if many else (1, max(1.0, 4.2 / len(drawn)))
    return Grid(panels=drawn, across=across, height=height, weight=2.4, same_x=True, same_y=True)


def main_metrics(results: Mapping[str, Result], across: int = 1) -> Grid:
    """Show the metrics of `BARS`, each with a bar for each result, its interval and its value.

    ``across`` is the number of panels in a row; for more than `MANY` results all are in one row.
    """
    many = len(results) > MANY
    results = by_queue(results) if many else results
    known = [name for name in BARS if any(result[name].mean is not None for result in results.values())]
    drawn = [bars(name, results) for name in known]
    grid = Grid(panels=drawn, across=len(drawn) if many else across, same_y=many)
    lines = max(len(grid.beside(label)) for label in results)
    return replace(grid, height=0.1 + (0.06 + 0.14 * lines) * len(results))


def bars(name: str, results: Mapping[str, Result]) -> Panel:
    """Show a metric of `aqmlab.METRICS` as a bar for each result, with its interval and its value."""
    metric = METRICS[name]
    summaries = [result[name] for result in results.values()]
    values = np.array([np.nan if one.mean is None else one.mean * metric.scale for one in summaries])
    spread = np.array([np.nan if one.ci95 is None else one.ci95 * metric.scale for one in summaries])
    texts = [
        metric.text(summary.mean) + share(summary, len(result.runs))
        for result, summary in zip(results.values(), summaries, strict=True)
    ]
    ranked = len(results) > MANY and not engines.several(results)
    shape = Bars(
        at=np.arange(len(results), dtype=float),
        value=values,
        colours=[COLOURS[0]] * len(results) if ranked else list(colours(results).values()),
        interval=None if np.isnan(spread).all() else (values - spread, values + spread),
        horizontal=True,
        texts=texts,
    )
    rows = Axis("", categories=tuple(results), downwards=True)
    return Panel(title=metric.axis, x=Axis("", low=0.0), y=rows, shapes=[shape])


def colours(results: Mapping[str, Result]) -> dict[str, str]:
    """Assign a colour to each result by label; of several engines each has one.

    More results than there are colours range from dark to light by their mean queue.
    """
    if engines.several(results):
        return engines.colours(results)
    order = by_queue(results) if len(results) > MANY else results
    ranked = dict(zip(order, shades(len(results)), strict=True))
    return {label: ranked[label] for label in results}


def by_queue(results: Mapping[str, Result]) -> dict[str, Result]:
    """Sort results by their mean queue, the shortest first and those without one last, as `comparison` shows many.

    Those of several engines keep their order, in which those of a discipline are neighbours.
    """
    if engines.several(results):
        return dict(results)
    means = {label: result["queue_mean"].mean for label, result in results.items()}
    return {label: results[label] for label in sorted(results, key=lambda label: (means[label] is None, means[label]))}


def recorded(results: Mapping[str, Result]) -> dict[str, Result]:
    """Select the results whose first run recorded the queue."""
    return {label: one for label, one in results.items() if one.recordings[one.seeds[0]].queue is not None}


def with_quantity(results: Mapping[str, Result], quantity: str) -> dict[str, Result]:
    """Select the results that recorded the queue or, if ``quantity`` is a signal, have the signal too."""
    return {label: one for label, one in recorded(results).items() if quantity == "queue" or quantity in one.signals}


def band(result: Result, quantity: str = "queue", most: int | None = None) -> dict[str, NDArray[np.float64]]:
    """Return a quantity of the observed link over time: its mean over the seeds, its least and its greatest value.

    ``quantity`` is ``queue`` or a signal of the algorithm. The result has ``t``, and ``min``, ``mean`` and ``max`` of
    each bin; neighbouring bins are merged to at most ``most`` bins, if given.
    """
    low, middle, high = (f"{result.link}.{quantity}.{which}" for which in ("min", "mean", "max"))
    series = averaged([result.series_of(seed).select("t", low, middle, high) for seed in result.seeds])
    t, least, mean, greatest = (series[name].to_numpy() for name in ("t", f"{low}.least", middle, f"{high}.greatest"))
    if most is not None and len(t) > most:
        firsts = np.arange(0, len(t), -(-len(t) // most))
        mean = np.add.reduceat(mean, firsts) / np.diff(firsts, append=len(t))
        t, least, greatest = t[firsts], np.minimum.reduceat(least, firsts), np.maximum.reduceat(greatest, firsts)
    return {"t": t, "min": least, "mean": mean, "max": greatest}


def explained(timed: Mapping[str, Result]) -> str:
    """Describe how to read a quantity over time: line, band, and over how many runs they are taken."""
    most = max(len(result.seeds) for result in timed.values())
    parts = [f"line and band: mean, least and greatest value of each bin{f', over {most} runs' if most > 1 else ''}"]
    parts += ["dashes: target"] * any(target(result) for result in timed.values())
    parts += ["grey: warm-up, which the metrics leave out"] * any(warmup(result) for result in timed.values())
    return "; ".join(parts)


def _course(name: str, result: Result, quantity: str, colour: str, most: int | None) -> list[Shape]:
    values = {key: np.asarray(one, float) for key, one in band(result, quantity, most).items()}
    line = Curve(
        x=values["t"], y=values["mean"], interval=(values["min"], values["max"]), name=name, colour=colour, width=0.9
    )
    return [*warmup(result), line, *(target(result) if quantity == "queue" else [])]
