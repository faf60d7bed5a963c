"""Results as a plain-text table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aqmlab.results.metrics import METRICS, Metric
from aqmlab.results.summary import Summary, share
from aqmlab.text import columns, printable, wrapped

if TYPE_CHECKING:
    from aqmlab.results.result import Result

SHOWN = ("queue_mean", "queue_mad", "queue_delay_mean", "queue_delay_p99", "loss_ratio", "goodput", "jain")
"""The metrics in the table; all others are in the documents and the report."""

WIDTH = 120
"""The terminal columns that the table may fill before long labels are broken."""

_SHORTEST = 16
"""The smallest width to which labels are broken."""


def text(results: Mapping[str, Result]) -> str:
    """Lay out the main metrics of at least one result: title, seeds and version, then a line for each label."""
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
    """Format a column of intervals with its ± signs aligned."""
    cells = [interval(metric, one.summary[metric.name], len(one.runs)) for one in results.values()]
    spreads = [cell.partition(" ± ")[2] for cell in cells]
    width = max(map(len, spreads))
    padded = zip(cells, spreads, strict=True)
    return [cell.removesuffix(spread) + spread.rjust(width) if spread else cell for cell, spread in padded]


def seeds(results: Mapping[str, Result]) -> str:
    """Describe the seeds of at least one result: ``seeds 7, 8``, and whether some results lack some of them.

    It is ``fluid model`` if no result is of a simulation.
    """
    drawn = [result.seeds for result in results.values() if result.not_modelled is None]
    if not drawn:
        return "fluid model"
    every = list(dict.fromkeys(seed for seeds in drawn for seed in seeds))
    lacking = any(len(seeds) < len(every) for seeds in drawn)
    named = f"seed{'s' if len(every) > 1 else ''} {', '.join(map(str, every))}"
    return f"{named}, not all in every row" if lacking else named


def notes(results: Mapping[str, Result]) -> list[str]:
    """List remarks that a reader of the metrics needs, one sentence each; in most cases there are none."""
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
    """Format a metric's mean and its confidence interval in the metric's unit for readers: ``98.2 ± 1.1``.

    If only three of four runs have a value, ``(3 of 4)`` follows.
    """
    mean = metric.text(summary.mean)
    spread = "" if summary.ci95 is None else f" ± {metric.text(summary.ci95)}"
    return mean + spread + share(summary, runs)
