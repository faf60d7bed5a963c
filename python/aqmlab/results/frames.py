"""The metrics of runs as frames: wide, with a column for each metric, and long, with a row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars

    from aqmlab.results.summary import Summary

ALL = "all"
"""The scope of metrics of the observed queue and all flows, whose columns have no dot."""


def flat(document: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield every metric of a run's document: ``queue_mean``, ``classes.long.goodput``, ``engine.packets``."""
    yield from document["metrics"].items()
    for group in ("classes", "links", "lanes"):
        for owner, metrics in document[group].items():
            for name, value in metrics.items():
                yield f"{group}.{owner}.{name}", value
    for name, value in document["engine"].items():
        yield f"engine.{name}", value


def parts(column: str) -> tuple[str, str, str]:
    """Return the scope, the owner and the metric of a column; the owner is empty for ``all`` and ``engine``."""
    scope, _, rest = column.partition(".")
    owner, _, metric = rest.rpartition(".")
    return (scope, owner, metric) if rest else (ALL, "", column)


def of_runs(documents: Sequence[Mapping[str, Any]]) -> polars.DataFrame:
    """Return a row for each run's document: ``seed``, and every metric that some run has."""
    import polars

    rows = [dict(flat(document)) for document in documents]
    names = dict.fromkeys(name for row in rows for name in row)
    return polars.DataFrame(
        [
            polars.Series("seed", [document["seed"] for document in documents], polars.Int64),
            *(polars.Series(name, [row.get(name) for row in rows], polars.Float64, strict=False) for name in names),
        ]
    )


def long(wide: polars.DataFrame) -> polars.DataFrame:
    """Return a row for each run and metric of a frame whose metrics follow ``seed``."""
    import polars

    heads = wide.columns[: wide.columns.index("seed") + 1]
    columns = wide.columns[len(heads) :]
    names = polars.DataFrame(
        [(column, *parts(column)) for column in columns],
        dict.fromkeys(("column", "scope", "name", "metric"), polars.String),
        orient="row",
    )
    found = wide.unpivot(columns, index=heads, variable_name="column", value_name="value")
    return found.join(names, on="column", maintain_order="left").select(*heads, "scope", "name", "metric", "value")


def summarised(heads: Mapping[str, str], summaries: Mapping[str, Summary]) -> polars.DataFrame:
    """Return a row for each metric, by its column, with its statistics; it begins with the heads, the same in all."""
    import polars

    rows = [(*heads.values(), *parts(name), one.mean, one.std, one.ci95, one.n) for name, one in summaries.items()]
    texts = dict.fromkeys((*heads, "scope", "name", "metric"), polars.String)
    numbers = dict.fromkeys(("mean", "std", "ci95"), polars.Float64)
    return polars.DataFrame(rows, {**texts, **numbers, "n": polars.Int64}, orient="row")


def to_pandas(frame: polars.DataFrame) -> pandas.DataFrame:
    """Convert a frame; raise ImportError, with the command that installs it, if pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install 'aqmlab[pandas]'", name="pandas") from error
    # The conversion of polars needs pyarrow, which is larger than pandas.
    return pandas.DataFrame({column.name: column.to_numpy() for column in frame.iter_columns()})
