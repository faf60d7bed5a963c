"""Measurements beside a simulation: rates and delays over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.exchange.course import course
from aqmlab.figures.context import warmup
from aqmlab.figures.model import COLOURS, Axis, Curve, Figure, Grid, Panel

if TYPE_CHECKING:
    from aqmlab.exchange.measured import Measured
    from aqmlab.results.result import Result

BINS = 200
"""The largest number of bins of a simulated curve."""


def beside(result: Result, measured: Mapping[str | None, Sequence[Measured]]) -> Figure:
    """Show measurements, and the first run of a simulation at the same times.

    The upper panel has rates, measured ones in each interval and simulated ones at the observed link. The lower one has
    delays: round-trip times above the least of them, and waits in the observed queue. A measurement has the name of
    the traffic entry beside which it stands, or None for all traffic.
    """
    rates, delays = [], []
    shade = iter(COLOURS * (1 + sum(map(len, measured.values()))))
    for entry, files in measured.items():
        colour = next(shade)
        label = f"simulated: {entry or 'all traffic'}"
        simulated = course(result, [entry] if entry else list(result.runs[0].classes), most=BINS)
        t = simulated.start + simulated.step / 2
        rates.append(Curve(x=t, y=simulated.rate / 1e6, name=label, colour=colour, width=1.0))
        delays.append(Curve(x=t, y=simulated.wait * 1e3, name=label, colour=colour, width=1.0))
        for one in files:
            colour = next(shade)
            if one.rates:
                x, y = (np.array(values, float) for values in zip(*one.rates, strict=True))
                rates.append(Curve(x=x, y=y / 1e6, name=one.name, colour=colour, mark="circle", size=3.0))
            if one.delays:
                x, y = (np.array(values, float) for values in zip(*one.delays, strict=True))
                above = (y - y.min()) * 1e3
                delays.append(Curve(x=x, y=above, name=one.name, colour=colour, width=0.0, mark="circle", size=1.8))
    time = Axis("Time (s)", 0.0)
    named = {curve.name for curve in rates}
    panels = [
        Panel(title="", x=time, y=Axis("Rate (Mbit/s)", 0.0), shapes=[*warmup(result), *rates]),
        Panel(
            title="",
            x=time,
            y=Axis("Delay above the least (ms)", 0.0),
            # A name in the legend is enough.
            shapes=[*warmup(result), *(replace(one, name="") if one.name in named else one for one in delays)],
        ),
    ]
    explained = "simulated: at the observed link, with the wait in its queue; measured: goodput, and RTT less the least"
    grid = Grid(panels=panels, across=1, height=2.2, same_x=True)
    return Figure(title=result.scenario.title, rows=[[grid]], legend=True, small_print=explained)
