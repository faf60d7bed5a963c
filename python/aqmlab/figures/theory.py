"""Figures that compare theory with the packet simulation: arrays in, a matplotlib figure out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from aqmlab.figures.runs import COLOURS, STYLE

_DASHES: Any = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 2, 1, 2)))
"""Line styles, which distinguish curves in addition to their colours."""


def queue_distribution(
    seen: Mapping[str, ArrayLike],
    models: Mapping[str, Mapping[str, ArrayLike]],
    figure: Figure | None = None,
) -> Figure:
    """Draw the distribution of queue lengths as observed, and as predicted by models: a panel for each title.

    ``seen`` maps titles to the queue in packets at equally spaced times, shape (samples,). ``models`` maps the same
    titles to the probability or density of 0, 1, ..., B packets by the label of each model, shape (B + 1,). The legend
    has mean and standard deviation of each curve. ``figure`` is an empty figure to draw in, by default a new one from
    pyplot. Raises `ValueError` if the titles differ or there are none.
    """
    if not seen or set(seen) != set(models):
        raise ValueError(f"seen has {list(seen)}, models has {list(models)}: must be the same titles, at least one")
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        across, deep = min(2, len(seen)), -(-len(seen) // 2)
        figure.set_size_inches(1 + 4.5 * across, 0.6 + 3.2 * deep)
        panels = figure.subplots(deep, across, squeeze=False).ravel()
        for axes in panels[len(seen) :]:
            axes.remove()
        for axes, (title, values) in zip(panels, seen.items(), strict=False):
            queue = np.asarray(values, dtype=float)
            spread = float(queue.std())
            axes.hist(
                queue,
                bins=max(10, int(np.ceil(12 * np.ptp(queue) / (4 * spread)))) if spread else 10,
                density=True,
                color="#c8ccd0",
                label=_named("packet engine", float(queue.mean()), spread),
            )
            shown = [queue.min(), queue.max()]
            for place, (label, given) in enumerate(models[title].items()):
                density = np.asarray(given, dtype=float)
                q = np.arange(density.size)
                mean = float(density @ q / density.sum())
                sd = float(np.sqrt(density @ (q - mean) ** 2 / density.sum()))
                shown += [mean - 3.5 * sd, mean + 3.5 * sd]
                axes.plot(
                    q,
                    density,
                    color=COLOURS[place % len(COLOURS)],
                    linestyle=_DASHES[place % len(_DASHES)],
                    linewidth=1.4,
                    label=_named(label, mean, sd),
                )
            axes.set_xlim(max(0, min(shown)), max(shown))
            axes.set_ylim(0, 1.4 * axes.get_ylim()[1])
            axes.set_title(title, loc="left", fontsize=9, fontweight="bold", parse_math=False)
            axes.set_xlabel("Queue (packets)")
            axes.legend(fontsize=7, loc="upper left", frameon=False)
        figure.supylabel("Probability per packet", fontsize=9)
    return figure


def bifurcation(gains: ArrayLike, points: ArrayLike, exponents: ArrayLike, figure: Figure | None = None) -> Figure:
    """Draw the long-term orbits of a map over its gain, and below them its Lyapunov exponents.

    ``gains`` (for RAQM alpha r0) and ``exponents`` have shape (gains,), ``points`` (for RAQM r / r0) has shape (gains,
    kept). ``figure`` is an empty figure to draw in, by default a new one from pyplot. Raises `ValueError` if the shapes
    do not fit.
    """
    m, x, rate = (np.asarray(one, dtype=float) for one in (gains, points, exponents))
    if m.ndim != 1 or x.ndim != 2 or len(x) != len(m) or rate.shape != m.shape:
        raise ValueError(f"shapes {m.shape}, {x.shape}, {rate.shape}: must be (gains,), (gains, kept), (gains,)")
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        figure.set_size_inches(8, 5.5)
        above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
        dots: Any = {"linestyle": "", "marker": ",", "color": COLOURS[0], "rasterized": True}
        above.plot(np.repeat(m, x.shape[1]), x.ravel(), **dots)
        above.set_ylabel("$r / r_0$")
        below.axhline(0, color="#666666", linewidth=0.8)
        below.plot(m, rate, color=COLOURS[1], linewidth=0.9)
        below.set_ylim(bottom=max(-3.0, float(np.min(rate))))
        below.set_ylabel("Lyapunov's exponent")
        below.set_xlabel("$m = \\alpha r_0$")
        below.set_xlim(m.min(), m.max())
    return figure


def _named(label: str, mean: float, sd: float) -> str:
    return f"{label}: {mean:.0f} ± {sd:.0f}"
