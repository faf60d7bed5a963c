"""Figure 5, experiment 1: response times over the load."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from aqmlab.library.lred.measures import FLOWS, loads, longest_response
from aqmlab.library.lred.theory import FREQUENCY, PI_GAINS, response_bound
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.theory import lred, pi, rem


def figure5(evidence: Evidence) -> Iterator[Curve]:
    """Draw response times over measured loss ratios, and the bounds."""
    runs, designed = evidence["exp1"], evidence["exp1-pistar"]
    for label in ("LRED", "PI", "PI*", "REM"):
        drawn = designed if label == "PI*" else runs
        yield drawn.curve("", "response_time", label, "loss_ratio", fill=longest_response(drawn, label), style="points")
    losses = np.linspace(0.03, 0.27, 25)
    yield Curve("", "PI, bound (34)", losses, pi.response_bound(losses, *PI_GAINS, FREQUENCY), style="dashed")
    yield Curve("", "REM, bound (40)", losses, rem.response_bound(losses), style="dashed")
    places = [designed.mean("loss_ratio", "PI*", {FLOWS: count}).mean or float("nan") for count in loads(evidence)]
    bounds = [response_bound("PI*", loss, count) for loss, count in zip(places, loads(evidence), strict=True)]
    yield Curve("", "PI*, bound (34)", places, bounds, style="dashed")
    yield Curve(
        "", "LRED, after a bad start (ours)", losses, [lred.cold_start(loss) for loss in losses], style="dashed"
    )


FIGURE_5 = Figure(
    name="fig5",
    title="Experiment 1: response time over the loss ratio",
    needs=["exp1", "exp1-pistar"],
    panels=[Panel("", "Response time", Axis("Packet loss ratio", 0, 0.3), Axis("Response time (s)", 0, 400))],
    curves=figure5,
    caption="A point for 100, 200, ... 1000 flows. A queue that never settled stands at the end of its run, 200 "
    "s, of PI 400 s. The paper has no bound for LRED; ours is the time that its estimate takes to come back from "
    "a start that loses half of all packets, chance left out.",
)
