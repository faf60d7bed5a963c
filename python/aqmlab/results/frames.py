"""The metrics of runs as frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars


def flat(document: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield every metric of a run's document: ``queue_mean``, ``classes.long.goodput``, ``engine.packets``."""
    yield from document["metrics"].items()
    for group in ("classes", "links", "lanes"):
        for owner, metrics in document[group].items():
            for name, value in metrics.items():
                yield f"{group}.{owner}.{name}", value
    for name, value in document["engine"].items():
        yield f"engine.{name}", value


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


def to_pandas(frame: polars.DataFrame) -> pandas.DataFrame:
    """Convert a frame; raise ImportError, with the command that installs it, if pandas is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("to_pandas needs pandas: pip install 'aqmlab[pandas]'", name="pandas") from error
    # The conversion of polars needs pyarrow, which is larger than pandas.
    return pandas.DataFrame({column.name: column.to_numpy() for column in frame.iter_columns()})
