"""Figure 7: goodput and drops over the average queue, as the target varies."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.raqm.measures import FULL
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel

AVERAGE = Axis("Average queue length (packets)", 0, 100)


def _against_queue(evidence: Evidence) -> Iterator[Curve]:
    """Draw goodput and drop ratio over the average queue, as the target varies."""
    runs, low = evidence["case3b"], evidence["case3b-low"]
    for panel, metric, scale in (("a", "goodput", 1 / FULL), ("b", "loss_ratio", 1.0)):
        for label in runs.labels:
            yield runs.curve(panel, metric, label, "queue_mean", scale=scale)
        for label in low.others:
            name = f"{label}, q0 = 5 to 15"
            yield low.curve(panel, metric, label, "queue_mean", scale=scale, name=name, style="points")


FIGURE_7 = Figure(
    name="fig7",
    title="Goodput and packet drop ratio in case 3 with diverse RTT",
    panels=[
        Panel("a", "Goodput vs. average queue length", AVERAGE, Axis("Goodput (of a full link's)", 0.8, 1)),
        Panel("b", "Packet drop ratio vs. average queue length", AVERAGE, Axis("Packet drop ratio", 0, 0.06)),
    ],
    curves=_against_queue,
    needs=["case3b", "case3b-low"],
    caption="A point for each target from 20 to 90 packets, at its mean queue; the dots are targets that the "
    "paper does not have, for a comparison where RAQM's queue is. The last 100 s.",
)
