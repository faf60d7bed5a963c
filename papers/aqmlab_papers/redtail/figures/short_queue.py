"""Figures 15 and 16, and ours on the delays by choice of the thresholds."""

from collections.abc import Iterator

import numpy as np

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.redtail.figures.by_class import listed
from aqmlab_papers.redtail.measures import C1_MAX, CHOSEN, DELAY, HERO, LONG, MAX_TH1, SHORT, bound, deviation, of
from aqmlab_papers.run.sketch import mean_curve
from aqmlab_papers.theory import redtail

SIZES = Axis("max_th1 (kB)", 0, 90)


@figure(
    [Panel("", "max_th1 = 30 kB", Axis("q1 (kB)", 0, 45), Axis("C1 / C", 0, 1.1))],
    caption="Eq. (1) with the bounds of the paper's analysis, and as run.",
    across=1,
)
def fig15() -> Iterator[Curve]:
    """The short queue's rate over its length."""
    q1 = np.linspace(0, 45e3, 451)
    for name, start, least, most in (("C1min = 0, C1max = C", 0, 0, 1), ("as run", 2e3, 1 / 15, CHOSEN[C1_MAX])):
        yield Curve("", name, q1 / 1e3, redtail.first_rate(q1, 30e3, 1, start, least, most))


@figure(
    [
        Panel("a", "Means, Table II", SIZES, Axis("Queueing delay (s)", 0, 0.4)),
        Panel("b", "Means, eq. (1)", SIZES, Axis("Queueing delay (s)", 0, 0.4)),
        Panel("c", "Standard deviations, Table II", SIZES, Axis("Queueing delay (s)", 0, 0.2)),
    ],
    caption="WEB: all packets of the web, those of large files in the long queue too. b: C1min = 0 and C1max = C, as "
    "in the analysis.",
    across=3,
)
def fig16(maxth1: Runs, equation_1: Runs) -> Iterator[Curve]:
    """Delays over max_th1."""
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


TARGETS = listed(
    "targets",
    "Delays by choice of the thresholds",
    "targets",
    {"delay of the short queue": SHORT + DELAY, "delay of the long queue": LONG + DELAY},
    {MAX_TH1: "max_th1 {:g} B"},
    caption="Rows: thresholds of the long queue, and of the short one.",
)
