"""A scenario's control loop: its operating point, the linear loop around that point, and the margins."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.analysis import answer
from aqmlab.analysis.answer import Answer
from aqmlab.analysis.law import linearised
from aqmlab.analysis.operating_point import OperatingPoint, operating_point
from aqmlab.files import DEFAULT_FORMATS, json_text, write_text
from aqmlab.kinds import ANALYSIS
from aqmlab.presenters import drawn, presented
from aqmlab.scenario import Scenario, require_scenario
from aqmlab.text import columns, printable
from aqmlab.theory.domain import caution, remarks
from aqmlab.theory.laws import ControlLaw, lred
from aqmlab.theory.loop import Loop, Margins, Plant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BANDS = (0.02, 0.2)
"""The fractions to which a deviation must shrink for the response to count as over."""


@dataclass(frozen=True)
class Model:
    """A model of flows and queue, with its label in tables and figures.

    If `queue_pole` is true, the round-trip time varies with the queue, which gives the queue a pole. If `merged` is
    true, w(t-R) is taken to be w(t).
    """

    label: str
    queue_pole: bool
    merged: bool


PLANTS = {
    "lred": Model("LRED's plant", False, True),
    "queue_pole": Model("with queue pole", True, True),
    "lred_unmerged": Model("LRED's, w(t-R) apart", False, False),
    "queue_pole_unmerged": Model("pole, w(t-R) apart", True, False),
}
"""The plants for which each analysis has margins."""


@dataclass(frozen=True)
class Judged:
    """A loop (plant times law), its margins, and further measures.

    `bandwidth` of the closed loop is in rad/s, and `sensitivity_peak` is the greatest |1 / (1 + T)|; both are NaN if
    the loop is unstable. `response_times` are the times (s) in which a small deviation shrinks to each of `BANDS`, by
    the dominant pole. `poles` are the rightmost poles of the closed loop, complex.
    """

    loop: Loop
    margins: Margins
    bandwidth: float
    sensitivity_peak: float
    response_times: tuple[float, ...]
    poles: Any

    def document(self) -> dict[str, Any]:
        """Return the margins and the other numbers as a dictionary for JSON; None stands for infinity and NaN."""
        numbers = {"bandwidth": self.bandwidth, "sensitivity_peak": self.sensitivity_peak}
        numbers |= {
            f"response_time_{100 * band:g}": time for band, time in zip(BANDS, self.response_times, strict=True)
        }
        finite = {name: value if isfinite(value) else None for name, value in numbers.items()}
        return {**self.margins.document(), **finite, "poles": [[pole.real, pole.imag] for pole in self.poles]}


@dataclass(frozen=True, repr=False)
class Analysis:
    """The linear analysis of a scenario.

    Parameters
    ----------
    scenario : Scenario
        The scenario.
    at : float
        The time (s) whose flows and load are analysed.
    point : OperatingPoint
        The operating point of flows and queue.
    law : ControlLaw or None
        The AQM's law, linearised at that point; None if it has none.
    plants : dict
        Each of `PLANTS`, by its name.
    loops : dict
        The loop with each plant, by its name; empty without a law.
    not_modelled : tuple of str
        The parts of the scenario that the model leaves out.
    warnings : tuple of str
        The conditions of the formulas that fail here, and the consequences.
    """

    scenario: Scenario
    at: float
    point: OperatingPoint
    law: ControlLaw | None
    plants: dict[str, Plant]
    loops: dict[str, Judged]
    not_modelled: tuple[str, ...]
    warnings: tuple[str, ...]

    # Its search for the boundaries takes four times as long as all else, and who scans margins does not ask for it.
    @cached_property
    def answer(self) -> Answer:
        """Whether the loop is stable, how far it is from the boundary, why, and what would change that."""
        return answer.find(json.loads(self.scenario._core.fluid_model()), self.at, self.point, self.law, self.loops)

    def document(self) -> dict[str, Any]:
        """Return the analysis as a dictionary for JSON.

        Returns
        -------
        dict
            ``answer``, ``title``, ``aqm``, ``at``, ``operating_point``, ``classes``, ``law``, ``plants``,
            ``not_modelled`` and ``warnings``.
        """
        law = self.law
        return {
            "answer": self.answer.document(),
            "title": self.scenario.title,
            "aqm": self.scenario.aqm,
            "at": self.at,
            **self.point.document(),
            "law": law and {"formula": law.formula, "values": law.values, "left_out": list(law.left_out)},
            "plants": {name: judged.document() for name, judged in self.loops.items()},
            "not_modelled": list(self.not_modelled),
            "warnings": list(self.warnings),
        }

    def plot(self, figure: Figure | None = None) -> Figure:
        """Draw Bode and Nyquist plots with the margins, and the step response.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            An empty figure to draw in; by default a new pyplot figure.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
        """
        return drawn("analysis.figure", self, figure=figure)

    def save(self, folder: str | os.PathLike[str], formats: Sequence[str] = DEFAULT_FORMATS) -> None:
        """Write analysis.json and the figure.

        Parameters
        ----------
        folder : str or PathLike
            The folder to write to; files of these names are replaced.
        formats : sequence of str
            The formats of the figure: some of ``png``, ``svg``, ``pdf`` and ``pgf``.
        """
        write_text(Path(folder) / ANALYSIS, json_text(self.document()))
        presented("figure.saved", presented("analysis.figure", self), Path(folder), formats)

    @cached_property
    def _text(self) -> str:
        title = printable(self.scenario.title) or "untitled"
        lines = [*self.answer.lines(), "", f"{title}: {self.scenario.aqm}, at {self.at:g} s", "", *self.point.lines()]
        if self.law:
            values = ", ".join(f"{name} = {value:.4g}" for name, value in self.law.values.items())
            lines += ["", f"Law from queue to drop probability: {self.law.formula}; {values}", ""]
            lines += [_table(self.loops), "The answer above is that of the last column, the most exact of the models."]
        lines += [f"left out: {text}" for text in (*(self.law.left_out if self.law else ()), *self.not_modelled)]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    def __repr__(self) -> str:
        return self._text


def analyse(scenario: Scenario, at: float | None = None) -> Analysis:
    """Linearise a scenario, compute the margins of its loop, and answer whether it is stable.

    Parameters
    ----------
    scenario : Scenario
        The scenario; the AQM of its observed link is analysed.
    at : float
        The time (s) whose flows and load are analysed; by default halfway between the end of the warm-up and the end of
        the run.

    Returns
    -------
    Analysis
        The answer, the operating point, law, margins, response times, and remarks on their validity.

    Raises
    ------
    TypeError
        If it is not a Scenario.
    ScenarioError
        If the scenario is not valid, or the fluid model cannot describe it.
    ValueError
        If there is nothing to analyse at that time, or it is outside the run.
    """
    require_scenario(scenario)
    facts: dict[str, Any] = json.loads(scenario._core.fluid_model())
    if at is None:
        at = (facts["warmup"] + facts["duration"]) / 2
    elif not 0 <= at <= facts["duration"]:
        raise ValueError(f"at = {at:g} s: must be in [0, {facts['duration']:g}], the scenario's duration")
    with remarks() as warned:
        point = operating_point(facts, at)
        law = linearised(facts, point)
        plants = {name: point.plant(model.queue_pole, model.merged) for name, model in PLANTS.items()}
        loops = {} if law is None else {name: _judged(Loop(plant, law)) for name, plant in plants.items()}
        if law and facts["aqm"] == "lred":
            _with_estimator(facts, point, plants["queue_pole"])
    return Analysis(
        scenario=scenario,
        at=at,
        point=point,
        law=law,
        plants=plants,
        loops=loops,
        not_modelled=tuple(facts["not_modelled"]),
        warnings=tuple(warned),
    )


def _with_estimator(facts: dict[str, Any], point: OperatingPoint, plant: Plant) -> None:
    """Add a remark on the effect of L following the loss ratio."""
    parameters = facts["parameters"]
    beta, exponent = parameters["beta"], parameters["exponent"]
    law = lred(beta, point.p, True, parameters["period"], parameters["window"], parameters["weight"], exponent)
    loop = Loop(plant, law)
    margins = loop.margins()
    time = loop.response_time(BANDS[0])
    shrinking = f"takes {time:.3g} s to shrink to {BANDS[0]:.0%}" if isfinite(time) else "never shrinks"
    caution(
        f"LRED: L is held at p0, as in the paper; with L following, the phase margin with queue pole is "
        f"{margins.phase_margin_deg:.1f} deg, and a deviation {shrinking}"
    )


def _judged(loop: Loop) -> Judged:
    margins = loop.margins()
    poles = loop.poles()
    right = float(poles[0].real) if len(poles) else np.nan
    return Judged(
        loop=loop,
        margins=margins,
        bandwidth=loop.bandwidth() if margins.stable else np.nan,
        sensitivity_peak=loop.sensitivity_peak() if margins.stable else np.nan,
        response_times=tuple(-np.log(band) / -right if right < 0 and margins.stable else np.inf for band in BANDS),
        poles=poles,
    )


def _table(loops: dict[str, Judged]) -> str:
    """Lay out the margins, with a column for each plant."""

    def number(value: float, unit: str = "") -> str:
        text = "none" if np.isnan(value) else "any" if np.isinf(value) else f"{value:.4g}"
        return f"{text} {unit}" if unit and text[0] not in "na" else text

    def row(name: str, cell: Callable[[Judged], str]) -> list[str]:
        return [name, *(cell(judged) for judged in loops.values())]

    rows = [
        ["Loop", *(PLANTS[name].label for name in loops)],
        row("stable", lambda judged: "yes" if judged.margins.stable else "NO"),
        row("gain margin", lambda judged: number(judged.margins.gain_margin)),
        row("  at", lambda judged: number(judged.margins.phase_crossover, "rad/s")),
        row("phase margin", lambda judged: number(judged.margins.phase_margin_deg, "deg")),
        row("  at", lambda judged: number(judged.margins.crossover, "rad/s")),
        row("delay margin", lambda judged: number(judged.margins.delay_margin, "s")),
        row("bandwidth", lambda judged: number(judged.bandwidth, "rad/s")),
        row("sensitivity peak", lambda judged: number(judged.sensitivity_peak)),
    ]
    for place, band in enumerate(BANDS):
        times = [judged.response_times[place] for judged in loops.values()]
        rows.append([f"shrunk to {band:.0%} in", *("never" if np.isinf(t) else f"{t:.3g} s" for t in times)])
    return columns(rows)
