"""Who presents what: a result knows no figure, report or page, and asks here for the function that makes one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FUNCTIONS = {
    "advice.text": "aqmlab.reports.advice_text:text",
    "audit.text": "aqmlab.reports.audit_text:text",
    "analysis.figure": "aqmlab.figures.loop:analysis",
    "calibration.text": "aqmlab.reports.calibration_text:text",
    "diff.text": "aqmlab.reports.diff_text:text",
    "figure.drawn": "aqmlab.figures.matplotlib:draw",
    "figure.saved": "aqmlab.figures.matplotlib:save",
    "plan.text": "aqmlab.reports.plan_text:text",
    "results.distribution": "aqmlab.figures.runs:distribution",
    "results.figure": "aqmlab.figures.runs:comparison",
    "results.html": "aqmlab.reports.notebook:results",
    "results.player": "aqmlab.playground.widget:results",
    "results.text": "aqmlab.reports.parts:whole",
    "results.tradeoff": "aqmlab.figures.tradeoff:tradeoff",
    "scenario.html": "aqmlab.reports.notebook:scenario",
    "scenario.player": "aqmlab.playground.widget:scenario",
    "sweep.figure": "aqmlab.figures.sweep:sweep",
    "sweep.html": "aqmlab.reports.notebook:sweep",
    "sweep.text": "aqmlab.reports.sweep_text:text",
    "tuned.text": "aqmlab.reports.tune_text:text",
}
"""The function of each presentation. It is imported when it is first wanted: matplotlib takes half a second."""


def presented(what: str, *arguments: Any) -> Any:
    """Call the function of a presentation, by its name in the table."""
    module, _, name = _FUNCTIONS[what].partition(":")
    return getattr(import_module(module), name)(*arguments)


def drawn(what: str, *arguments: Any, figure: Figure | None) -> Figure:
    """Draw a presentation that is a figure, in an empty figure of matplotlib; without one, in a new one of pyplot."""
    canvas: Figure = presented("figure.drawn", presented(what, *arguments), figure)
    return canvas
