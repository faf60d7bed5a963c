"""A measurement, and the simulated link that is most like it, over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.model import COLOURS, Axis, Curve, Figure, Grid, Panel

if TYPE_CHECKING:
    from aqmlab.calibrate import Calibration
    from aqmlab.calibrate.view import View
    from aqmlab.figures.model import Array


KINDS = {
    "droptail": "drop tail",
    "headdrop": "head drop",
    "red": "RED",
    "codel": "CoDel",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
}
"""The names of the kinds of queues for readers."""

ABOVE = 1.5
"""By this factor of the link's rate peaks may be above it before they are cut off."""

NOTE = (
    "Losses, and the dips after them, come at other times in a simulation: compare how deep and how often they are. "
    "Peaks above the link's rate are data that waited for a lost segment, and came all at once."
)


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
    time, delay = Axis("Time under load (s)", 0.0), "Wait in the queue (ms)"
    highest = min(ABOVE * found.rate.value, max(float(one.rate.max()) for one in both.values())) / 1e6
    sent = "data" if found.recording.own else "probes"
    panels = [
        Panel(title="", x=time, y=Axis("Rate of IP packets (Mbit/s)", 0.0, 1.05 * highest), shapes=rates),
        Panel(title="", x=time, y=Axis(delay, 0.0), shapes=delays),
        Panel(title="", x=Axis(delay, 0.0), y=Axis(f"Share of {sent} that wait no longer", 0.0, 1.0), shapes=shares),
    ]
    kind = KINDS[found.posterior.kinds[found.best]]
    return Figure(
        title=f"The measurement, and the simulated link that is most like it ({kind})",
        rows=[[Grid(panels=panels[:2], same_x=True, height=2.2)], [Grid(panels=panels[2:], height=2.2)]],
        name="calibration",
        legend=True,
        small_print=NOTE,
    )


def _middles(one: View) -> Array:
    return (np.arange(len(one.rate), dtype=np.float64) + 0.5) * one.step


def _distribution(one: View, name: str, colour: str) -> Curve:
    known = np.sort(one.delay) * 1e3
    return Curve(x=known, y=np.arange(1, len(known) + 1) / len(known), name=name, colour=colour, steps=True)
