"""The figures: time per packet over the number of flows, with the rivals, and at several rates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

from aqmlab.figures.model import COLOURS
from aqmlab.files import replacing
from benches.bench import Bench
from benches.ns2 import Ns2
from benches.report import loop, whole
from benches.suite import Size, sizes

_STYLE: Any = {
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 10,
    "svg.hashsalt": "aqmlab",
}
_GREY = "#666666"

ALONE = "its loop alone"
"""Label of a program's curve without set-up."""


@dataclass(frozen=True)
class Curve:
    """A program's time per packet over flows.

    ``points`` has nanoseconds per packet by the number of flows; curves with the same ``program`` number share a
    colour.
    """

    name: str
    points: dict[int, float]
    program: int = 0


def curves(bench: Bench) -> list[Curve]:
    """Return the curves of rows that differ only in the number of flows, aqmlab's first.

    Only programs with points are included; the list is empty if the table over flows did not run.
    """
    ours = {
        table.flows[place]: timed.ns(whole)
        for table in bench.tables
        if table.flows and not table.rates
        for place, timed in bench.finished(table)
    }
    if not ours:
        return []
    drawn = [Curve("aqmlab", ours)]
    for number, rival in enumerate(dict.fromkeys(pair.rival for pair in bench.pairs), 1):
        of_it = [pair for pair in bench.pairs if pair.rival == rival and pair.flows and pair.theirs]
        drawn.append(Curve(rival.name, {pair.flows: pair.theirs.ns(whole) for pair in of_it}, number))
        if isinstance(rival, Ns2):  # most of its time is Tcl's, before the run
            drawn.append(Curve(f"{rival.name}, {ALONE}", {pair.flows: pair.theirs.ns(loop) for pair in of_it}, number))
    return [curve for curve in drawn if curve.points]


def by_rate(bench: Bench) -> list[Curve]:
    """Return aqmlab's curves of the table whose rows differ in the rate, too: one for each rate."""
    points: dict[str, dict[int, float]] = {}
    for table in bench.tables:
        for place, timed in bench.finished(table) if table.rates else ():
            points.setdefault(table.rates[place], {})[table.flows[place]] = timed.ns(whole)
    return [Curve(rate, found, number) for number, (rate, found) in enumerate(points.items())]


def draw_rates(bench: Bench) -> Figure:
    """Draw the time per packet over the number of flows, at each rate."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.2, 5.0), layout="constrained")
        axes = figure.subplots()
        drawn = by_rate(bench)
        for curve in drawn:
            flows, colour = sorted(curve.points), COLOURS[curve.program]
            values = [curve.points[count] for count in flows]
            axes.plot(flows, values, color=colour, marker="o", markersize=5, linewidth=1.8, label=curve.name)
        axes.set_xscale("log")
        ticks = sorted({count for curve in drawn for count in curve.points})
        axes.set_xticks(ticks, [f"{tick:,}".replace(",", " ") for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(0)
        axes.grid(axis="y", color="#e5e5e5", linewidth=0.7)
        axes.set_xlabel("Long TCP flows")
        axes.set_ylabel("CPU time a packet through the bottleneck (ns)")
        axes.legend(title="Bottleneck", frameon=False)
        machine = bench.machine
        axes.set_title(
            f"Experiment 1 with RED, aqmlab {machine['aqmlab']}, {machine['cpu']}, {machine['date'][:10]}",
            loc="left",
            fontsize=8.5,
            color=_GREY,
        )
        return figure


def draw(bench: Bench) -> Figure:
    """Draw the time per packet over the number of flows, beside the rivals."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(8.2, 5.0), layout="constrained")
        axes = figure.subplots()
        drawn = curves(bench)
        for curve in drawn:
            _curve(axes, curve)
        _scales(axes, drawn)
        _rates(axes, sizes(bench.quick), max(max(curve.points) for curve in drawn))
        axes.set_xlabel("Long TCP flows")
        axes.set_title("CPU time a packet through the bottleneck", loc="left", fontweight="bold", fontsize=12, pad=36)
        machine = bench.machine
        axes.annotate(
            "Experiment 1 with RED; of aqmlab without the start of Python, of others the whole process\n"
            f"aqmlab {machine['aqmlab']}, {machine['cpu']}, {machine['date'][:10]}",
            (0, 1),
            (0, 9),
            xycoords="axes fraction",
            textcoords="offset points",
            va="bottom",
            fontsize=8.5,
            color=_GREY,
        )
        return figure


