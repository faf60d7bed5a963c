"""The figures of an evaluation: trade-offs with ellipses (section 2.7), distributions, and curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.figures.model import Axis, Curve, Figure, Grid, Panel, Shape
from aqmlab.figures.tradeoff import Point, extent, is_wide, labels
from aqmlab.results.summary import Summary
from aqmlab_papers.evaluation.describe.guideline import Guideline, Line, Plot
from aqmlab_papers.evaluation.describe.measure import LINK, Measure
from aqmlab_papers.evaluation.run import FEW, CaseRuns, Evidence
from aqmlab_papers.evaluation.show.colours import colours, explained, outlines

if TYPE_CHECKING:
    from aqmlab.figures.model import Array

_CORNERS = 73
"""The number of points of an ellipse, the first of which is the last."""

_BINS = 400
"""The most points of a curve over time."""


@dataclass(frozen=True)
class Drawn:
    """A figure, its name, and what it shows."""

    name: str
    text: str
    figure: Figure


def drawn(guideline: Guideline, evidence: Evidence) -> list[Drawn]:
    """Draw the figures of a guideline; those without data are left out."""
    cases = [evidence.cases[guideline.section, case.name] for case in guideline.cases]
    found = []
    effort = evidence.effort
    shade = colours(effort)
    key = explained(effort)
    many = len(effort.subjects) > FEW
    if panels := [panel for case in cases for plot in case.case.plots for panel in _tradeoff(case, plot, shade)]:
        text = (
            "Goodput over the delay in excess of the idle network's, better up and to the right. Small marks: the "
            "runs; large: their median; ellipse: one standard deviation of the Gaussian that fits the runs best."
        )
        across = min(len(panels), 2 if many else 3)
        grid = Grid(panels=panels, across=across, height=4.6 if many else 3.2)
        found.append(_of(guideline, "tradeoff", f"{text} {_capital(key)}".strip(), grid, legend=not many))
    if panels := [_line(line, cases, evidence, shade, guideline.x_axis) for line in guideline.lines]:
        text = "Means of the runs" + ("" if many else " with 95 % confidence intervals")
        if any(case.case.against for case in cases) and not many:
            text += f"; dashed: the same {effort.standard.noun} in the case that it is compared with"
        grid = Grid(panels=panels, across=3 if len(panels) % 3 == 0 else 2)
        found.append(_of(guideline, "curves", f"{text}. {_capital(key)}".strip(), grid, legend=True))
    if not many and (panels := [panel for case in cases for panel in _distribution(case, shade)]):
        text = (
            "Left: share of the packets that were no later than this, means of the runs. Right: share of the seconds, "
            "ten round trips each, in which the traffic had no more than this on the link; all runs."
        )
        found.append(_of(guideline, "distributions", text, Grid(panels=panels, across=2), legend=True))
    if not many and (panels := [panel for case in cases for panel in _over_time(case, shade)]):
        text = "Means of the runs in each bin of the series."
        found.append(_of(guideline, "time", text, Grid(panels=panels, across=1, height=1.9), legend=True))
    return found


def _of(guideline: Guideline, name: str, text: str, grid: Grid, legend: bool) -> Drawn:
    full = f"{guideline.name}-{name}"
    return Drawn(full, text, Figure(title=guideline.heading, name=full, rows=[[grid]], legend=legend))


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}." if text else ""


def _tradeoff(runs: CaseRuns, plot: Plot, shade: Mapping[str, str]) -> Iterator[Panel]:
    """Yield the panel of a trade-off, if there are runs."""
    found = {label: _pairs(runs, plot, label) for label in shade}
    points = [Point(label, tuple(pairs), _median(pairs), (None, None)) for label, pairs in found.items() if pairs]
    if not points:
        return
    log = is_wide([delay for point in points for delay, _ in (*point.runs, point.mean)])
    x, y = extent(points, 0, log), extent(points, 1, False)
    shapes: list[Shape] = []
    for point in points:
        look = shade[point.label]
        at = np.array(point.runs, float)
        if len(point.runs) > 2:
            delay, goodput = ellipse(at)
            inside = np.clip(delay, x[0], x[1])
            shapes.append(Curve(x=inside, y=np.clip(goodput, *y), colour=look, width=1.0, opacity=0.7))
        if len(points) <= FEW:
            shapes.append(Curve(x=at[:, 0], y=at[:, 1], colour=look, width=0.0, mark="circle", hollow=True, size=2.6))
    for point in points:
        at = np.array([point.mean], float)
        look = shade[point.label]
        shapes.append(Curve(x=at[:, 0], y=at[:, 1], colour=look, width=0.0, mark="circle", size=5.5, name=point.label))
    shapes += labels([Point(p.label, (), p.mean, p.halves) for p in points], shade, x, y, log)
    yield Panel(
        title=plot.title,
        x=Axis(f"{plot.delay.axis}, reversed", *x, log=log, downwards=True),
        y=Axis(plot.goodput.axis, *y),
        shapes=shapes,
    )


def _pairs(runs: CaseRuns, plot: Plot, label: str) -> list[tuple[float, float]]:
    delays, goodputs = (runs.values(measure, label) for measure in (plot.delay, plot.goodput))
    return [
        (delay, goodput)
        for seed, delay in delays.items()
        if delay is not None and (goodput := goodputs[seed]) is not None
    ]


def _median(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    delay, goodput = np.median(np.array(pairs, float), axis=0)
    return float(delay), float(goodput)


def ellipse(points: Array) -> tuple[Array, Array]:
    """Return the contour at one standard deviation of the maximum-likelihood Gaussian of points, a row for each.

    Its half axes are the square roots of the eigenvalues of the covariance that divides by the number of points.

    Examples
    --------
    >>> x, y = ellipse(np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 1.0], [1.0, -1.0]]))
    >>> float(x.max().round(3)), float(y.max().round(3))
    (1.707, 0.707)
    """
    values, vectors = np.linalg.eigh(np.cov(points.T, bias=True))
    angle = np.linspace(0, 2 * np.pi, _CORNERS)
    circle = np.stack([np.cos(angle), np.sin(angle)])
    along, upright = points.mean(axis=0)[:, None] + vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
    return along, upright


def _line(line: Line, cases: Sequence[CaseRuns], evidence: Evidence, shade: Mapping[str, str], x_axis: str) -> Panel:
    """Return the panel of a measure over `Case.x`."""
    shapes: list[Shape] = []
    many = len(shade) > FEW
    marks = outlines(evidence.effort)
    for label in shade:
        shapes += _curve(line.measure, cases, label, shade[label], marks[label], interval=not many)
        others = [(case, evidence.cases[case.case.against]) for case in cases if case.case.against]
        if others and not many:
            x = {id(other): case.case.x for case, other in others}
            beside = [other for _, other in others]
            shapes += _curve(line.measure, beside, label, shade[label], "", interval=False, x=x)
    xs = [case.case.x for case in cases if case.case.x is not None]
    return Panel(
        title="",
        x=Axis(x_axis, log=min(xs) > 0 and max(xs) > 10 * min(xs)),
        y=Axis(line.measure.axis, log=line.log),
        shapes=shapes,
    )


def _curve(
    measure: Measure,
    cases: Sequence[CaseRuns],
    label: str,
    colour: str,
    mark: str,
    *,
    interval: bool,
    x: Mapping[int, float | None] | None = None,
) -> Iterator[Curve]:
    """Yield a curve with marks; or dashed, at other places, without."""
    at = [case.case.x if x is None else x[id(case)] for case in cases]
    summaries = [Summary.of(list(case.values(measure, label).values())) for case in cases]
    pairs = zip(at, summaries, strict=True)
    known = [(place, one) for place, one in pairs if place is not None and one.mean is not None]
    if not known:
        return
    means = np.array([one.mean for _, one in known], float)
    halves = np.array([one.ci95 or 0.0 for _, one in known], float)
    yield Curve(
        x=np.array([place for place, _ in known], float),
        y=means,
        colour=colour,
        name=label if mark else "",
        dash=() if mark else (5.0, 2.5),
        width=1.2 if interval or not mark else 0.8,
        mark=mark,
        size=3.0 if interval else 4.0,
        interval=(means - halves, means + halves) if interval else None,
        band=False,
    )


def _distribution(runs: CaseRuns, shade: Mapping[str, str]) -> Iterator[Panel]:
    """Yield panels with the distribution functions of a traffic entry's delay and throughput, if there is one."""
    entry = runs.case.distribution
    delays, throughputs = [], []
    for label, colour in shade.items() if entry else ():
        if found := runs.percentiles(label, entry):
            x = np.mean(np.array(found, float), axis=0) * 1e3
            delays.append(Curve(x=x, y=np.linspace(0, 100, len(x)), colour=colour, name=label, width=1.2))
        if rates := runs.throughputs(label, entry):
            x = np.sort(np.array(rates, float)) * 1e-6
            y = np.arange(1, len(x) + 1) / len(x) * 100
            throughputs.append(Curve(x=x, y=y, colour=colour, name=label, width=1.2, steps=True).thinned(_BINS))
    name = f"{runs.case.name}, {entry}".removeprefix(", ")
    for curves, axis, share in (
        (delays, "One-way delay (ms)", "Share of packets (%)"),
        (throughputs, "Throughput in a second (Mbit/s)", "Share of seconds (%)"),
    ):
        if curves:
            yield Panel(title=name[0].upper() + name[1:], x=Axis(axis), y=Axis(share, 0, 100), shapes=curves)


