"""A sweep as a plain-text table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aqmlab.reports.text import SHOWN, interval
from aqmlab.results.metrics import METRICS, Metric
from aqmlab.results.summary import Summary
from aqmlab.text import columns, printable, span

if TYPE_CHECKING:
    from aqmlab.sweeps.result import Sweep

MOST_ROWS = 60
"""The largest number of rows printed; the data set has all."""

COMPARED = ("queue_mean", "queue_mad", "loss_ratio", "goodput")
"""The metrics whose differences are shown."""


def text(sweep: Sweep) -> str:
    """Lay out the main metrics of a sweep, a line for each point and discipline, and the differences from the first."""
    title = printable(sweep.scenario.title) or "untitled"
    if not sweep.done:
        return f"{title} (no run of {sweep.wanted} is there)"
    points = sweep.summary.select(*sweep.parameters).n_unique() if sweep.parameters else 1
    told = [
        f"{points} points" if points > 1 else "1 point",
        f"{len(sweep.aqms)} queue discipline{'s' if len(sweep.aqms) > 1 else ''}",
        f"seed{'s' if len(sweep.seeds) > 1 else ''} {span(sweep.seeds)}",
        f"{sweep.simulated} run{'s' if sweep.simulated > 1 else ''} simulated now"
        if sweep.simulated
        else "nothing to do, all runs were there",
    ]
    parts = [f"{title} ({', '.join(told)}; aqmlab {sweep.version})", _means(sweep)]
    if len(sweep.aqms) > 1 and len(sweep.seeds) > 1:
        parts.append(f"Differences to {printable(sweep.aqms[0])}, seed by seed:\n\n{_differences(sweep)}")
    return "\n\n".join(parts)


def _means(sweep: Sweep) -> str:
    metrics = [METRICS[name] for name in SHOWN]
    head = [
        ["", *sweep.parameters, *(metric.label for metric in metrics)],
        ["", *sweep.parameters.values(), *(metric.shown or metric.unit for metric in metrics)],
    ]
    rows = []
    for row in sweep.summary.head(MOST_ROWS).iter_rows(named=True):
        means = (interval(metric, summary_of(row, metric.name), row["runs"]) for metric in metrics)
        rows.append([*place(sweep, row), *means])
    return _cut(columns(head + rows), len(sweep.summary))


def _differences(sweep: Sweep) -> str:
    metrics = [METRICS[name] for name in COMPARED]
    frames = [sweep.differences(name, sweep.aqms[0]) for name in COMPARED]
    head = [
        ["", *sweep.parameters, *(metric.label for metric in metrics)],
        ["", *sweep.parameters.values(), *(metric.shown or metric.unit for metric in metrics)],
    ]
    rows = []
    for own in zip(*(frame.head(MOST_ROWS).iter_rows(named=True) for frame in frames), strict=True):
        cells = (signed(metric, row["difference"], row["ci95"]) for metric, row in zip(metrics, own, strict=True))
        rows.append([*place(sweep, own[0]), *cells])
    return _cut(columns(head + rows), len(frames[0]))


def signed(metric: Metric, difference: float | None, half: float | None) -> str:
    """Format a difference in the metric's unit for readers, ``+1.2 ± 0.4 *``; the star: its interval excludes 0."""
    if difference is None:
        return "-"
    spread = "" if half is None else f" ± {metric.text(half)} {'*' if abs(difference) > half else ' '}"
    return f"{difference * metric.scale:+.{metric.digits}f}{spread}"


def place(sweep: Sweep, row: Mapping[str, Any]) -> list[str]:
    """Return the cells that identify a row of the summary: the discipline, and the value of each parameter."""
    values = (row[path] for path in sweep.parameters)
    return [printable(row["aqm"]), *(f"{v:g}" if isinstance(v, int | float) else printable(str(v)) for v in values)]


def summary_of(row: Mapping[str, Any], name: str) -> Summary:
    """Return the mean and the interval of a metric from a row of a sweep's summary."""
    mean = row[name]
    return Summary(mean, None, row[f"{name}_ci95"], 0 if mean is None else row["runs"])


def _cut(table: str, rows: int) -> str:
    return (
        table if rows <= MOST_ROWS else f"{table}\n… {rows - MOST_ROWS} more rows: in results/*.parquet, as Sweep.frame"
    )
