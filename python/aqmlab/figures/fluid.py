"""The fluid model and the packet simulation in one figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from aqmlab.figures.runs import BARS, COLOURS, STYLE, bars
from aqmlab.text import printable

if TYPE_CHECKING:
    import polars
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

    Array = NDArray[np.float64]
    Whole = NDArray[np.intp]

BINS = 500
"""The largest number of bins of a curve: with more, the curve of packets would be too dense to read."""

FLUID, PACKET = COLOURS[:2]
"""The colours of the fluid model and of packets, as in the bars and the report."""


def beside(results: Mapping[str, Result], figure: Figure | None = None) -> Figure:
    """Draw queue and drop probability of the fluid model over those of packets, and the main metrics of both.

    ``results`` has ``fluid`` and ``packet``, both with recorded series; ``figure`` is an empty figure to draw in, by
    default a new one from pyplot. With several seeds, each bin shows the mean, least and greatest of the runs' means.
    """
    fluid, packet = results["fluid"], results["packet"]
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        figure.set_size_inches(12, 6.4)
        title = printable(f"{fluid.scenario.title}: {fluid.scenario.aqm}".lstrip(": "))
        figure.suptitle(title, fontsize=12, parse_math=False)
        left, right = cast("list[SubFigure]", figure.subfigures(1, 2, width_ratios=[2.6, 1]))
        queue, loss = left.subplots(2, 1, sharex=True, height_ratios=[1.5, 1])
        _both(queue, fluid, packet, "queue")
        if fluid.scenario.target is not None:
            queue.axhline(fluid.scenario.target, color="#444444", linewidth=0.8, linestyle=(0, (5, 3)), zorder=1)
        queue.set_title("Queue (packets)", loc="left", fontsize=9.5, fontweight="bold")
        both_say = all("p" in one.signals for one in (fluid, packet))
        _both(loss, fluid, packet, "p" if both_say else "")
        said = "Drop probability (%)" if both_say else "Dropped (%)"
        loss.set_title(said, loc="left", fontsize=9.5, fontweight="bold")
        loss.set_xlabel("Time (s)", loc="left")
        queue.legend(loc="upper right", fontsize=8, frameon=False, ncols=3, borderaxespad=0.1)
        for axes, name in zip(right.subplots(len(BARS), 1), BARS, strict=True):
            bars(axes, name, results)
    return figure


def _both(axes: Axes, fluid: Result, packet: Result, quantity: str) -> None:
    """Draw the fluid model's curve over that of packets."""
    t, runs = _course(packet, quantity)
    mean, least, greatest = runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0)
    seeds = len(packet.seeds)
    told = f"packets, mean of {seeds} seeds" if seeds > 1 else f"packets, seed {packet.seeds[0]}"
    if seeds > 1:
        band = f"least to greatest of {seeds} seeds"
        axes.fill_between(t, least, greatest, color=PACKET, alpha=0.2, linewidth=0, label=band)
    axes.plot(t, mean, color=PACKET, linewidth=0.9, label=told)
    t, runs = _course(fluid, quantity)
    axes.plot(t, runs[0], color=FLUID, linewidth=1.6, label="fluid model")
    if fluid.scenario.warmup:
        axes.axvspan(0, fluid.scenario.warmup, color="#888888", alpha=0.08, linewidth=0)
    axes.set_xlim(0, fluid.scenario.duration)
    late = t > fluid.scenario.warmup  # the overflow at the start would flatten the rest of the curve
    highest = max(greatest[late].max(initial=0), runs[0][late].max(initial=0))
    axes.set_ylim(0, 1.15 * highest if highest > 0 else 1)


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
