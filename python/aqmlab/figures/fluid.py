"""The fluid model and the packet simulation in one figure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.model import COLOURS, Axis, Curve, Figure, Grid, Panel
from aqmlab.figures.runs import main_metrics, target, warmup

if TYPE_CHECKING:
    import polars
    from numpy.typing import NDArray

    from aqmlab.results.result import Result

    Array = NDArray[np.float64]
    Whole = NDArray[np.intp]

BINS = 500
"""The largest number of bins of a curve: with more, the curve of packets would be too dense to read."""

FLUID, PACKET = COLOURS[:2]
"""The colours of the fluid model and of packets, as in the bars and the report."""


def beside(results: Mapping[str, Result]) -> Figure:
    """Show queue and drop probability of the fluid model over those of packets, and the main metrics of both.

    ``results`` has ``fluid`` and ``packet``, both with recorded series. With several seeds, each bin shows the mean,
    least and greatest of the runs' means.
    """
    fluid, packet = results["fluid"], results["packet"]
    signal = all("p" in one.signals for one in (fluid, packet))
    loss = "Drop probability (%)" if signal else "Dropped (%)"
    drawn = [_both(fluid, packet, "queue", "Queue (packets)"), _both(fluid, packet, "p" if signal else "", loss)]
    return Figure(
        title=f"{fluid.scenario.title}: {fluid.scenario.aqm}".lstrip(": "),
        rows=[[Grid(panels=drawn, weight=2.6, same_x=True), main_metrics(results)]],
        legend=True,
        small_print="dashes: target; grey: warm-up",
    )


def _both(fluid: Result, packet: Result, quantity: str, title: str) -> Panel:
    """Show the fluid model's curve over that of packets."""
    t, runs = _course(packet, quantity)
    mean, least, greatest = runs.mean(axis=0), runs.min(axis=0), runs.max(axis=0)
    seeds = len(packet.seeds)
    label = (
        f"packets, mean of {seeds} seeds; band: least to greatest" if seeds > 1 else f"packets, seed {packet.seeds[0]}"
    )
    interval = (least, greatest) if seeds > 1 else None
    packets = Curve(x=t, y=mean, name=label, colour=PACKET, width=0.9, interval=interval)
    times, fluids = _course(fluid, quantity)
    curve = Curve(x=times, y=fluids[0], name="fluid model", colour=FLUID, width=1.6)
    late = t > fluid.scenario.warmup  # the overflow at the start would flatten the rest of the curve
    highest = max(greatest[late].max(initial=0), fluids[0][late].max(initial=0))
    return Panel(
        title=title,
        x=Axis("Time (s)", 0.0, fluid.scenario.duration),
        y=Axis("", 0.0, 1.15 * highest if highest > 0 else 1.0),
        shapes=[*warmup(fluid), packets, curve, *(target(fluid) if quantity == "queue" else [])],
    )


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
