"""Results as a table of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.metrics import METRICS, Metric
from aqmlab.summary import Summary

if TYPE_CHECKING:
    from aqmlab.result import Result

SHOWN = ("queue_mean", "queue_mad", "queue_delay_mean", "queue_delay_p99", "loss_ratio", "goodput", "jain")
"""The metrics of the table; all others are in the documents and the report."""


def text(results: Mapping[str, Result]) -> str:
    """Lay out the main metrics of some results.

    Parameters
    ----------
    results : mapping
        Results by label, at least one.

    Returns
    -------
    str
        What was simulated, with which seeds and version; then a line for each label.
    """
    first = next(iter(results.values()))
    metrics = [METRICS[name] for name in SHOWN]
    title = first.scenario.title or "untitled"
    many = "s" if len(first.seeds) > 1 else ""
    head = f"{title} (seed{many} {', '.join(map(str, first.seeds))}; aqmlab {first.version})"
    rows = [
        ["", *(metric.label for metric in metrics)],
        ["", *(metric.shown or metric.unit for metric in metrics)],
        *([label, *(interval(m, result.summary[m.name]) for m in metrics)] for label, result in results.items()),
    ]
    return f"{head}\n\n{columns(rows)}"


def interval(metric: Metric, summary: Summary) -> str:
    """Write a metric's mean and, if there is one, its confidence interval.

    Parameters
    ----------
    metric : Metric
        Which metric.
    summary : Summary
        Its values.

    Returns
    -------
    str
        ``98.2 ± 1.1`` in the unit that people read.
    """
    mean = metric.text(summary.mean)
    return mean if summary.ci95 is None else f"{mean} ± {metric.text(summary.ci95)}"


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Lay out a table as plain text, the first column to the left, the others to the right.

    Parameters
    ----------
    rows : sequence of sequences of str
        The cells.

    Returns
    -------
    str
        One line a row.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)
