"""Mean, spread and confidence against values computed by hand."""

import math

import pytest

from aqmlab import Summary


def test_three_values_against_a_hand_computation() -> None:
    # mean 4; deviations -2, 0, 2: variance (4 + 0 + 4) / 2 = 4; t(2, 0.975) = 4.302653; 4.302653 * 2 / sqrt 3
    summary = Summary.of([2, 4, 6])
    assert summary.mean == 4
    assert summary.std == 2
    assert summary.ci95 == pytest.approx(4.302652729911275 * 2 / math.sqrt(3))
    assert summary.n == 3


def test_one_value_has_no_spread() -> None:
    assert Summary.of([3.0]) == Summary(3.0, None, None, 1)


def test_runs_without_a_value_are_not_counted() -> None:
    assert Summary.of([None, 3.0, None]) == Summary(3.0, None, None, 1)
    assert Summary.of([None, None]) == Summary(None, None, None, 0)


def test_zero_is_a_value() -> None:
    assert Summary.of([0.0, 2.0]).mean == 1.0


def test_equal_values_have_no_uncertainty() -> None:
    assert Summary.of([5.0] * 10) == Summary(5.0, 0.0, 0.0, 10)
