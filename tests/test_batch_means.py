"""Batch means against values computed by hand."""

import math

import numpy as np
import pytest

from aqmlab.results.batch_means import BATCHES, SHORT, correlation, estimate, independent
from aqmlab.results.summary import Summary

T39 = 2.022691
"""Student's t with 39 degrees of freedom at 0.975, from a table."""


def alternating(level: float, scale: float = 1.0) -> np.ndarray:
    """Return short batches whose tens alternate between 1 above and 1 below a level; neighbours differ by more."""
    tens = np.tile([1.0, -1.0], BATCHES // 2).repeat(SHORT // BATCHES)
    return scale * (level + tens + np.tile([30.0, -30.0], SHORT // 2))


def test_the_correlation_is_jackknifed() -> None:
    # of all: (0.75 - 0.25 + 0.75) / 5 = 0.25; of each half: -0.25 / 0.5 = -0.5; 2 * 0.25 - (-0.5)
    assert correlation(np.array([1.0, 2.0, 3.0, 4.0])) == pytest.approx(1.0)
    assert correlation(np.ones(400)) == 0.0


def test_the_interval_is_that_of_forty_batches() -> None:
    found = estimate(list(alternating(5.0)), [1.0] * SHORT)
    assert found is not None
    # 40 values 1 from their mean: std = sqrt(40 / 39); t * std / sqrt(40)
    assert found.mean == pytest.approx(5.0)
    assert found.std == pytest.approx(math.sqrt(40 / 39))
    assert found.ci95 == pytest.approx(T39 / math.sqrt(39), rel=1e-6)
    assert found.n == 40


def test_a_mean_over_packets_is_a_ratio() -> None:
    # Twice the packets, twice the sum: the ratio is 5 wherever the packets are, so that it has no deviation.
    counts = alternating(50.0)
    found = estimate(list(5 * counts), list(counts))
    assert found is not None
    assert (found.mean, found.std) == (pytest.approx(5.0), pytest.approx(0.0, abs=1e-12))
    # Of ten packets in a batch the deviation is a tenth of that of their sum.
    tenth = estimate(list(alternating(5.0)), [10.0] * SHORT)
    assert tenth is not None
    assert tenth.ci95 == pytest.approx(T39 / math.sqrt(39) / 10, rel=1e-6)


def test_batches_that_are_correlated_have_no_interval() -> None:
    slow = np.sin(np.arange(SHORT) / 30)
    assert estimate(list(slow), [1.0] * SHORT) is None
    walk = np.cumsum(np.random.default_rng(1).standard_normal(SHORT))
    assert estimate(list(walk), [1.0] * SHORT) is None


def test_independent_values_are_taken_for_such() -> None:
    rng = np.random.default_rng(1)
    assert sum(independent(rng.standard_normal(SHORT)) for _ in range(200)) > 180


def test_without_a_count_there_is_no_value() -> None:
    assert estimate([0.0] * SHORT, [0.0] * SHORT) == Summary(None, None, None, 0)
    with pytest.raises(ValueError, match="399 batches: must be 400"):
        estimate([0.0] * 399, [1.0] * 399)
