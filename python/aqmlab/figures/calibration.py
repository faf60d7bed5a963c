"""A measurement, and the simulated link that is most like it, over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.model import COLOURS, Axis, Curve, Figure, Grid, Panel

if TYPE_CHECKING:
    from aqmlab.calibrate import Calibration
    from aqmlab.calibrate.view import View
    from aqmlab.figures.model import Array


def figure(found: Calibration, simulated: View) -> Figure:
    """Show the rate and the queue's delay of both over time, and how the delays are distributed."""
    both = {"measured": found.view, "simulated": simulated}
    colours = dict(zip(both, COLOURS, strict=False))
    rates = [
        Curve(x=_middles(one), y=one.rate / 1e6, name=name, colour=colours[name], width=1.0)
        for name, one in both.items()
    ]
    delays = [
        Curve(x=one.times, y=one.delay * 1e3, name=name, colour=colours[name], width=0.9) for name, one in both.items()
    ]
    shares = [_distribution(one, name, colours[name]) for name, one in both.items()]
    time, delay = Axis("Time under load (s)", 0.0), "Delay above the base (ms)"
    panels = [
        Panel(title="", x=time, y=Axis("Rate of IP packets (Mbit/s)", 0.0), shapes=rates),
        Panel(title="", x=time, y=Axis(delay, 0.0), shapes=delays),
        Panel(title="", x=Axis(delay, 0.0), y=Axis("Share of the probes", 0.0, 1.0), shapes=shares),
    ]
    kind = found.posterior.kinds[found.best]
    return Figure(
        title=f"The measurement, and the simulated link that is most like it ({kind})",
        rows=[[Grid(panels=panels[:2], same_x=True, height=2.2)], [Grid(panels=panels[2:], height=2.2)]],
        name="calibration",
        legend=True,
    )


def _middles(one: View) -> Array:
    return (np.arange(len(one.rate), dtype=np.float64) + 0.5) * one.step


def _distribution(one: View, name: str, colour: str) -> Curve:
    known = np.sort(one.delay) * 1e3
    return Curve(x=known, y=np.arange(1, len(known) + 1) / len(known), name=name, colour=colour, steps=True)
