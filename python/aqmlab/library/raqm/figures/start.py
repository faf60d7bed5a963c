"""The growth of p_k from its start."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.library.raqm.measures import FLOWS, at
from aqmlab.library.raqm.theory import GROUPS
from aqmlab.papers import Axis, Curve, Evidence, Figure, Panel


def start(evidence: Evidence) -> Iterator[Curve]:
    """Draw the growth of p_k from its start."""
    for case in GROUPS:
        runs = evidence[case]
        for flows in runs.points(FLOWS):
            name = f"case {case[-1]}, {flows:g} flows"
            yield runs.over_time("a", runs.hero, quantity="p_1.mean", at=at(flows), bin=1.0, name=name)
    runs = evidence["gain"]
    for eps in runs.points("aqm.eps"):
        where = {"aqm.eps": eps}
        yield runs.over_time("b", runs.hero, quantity="p_1.mean", at=where, bin=1.0, name=f"eps = {eps:g}")


START = Figure(
    name="start",
    title="How p_k comes to its place",
    panels=[
        Panel("a", "The cases", Axis("Time (s)", 0, 200), Axis("p_k", 1e-6, 1, log=True)),
        Panel("b", "Case 1, 40 flows, by the gain", Axis("Time (s)", 0, 200), Axis("p_k", 1e-6, 1, log=True)),
    ],
    curves=start,
    needs=[*GROUPS, "gain"],
    caption="The first seed; p_k starts at 0.0002 and has a floor at 1e-6.",
    beyond=True,
)
