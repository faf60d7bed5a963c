"""Figures 15 and 16, and ours on the delays by choice of the thresholds."""

from collections.abc import Iterator

import numpy as np
import polars

from aqmlab_papers import Axis, Curve, Panel, Runs, figure, table
from aqmlab_papers.redtail.measures import C1_MAX, CHOSEN, DELAY, HERO, LONG, MAX_TH1, SHORT, bound, deviation, of
from aqmlab_papers.run.sketch import cells, mean_curve
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


@table(caption="max_th1/C is what the short queue is meant to wait, by section IV.", beyond=True)
def targets(targets: Runs, equation_1: Runs) -> polars.DataFrame:
    """Delays by choice of the thresholds."""
    rows = []
    for runs, share in ((targets, f"{CHOSEN[C1_MAX]:g} C"), (equation_1, "C")):
        for label in runs.labels:
            for size in runs.points(MAX_TH1):
                band = "20 kB to 80 kB" if label == HERO else label
                row: dict[str, str | float | None] = {
                    "C1max": share,
                    "long queue": band,
                    "max_th1 (kB)": f"{size / 1e3:g}",
                }
                row["max_th1/C (ms)"] = bound(size)
                for queue, lane in (("short", SHORT), ("long", LONG)):
                    delay = runs.per_seed(lane + DELAY, label, {MAX_TH1: size})
                    row |= cells(f"delay of the {queue} queue (ms)", delay)
                rows.append(row)
    return polars.DataFrame(rows)
