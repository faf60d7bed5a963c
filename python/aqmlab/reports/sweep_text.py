"""A sweep as a plain-text table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab.reports.text import ONE_RUN, SHOWN, Column, Table, interval, signed, varies
from aqmlab.results.metrics import METRICS, Metric
from aqmlab.results.result import PACKET
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
    parts = [f"{title(sweep)} {origin(sweep)}"]
    if sweep.done:
        parts.append(_printed(means(sweep)))
    if is_paired(sweep):
        parts.append(f"{compared(sweep)}:\n\n{_printed(differences(sweep))}")
    return "\n\n".join(parts)


def title(sweep: Sweep) -> str:
    """Return the title of a sweep's scenario."""
    return printable(sweep.scenario.title) or "untitled"


def origin(sweep: Sweep) -> str:
    """Describe the origin of a sweep: ``(3 points, 2 queue disciplines, seeds 1, 2, 12 runs simulated; aqmlab …)``."""
    if not sweep.done:
        return f"(none of {sweep.wanted} runs finished)"
    points = sweep.count(*sweep.parameters)
    parts = [
        f"{points} points" if points > 1 else "1 point",
        f"{len(sweep.aqms)} queue discipline{'s' if len(sweep.aqms) > 1 else ''}",
        f"seed{'s' if len(sweep.seeds) > 1 else ''} {span(sweep.seeds)}",
        f"{sweep.simulated} run{'s' if sweep.simulated > 1 else ''} simulated now"
        if sweep.simulated
        else "nothing to do, all runs were in the store",
    ]
    return f"({', '.join(parts)}; {versions(sweep)})"


def versions(sweep: Sweep) -> str:
    """Name the engine, unless it is the packet engine, and its version."""
    engine = "" if sweep.engine_name == PACKET else f"engine {sweep.engine_name}; "
    return f"{engine}aqmlab {sweep.version}"


def is_paired(sweep: Sweep) -> bool:
    """Return whether the sweep has differences with confidence intervals."""
    return sweep.done > 0 and len(sweep.aqms) > 1 and len(sweep.seeds) > 1


def compared(sweep: Sweep) -> str:
    """Return the heading of the differences."""
    return f"Differences from {printable(sweep.aqms[0])}, seed by seed"


def means(sweep: Sweep) -> Table:
    """Return the means of the main metrics as a table, with a row for each point and discipline."""
    metrics = [METRICS[name] for name in SHOWN]
    rows = []
    found = sweep.means(SHOWN, MOST_ROWS).rows(named=True)
    for row in found:
        cells = (interval(metric, summary_of(row, metric.name), row["runs"]) for metric in metrics)
        rows.append([*place(sweep, row), *cells])
    return _table(sweep, metrics, rows, sweep.count("aqm", *sweep.parameters), one_run(found))


def one_run(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return in how many of these rows of a sweep's summary all seeds have the same run; empty if in none."""
    replicated = [row for row in rows if row["runs"] > 1]
    same = sum(
        not any(row[name] is not None and varies(row[name], row[f"{name}_ci95"]) for name in SHOWN)
        for row in replicated
    )
    if not same:
        return ""
    return f"{'All seeds' if same == len(rows) else f'In {same} of {len(rows)} rows all seeds'} {ONE_RUN}."


def differences(sweep: Sweep) -> Table:
    """Return the differences from the first discipline as a table, with a row for each point and other discipline."""
    metrics = [METRICS[name] for name in COMPARED]
    frames = [sweep.differences(name, sweep.aqms[0]) for name in COMPARED]
    rows = []
    for found in zip(*(frame.head(MOST_ROWS).iter_rows(named=True) for frame in frames), strict=True):
        cells = (signed(metric, row["difference"], row["ci95"]) for metric, row in zip(metrics, found, strict=True))
        rows.append([*place(sweep, found[0]), *cells])
    return _table(sweep, metrics, rows, len(frames[0]))


def _table(sweep: Sweep, metrics: Sequence[Metric], rows: Sequence[Sequence[str]], total: int, note: str = "") -> Table:
    """Return a table of these rows, of `total` that there are."""
    heads = [*(Column(path, unit) for path, (unit, _) in sweep.shown.items()), *map(Column.of, metrics)]
    more = total - len(rows)
    remark = f"… {more} more rows: in results/*.parquet, as Sweep.scan()" if more else ""
    remark = " ".join(filter(None, [note, remark]))
    return Table(heads, [row[0] for row in rows], [row[1:] for row in rows], remark)


def _printed(table: Table) -> str:
    rows = [[label, *row] for label, row in zip(table.labels, table.rows, strict=True)]
    return "\n".join([columns(table.heads() + rows), *filter(None, [table.remark])])


def place(sweep: Sweep, row: Mapping[str, Any]) -> list[str]:
    """Return the cells that identify a row of the summary: the discipline, and the value of each parameter."""
    return [printable(row["aqm"]), *(value(sweep, path, row[path]) for path in sweep.parameters)]


def value(sweep: Sweep, path: str, found: Any) -> str:
    """Write a value of a varying parameter, in the unit that `Sweep.shown` has."""
    return f"{found * sweep.shown[path][1]:.6g}" if isinstance(found, int | float) else printable(str(found))


def summary_of(row: Mapping[str, Any], name: str) -> Summary:
    """Return the mean and the interval of a metric from a row of a sweep's summary."""
    mean = row[name]
    return Summary(mean, None, row[f"{name}_ci95"], 0 if mean is None else row["runs"])
