"""Quantities with a value for each seed: only values of the same seed are combined."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from aqmlab.results.summary import Summary
from aqmlab_papers import PerSeed

VALUES = some.dictionaries(some.integers(1, 9), some.none() | some.floats(-1e6, 1e6), max_size=9)


def test_a_value_that_one_side_lacks_has_no_difference_and_no_ratio() -> None:
    one, other = PerSeed.of([5.0, None, 1.0, 1.0]), PerSeed.of([2.0, 3.0, None, 0.0])
    assert (one - other).values == {1: 3.0, 2: None, 3: None, 4: 1.0}
    assert (one / other).values == {1: 2.5, 2: None, 3: None, 4: None}


@given(VALUES, VALUES)
def test_values_of_different_seeds_never_meet(one: dict[int, float | None], other: dict[int, float | None]) -> None:
    found = (PerSeed.of(one) - PerSeed.of(other)).values
    assert set(found) == set(one) & set(other)
    for seed, value in found.items():
        a, b = one[seed], other[seed]
        assert value == (None if a is None or b is None else a - b)


def test_numbers_take_part_on_either_side() -> None:
    two = PerSeed.of([2.0, 4.0], "ms")
    assert (10 - two).values == {1: 8.0, 2: 6.0}
    assert (8 / two).values == {1: 4.0, 2: 2.0}
    assert (1 + two * 2).known == (2 * two + 1).known == [5.0, 9.0]
    assert abs(-two).known == [2.0, 4.0]


def test_a_ratio_of_like_units_has_none_and_a_difference_keeps_its_own() -> None:
    one, other = PerSeed.of([2.0], "ms", "wait"), PerSeed.of([4.0], "ms")
    assert ((one / other).unit, (one - other).unit, (one / 2).unit, (1 / one).unit) == ("", "ms", "ms", "")
    assert (one / PerSeed.of([1.0], "packets")).unit == "ms"
    assert (one - other).name == "wait"


def test_quantities_are_merged_for_each_seed_that_all_have() -> None:
    three = [PerSeed.of([1.0, 4.0, None]), PerSeed.of([3.0, None, None]), PerSeed.of([5.0, 1.0, None, 7.0])]
    assert PerSeed.average(three).values == {1: 3.0, 2: None, 3: None}
    assert PerSeed.least(three).values == {1: 1.0, 2: None, 3: None}
    assert PerSeed.most(iter(three)).values == {1: 5.0, 2: None, 3: None}
    with pytest.raises(ValueError, match="no quantities"):
        PerSeed.average([])


@pytest.mark.parametrize(
    ("unit", "to", "value"), [("s", "ms", 2500.0), ("ms", "s", 0.0025), ("bit/s", "Mbit/s", 2.5e-6), ("", "%", 250.0)]
)
def test_a_unit_is_converted_there_and_back(unit: str, to: str, value: float) -> None:
    found = PerSeed.of([2.5], unit).to(to)
    assert (found.unit, found.mean) == (to, pytest.approx(value))
    assert found.to(unit).mean == pytest.approx(2.5)


def test_a_unit_of_another_kind_is_refused() -> None:
    with pytest.raises(ValueError, match="wait: cannot be converted from 's' to 'packets'"):
        PerSeed.of([1.0], "s", "wait").to("packets")


def test_a_quantity_is_written_with_its_interval_and_unit() -> None:
    values = [12.1, 12.5, 11.7]
    half = Summary.of(values).ci95
    assert half is not None
    assert f"{PerSeed.of(values, 'packets')}" == f"12.1 ± {half:.2g} packets"
    assert f"{PerSeed.of(values, 'packets'):.2f}" == "12.10"
    assert str(PerSeed.of([12345.6], "packets")) == "12346 packets"
    assert (str(PerSeed.of([0.25])), str(PerSeed.of([None]))) == ("0.25", "nan")


def test_nan_is_no_value() -> None:
    found = PerSeed.of([math.nan, 1.0])
    assert (found.values, found.mean, found.known) == ({1: None, 2: 1.0}, 1.0, [1.0])
    assert math.isnan(PerSeed.of([None]).mean)
