"""Verdicts: numbers with intervals against the limits of a claim."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from scipy import stats

from aqmlab_papers import Check, Effect, Outcome, PerSeed, Tolerance, Verdict
from aqmlab_papers.describe.check import LEVEL, Better
from aqmlab_papers.describe.verdict import verdict
from aqmlab_papers.run.sweep import Effort
from aqmlab_papers.show.terminal import counted
from aqmlab_papers.show.texts import certainty, decisive, depends

NUMBER = some.floats(-1e6, 1e6)
HALF = some.floats(0, 1e6)


@given(value=NUMBER, half=HALF, edge=NUMBER)
def test_a_check_holds_only_when_the_whole_interval_is_inside(value: float, half: float, edge: float) -> None:
    least = Check(effect="x", value=value, half=half, least=edge).outcome
    if value - half >= edge:
        assert least == Outcome.HOLDS
    elif value + half < edge:
        assert least == Outcome.FAILS
    else:
        assert least == Outcome.OPEN


@given(value=NUMBER, half=HALF, edge=NUMBER)
def test_at_most_is_at_least_seen_in_a_mirror(value: float, half: float, edge: float) -> None:
    most = Check(effect="x", value=value, half=half, most=edge).outcome
    assert most == Check(effect="x", value=-value, half=half, least=-edge).outcome


@given(value=NUMBER, half=HALF, low=NUMBER, width=HALF)
def test_an_interval_is_at_least_and_at_most_together(value: float, half: float, low: float, width: float) -> None:
    def outcome(least: float, most: float) -> Outcome:
        return Check(effect="x", value=value, half=half, least=least, most=most).outcome

    both = {outcome(low, math.inf), outcome(-math.inf, low + width)}
    expected = Outcome.FAILS if Outcome.FAILS in both else Outcome.OPEN if Outcome.OPEN in both else Outcome.HOLDS
    assert outcome(low, low + width) == expected


def test_a_number_on_the_edge_holds() -> None:
    assert Effect("x").exact(3.0, least=3, most=3).outcome == Outcome.HOLDS
    assert Check(effect="x", value=4.0, half=1.0, least=3, most=5).outcome == Outcome.HOLDS
    assert Check(effect="x", value=2.0, half=1.0, least=3).outcome == Outcome.OPEN  # it may be 3


def test_the_interval_of_a_check_is_students() -> None:
    values = [1.0, 2.0, 4.0, 8.0]
    check = Effect("x").of(values, least=0)
    assert check.value == pytest.approx(3.75)
    assert check.half == pytest.approx(stats.sem(values) * stats.t.ppf(0.5 + LEVEL / 2, 3))


def test_one_run_has_no_interval_and_still_a_verdict() -> None:
    check = Effect("x").of([1.0], least=0)
    assert (check.half, check.outcome) == (None, Outcome.HOLDS)


def test_a_number_that_no_run_has_is_open() -> None:
    assert Effect("x").of([None, None], least=0).outcome == Outcome.OPEN


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("seeds", [1, 3])
def test_what_is_no_number_never_holds(number: float, seeds: int) -> None:
    for bounds in ({"least": 0.0}, {"most": 0.0}, {"least": -1.0, "most": 1.0}):
        assert Effect("x").of([number] + [0.0] * (seeds - 1), **bounds).outcome == Outcome.OPEN
        assert Effect("x").exact(number, **bounds).outcome == Outcome.OPEN


def test_seeds_of_which_one_has_no_value_decide_nothing() -> None:
    check = Effect("x").of([None, 5.0, None], least=0)
    assert (check.effect, check.value, check.outcome) == ("x (1 of 3 seeds have it)", 5.0, Outcome.OPEN)
    most = Effect("x").of([5.0, 5.0, None], least=0)
    assert (most.effect, most.outcome) == ("x (2 of 3 seeds have it)", Outcome.OPEN)
    assert Effect("x").of([5.0, 5.0], least=0).effect == "x"


def test_a_verdict_says_how_sure_it_is() -> None:
    def sure(
        verdict: Verdict,
        *values: float | None,
        seeds: int | None = 5,
        tentative: bool = False,
        arithmetic: bool = False,
    ) -> str:
        return certainty(
            {
                "verdict": verdict,
                "seeds": seeds,
                "tentative": tentative,
                "arithmetic": arithmetic,
                "checks": [{"value": value} for value in values],
            }
        )

    assert sure(Verdict.UNDECIDED, 1.0, None) == "with 5 seeds"
    assert sure(Verdict.UNDECIDED, 1.0, seeds=1) == "with 1 seed"
    assert sure(Verdict.UNDECIDED, None, None) == "no run gives a number"
    assert sure(Verdict.NOT_TESTABLE, seeds=None) == sure(Verdict.NOT_TESTABLE) == ""
    assert sure(Verdict.PARTLY, 1.0, seeds=20) == "with 20 seeds"
    assert sure(Verdict.PARTLY, 1.0, seeds=1, tentative=True) == "tentative, with 1 seed"
    assert sure(Verdict.REPRODUCED, 1.0, arithmetic=True) == "arithmetic"
    parts = [{"value": 1.0, "seeds": count} for count in (20, None, 5)]
    claim = {"verdict": Verdict.PARTLY, "seeds": 1, "tentative": False, "arithmetic": False}
    assert certainty({**claim, "checks": parts}) == "with 5 to 20 seeds"
    assert certainty({**claim, "checks": parts[:1]}) == "with 20 seeds"


@pytest.mark.parametrize("bounds", [{}, {"least": 2, "most": 1}, {"least": math.nan}])
def test_a_check_must_be_able_to_fail(bounds: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="x: "):
        Effect("x").exact(1.0, **bounds)


# A difference of at least 1 is claimed: small ones lean to either side of 0, or to none.
DIFFERENCES = {
    "holds": (1.5, 0.4),
    "small": (0.5, 0.2),
    "none": (0.1, 0.3),
    "small, against": (-0.5, 0.2),
    "fails": (-1.5, 0.4),
    "open": (0.5, 2.0),
}


def differing(kinds: Sequence[str], need: float = 1.0) -> Verdict:
    """Judge parts of these kinds."""
    found = (DIFFERENCES[kind] for kind in kinds)
    return verdict([Check(effect="x", value=value, half=half, least=1, counts=1) for value, half in found], need)


@given(some.lists(some.sampled_from(list(DIFFERENCES)), max_size=5), some.sampled_from([0.01, 0.5, 0.8, 1.0]))
def test_a_verdict_is_undecided_only_while_open_parts_could_change_it(kinds: list[str], need: float) -> None:
    decided = [kind for kind in DIFFERENCES if kind != "open"]
    futures = product(*([kind] if kind != "open" else decided for kind in kinds))
    possible = {differing(future, need) for future in futures}
    assert differing(kinds, need) == (possible.pop() if len(possible) == 1 else Verdict.UNDECIDED)


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["small"], Verdict.NEGLIGIBLE),
        (["none"], Verdict.CONTRADICTED),
        (["small, against"], Verdict.CONTRADICTED),
        (["small", "small", "small, against"], Verdict.NEGLIGIBLE),
        (["small", "small, against"], Verdict.CONTRADICTED),
        (["small", "none", "none"], Verdict.NEGLIGIBLE),
        (["small", "small", "fails"], Verdict.CONTRADICTED),
        (["holds", "small"], Verdict.PARTLY),
        (["holds", "holds"], Verdict.REPRODUCED),
    ],
)
def test_a_difference_of_the_claimed_sign_that_does_not_count_is_negligible(
    kinds: list[str], expected: Verdict
) -> None:
    assert differing(kinds) == expected


@given(value=some.floats(-5, 5), half=some.floats(0, 3))
def test_a_difference_is_negligible_where_all_its_interval_is_below_what_counts(value: float, half: float) -> None:
    for sign in (1.0, -1.0):
        bounds = {"least": 2.0} if sign > 0 else {"most": -2.0}
        check = Check(effect="x", value=sign * value, half=half, counts=2, **bounds)
        low, high = value - half, value + half
        expected = (
            Outcome.HOLDS
            if low >= 2
            else Outcome.NEGLIGIBLE
            if low > -2 and high < 2
            else Outcome.FAILS
            if high < 0
            else Outcome.OPEN
        )
        assert (check.outcome, check.leans) == (expected, (low > 0) - (high < 0))


@pytest.mark.parametrize(
    ("holding", "failing", "need", "expected"),
    [
        (0, 0, 1.0, Verdict.NOT_TESTABLE),
        (3, 0, 1.0, Verdict.REPRODUCED),
        (2, 1, 1.0, Verdict.PARTLY),
        (0, 3, 1.0, Verdict.CONTRADICTED),
        (8, 2, 0.8, Verdict.REPRODUCED),
        (7, 3, 0.8, Verdict.PARTLY),
        (0, 10, 0.1, Verdict.CONTRADICTED),
    ],
)
def test_a_decided_verdict_counts_the_parts_that_hold(
    holding: int, failing: int, need: float, expected: Verdict
) -> None:
    checks = [Effect("x").exact(value, least=0) for value in [1.0] * holding + [-1.0] * failing]
    assert verdict(checks, need) == expected


def test_the_line_of_a_verdict_has_the_share_that_must_hold_and_counts_arithmetic() -> None:
    check = {
        "outcome": Outcome.HOLDS,
        "effect": "x",
        "value": 1.0,
        "half": None,
        "wanted": ">= 0",
        "unit": "",
        "digits": 3,
    }
    claim = {"verdict": Verdict.REPRODUCED, "checks": [check, {**check, "outcome": Outcome.FAILS}], "need": 0.5}
    assert decisive(claim).endswith("(1 of 2 checks hold; 50 % must)")
    assert decisive({**claim, "need": 1.0}).endswith("(1 of 2 checks hold)")
    counts = {"verdict": Verdict.REPRODUCED, "beyond": False, "arithmetic": False}
    text = counted([counts, {**counts, "arithmetic": True}])
    assert text == "1 claim of the paper: 1 reproduced; 1 of arithmetic"


def test_three_looks_err_in_five_percent_of_cases() -> None:
    # The number lies on the bound, where a false decision is most likely: half of them to either side.
    looks = Effort().looks
    assert looks == [5, 10, 20]
    drawn = np.random.default_rng(1).normal(size=(400_000, looks[-1]))
    t = [abs(stats.ttest_1samp(drawn[:, :n], 0, axis=1).statistic) for n in looks]
    sure = [found > stats.t.ppf(0.5 + LEVEL / 2, n - 1) for found, n in zip(t, looks, strict=True)]
    assert np.mean(np.logical_or.reduce(sure)) == pytest.approx(0.05, abs=0.001)


TWO = Tolerance(2, "ms", "a line's width", negligible=True)


@pytest.mark.parametrize(
    ("better", "difference", "outcome"),
    [
        ("lower", -2.0, Outcome.HOLDS),
        ("lower", -1.9, Outcome.NEGLIGIBLE),
        ("lower", 2.1, Outcome.FAILS),
        ("higher", 2.1, Outcome.HOLDS),
        ("higher", 1.0, Outcome.NEGLIGIBLE),
        ("higher", -2.1, Outcome.FAILS),
        ("not lower", -2.0, Outcome.HOLDS),
        ("not lower", -2.1, Outcome.FAILS),
        ("not higher", 1.9, Outcome.HOLDS),
        ("not higher", 2.1, Outcome.FAILS),
        ("equal", -2.0, Outcome.HOLDS),
        ("equal", 2.1, Outcome.FAILS),
    ],
)
def test_an_effect_below_the_tolerance_is_none(better: Better, difference: float, outcome: Outcome) -> None:
    other = PerSeed.of([10.0, 20.0, 30.0], "ms")
    assert Effect("wait").better(other + difference, other, better, TWO).outcome == outcome


def test_a_relative_tolerance_is_in_percent_of_what_is_compared_with() -> None:
    other = PerSeed.of([10.0, 10.4, 9.6], "ms")
    tenth = Tolerance(10, "% of it", "the precision in print", negligible=True)
    check = Effect("wait").better(other * 0.85, other, "lower", tenth)
    assert (check.unit, check.value, check.outcome) == ("%", pytest.approx(-15), Outcome.HOLDS)
    assert Effect("wait").better(other * 0.95, other, "lower", tenth).outcome == Outcome.NEGLIGIBLE
    half = Tolerance(50, "% of it", "the sentence says by half")
    assert Effect("wait").better(other * 0.7, other, "lower", half).outcome == Outcome.FAILS
    assert Effect("wait").near(PerSeed.of([9.0, 9.0], "ms"), 10, tenth).outcome == Outcome.HOLDS
    assert Effect("wait").near(PerSeed.of([8.9, 8.9], "ms"), 10, tenth).outcome == Outcome.FAILS


def test_a_part_of_scattered_values_is_tested_as_the_difference_is() -> None:
    one, other = PerSeed.of([1.0, 6.0, 2.0, 0.0, None]), PerSeed.of([4.0, 0.0, 7.0, 9.0, 1.0])
    tenth = Tolerance(10, "% of it", "the precision in print")
    for better, part in (("lower", 0.9), ("higher", 1.1), ("not lower", 0.9), ("not higher", 1.1)):
        check = Effect("loss").better(one, other, better, tenth)  # type: ignore[arg-type]
        left = Effect("loss").of(one - other * part, most=0)
        assert check.value == pytest.approx(100 * (9 / 20 - 1))
        assert check.half is not None
        assert left.half is not None
        assert (check.value - 100 * (part - 1)) / check.half == pytest.approx(left.value / left.half)
    same, again = PerSeed.of([1.0, 9.0]), PerSeed.of([9.0, 1.0])
    assert (same.excess(again).mean, again.excess(same).mean) == (0, 0), "by the ratios each exceeds the other"
    assert Effect("loss").better(one, other * 0, "lower", tenth).outcome == Outcome.OPEN


def test_equal_numbers_are_neither_lower_nor_higher() -> None:
    one = PerSeed.of([0.0, 0.0], "ms")
    nothing = Tolerance(0, "ms", "none")
    for better in ("lower", "higher"):
        with pytest.raises(ValueError, match=r"wait: .*: state the smallest difference that counts"):
            Effect("wait").better(one, one, better, nothing)  # type: ignore[arg-type]
    assert Effect("wait").better(one, one, "equal", nothing).outcome == Outcome.HOLDS


@pytest.mark.parametrize("value", [-1.0, math.nan, math.inf])
def test_a_tolerance_is_a_size(value: float) -> None:
    with pytest.raises(ValueError, match="must be 0 or more"):
        Tolerance(value, "ms", "none")


def test_a_tolerance_in_another_unit_is_refused() -> None:
    one = PerSeed.of([1.0], "packets")
    with pytest.raises(ValueError, match="queue: is in 'packets', its tolerance in 'ms'"):
        Effect("queue").better(one, one, "lower", TWO)
    with pytest.raises(ValueError, match="queue: is in 'packets'"):
        Effect("queue").near(one, 1, TWO)


def test_a_check_says_what_it_is() -> None:
    check = Check(effect="goodput", value=8.12345, half=0.0123, unit="Mbit/s", least=8, most=9)
    assert str(check) == "goodput: 8.123 ± 0.012 Mbit/s (claimed: 8 to 9 Mbit/s): holds"


def test_a_verdict_depends_on_the_setting_if_two_settings_decide_it_differently() -> None:
    yes, no, undecided = Verdict.REPRODUCED, Verdict.PARTLY, Verdict.UNDECIDED
    assert depends([yes, undecided, no, None]) is True
    assert depends([yes, yes]) is False
    assert depends([yes, undecided]) is depends([yes, None]) is depends([undecided, undecided]) is depends([]) is None


def test_the_check_that_is_told_is_one_that_decides_the_verdict() -> None:
    def told(verdict: Verdict, *values: float) -> str:
        checks = [Check(effect=f"{value:g}", value=value, half=1.0, least=0) for value in values]
        shown = [asdict(check) | {"outcome": check.outcome, "wanted": check.wanted} for check in checks]
        return decisive({"verdict": verdict, "checks": shown})

    assert told(Verdict.REPRODUCED, -9, 8, 9) == "8: 8.0 ± 1.0, claimed >= 0 (2 of 3 checks hold)"
    assert told(Verdict.PARTLY, 9, -9) == "-9: -9.0 ± 1.0, claimed >= 0 (1 of 2 checks fail)"
    assert told(Verdict.UNDECIDED, -9, 0.5) == "0.5: 0.5 ± 1.0, claimed >= 0 (1 of 2 checks are open)"
    assert told(Verdict.NOT_TESTABLE) == ""
