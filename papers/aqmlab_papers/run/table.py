"""The table of an experiment's runs, for many small questions: a query of polars takes a millisecond."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars


class Table:
    """A frame with one row for each run, which remembers the rows and columns that it was asked for."""

    def __init__(self, frame: polars.DataFrame) -> None:
        self.frame = frame
        self._rows: dict[tuple[tuple[str, Any], ...], tuple[int, ...]] = {}
        self._balanced: dict[Sequence[int], Sequence[int]] = {}
        self._columns: dict[str, list[Any]] = {}
        self._numbers: dict[str, list[float | None]] = {}

    def rows(self, wanted: Mapping[str, Any]) -> Sequence[int]:
        """Return the numbers of the rows that have these values in these columns."""
        import polars

        if not wanted:
            return range(len(self.frame))
        key = tuple(sorted(wanted.items()))
        if key not in self._rows:
            same = [polars.col(name) == value for name, value in wanted.items()]
            self._rows[key] = tuple(self.frame.select(polars.all_horizontal(same).arg_true()).to_series())
        return self._rows[key]

    def balanced(self, rows: Sequence[int]) -> Sequence[int]:
        """Select those of some rows whose seeds are there at all of their points: others would have another mean."""
        if rows not in self._balanced:
            seeds = self.column("seed")
            counts = Counter(seeds[row] for row in rows)
            every = max(counts.values(), default=0)
            self._balanced[rows] = tuple(row for row in rows if counts[seeds[row]] == every)
        return self._balanced[rows]

    def column(self, name: str) -> list[Any]:
        """Return a column."""
        if name not in self._columns:
            self._columns[name] = self.frame[name].to_list()
        return self._columns[name]

    def numbers(self, name: str) -> list[float | None]:
        """Return a column as floating-point numbers."""
        import polars

        if name not in self._numbers:
            self._numbers[name] = self.frame[name].cast(polars.Float64).to_list()
        return self._numbers[name]

    def seeds(self, rows: Sequence[int]) -> list[int]:
        """Return the seeds of some rows, ascending."""
        seeds = self.column("seed")
        return sorted({seeds[row] for row in rows})

    def means(
        self, name: str, rows: Sequence[int], fill: float | None = None, scale: float = 1.0
    ) -> dict[int, float | None]:
        """Return the mean of a scaled column over rows for each seed; None if a row has no value.

        ``fill`` is the value, not scaled, of rows without one.
        """
        seeds, column = self.column("seed"), self.numbers(name)
        values: dict[int, list[float]] = {seed: [] for seed in self.seeds(rows)}
        for row in rows:
            value = fill if column[row] is None else column[row]
            values[seeds[row]].append(math.nan if value is None else value * scale)
        return {seed: _mean(points) for seed, points in values.items()}

    def means_of(self, expression: polars.Expr, rows: Sequence[int]) -> dict[int, float | None]:
        """Return the mean of an expression over rows for each seed; None if a row has no value."""
        import polars

        # There are hundreds of columns. Those of a selector are not known.
        frame = self.frame
        if not expression.meta.has_multiple_outputs():
            frame = frame.select(list(dict.fromkeys(["seed", *expression.meta.root_names()])))
        value = expression.cast(polars.Float64).fill_nan(None)
        mean = polars.when(value.is_not_null().all()).then(value.mean())
        found = frame[list(rows)].group_by("seed").agg(mean.alias("value")).sort("seed")
        return dict(found.select("seed", "value").iter_rows())


def _mean(points: Sequence[float]) -> float | None:
    """Return the mean, None if a point is not a number."""
    if any(map(math.isnan, points)):
        return None
    return (math.fsum(points) if all(map(math.isfinite, points)) else sum(points)) / len(points)
