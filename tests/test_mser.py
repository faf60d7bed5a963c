"""MSER-5 against vectors computed by hand."""

import numpy as np
import pytest

from aqmlab.results.mser import mser5

SETTLED = [8, 4, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1]
"""The means of batches, with an end of the warm-up that can be computed by hand.

Of the last n: n = 12: (90 - 12^2 / 12) / 12^2 = 0.542; n = 11: (26 - 4^2 / 11) / 11^2 = 0.203; n = 10: 10 / 10^2 = 0.1;
n = 9: (9 - 1 / 9) / 9^2 = 0.110; n = 8: 8 / 8^2 = 0.125.
"""


def in_batches(means: list[float], spread: float = 0.0) -> list[float]:
    """Return a series of which five values each have these means."""
    return [mean + off for mean in means for off in (-2 * spread, 2 * spread, 0.0, spread, -spread)]


@pytest.mark.parametrize("spread", [0.0, 3.0])
@pytest.mark.parametrize("level", [0.0, 1e6])
def test_the_cut_is_where_the_standard_error_is_smallest(spread: float, level: float) -> None:
    assert mser5([level + value for value in in_batches(SETTLED, spread)]) == 2 * 5


def test_what_does_not_fill_a_batch_is_left_out() -> None:
    assert mser5([*in_batches(SETTLED), 1e3, 1e3]) == 2 * 5


def test_nothing_is_cut_from_a_series_without_a_warm_up() -> None:
    assert mser5([0.1] * 1000) == 0
    assert mser5(in_batches([1, -1] * 50)) == 0


def test_a_series_that_does_not_settle_has_no_end_of_a_warm_up() -> None:
    assert mser5(np.arange(1000.0)) is None
    assert mser5(in_batches([9.0] * 30 + [1, -1] * 10)) is None, "it settles in the second half"


def test_a_short_series_tells_nothing() -> None:
    assert mser5([1.0] * 49) is None
    assert mser5([1.0] * 50) == 0
