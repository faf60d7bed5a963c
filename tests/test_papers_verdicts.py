"""Verdicts: numbers with intervals against the limits of a claim."""

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from aqmlab.papers import Check, Outcome, Verdict
from aqmlab.papers.describe.verdict import verdict
from aqmlab.papers.show.texts import undecided

NUMBER = some.floats(-1e6, 1e6)
HALF = some.floats(0, 1e6)


@given(value=NUMBER, half=HALF, edge=NUMBER)
def test_a_check_holds_only_when_the_whole_interval_is_inside(value: float, half: float, edge: float) -> None:
    least = Check(effect="x", value=value, ci95=half, least=edge).outcome
    if value - half >= edge:
        assert least == Outcome.HOLDS
    elif value + half < edge:
        assert least == Outcome.FAILS
    else:
        assert least == Outcome.OPEN


@given(value=NUMBER, half=HALF, edge=NUMBER)
def test_at_most_is_at_least_seen_in_a_mirror(value: float, half: float, edge: float) -> None:
    most = Check(effect="x", value=value, ci95=half, most=edge).outcome
    assert most == Check(effect="x", value=-value, ci95=half, least=-edge).outcome


@given(value=NUMBER, half=HALF, low=NUMBER, width=HALF)
def test_an_interval_is_at_least_and_at_most_together(value: float, half: float, low: float, width: float) -> None:
    def outcome(least: float, most: float) -> Outcome:
        return Check(effect="x", value=value, ci95=half, least=least, most=most).outcome

    both = {outcome(low, math.inf), outcome(-math.inf, low + width)}
    expected = Outcome.FAILS if Outcome.FAILS in both else Outcome.OPEN if Outcome.OPEN in both else Outcome.HOLDS
    assert outcome(low, low + width) == expected


def test_a_number_on_the_edge_holds() -> None:
    assert Check.exact("x", 3.0, least=3, most=3).outcome == Outcome.HOLDS
    assert Check(effect="x", value=4.0, ci95=1.0, least=3, most=5).outcome == Outcome.HOLDS
    assert Check(effect="x", value=2.0, ci95=1.0, least=3).outcome == Outcome.OPEN  # it may be 3


def test_the_interval_of_a_check_is_students() -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    check = Check.of("x", [*values, None], least=0)
    assert check.value == pytest.approx(3.75)
    assert check.ci95 == pytest.approx(stats.sem(values) * stats.t.ppf(0.975, 3))


def test_one_run_has_no_interval_and_still_a_verdict() -> None:
    check = Check.of("x", [1.0], least=0)
    assert (check.ci95, check.outcome) == (None, Outcome.HOLDS)


def test_a_number_that_no_run_has_is_open() -> None:
    assert Check.of("x", [None, None], least=0).outcome == Outcome.OPEN


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("seeds", [1, 3])
def test_what_is_no_number_never_holds(number: float, seeds: int) -> None:
    for bounds in ({"least": 0.0}, {"most": 0.0}, {"least": -1.0, "most": 1.0}):
        assert Check.of("x", [number] + [0.0] * (seeds - 1), **bounds).outcome == Outcome.OPEN
        assert Check.exact("x", number, **bounds).outcome == Outcome.OPEN


def test_one_seed_among_several_decides_nothing() -> None:
    check = Check.of("x", [None, 5.0, None], least=0)
    assert (check.effect, check.value, check.outcome) == ("x (1 of 3 seeds have it)", 5.0, Outcome.OPEN)
    assert Check.of("x", [5.0, 5.0, None], least=0).effect == "x (2 of 3 seeds have it)"
    assert Check.of("x", [5.0, 5.0], least=0).effect == "x"


def test_an_open_claim_is_told_from_one_that_nobody_can_test() -> None:
    def told(verdict: Verdict, *values: float | None, seeds: int = 5) -> str:
        return undecided({"verdict": verdict, "seeds": seeds, "checks": [{"value": value} for value in values]})

    assert told(Verdict.NOT_TESTABLE, 1.0, None) == "undecided with 5 seeds"
    assert told(Verdict.NOT_TESTABLE, 1.0, seeds=1) == "undecided with 1 seed"
    assert told(Verdict.NOT_TESTABLE, None, None) == "undecided: no run gives a number"
    assert told(Verdict.NOT_TESTABLE) == ""
    assert told(Verdict.PARTLY, 1.0) == ""


@pytest.mark.parametrize("bounds", [{}, {"least": 2, "most": 1}, {"least": math.nan}])
def test_a_check_must_be_able_to_fail(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="x: "):
        Check.exact("x", 1.0, **bounds)


@given(some.lists(some.sampled_from(Outcome), max_size=6))
def test_a_verdict_is_that_of_all_checks(outcomes: list[Outcome]) -> None:
    numbers = {Outcome.HOLDS: (1.0, 0.0), Outcome.FAILS: (-1.0, 0.0), Outcome.OPEN: (0.0, 1.0)}
    checks = [Check(effect="x", value=numbers[one][0], ci95=numbers[one][1], least=0) for one in outcomes]
    assert [check.outcome for check in checks] == outcomes
    count = Counter(outcomes)
    if count[Outcome.HOLDS]:
        assert verdict(checks) == (Verdict.REPRODUCED if count[Outcome.HOLDS] == len(outcomes) else Verdict.PARTLY)
    else:
        assert verdict(checks) == (Verdict.CONTRADICTED if count[Outcome.FAILS] else Verdict.NOT_TESTABLE)


def test_a_check_says_what_it_is() -> None:
    check = Check(effect="goodput", value=8.12345, ci95=0.0123, unit="Mbit/s", least=8, most=9)
    assert str(check) == "goodput: 8.123 ± 0.012 Mbit/s (claimed: 8 to 9 Mbit/s): holds"