def _curve(axes: Axes, curve: Curve) -> None:
    colour = COLOURS[curve.program]
    flows = sorted(curve.points)
    values = [curve.points[count] for count in flows]
    halo = [withStroke(linewidth=3, foreground="white")]
    beside: Any = {"textcoords": "offset points", "color": colour, "zorder": 4, "path_effects": halo}
    if curve.name.endswith(ALONE):
        axes.plot(flows, values, color=colour, linewidth=1.2, linestyle=(0, (4, 2)), zorder=2)
        axes.annotate(curve.name, (flows[-1], values[-1]), (9, 0), va="center", fontsize=9, **beside)
        return
    axes.plot(flows, values, color=colour, marker="o", markersize=5, linewidth=1.8, clip_on=False, zorder=3)
    axes.annotate(curve.name, (flows[-1], values[-1]), (9, 0), va="center", fontweight="bold", fontsize=11, **beside)
    for count, value in zip(flows, values, strict=True):
        axes.annotate(time(value), (count, value), (0, 7), ha="center", va="bottom", fontsize=8, **beside)


def _scales(axes: Axes, drawn: list[Curve]) -> None:
    """Set the ticks, with room at the right for the names and at the top for the rates."""
    values = [value for curve in drawn for value in curve.points.values()]
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(min(values) / 1.7, max(values) * 3.2)
    most = max(max(curve.points) for curve in drawn)
    axes.set_xlim(0.75, most * 4)
    ticks = [10**power for power in range(math.floor(math.log10(most)) + 1)]
    axes.set_xticks(ticks, [f"{tick:,}".replace(",", " ") for tick in ticks])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: time(value)))
    axes.grid(axis="y", color="#e5e5e5", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", which="both", length=0)
    axes.tick_params(axis="x", which="minor", length=0)


def _rates(axes: Axes, listed: list[Size], most: int) -> None:
    """Label along the top the rate that the flows share, and where it changes."""
    by_rate: dict[str, list[int]] = {}
    for size in listed:
        if size.flows <= most:
            by_rate.setdefault(size.rate, []).append(size.flows)
    top = axes.get_xaxis_transform()
    last = None
    for rate, flows in by_rate.items():
        if last is not None:
            axes.axvline(math.sqrt(last * flows[0]), color="#bbbbbb", linewidth=0.8, linestyle=(0, (2, 3)), zorder=1)
        middle = math.sqrt(flows[0] * flows[-1])
        axes.text(middle, 0.985, rate, transform=top, ha="center", va="top", fontsize=8.5, color=_GREY)
        last = flows[-1]


def time(nanoseconds: float) -> str:
    """Format nanoseconds with a suitable unit and at most three digits."""
    for unit, factor in (("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= factor:
            shown = nanoseconds / factor
            return f"{shown:.0f} {unit}" if shown >= 10 or shown == round(shown) else f"{shown:.1f} {unit}"
    return f"{nanoseconds:.0f} ns"


def save(bench: Bench, folder: Path) -> list[Path]:
    """Write the figures, each as PNG and SVG; return the files, none if there was nothing to draw."""
    figures = {"flows": draw(bench)} if curves(bench) else {}
    if by_rate(bench):
        figures["rates"] = draw_rates(bench)
    return [file for name, figure in figures.items() for file in _save(figure, folder / name)]


def _save(figure: Figure, base: Path) -> tuple[Path, Path]:
    png, svg = base.with_suffix(".png"), base.with_suffix(".svg")
    with mpl.rc_context(_STYLE):
        with replacing(png) as file:
            figure.savefig(file, dpi=160)
        with replacing(svg) as file:
            figure.savefig(file, metadata={"Date": None})
    return png, svg
