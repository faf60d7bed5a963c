"""Figure 7: goodput and drops over the average queue, as the target varies; and what the target does."""

from collections.abc import Iterator

from aqmlab_papers import Axis, Curve, Panel, Runs, figure
from aqmlab_papers.raqm.measures import BOTH, FULL, PLAIN, TAIL, TARGET, UNSHED, balance

AVERAGE = Axis("Average queue length (packets)", 0, 100)
GOAL = Axis("Target queue length q0 (packets)", 20, 90)


@figure(
    [
        Panel("a", "Goodput vs. average queue length", AVERAGE, Axis("Goodput (of a full link's)", 0.8, 1)),
        Panel("b", "Packet drop ratio vs. average queue length", AVERAGE, Axis("Packet drop ratio", 0, 0.06)),
    ],
    caption="A point for each target from 20 to 90 packets, at its mean queue; RAQM's as printed hardly follows it. "
    "The paper has neither the targets of 5 to 15, nor tail drop, nor the other reading of the law. The last 100 s.",
)
def fig7(case3b: Runs, case3b_low: Runs, case3b_taildrop: Runs, case3b_readings: Runs) -> Iterator[Curve]:
    """Goodput and packet drop ratio in case 3 with diverse RTT."""
    for panel, metric, scale in (("a", "goodput", 1 / FULL), ("b", "loss_ratio", 1.0)):
        for label in case3b.labels:
            yield case3b.curve(panel, metric, label, "queue_mean", scale=scale)
        for label in case3b_low.others:
            name = f"{label}, q0 = 5 to 15"
            yield case3b_low.curve(panel, metric, label, "queue_mean", scale=scale, name=name, style="points")
        yield case3b_taildrop.curve(
            panel, metric, TAIL, "queue_mean", scale=scale, name="tail drop, buffers of 40 to 100"
        )
        name = f"RAQM, {BOTH}"
        yield case3b_readings.curve(panel, metric, BOTH, "queue_mean", scale=scale, name=name, style="points")
    yield Curve("a", "printed", [20.0], [0.96], style="printed")


@figure(
    [
        Panel("a", "Mean queue", GOAL, Axis("Mean queue (packets)", 0, 100)),
        Panel("b", "Balance of bytes", GOAL, Axis("U + l", 0.95, 1.1)),
    ],
    caption="Case 3 with 100 flows, the last 100 s.",
    beyond=True,
)
def regulation(case3b: Runs, case3b_readings: Runs) -> Iterator[Curve]:
    """What the target does, as printed and in other readings."""
    for runs, labels in ((case3b, case3b.labels), (case3b_readings, case3b_readings.labels)):
        for label in labels:
            yield runs.curve("a", "queue_mean", label, TARGET)
    yield Curve("a", "q = q0", [20.0, 90.0], [20.0, 90.0], style="dashed")
    for runs, label in ((case3b, PLAIN), (case3b_readings, UNSHED), (case3b_readings, BOTH)):
        points = runs.points(TARGET)
        yield Curve("b", label, points, [runs.per_seed(balance(), label, {TARGET: q0}).mean for q0 in points])
    yield Curve("b", "U + l = 1", [20.0, 90.0], [1.0, 1.0], style="dashed")
