"""Figures of an analysis: Bode and Nyquist plots with their margins, and the step response."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.figures.model import (
    COLOURS,
    GREY,
    Arrow,
    Axis,
    Curve,
    Figure,
    Grid,
    Guide,
    Note,
    Panel,
    Shape,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aqmlab.analysis.loop import Analysis, Judged

    Array = NDArray[np.float64]

DRAWN = {"lred": ("LRED's plant: R constant", COLOURS[0]), "queue_pole": ("with the queue's pole: R(q)", COLOURS[1])}
"""The plants in the figure, by name: legend and colour."""

_DECADES_BELOW, _DECADES_ABOVE = 1.5, 1.0

_POINTS, _NYQUIST_POINTS, _STEP_POINTS = 1500, 4000, 1000


def analysis(found: Analysis) -> Figure:
    """Show gain and phase over frequency with the margins marked, the Nyquist plot near -1, and the step response.

    The small print begins with the answer. Without a control law there are the plants only.
    """
    point = found.point
    title = found.scenario.title or "untitled"
    bode = Grid(panels=_bode(found), height=2.6, weight=1.25, same_x=True)
    rest = [Grid(panels=[_nyquist(found), _step(found)], height=2.4)] if found.loops else []
    return Figure(
        title=f"{title}: {found.scenario.aqm}, {point.q:.4g} packets, p = {point.p:.3g}",
        rows=[[bode, *rest]],
        legend=True,
        small_print=f"{found.answer.headline} {_explained(found)}",
    )


def _explained(found: Analysis) -> str:
    if not found.loops:
        return "No control law closes the loop: the plants alone, from drop probability to queue"
    stable = [name for name, one in found.loops.items() if name in DRAWN and one.margins.stable]
    text = "Dots: where the gain is 1; rings: where the phase is -180 degrees"
    text += "; dotted in the step response: a deviation has shrunk to 2 %, by the dominant pole"
    if len(stable) < len(DRAWN):
        names = " and ".join(label.partition(":")[0] for name, (label, _) in DRAWN.items() if name not in stable)
        text += f"; unstable: {names}"
    return text + (
        "; beyond the model's validity, see the warnings" if found.point.p != found.point.p_square_root else ""
    )


def _frequencies(found: Analysis, count: int) -> Array:
    """Choose a range that includes all crossover frequencies, with a margin on both sides."""
    marks = [
        w
        for name in DRAWN
        if name in found.loops
        for w in (found.loops[name].margins.crossover, found.loops[name].margins.phase_crossover)
        if np.isfinite(w)
    ]
    marks.append(1 / float(found.point.rtt.max()))
    return np.geomspace(min(marks) * 10**-_DECADES_BELOW, max(marks) * 10**_DECADES_ABOVE, count)


def _bode(found: Analysis) -> list[Panel]:
    w = _frequencies(found, _POINTS)
    gains: list[Shape] = []
    phases: list[Shape] = []
    lowest = -270.0
    for name, (label, colour) in DRAWN.items():
        judged = found.loops.get(name)
        response = (judged.loop if judged else found.plants[name])(1j * w)
        angle = np.unwrap(np.angle(response))
        # With at most two integrators the phase at low frequencies is between 0 and -180 degrees.
        angle = np.degrees(angle - 2 * np.pi * np.ceil((angle[0] - 0.1) / (2 * np.pi)))
        gains.append(Curve(x=w, y=np.abs(response), name=label, colour=colour))
        phases.append(Curve(x=w, y=angle, name=label, colour=colour))
        if judged:
            marked = _margins(judged, w, angle, colour, left=name == "lred")
            gains += marked[0]
            phases += marked[1]
            lowest = min(lowest, marked[2])
    gain = Axis("", log=True)
    if found.loops:
        gains.append(Guide(value=1.0, colour=GREY, dash=()))
        peak = max(float(np.abs(found.loops[name].loop(1j * w[0]))) for name in DRAWN)
        gain = Axis("", 1e-4, max(10.0, 2 * peak), log=True)
    phases.append(Guide(value=-180.0, colour=GREY, dash=()))
    frequency = Axis("Frequency (rad/s)", float(w[0]), float(w[-1]), log=True)
    phase = Axis("", lowest - 45, 15.0, step=45.0 if lowest > -400 else 90.0)
    return [
        Panel(title="Gain" if found.loops else "Gain (packets)", x=frequency, y=gain, shapes=gains),
        Panel(title="Phase (degrees)", x=frequency, y=phase, shapes=phases),
    ]


def _margins(judged: Judged, w: Array, angle: Array, colour: str, left: bool) -> tuple[list[Shape], list[Shape], float]:
    """Mark the margins of a loop, with the text left or right of them.

    Return the marks in the gain, those in the phase, and the phase at the gain crossover, 0 if there is none.
    """
    margins = judged.margins
    gains: list[Shape] = []
    phases: list[Shape] = []
    lowest = 0.0
    if np.isfinite(margins.crossover):
        lowest = float(np.interp(np.log(margins.crossover), np.log(w), angle))
        gains.append(_dot(margins.crossover, 1.0, colour))
        phases.append(_dot(margins.crossover, lowest, colour))
        phases.append(_stroke(margins.crossover, -180.0, lowest, colour))
        text, middle = f"{margins.phase_margin_deg:.3g}°", (lowest - 180) / 2
        phases.append(_note(text, margins.crossover, middle, colour, left, abs(lowest + 180) < 25))
    if np.isfinite(margins.phase_crossover):
        height = float(np.abs(judged.loop(1j * margins.phase_crossover)))
        gains.append(_dot(margins.phase_crossover, height, colour, hollow=True))
        gains.append(_stroke(margins.phase_crossover, height, 1.0, colour))
        phases.append(_dot(margins.phase_crossover, -180.0, colour, hollow=True))
        factor = f"{margins.gain_margin:.3g}" if margins.gain_margin < 999.5 else f"{margins.gain_margin:.0f}"
        middle = max(float(np.sqrt(height)), 3e-4)
        gains.append(_note(f"x {factor}", margins.phase_crossover, middle, colour, left, 0.4 < height < 2.5))
    return gains, phases, lowest


def _dot(x: float, y: float, colour: str, hollow: bool = False) -> Curve:
    return Curve(x=np.array([x]), y=np.array([y]), colour=colour, width=0.0, mark="circle", size=6.0, hollow=hollow)


def _stroke(x: float, start: float, end: float, colour: str) -> Curve:
    return Curve(x=np.array([x, x]), y=np.array([start, end]), colour=colour, width=2.5, opacity=0.45)


def _note(text: str, x: float, y: float, colour: str, left: bool, thin: bool) -> Note:
    """Write beside a margin; below it if it is thin, where no line is."""
    return Note(text=text, x=x, y=y, colour=colour, dx=-7 if left else 7, dy=-13 if thin else 0, left=left)


def _nyquist(found: Analysis) -> Panel:
    around = np.linspace(0, 2 * np.pi, 300)
    shapes: list[Shape] = [
        Guide(value=0.0, colour=GREY, dash=(), width=0.6),
        Guide(value=0.0, colour=GREY, dash=(), width=0.6, upright=True),
        Curve(x=np.cos(around), y=np.sin(around), colour=GREY, width=0.8, dash=(5, 3)),
    ]
    for name, (label, colour) in DRAWN.items():
        judged = found.loops[name]
        curve = judged.loop(1j * _frequencies(found, _NYQUIST_POINTS))
        shapes.append(Curve(x=curve.real, y=curve.imag, name=label, colour=colour))
        for place, hollow in ((judged.margins.crossover, False), (judged.margins.phase_crossover, True)):
            if np.isfinite(place):
                at = complex(judged.loop(1j * place))
                shapes.append(_dot(at.real, at.imag, colour, hollow))
        middle = int(np.argmin(np.abs(np.abs(curve) - 1.25)))
        if 0 < middle < len(curve) - 1:
            ahead: Any = curve[middle + 1] - curve[middle]
            tip = curve[middle] + 0.02 * ahead / abs(ahead)
            start = curve[middle]
            shapes.append(Arrow(x=start.real, y=start.imag, to_x=tip.real, to_y=tip.imag, colour=colour))
    shapes.append(Curve(x=np.array([-1.0]), y=np.zeros(1), colour="#000000", width=0.0, mark="plus", size=8.0))
    shapes.append(Note(text="-1", x=-1.0, y=0.0, dx=-6, dy=8, left=True))
    return Panel(
        title="Nyquist's curve near -1",
        x=Axis("Real part of T(jw)", -2.6, 1.6),
        y=Axis("Imaginary part", -1.7, 1.3),
        shapes=shapes,
        square=True,
    )


def _step(found: Analysis) -> Panel:
    """Show the response of the queue to a step of its target; a growing one is cut off at the edge of the panel."""
    judged = {name: found.loops[name] for name in DRAWN}
    stable = [one.response_times[0] for one in judged.values() if one.margins.stable]
    span = 1.3 * max(stable) if stable else 40 / max(one.margins.crossover for one in judged.values())
    times = np.linspace(0, span, _STEP_POINTS)
    shapes: list[Shape] = [Guide(value=1.0, colour=GREY, dash=())]
    for name, (label, colour) in DRAWN.items():
        one = judged[name]
        shapes.append(Curve(x=times, y=one.loop.step(times), name=label, colour=colour))
        if one.margins.stable and one.response_times[0] < span:
            shapes.append(Guide(value=one.response_times[0], upright=True, colour=colour, width=0.9, dash=(2, 2)))
    return Panel(
        title="Response to a step of the target by 1 packet",
        x=Axis("Time (s)", 0.0, span),
        y=Axis("Queue (packets)", -0.6, 2.4),
        shapes=shapes,
    )
