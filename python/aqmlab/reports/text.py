"""Results as a table of plain text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aqmlab.results.metrics import METRICS, Metric
from aqmlab.results.summary import Summary, share
from aqmlab.text import columns, printable, wrapped

if TYPE_CHECKING:
    from aqmlab.results.result import Result

SHOWN = ("queue_mean", "queue_mad", "queue_delay_mean", "queue_delay_p99", "loss_ratio", "goodput", "jain")
"""The metrics of the table; all others are in the documents and the report."""

WIDTH = 120
"""How many columns of a terminal the table fills before it breaks long labels."""

_SHORTEST = 16
"""How many characters of a label stay together even then."""


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
    title = printable(first.scenario.title) or "untitled"
    unequal = len({tuple(result.seeds) for result in results.values() if result.not_modelled is None}) > 1
    head = [
        ["", *(["Seeds"] if unequal else []), "Target", *(metric.label for metric in metrics)],
        ["", *([""] if unequal else []), "packets", *(metric.shown or metric.unit for metric in metrics)],
    ]
    values = zip(*(_intervals(metric, results) for metric in metrics), strict=True)
    rows = [
        [
            *([str(len(result.seeds)) if result.not_modelled is None else "-"] if unequal else []),
            "-" if result.scenario.target is None else f"{result.scenario.target:g}",
            *cells,
        ]
        for result, cells in zip(results.values(), values, strict=True)
    ]
    numbers = max(map(len, columns([row[1:] for row in head] + rows).splitlines()))
    lines = [wrapped(label, max(WIDTH - numbers - 4, _SHORTEST)) for label in results]
    body = []
    for (label, *more), row in zip(lines, rows, strict=True):
        body += [[label, *row], *([f"  {line}", *[""] * len(row)] for line in more)]
    told = f"{title} ({seeds(results)}; aqmlab {first.version})"
    return "\n".join([told, "", columns(head + body), *notes(results)])


def _intervals(metric: Metric, results: Mapping[str, Result]) -> list[str]:
    """Write a column of intervals, the signs ± beneath each other."""
    cells = [interval(metric, one.summary[metric.name], len(one.runs)) for one in results.values()]
    spreads = [cell.partition(" ± ")[2] for cell in cells]
    width = max(map(len, spreads))
    padded = zip(cells, spreads, strict=True)
    return [cell.removesuffix(spread) + spread.rjust(width) if spread else cell for cell, spread in padded]


def seeds(results: Mapping[str, Result]) -> str:
    """Name the seeds of some results.

    Parameters
    ----------
    results : mapping
        Results by label, at least one.

    Returns
    -------
    str
        ``seeds 7, 8``, and whether some results lack some of them; ``fluid model`` if chance plays no part.
    """
    drawn = [result.seeds for result in results.values() if result.not_modelled is None]
    if not drawn:
        return "fluid model"
    every = list(dict.fromkeys(seed for seeds in drawn for seed in seeds))
    lacking = any(len(seeds) < len(every) for seeds in drawn)
    named = f"seed{'s' if len(every) > 1 else ''} {', '.join(map(str, every))}"
    return f"{named}, not all in every row" if lacking else named


def notes(results: Mapping[str, Result]) -> list[str]:
    """Say what a reader of the metrics has to know besides.

    Parameters
    ----------
    results : mapping
        Results by label, at least one.

    Returns
    -------
    list of str
        A sentence each; mostly none.
    """
    first = next(iter(results.values()))
    told = []
    if len(first.links) > 1:
        told.append(f"The queue is that of link {first.link}; {', '.join(first.links)} have a queue discipline.")
    for label, result in results.items():
        lost = result.metrics["drops_elsewhere"]
        if lost:
            whose = f"{printable(label)}: " if len(results) > 1 else ""
            a_run = " a run" if len(result.runs) > 1 else ""
            told.append(f"{whose}{lost:g} packets{a_run} were lost in buffers without a queue discipline.")
        told += [f"Not modelled: {printable(what)}." for what in result.not_modelled or ()]
    return told


def interval(metric: Metric, summary: Summary, runs: int) -> str:
    """Write a metric's mean and, if there is one, its confidence interval.

    Parameters
    ----------
    metric : Metric
        Which metric.
    summary : Summary
        Its values.
    runs : int
        How many runs there are, with a value or without.

    Returns
    -------
    str
        ``98.2 ± 1.1`` in the unit that people read; ``(3 of 4)`` after it when one of four runs has no value.
    """
    mean = metric.text(summary.mean)
    spread = "" if summary.ci95 is None else f" ± {metric.text(summary.ci95)}"
    return mean + spread + share(summary, runs)
