"""The table of an experiment's runs answers as queries of polars do."""

from __future__ import annotations

import math

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab_papers.run.table import Table

_NUMBERS = st.one_of(st.none(), st.just(math.nan), st.integers(-3, 3).map(float))


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 3), st.integers(0, 1), _NUMBERS), min_size=1, max_size=20),
    st.sampled_from([{}, {"aqm": "a"}, {"n": 1}, {"aqm": "b", "n": 0}]),
    st.sampled_from([None, 7.0]),
)
def test_a_column_by_name_has_the_means_of_its_expression(
    runs: list[tuple[str, int, int, float | None]], wanted: dict[str, object], fill: float | None
) -> None:
    frame = polars.DataFrame(
        runs, schema={"aqm": polars.String, "seed": polars.Int64, "n": polars.Int64, "m": polars.Float64}, orient="row"
    )
    table = Table(frame)
    rows = table.rows(wanted)
    chosen = frame.filter(*(polars.col(name) == value for name, value in wanted.items()))
    assert frame[list(rows)].equals(chosen)
    assert table.rows(wanted) == rows
    expression = polars.col("m") if fill is None else polars.col("m").fill_null(fill)
    means = table.means("m", rows, fill, scale=2)
    assert means == table.means_of(2 * expression, rows)
    assert list(means) == table.seeds(rows) == sorted(set(chosen["seed"]))


def test_what_is_not_a_fraction_and_what_is_not_finite_has_means() -> None:
    x = [1.0, 2.0, math.inf, -math.inf]
    table = Table(polars.DataFrame({"seed": [1, 1, 2, 2], "yes": [True, False, True, True], "x": x}))
    assert table.means("yes", range(4)) == {1: 0.5, 2: 1.0}
    assert table.means("seed", range(4)) == {1: 1.0, 2: 2.0}
    assert table.means("x", range(3)) == {1: 1.5, 2: math.inf}
    assert math.isnan(table.means("x", range(4))[2] or 0)
    with pytest.raises(polars.exceptions.ColumnNotFoundError, match="other"):
        table.means("other", range(4))
