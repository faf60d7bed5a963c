"""Drop tail's loss over the number of edge nodes."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.run.sketch import mean_curve
from aqmlab_papers.survey import theory
from aqmlab_papers.survey.measures import HOSTS, LOSS, READINGS, lost

EDGES = Axis("Edge nodes", 0, 160)
LOST_SHARE = Axis("Loss of drop tail (%)", 0, 40)


@figure(
    [
        Panel("a", "Buffer of 100 kB, time-out 1 s", EDGES, LOST_SHARE),
        Panel("b", "The same, time-out 0.2 s", EDGES, LOST_SHARE),
        Panel("c", "Buffer of 100 packets, time-out 1 s", EDGES, LOST_SHARE),
    ],
    across=3,
    caption="What is a loss of 12 %? Of TCP's packets, some 70 nodes make it. Of all packets, no number does "
    "unless the buffer counts packets. Dashed: Padhye's model of TCP with what UDP leaves of the link.",
    beyond=True,
)
def calibration(calibration: Runs, calibration_fast: Runs, calibration_packets: Runs) -> Iterator[Curve]:
    """The loss of drop tail over the number of edge nodes."""
    for panel, runs, rto in (("a", calibration, 1.0), ("b", calibration_fast, 0.2), ("c", calibration_packets, None)):
        points = [float(point) for point in runs.points(HOSTS)]
        for reading in READINGS:
            summaries = [lost(runs, reading, "DropTail", {HOSTS: point}).summary for point in points]
            yield mean_curve(panel, reading, points, summaries)
        # In a buffer of packets, UDP's losses and waits equal TCP's, which Padhye's flows do not model.
        if rto is not None:
            valid = [point for point in points if point <= 100]  # above, losses are too high for the formula
            model = [100 * theory.predicted_loss(point, rto) for point in valid]
            yield Curve(panel, "Padhye, TCP packets", valid, model, style="dashed")
        yield Curve(panel, "12 % (paper)", [points[0], points[-1]], [LOSS] * 2, style="printed")
