"""Metrics as people read them: their expressions, units and names, and the places at which they were measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aqmlab.results.metrics import METRICS

if TYPE_CHECKING:
    import polars


def reading(metric: str | polars.Expr) -> tuple[polars.Expr, str, float, str]:
    """Return a metric as an expression, with the unit, the factor and the name in which people read it."""
    import polars

    if not isinstance(metric, str):
        return metric, "", 1.0, metric.meta.output_name(raise_if_undetermined=False) or "value"
    owner, _, last = metric.rpartition(".")
    known = METRICS.get(last)
    if known is None:
        return polars.col(metric), "", 1.0, metric
    label = known.label[0].lower() + known.label[1:]
    whose = owner.removeprefix("classes.").removeprefix("links.").replace("lanes.", "")
    return (
        polars.col(metric).cast(polars.Float64),
        known.shown or known.unit,
        known.scale if known.shown else 1.0,
        f"{label} of {whose}" if whose else label,
    )


def place(path: str, value: object, form: str | None, unit: str) -> str:
    """Write the value of a parameter: ``count = 100``, or in the given form."""
    if form is not None:
        return form.format(value)
    text = f"{value:g}" if isinstance(value, int | float) else str(value)
    return f"{path.rpartition('.')[2]} = {text}{unit and ' ' + unit}"


def jain(values: Sequence[polars.Expr]) -> polars.Expr:
    """Return Jain's index of several quantities: 1 if they are equal, 1 / n if one has all."""
    import polars

    squares = polars.sum_horizontal(value**2 for value in values)
    return polars.sum_horizontal(values) ** 2 / (len(values) * squares)
