"""Figure 17: the virtual drop-tail buffer."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.lred.measures import between
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel


def _virtual_drop_tail(evidence: Evidence) -> Iterator[Curve]:
    runs = evidence["beta10"]
    yield runs.over_time("a", "LRED", name="queue", bin=0.02)
    frame = runs.series("LRED").filter(between(40.0, 40.2))
    for name, quantity in (("highest p", "max"), ("lowest p", "min")):
        p = frame[f"bottleneck.p.{quantity}"].to_numpy()
        yield Curve("b", name, frame["t"].to_numpy(), p, style="points")


FIGURE_17 = Figure(
    name="fig17",
    title="LRED with beta = 10: a virtual drop-tail buffer of q0",
    panels=[
        Panel("a", "Queue length", Axis("Time (s)", 0, 60), Axis("Queue length (packets)", 0, 120)),
        Panel("b", "Drop probability, 200 ms of it", Axis("Time (s)", 40, 40.2), Axis("Drop probability", 0, 1)),
    ],
    curves=_virtual_drop_tail,
    needs=["beta10"],
    caption="Experiment 1 with 400 flows: the paper does not state the number. In (b) the highest and "
    "the lowest p of each millisecond, in which some three packets arrive. 60 s of a run.",
)
