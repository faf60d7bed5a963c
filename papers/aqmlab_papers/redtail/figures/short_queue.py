"""Figures 15 and 16, and ours on the delays by choice of the thresholds."""

from collections.abc import Iterator

import numpy as np

from aqmlab_papers import Axis, Curve, Figure, Panel, Runs, Table
from aqmlab_papers.redtail.figures.by_class import listed
from aqmlab_papers.redtail.measures import C1_MAX, CHOSEN, DELAY, HERO, LONG, MAX_TH1, SHORT, bound, deviation, of
from aqmlab_papers.run.sketch import mean_curve
from aqmlab_papers.theory import redtail

SIZES = Axis("max_th1 (kB)", 0, 90)


def share_over_queue() -> Iterator[Curve]:
    """Draw C1 over q1 by eq. (1), with the analysis's bounds and with ours."""
    q1 = np.linspace(0, 45e3, 451)
    for name, start, least, most in (("C1min = 0, C1max = C", 0, 0, 1), ("as run", 2e3, 1 / 15, CHOSEN[C1_MAX])):
        yield Curve("", name, q1 / 1e3, redtail.first_rate(q1, 30e3, 1, start, least, most))


def delays_over_maxth1(maxth1: Runs, equation_1: Runs) -> Iterator[Curve]:
    """Draw mean delays and their deviations over max_th1, for Fig. 16."""
    for panel, runs in (("a", maxth1), ("b", equation_1)):
        for name in ("CBR", "WEB", "FTP"):
            yield runs.curve(panel, of(name, DELAY), HERO, MAX_TH1, x_scale=1e-3, name=name)
        yield runs.curve(panel, SHORT + DELAY, HERO, MAX_TH1, x_scale=1e-3, name="All in the short queue")
        points = runs.points(MAX_TH1)
        yield Curve(
            panel, "max_th1 / C", [one / 1e3 for one in points], [bound(one) / 1e3 for one in points], style="dashed"
        )
    points = maxth1.points(MAX_TH1)
    for name in ("CBR", "FTP"):
        found = [deviation(maxth1, name, HERO, {MAX_TH1: size}).summary for size in points]
        yield mean_curve("c", name, [one / 1e3 for one in points], found)


FIGURE_15 = Figure(
    name="fig15",
    title="The short queue's rate over its length",
    panels=[Panel("", "max_th1 = 30 kB", Axis("q1 (kB)", 0, 45), Axis("C1 / C", 0, 1.1))],
    curves=share_over_queue,
    caption="Eq. (1) with the bounds of the paper's analysis, and as run.",
    across=1,
)
FIGURE_16 = Figure(
    name="fig16",
    title="Delays over max_th1",
    panels=[
        Panel("a", "Means, Table II", SIZES, Axis("Queueing delay (s)", 0, 0.4)),
        Panel("b", "Means, eq. (1)", SIZES, Axis("Queueing delay (s)", 0, 0.4)),
        Panel("c", "Standard deviations, Table II", SIZES, Axis("Queueing delay (s)", 0, 0.2)),
    ],
    curves=delays_over_maxth1,
    caption="WEB: all packets of the web, those of large files in the long queue too. b: C1min = 0 and C1max = C, as "
    "in the analysis.",
    across=3,
)
TARGETS = Table(
    name="targets",
    title="Delays by choice of the thresholds",
    rows=lambda targets: listed(
        targets,
        {"delay of the short queue": SHORT + DELAY, "delay of the long queue": LONG + DELAY},
        {MAX_TH1: "max_th1 {:g} B"},
    ),
    caption="Rows: thresholds of the long queue, and of the short one.",
    beyond=True,
)
