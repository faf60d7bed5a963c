"""PI's loss and wait over its gains."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel


def figure_gains(evidence: Evidence) -> Iterator[Curve]:
    """Draw PI's loss and wait over its gain, with those of drop tail."""
    runs = evidence["gains"]
    beside = {"a": ("classes.ftp.loss_ratio", 1.0), "b": ("queue_delay_mean", 1e3)}
    ends = [runs.points("aqm.a")[0], runs.points("aqm.a")[-1]]
    for panel, (metric, scale) in beside.items():
        yield runs.curve(panel, metric, "PI", "aqm.a", scale=scale)
        level = evidence["schemes"].mean(metric, "DropTail", scale=scale).mean or 0.0
        yield Curve(panel, "DropTail", ends, [level, level], style="dashed")


GAINS_FIGURE = Figure(
    name="gains",
    title="PI over its gains",
    needs=["gains", "schemes"],
    panels=[
        Panel("a", "Loss", Axis("Gain a (per packet)", log=True), Axis("Loss of TCP's packets", 0, 0.2)),
        Panel("b", "Wait", Axis("Gain a (per packet)", log=True), Axis("Mean wait (ms)", 0, 18)),
    ],
    curves=figure_gains,
    caption="a/b as printed, from the gains that PI's rule has for this link (left) to ten times the printed.",
    beyond=True,
)
