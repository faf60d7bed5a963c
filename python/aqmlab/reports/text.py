"""Results as a plain-text table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

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


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading, the unit of its numbers, and a definition; the last two may be empty."""

    label: str
    unit: str = ""
    definition: str = ""

    @classmethod
    def of(cls, metric: Metric) -> Self:
        """Return the column of a metric, in the unit in which people read it."""
        return cls(metric.label, metric.shown or metric.unit, metric.definition)


@dataclass(frozen=True)
class Table:
    """A table with a label at the start of each row, and a remark below it; `columns` leaves out that of the labels."""

    columns: Sequence[Column]
    labels: Sequence[str]
    rows: Sequence[Sequence[str]]
    remark: str = ""

    def heads(self) -> list[list[str]]:
        """Return the two rows above the others: headings and units."""
        return [["", *(column.label for column in self.columns)], ["", *(column.unit for column in self.columns)]]


def text(results: Mapping[str, Result]) -> str:
    """Lay out the main metrics of at least one result: title, seeds and version, then a line for each label."""
    shown = table(results)
    numbers = max(map(len, columns([row[1:] for row in shown.heads()] + list(shown.rows)).splitlines()))
    body = []
    for label, row in zip(shown.labels, shown.rows, strict=True):
        first, *more = wrapped(label, max(WIDTH - numbers - 4, _SHORTEST))
        body += [[first, *row], *([f"  {line}", *[""] * len(row)] for line in more)]
    return "\n".join([f"{title(results)} {origin(results)}", "", columns(shown.heads() + body), *notes(results)])


def title(results: Mapping[str, Result]) -> str:
    """Return the title of the first result's scenario."""
    return printable(next(iter(results.values())).scenario.title) or "untitled"


def origin(results: Mapping[str, Result]) -> str:
    """Describe the origin of at least one result: ``(seeds 7, 8; aqmlab 0.1.0)``."""
    return f"({seeds(results)}; aqmlab {next(iter(results.values())).version})"


def table(results: Mapping[str, Result]) -> Table:
    """Return the main metrics of at least one result as a table, with a row for each."""
    metrics = [METRICS[name] for name in SHOWN]
    unequal = len({tuple(result.seeds) for result in results.values() if result.not_modelled is None}) > 1
    values = zip(*(_intervals(metric, results) for metric in metrics), strict=True)
    rows = [
        [
            *([str(len(result.seeds)) if result.not_modelled is None else "-"] if unequal else []),
            "-" if result.scenario.target is None else f"{result.scenario.target:g}",
            *cells,
        ]
        for result, cells in zip(results.values(), values, strict=True)
    ]
    heads = [*([Column("Seeds")] if unequal else []), Column("Target", "packets"), *map(Column.of, metrics)]
    return Table(heads, list(results), rows)


def _intervals(metric: Metric, results: Mapping[str, Result]) -> list[str]:
    """Format a column of intervals with its ± signs aligned."""
    cells = [interval(metric, result.summary[metric.name], len(result.runs)) for result in results.values()]
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
    remarks = []
    if len(first.links) > 1:
        remarks.append(f"The queue is that of link {first.link}; {', '.join(first.links)} have a queue discipline.")
    for label, result in results.items():
        lost = result.metrics["drops_elsewhere"]
        if lost:
            whose = f"{printable(label)}: " if len(results) > 1 else ""
            a_run = " a run" if len(result.runs) > 1 else ""
            remarks.append(f"{whose}{lost:g} packets{a_run} were lost in buffers without a queue discipline.")
        remarks += [f"Not modelled: {printable(part)}." for part in result.not_modelled or ()]
    return remarks


def interval(metric: Metric, summary: Summary, runs: int) -> str:
    """Format a metric's mean and its confidence interval in the metric's unit for readers: ``98.2 ± 1.1``.

    If only three of four runs have a value, ``(3 of 4)`` follows.
    """
    mean = metric.text(summary.mean)
    spread = "" if summary.ci95 is None else f" ± {metric.text(summary.ci95)}"
    return mean + spread + share(summary, runs)
