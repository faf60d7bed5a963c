"""Figures 1 and 2: how the loss ratio is measured, and p about it."""

from collections.abc import Iterator

import numpy as np
import polars

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.lred.claims.estimate import estimates
from aqmlab_papers.theory import lred


@figure(
    [Panel("", "Loss ratio", Axis("Time (s)", 0, 20), Axis("Loss ratio", 0, 0.25))],
    caption="The paper's is a diagram of a window of M periods; this is M = 4 at work at the start of figure 2's run.",
)
def fig1(fig2: Runs) -> Iterator[Curve]:
    """Measurement of the loss ratio, period by period."""
    frame = fig2.series("LRED")
    frame = frame.rename({column: column.removeprefix("bottleneck.") for column in frame.columns})
    counted = frame.group_by(polars.col("t").floor()).agg(polars.col("drops", "arrivals").sum()).sort("t")
    drops, arrivals = counted["drops"].to_numpy(), counted["arrivals"].to_numpy()
    engine, _ = estimates(frame)
    ends = np.arange(1.0, len(drops) + 1)
    for name, values in (
        ("of one period", drops / arrivals),
        ("l(k), of four periods", lred.law.loss_ratio(drops, arrivals)),
        ("L(k), smoothed", np.append(engine, np.nan)),
    ):
        yield Curve("", name, ends[:20], values[:20], style="points" if "one" in name else "steps")


@figure(
    [
        Panel("a", "0 to 200 s", Axis("Time (s)", 0, 200), Axis("Probability", 0, 0.5)),
        Panel("b", "40 to 43 s", Axis("Time (s)", 40, 43), Axis("Probability", 0.05, 0.2)),
    ],
    caption="450 flows, which lose 12 % as the text reads off its figure; the paper does not state its number. In (a) "
    "p is averaged over 0.2 s, in (b) over 20 ms.",
)
def fig2(fig2: Runs) -> Iterator[Curve]:
    """LRED's drop probability and its estimate of the loss ratio."""
    for panel, low, high, bin in (("a", 0.0, 200.0, 0.2), ("b", 40.0, 43.0, 0.0)):
        for name, quantity in (("p", "p.mean"), ("L(k)", "loss_ratio.mean")):
            curve = fig2.over_time(panel, "LRED", quantity=quantity, bin=bin, name=name)
            x, y = np.asarray(curve.x, dtype=float), np.asarray(curve.y, dtype=float)
            inside = (x >= low) & (x <= high)
            yield Curve(panel, name, x[inside], y[inside], run=curve.run)
        yield Curve(panel, "L (paper)", [low, high], [0.12, 0.12], style="printed")
