"""Figure 16: delays over max_th1."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.redtail.measures import DELAY, HERO, RATE_BYTES, SHORT, of
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel
from aqmlab.theory import redtail


def delays_over_maxth1(evidence: Evidence) -> Iterator[Curve]:
    """Draw mean delays and their spread over max_th1, for Fig. 16."""
    runs, path = evidence["maxth1"], "aqm.max_th1"
    for name in ("CBR", "WEB", "FTP"):
        for panel, metric in (("a", DELAY), ("b", "queue_delay_p50"), ("c", "queue_delay_p95")):
            yield runs.curve(panel, of(name, metric), HERO, path, x_scale=1e-3, name=name)
    yield runs.curve("a", SHORT + DELAY, HERO, path, x_scale=1e-3, name="All in the short queue")
    points = runs.points(path)
    bound = [float(redtail.delay_bound(one, RATE_BYTES)) for one in points]
    yield Curve("a", "max_th1 / C", [one / 1000 for one in points], bound, style="dashed")


FIGURE_16 = Figure(
    name="fig16",
    title="Delays over max_th1",
    panels=[
        Panel(letter, title, Axis("max_th1 (kB)", 0, 90), Axis("Queueing delay (s)", 0, high))
        for letter, title, high in (("a", "Means", 0.4), ("b", "Medians", 0.4), ("c", "95th percentiles", 0.6))
    ],
    curves=delays_over_maxth1,
    needs=["maxth1"],
    caption="WEB: all packets of the web, those of large files in the long queue too.",
    across=3,
)
