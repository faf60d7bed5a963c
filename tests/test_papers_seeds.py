"""Values of each seed are combined with those of the same seed only, and missing values stay missing."""

import math
from operator import sub

import pytest

from aqmlab.papers.run.seeds import average, difference, mean, paired, ratio, rounded


def test_a_value_that_one_side_lacks_has_no_difference_and_no_ratio() -> None:
    assert difference([5.0, None, 1.0], [2.0, 3.0, None]) == [3.0, None, None]
    assert ratio([6.0, None, 1.0, 1.0], [2.0, 3.0, None, 0.0]) == [3.0, None, None, None]
    with pytest.raises(ValueError, match="shorter"):
        difference([1.0, 2.0], [1.0])


def test_quantities_are_averaged_for_each_seed_over_the_values_that_exist() -> None:
    assert average([[1.0, 4.0, None], [3.0, None, None]]) == [2.0, 4.0, None]


def test_values_by_seed_are_combined_with_the_same_seed_only() -> None:
    assert paired(sub, {1: 5.0, 8: 1.0, 2: 7.0}, {2: 3.0, 3: 9.0, 8: 2.0}) == [4.0, -1.0]


def test_the_mean_leaves_out_missing_values() -> None:
    assert mean([1.0, None, 4.0]) == 2.5
    assert mean({7: 1.0, 9: 3.0}) == 2.0
    assert math.isnan(mean([None]))


@pytest.mark.parametrize(("value", "text"), [(1234.5, "1.23e+03"), (0.0, "0"), (None, "-"), (math.nan, "-")])
def test_a_number_is_written_with_three_digits_and_a_missing_one_as_a_dash(value: float | None, text: str) -> None:
    assert rounded(value) == text
