"""Verdicts of an evaluation: tests with known results, and the bound on errors over a family."""

import math

import numpy as np
import pytest

from aqmlab.results.summary import Summary
from aqmlab_papers.evaluation.show.figures import ellipse
from aqmlab_papers.evaluation.verdict import LEVEL, Verdict, adjusted, holm, paired, verdict

PS = [0.01, 0.02, 0.03, 0.04, 0.05]


def by_seed(*values: float | None) -> dict[int, float | None]:
    return dict(enumerate(values, 1))


def test_holm_has_the_values_of_r() -> None:
    # p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "holm"), and in another order
    assert holm(PS) == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
    assert holm([0.04, 0.01, 0.05, 0.03, 0.02]) == pytest.approx([0.09, 0.05, 0.09, 0.09, 0.08])


def test_benjamini_and_hochberg_have_the_values_of_r() -> None:
    assert adjusted(PS, "bh") == pytest.approx([0.05] * 5)
    assert adjusted([0.001, 0.2, 0.5], "bh") == pytest.approx([0.003, 0.3, 0.5])


def test_missing_tests_are_no_members_of_the_family() -> None:
    assert adjusted([None, 0.02, None, 0.03], "holm") == [None, pytest.approx(0.04), None, pytest.approx(0.04)]
    assert adjusted([None, None], "holm") == [None, None]


def test_student_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3), 2 degrees of freedom, where P(T > t) is
    # 1/2 - t / (2 sqrt(2 + t^2)).
    for least, t in ((0.0, 2 * math.sqrt(3)), (1.0, math.sqrt(3))):
        found = paired(by_seed(11, 12, 13), by_seed(10, 10, 10), least)
        assert found.p == pytest.approx(1 - t / math.sqrt(2 + t * t))
        assert found.difference == Summary.of([1, 2, 3])


def test_a_difference_that_is_no_larger_than_the_least_is_not_shown() -> None:
    assert paired(by_seed(10.9, 10.8, 10.95), by_seed(10, 10, 10), 1.0).p == 1.0


def test_pairs_are_of_the_same_seed() -> None:
    own, others = {1: 5.0, 2: 50.0, 3: 500.0}, {3: 501.0, 1: 6.1, 2: 50.9}
    assert paired(own, others, 0.0).difference.mean == pytest.approx(-1.0)


@pytest.mark.parametrize(
    ("own", "others", "reason"),
    [
        (by_seed(1.0, None, 3.0), by_seed(1.0, 2.0, 4.0), "some seeds"),
        (by_seed(1.0, 2.0, 3.0), by_seed(1.0, None, 4.0), "some seeds"),
        (by_seed(1.0, 2.0), {1: 1.0}, "some seeds"),
        (by_seed(1.0, math.inf), by_seed(1.0, 2.0), "not finite"),
        (by_seed(1.0, math.nan), by_seed(1.0, 2.0), "not finite"),
        (by_seed(1.0), by_seed(2.0), "fewer than two"),
        (by_seed(), by_seed(), "fewer than two"),
        (by_seed(3.0, 3.0, 3.0), by_seed(1.0, 1.0, 1.0), "no sample"),
    ],
)
def test_what_cannot_be_tested_has_no_verdict(
    own: dict[int, float | None], others: dict[int, float | None], reason: str
) -> None:
    found = paired(own, others, 0.5)
    assert found.p is None
    assert reason in found.reason
    assert verdict(found, found.p, "less") == Verdict.UNTESTED


def test_equal_values_show_no_difference() -> None:
    found = paired(by_seed(0.1, 0.2, 0.3), by_seed(0.1, 0.2, 0.3), 0.0)
    assert found.p == 1.0
    assert verdict(found, found.p, "more") == Verdict.NONE


@pytest.mark.parametrize(
    ("change", "better", "expected"),
    [
        (1, "more", Verdict.BETTER),
        (1, "less", Verdict.WORSE),
        (-1, "more", Verdict.WORSE),
        (-1, "less", Verdict.BETTER),
    ],
)
def test_the_sign_and_the_direction_decide(change: int, better: str, expected: Verdict) -> None:
    found = paired(by_seed(10 + 1.00 * change, 10 + 1.01 * change), by_seed(10, 10), 0.1)
    assert verdict(found, 0.01, better) == expected
    assert verdict(found, LEVEL * 1.01, better) == Verdict.NONE


def test_false_verdicts_are_as_rare_as_stated() -> None:
    # Families of ten differences of exactly the least one of interest: one of them has a false verdict in at most 5 %.
    generator = np.random.default_rng(1)
    families, tests, seeds, least = 400, 10, 5, 1.0
    false = 0
    for _ in range(families):
        drawn = generator.normal(least, 1.0, (tests, seeds))
        ps = [paired(by_seed(*row), by_seed(*[0.0] * seeds), least).p for row in drawn.tolist()]
        false += any(p is not None and p <= LEVEL for p in adjusted(ps, "holm"))
    expected, deviation = families * LEVEL, math.sqrt(families * LEVEL * (1 - LEVEL))
    assert expected / 4 < false < expected + 3 * deviation


def test_the_ellipse_is_the_contour_at_one_standard_deviation() -> None:
    # The covariance is diag(4, 1) turned by 30 degrees; the ends of the long half axis are two units from the centre.
    turn = np.array([[math.cos(math.pi / 6), -math.sin(math.pi / 6)], [math.sin(math.pi / 6), math.cos(math.pi / 6)]])
    corners = np.array([[2.0, 1.0], [2.0, -1.0], [-2.0, 1.0], [-2.0, -1.0]])
    x, y = ellipse(corners @ turn.T + [10.0, 20.0])
    distances = np.hypot(x - 10.0, y - 20.0)
    assert distances.max() == pytest.approx(2.0, abs=1e-6)
    assert distances.min() == pytest.approx(1.0, abs=1e-2)
    farthest = int(distances.argmax())
    assert abs(math.atan((y[farthest] - 20) / (x[farthest] - 10))) == pytest.approx(math.pi / 6, abs=1e-6)
