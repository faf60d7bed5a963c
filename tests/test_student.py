"""Student's t against SciPy, and against closed forms."""

import pytest
from scipy.special import stdtr, stdtrit

from aqmlab.results.student import central_probability, quantile


@pytest.mark.parametrize("probability", [0.5, 0.95, 0.999])
def test_quantiles_are_those_of_scipy(probability: float) -> None:
    for freedom in (*range(1, 200), 500, 999, 1000, 99_999):
        expected = float(stdtrit(freedom, (1 + probability) / 2))
        assert quantile(probability, freedom) == pytest.approx(expected, rel=1e-9), freedom


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 10, 1000])
def test_probabilities_are_those_of_scipy(freedom: int) -> None:
    for t in (0.0, 0.1, 0.3, 2.0, 50.0):
        assert central_probability(t, freedom) == pytest.approx(2 * float(stdtr(freedom, t)) - 1, abs=1e-13)


def test_nothing_is_within_nothing() -> None:
    assert quantile(0.0, 5) == 0.0