def _over_time(runs: CaseRuns, shade: Mapping[str, str]) -> Iterator[Panel]:
    """Yield panels with throughput and wait over time."""
    if runs.case.over_time is None:
        return
    start, end = runs.case.over_time
    for suffix, axis, scale in (("throughput", "Throughput (Mbit/s)", 1e-6), ("delay", "Wait (ms)", 1e3)):
        curves = []
        for label, colour in shade.items():
            frames = runs.series(label)
            if not frames:
                continue
            inside = [frame.filter((frame["t"] >= start) & (frame["t"] < end)) for frame in frames]
            columns = _columns(inside[0].columns, suffix)
            stacked = np.stack([_combined(frame.select(columns).to_numpy(), suffix) for frame in inside])
            known = np.isfinite(stacked).any(axis=0)
            means = np.full(stacked.shape[1], np.nan)
            means[known] = np.nanmean(stacked[:, known], axis=0)
            at = inside[0]["t"].to_numpy()
            curve = Curve(x=at, y=means * scale, colour=colour, name=label, width=1.1, steps=True)
            curves.append(curve.thinned(_BINS))
        if curves:
            yield Panel(title=runs.case.name, x=Axis("Time (s)", start, end), y=Axis(axis, 0), shapes=curves)


def _columns(names: Sequence[str], suffix: str) -> list[str]:
    """Return the columns of all traffic entries for throughput, of the entry that is always there for the wait."""
    if suffix == "delay":
        return [f"{LINK}.bulk.delay"]
    return [name for name in names if name.endswith(f".{suffix}") and ".lane." not in name]


def _combined(values: Array, suffix: str) -> Array:
    numbers = np.asarray(values, float)
    return np.nansum(numbers, axis=1) if suffix == "throughput" else numbers[:, 0]
