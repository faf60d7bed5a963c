"""Figures that compare theory with the packet simulation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from aqmlab.figures.model import COLOURS, Axis, Bars, Curve, Figure, Grid, Guide, Panel, Shape

_DASHES = ((), (5.0, 2.0), (1.0, 1.2), (5.0, 2.0, 1.0, 2.0))
"""Dashes, which distinguish curves in addition to their colours."""


def queue_distribution(seen: Mapping[str, ArrayLike], models: Mapping[str, Mapping[str, ArrayLike]]) -> Figure:
    """Show the distribution of queue lengths as observed, and as predicted by models: a panel for each title.

    ``seen`` maps titles to the queue in packets at equally spaced times, shape (samples,). ``models`` maps the same
    titles to the probability or density of 0, 1, ..., B packets by the label of each model, shape (B + 1,). The titles
    have mean and standard deviation of each curve. Raise `ValueError` if the titles differ or there are none.
    """
    if not seen or set(seen) != set(models):
        raise ValueError(f"seen has {list(seen)}, models has {list(models)}: must be the same titles, at least one")
    panels = [_queue(title, np.asarray(values, float), models[title]) for title, values in seen.items()]
    grid = Grid(panels=panels, across=min(2, len(panels)), height=2.6)
    return Figure(title="", rows=[[grid]], legend=True)


def _queue(title: str, queue: np.ndarray[tuple[int], np.dtype[np.float64]], models: Mapping[str, ArrayLike]) -> Panel:
    spread = float(queue.std())
    bins = max(10, int(np.ceil(12 * np.ptp(queue) / (4 * spread)))) if spread else 10
    heights, edges = np.histogram(queue, bins, density=True)
    middles = (edges[1:] + edges[:-1]) / 2
    width = float(edges[1] - edges[0])
    shapes: list[Shape] = [
        Bars(name="packet engine", at=middles, value=heights, width=width, gap=0.0, colours=["#c8ccd0"] * bins)
    ]
    texts = [_named("packet engine", float(queue.mean()), spread)]
    shown = [queue.min(), queue.max()]
    for place, (label, given) in enumerate(models.items()):
        density = np.asarray(given, dtype=float)
        q = np.arange(density.size, dtype=float)
        mean = float(density @ q / density.sum())
        sd = float(np.sqrt(density @ (q - mean) ** 2 / density.sum()))
        shown += [mean - 3.5 * sd, mean + 3.5 * sd]
        colour, dash = COLOURS[place % len(COLOURS)], _DASHES[place % len(_DASHES)]
        shapes.append(Curve(x=q, y=density, name=label, colour=colour, dash=dash))
        texts.append(_named(label, mean, sd))
    return Panel(
        title="\n".join([title, "; ".join(texts)]),
        x=Axis("Queue (packets)", max(0.0, float(min(shown))), float(max(shown))),
        y=Axis("Probability per packet", 0.0),
        shapes=shapes,
    )


def bifurcation(gains: ArrayLike, points: ArrayLike, exponents: ArrayLike) -> Figure:
    """Show the long-term orbits of a map over its gain, and below them its Lyapunov exponents.

    ``gains`` (for RAQM alpha r0) and ``exponents`` have shape (gains,), ``points`` (for RAQM r / r0) has shape (gains,
    kept). Raise `ValueError` if the shapes do not fit.
    """
    m, x, rate = (np.asarray(one, dtype=float) for one in (gains, points, exponents))
    if m.ndim != 1 or x.ndim != 2 or len(x) != len(m) or rate.shape != m.shape:
        raise ValueError(f"shapes {m.shape}, {x.shape}, {rate.shape}: must be (gains,), (gains, kept), (gains,)")
    gain = Axis("m = \N{GREEK SMALL LETTER ALPHA} r0", float(m.min()), float(m.max()))
    orbits = Curve(x=np.repeat(m, x.shape[1]), y=x.ravel(), colour=COLOURS[0], width=0.0, mark="pixel")
    lines: list[Shape] = [Guide(value=0.0, dash=()), Curve(x=m, y=rate, colour=COLOURS[1], width=0.9)]
    lowest = max(-3.0, float(np.min(rate)))
    panels = [
        Panel(title="", x=gain, y=Axis("r / r0"), shapes=[orbits]),
        Panel(title="", x=gain, y=Axis("Lyapunov exponent", lowest), shapes=lines),
    ]
    return Figure(title="", rows=[[Grid(panels=panels, same_x=True)]])


def _named(label: str, mean: float, sd: float) -> str:
    return f"{label}: {mean:.0f} ± {sd:.0f}"
