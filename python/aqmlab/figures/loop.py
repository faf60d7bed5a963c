"""Figures of an analysis: Bode and Nyquist plots with their margins, and the step response."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from aqmlab.figures.runs import COLOURS, STYLE
from aqmlab.files import replacing
from aqmlab.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from aqmlab.analysis.loop import Analysis, Judged

DRAWN = {"lred": ("LRED's plant: R constant", COLOURS[0]), "queue_pole": ("with the queue's pole: R(q)", COLOURS[1])}
"""The plants in the figure, by name: legend and colour."""

_GREY = "#666666"
_DECADES_BELOW, _DECADES_ABOVE = 1.5, 1.0


def analysis(found: Analysis, figure: Figure | None = None) -> Figure:
    """Draw gain and phase over frequency with the margins marked, the Nyquist plot near -1, and the step response.

    Without a control law only the plants are drawn. ``figure`` is an empty figure to draw in, by default a new one from
    pyplot.
    """
    with mpl.rc_context(STYLE):
        if figure is None:
            from matplotlib import pyplot

            figure = pyplot.figure()
        figure.set_layout_engine("constrained")
        figure.set_size_inches(12, 7)
        title = printable(found.scenario.title) or "untitled"
        point = found.point
        figure.suptitle(
            f"{title}: {found.scenario.aqm}, {point.q:.4g} packets, p = {point.p:.3g}", fontsize=12, parse_math=False
        )
        if not found.loops:
            gain, phase = cast("list[Axes]", figure.subplots(2, 1, sharex=True))
            _bode(gain, phase, found)
        else:
            axes = figure.subplot_mosaic([["gain", "nyquist"], ["phase", "step"]], width_ratios=[1.25, 1])
            axes["gain"].sharex(axes["phase"])
            _bode(axes["gain"], axes["phase"], found)
            _nyquist(axes["nyquist"], found)
            _step(axes["step"], found)
        figure.supxlabel(_explained(found), fontsize=7.5, color=_GREY)
    return figure


def save(found: Analysis, folder: Path) -> None:
    """Write the figure to ``folder`` as ``figure.png`` and ``figure.svg``."""
    with warnings.catch_warnings(), mpl.rc_context(STYLE):
        warnings.simplefilter("ignore", UserWarning)  # a missing glyph
        figure = analysis(found, Figure())
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # keep the layout: computing it takes longest
        with replacing(folder / "figure.png") as file:
            figure.savefig(file, dpi=150)
        with replacing(folder / "figure.svg") as file:
            figure.savefig(file, metadata={"Date": None})


def _explained(found: Analysis) -> str:
    if not found.loops:
        return "no law to close the loop with: the plants alone, from drop probability to queue"
    stable = [name for name, one in found.loops.items() if name in DRAWN and one.margins.stable]
    told = "dots: where the gain is 1; rings: where the phase is -180 degrees"
    if len(stable) < len(DRAWN):
        names = " and ".join(label.partition(":")[0] for name, (label, _) in DRAWN.items() if name not in stable)
        told += f"; unstable: {names}"
    beyond = "; beyond the model's validity, see the warnings" if found.point.p != found.point.p_square_root else ""
    return told + beyond


def _frequencies(found: Analysis) -> Any:
    """Choose a range that includes all crossover frequencies, with a margin on both sides."""
    marks = [
        w
        for name in DRAWN
        if name in found.loops
        for w in (found.loops[name].margins.crossover, found.loops[name].margins.phase_crossover)
        if np.isfinite(w)
    ]
    marks.append(1 / float(found.point.rtt.max()))
    return np.geomspace(min(marks) * 10**-_DECADES_BELOW, max(marks) * 10**_DECADES_ABOVE, 3000)


def _bode(gain: Axes, phase: Axes, found: Analysis) -> None:
    w = _frequencies(found)
    lowest = -270.0
    for name, (label, colour) in DRAWN.items():
        judged = found.loops.get(name)
        response = (judged.loop if judged else found.plants[name])(1j * w)
        angle = np.unwrap(np.angle(response))
        # With at most two integrators the phase at low frequencies is between 0 and -180 degrees.
        angle = np.degrees(angle - 2 * np.pi * np.ceil((angle[0] - 0.1) / (2 * np.pi)))
        gain.loglog(w, np.abs(response), color=colour, linewidth=1.4, label=label)
        phase.semilogx(w, angle, color=colour, linewidth=1.4)
        if judged:
            lowest = min(lowest, _mark(gain, phase, judged, w, angle, colour, name == "lred"))
    gain.set_ylabel("Gain" if found.loops else "Gain (packets)")
    gain.legend(fontsize=8, loc="lower left")
    gain.tick_params(labelbottom=False)
    phase.set_ylabel("Phase (degrees)")
    phase.set_xlabel("Frequency (rad/s)")
    phase.axhline(-180, color=_GREY, linewidth=0.8)
    phase.set_ylim(lowest - 45, 15)
    phase.yaxis.set_major_locator(MultipleLocator(45 if lowest > -400 else 90))
    phase.set_xlim(w[0], w[-1])
    if found.loops:
        gain.axhline(1, color=_GREY, linewidth=0.8)
        peak = max(float(np.abs(found.loops[name].loop(1j * w[0]))) for name in DRAWN)
        gain.set_ylim(1e-4, max(10.0, 2 * peak))


def _mark(gain: Axes, phase: Axes, judged: Judged, w: Any, angle: Any, colour: str, left: bool) -> float:
    """Mark the margins of a loop in both panels, with the text left or right of them.

    Return the phase at the gain crossover, 0 if there is none.
    """
    margins = judged.margins
    dot: dict[str, Any] = {"color": colour, "markersize": 6, "zorder": 5}
    ring: dict[str, Any] = {**dot, "markerfacecolor": "white", "markeredgewidth": 1.4}
    lowest = 0.0
    if np.isfinite(margins.crossover):
        there = float(np.interp(np.log(margins.crossover), np.log(w), angle))
        gain.plot(margins.crossover, 1, "o", **dot)
        phase.plot(margins.crossover, there, "o", **dot)
        phase.plot([margins.crossover] * 2, [-180, there], color=colour, linewidth=2.5, alpha=0.45)
        _say(
            phase,
            f"{margins.phase_margin_deg:.3g}°",
            margins.crossover,
            (there - 180) / 2,
            colour,
            left,
            abs(there + 180) < 25,
        )
        lowest = there
    if np.isfinite(margins.phase_crossover):
        height = float(np.abs(judged.loop(1j * margins.phase_crossover)))
        gain.plot(margins.phase_crossover, height, "o", **ring)
        gain.plot([margins.phase_crossover] * 2, [height, 1], color=colour, linewidth=2.5, alpha=0.45)
        phase.plot(margins.phase_crossover, -180, "o", **ring)
        factor = f"{margins.gain_margin:.3g}" if margins.gain_margin < 999.5 else f"{margins.gain_margin:.0f}"
        _say(
            gain,
            f"x {factor}",
            margins.phase_crossover,
            max(float(np.sqrt(height)), 3e-4),
            colour,
            left,
            0.4 < height < 2.5,
        )
    return lowest


def _say(axes: Axes, text: str, x: float, y: float, colour: str, left: bool, thin: bool) -> None:
    """Write beside a margin; below it if it is thin, where no line is."""
    box = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.8}
    style: Any = {"va": "center", "ha": "right" if left else "left", "fontsize": 8.5, "bbox": box, "zorder": 6}
    axes.annotate(
        text, (x, y), (-7 if left else 7, -13 if thin else 0), textcoords="offset points", color=colour, **style
    )


def _nyquist(axes: Axes, found: Analysis) -> None:
    around = np.linspace(0, 2 * np.pi, 300)
    axes.plot(np.cos(around), np.sin(around), color=_GREY, linewidth=0.8, linestyle=(0, (5, 3)))
    for name, (_, colour) in DRAWN.items():
        judged = found.loops[name]
        span = _frequencies(found)
        w = np.geomspace(span[0], span[-1], 20_000)
        curve = judged.loop(1j * w)
        axes.plot(curve.real, curve.imag, color=colour, linewidth=1.4)
        margins = judged.margins
        for place, face in ((margins.crossover, colour), (margins.phase_crossover, "white")):
            if np.isfinite(place):
                at = complex(judged.loop(1j * place))
                axes.plot(at.real, at.imag, "o", color=colour, markerfacecolor=face, markersize=6, zorder=5)
        middle = int(np.argmin(np.abs(np.abs(curve) - 1.25)))
        if 0 < middle < len(curve) - 1:
            ahead = curve[middle + 1] - curve[middle]
            tip = curve[middle] + 0.02 * ahead / abs(ahead)
            arrow: Any = {"arrowstyle": "-|>", "color": colour, "mutation_scale": 14}
            axes.annotate("", (tip.real, tip.imag), (curve[middle].real, curve[middle].imag), arrowprops=arrow)
    axes.plot(-1, 0, "P", color="black", markersize=8, zorder=7)
    axes.annotate("-1", (-1, 0), (-6, 8), textcoords="offset points", ha="right", fontsize=9)
    axes.axhline(0, color=_GREY, linewidth=0.6)
    axes.axvline(0, color=_GREY, linewidth=0.6)
    axes.set_aspect("equal")
    axes.set_xlim(-2.6, 1.6)
    axes.set_ylim(-1.7, 1.3)
    axes.set_xlabel("Real part of T(jw)")
    axes.set_ylabel("Imaginary part")
    axes.set_title("Nyquist's curve near -1", loc="left", fontsize=9.5, fontweight="bold")


def _step(axes: Axes, found: Analysis) -> None:
    """Draw the response of the queue to a step of its target; a growing one is cut off at the edge of the panel."""
    judged = {name: found.loops[name] for name in DRAWN}
    stable = [one.response_times[0] for one in judged.values() if one.margins.stable]
    span = 1.3 * max(stable) if stable else 40 / max(one.margins.crossover for one in judged.values())
    times = np.linspace(0, span, 2000)
    for name, (_, colour) in DRAWN.items():
        one = judged[name]
        answer = one.loop.step(times)
        axes.plot(times, answer, color=colour, linewidth=1.4)
        if one.margins.stable and one.response_times[0] < span:
            axes.axvline(one.response_times[0], color=colour, linewidth=0.9, linestyle=(0, (2, 2)))
    axes.axhline(1, color=_GREY, linewidth=0.8)
    axes.set_xlim(0, span)
    axes.set_ylim(-0.6, 2.4)
    axes.set_xlabel("Time (s); dotted: a deviation has shrunk to 2 %, by the dominant pole")
    axes.set_ylabel("Queue (packets)")
    axes.set_title("Answer to a step of the target by 1 packet", loc="left", fontsize=9.5, fontweight="bold")
