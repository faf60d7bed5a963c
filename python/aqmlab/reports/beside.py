"""A simulation and measurements in one plain-text table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aqmlab.reports.text import Column, Table, laid_out
from aqmlab.results.metrics import METRICS
from aqmlab.text import printable

if TYPE_CHECKING:
    from aqmlab.exchange.measured import Measured
    from aqmlab.results.result import Result


def table(result: Result, measured: Mapping[str | None, Sequence[Measured]]) -> Table:
    """Return the metrics that were measured, of each traffic entry or all traffic as simulated, and of each file.

    The key of measurements is the traffic entry beside which they stand, or None for all traffic.
    """
    had = {name for files in measured.values() for one in files for name in one.metrics}
    metrics = [metric for name, metric in METRICS.items() if name in had]
    labels, rows = [], []
    for entry, files in measured.items():
        simulated = (
            {name: one.mean for name, one in result.owned("classes")[entry].items()} if entry else result.metrics
        )
        for label, values in [
            (f"simulated: {entry or 'all traffic'}", simulated),
            *((f"measured: {one.name}", one.metrics) for one in files),
        ]:
            labels.append(printable(label))
            rows.append([metric.text(values.get(metric.name)) for metric in metrics])
    return Table([Column.of(metric) for metric in metrics], labels, rows)


def text(result: Result, measured: Mapping[str | None, Sequence[Measured]]) -> str:
    """Lay out `table` as plain text."""
    return laid_out(table(result, measured))
