"""The trade-off of `aqmlab advise`: for each configuration, the goodput of each way over the delay of calls there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.figures import tradeoff
from aqmlab.figures.model import Figure, Grid, marks, shades
from aqmlab.figures.runs import MANY
from aqmlab.figures.tradeoff import Point
from aqmlab.results.summary import Summary

if TYPE_CHECKING:
    from aqmlab.advice.answer import Advice
    from aqmlab.advice.score import Measure

_WAYS = {"Down": ("call", "downloads"), "Up": ("call-up", "uploads")}
"""The entries of each way whose delay and goodput are shown."""


def figure(advice: Advice) -> Figure:
    """Show a point for each configuration, with its 95 % confidence intervals, in a panel for each way.

    Delay and goodput are means over the loads that have the goodput. Of a few configurations each seed has a mark too.
    """
    labels = [one.label for one in advice.standings]
    shade = dict(zip(labels, shades(len(labels)), strict=True))
    mark = dict(zip(labels, marks(len(labels)), strict=True))
    many = len(labels) > MANY
    drawn = []
    for title, (call, bulk) in _WAYS.items():
        points = [_point(one.label, list(_runs(one.runs, call, bulk)), many) for one in advice.standings]
        axes = ("Delay of calls, p95 (ms)", f"Goodput of {bulk} (Mbit/s)")
        drawn.append(tradeoff.scattered(title, *axes, points, shade, mark))
    seeds = "" if many else "; hollow: the seeds"
    return Figure(
        title=advice.link.named,
        rows=[[Grid(panels=drawn, across=1 if many else 2, height=5.0 if many else 3.4)]],
        small_print=f"{tradeoff.EXPLAINED}; means over the loads{seeds}; bars: 95 % confidence intervals (Student)",
    )


def _runs(seeds: Sequence[Mapping[str, Sequence[Measure]]], call: str, bulk: str) -> Iterator[tuple[float, float]]:
    """Yield the delay in ms and the goodput in Mbit/s of each seed."""
    for loads in seeds:
        named = [{one.entry: one.value for one in load} for load in loads.values()]
        pairs = [(load[call], load[bulk]) for load in named if bulk in load]
        delay, goodput = (math.fsum(each) / len(pairs) for each in zip(*pairs, strict=True))
        yield delay * 1e3, goodput / 1e6


def _point(label: str, runs: Sequence[tuple[float, float]], many: bool) -> Point:
    delay, goodput = (Summary.of(each) for each in zip(*runs, strict=True))
    assert delay.mean is not None
    assert goodput.mean is not None
    return Point(label, () if many else tuple(runs), (delay.mean, goodput.mean), (delay.ci95, goodput.ci95))
