"""The Pareto front of `aqmlab tune`: the first two goals, a point for each trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.model import COLOURS, GREY, Axis, Curve, Figure, Grid, Guide, Note, Panel, Shape
from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.advice.goals import Goal
    from aqmlab.advice.tuned import Trial, Tuned

_WIDE = 10.0
"""The ratio of the greatest to the least value from which the axis is logarithmic."""


def figure(tuned: Tuned) -> Figure:
    """Show the first goal over the second: every trial, the front, the limits, the best and the present parameters.

    Raise `ValueError` if there is one goal only.
    """
    if len(tuned.goals) < 2:
        raise ValueError("one goal has no front")
    y, x = tuned.goals[:2]
    trials = {one.label: one for one in tuned.trials}
    front = [trials[label] for label in tuned.front]
    shapes: list[Shape] = [
        Guide(value=goal.limit * goal.metric.scale, upright=goal is x) for goal in (x, y) if goal.limit is not None
    ]
    shapes.append(_curve(tuned.trials, x, y, GREY, mark="circle", width=0.0, hollow=True, size=3.5, name="all points"))
    shapes.append(_curve(front, x, y, COLOURS[0], mark="circle", width=1.2, size=4.0, name="front"))
    for one, colour, name, dy in (
        (tuned.present, COLOURS[1], "present", -12.0),
        (tuned.best, COLOURS[2], "best", 12.0),
    ):
        shapes.append(_curve([one], x, y, colour, mark="diamond", width=0.0, size=7.0, name=name))
        at = _at(one, x, y)
        shapes.append(Note(text=printable(name), x=at[0], y=at[1], colour=colour, dx=8.0, dy=dy))
    panel = Panel(title="", x=_axis(tuned, x), y=_axis(tuned, y), shapes=shapes)
    return Figure(
        title=f"{tuned.scenario.title}: {tuned.scenario.aqm}".lstrip(": "),
        rows=[[Grid(panels=[panel], across=1, height=4.6)]],
        legend=True,
        small_print="means over the seeds, of which points that were left out early have few; dashed: limits",
    )


def _at(one: Trial, x: Goal, y: Goal) -> tuple[float, float]:
    means = (one.summary(goal).mean for goal in (x, y))
    across, up = (
        np.nan if mean is None else mean * goal.metric.scale for mean, goal in zip(means, (x, y), strict=True)
    )
    return float(across), float(up)


def _curve(
    trials: Sequence[Trial],
    x: Goal,
    y: Goal,
    colour: str,
    name: str,
    mark: str,
    width: float,
    size: float,
    hollow: bool = False,
) -> Curve:
    places = np.array([_at(one, x, y) for one in trials], float)
    order = np.argsort(places[:, 0], kind="stable")
    return Curve(
        x=places[order, 0],
        y=places[order, 1],
        colour=colour,
        name=name,
        mark=mark,
        width=width,
        hollow=hollow,
        size=size,
    )


def _axis(tuned: Tuned, goal: Goal) -> Axis:
    values = [value for one in tuned.trials if (value := one.summary(goal).mean) is not None and value > 0]
    wide = len(values) == len(tuned.trials) and max(values) > _WIDE * min(values)
    owner = goal.name.rpartition(".")[0].removeprefix("classes.")
    return Axis(f"{owner}: {goal.metric.axis}" if owner else goal.metric.axis, log=wide)
