"""Figure 2: the estimate of the loss ratio."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel


def figure2(evidence: Evidence) -> Iterator[Curve]:
    """Draw p, its estimate and the loss ratio that the load needs, over a whole run and over three seconds."""
    runs = evidence["fig2"]
    needed = runs.mean("loss_ratio", "LRED", {"seed": runs.study.seeds[0]}).mean or 0.0
    for panel, low, high, bin in (("a", 0.0, 200.0, 0.2), ("b", 40.0, 43.0, 0.0)):
        for name, quantity in (("p", "p.mean"), ("l(k), estimated", "loss_ratio.mean")):
            curve = runs.over_time(panel, "LRED", quantity=quantity, bin=bin, name=name)
            x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            shown = (x >= low) & (x <= high)
            yield Curve(panel, name, x[shown], y[shown])
        yield Curve(panel, "p0, measured", [low, high], [needed, needed], style="dashed")


TIME = Axis("Time (s)", 0, 200)
PROBABILITY = Axis("Probability", 0, 0.5)

FIGURE_2 = Figure(
    name="fig2",
    title="LRED's drop probability and its estimate of the loss ratio",
    needs=["fig2"],
    panels=[
        Panel("a", "0 to 200 s", TIME, PROBABILITY),
        Panel("b", "40 to 43 s", Axis("Time (s)", 40, 43), Axis("Probability", 0.05, 0.2)),
    ],
    curves=figure2,
    caption="200 flows, which lose 12 % as in the paper's example; the paper does not state its number. In "
    "(a) p is averaged over 0.2 s, in (b) over 20 ms.",
)
