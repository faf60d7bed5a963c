"""The conditions of `--until`: their texts, and when they hold."""

from typing import Any

import pytest

import aqmlab
from aqmlab import Scenario, Summary
from aqmlab.results.precision import Condition, Precision, conditions, precisions
from aqmlab.results.result import NoSuchMetric


@pytest.mark.parametrize("sign", ["±", " ± ", "+-", " +/-", " +- "])
def test_the_sign_may_be_written_in_several_ways(sign: str) -> None:
    (one,) = conditions(f"goodput{sign}1 %")
    assert (one.name, one.width, one.relative) == ("goodput", 0.01, True)


def test_several_conditions_are_separated_by_commas() -> None:
    found = conditions("goodput ±1%, queue_delay_mean ±2 ms,classes.long.goodput ± 0.1 Mbit/s")
    assert [(one.name, one.width, one.relative) for one in found] == [
        ("goodput", 0.01, True),
        ("queue_delay_mean", 0.002, False),
        ("classes.long.goodput", 1e5, False),
    ]
    assert [one.asked for one in found] == ["±1%", "±2 ms", "±0.1 Mbit/s"]


@pytest.mark.parametrize(
    ("text", "width"),
    [("queue_mean ±3", 3), ("queue_mean ±3 packets", 3), ("loss_ratio ±0.001", 0.001), ("timeouts ±2 events", 2)],
)
def test_a_width_without_a_unit_has_that_of_the_metric(text: str, width: float) -> None:
    (one,) = conditions(text)
    assert (one.width, one.relative) == (width, False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be METRIC ±WIDTH"),
        ("goodput", "must be METRIC ±WIDTH"),
        ("goodput 1 %", "must be METRIC ±WIDTH"),
        ("goodput ±1 %, jain", "'jain': must be METRIC ±WIDTH"),
        ("godput ±1 %", "there is no such metric; did you mean 'goodput'?"),
        ("goodput ±1 ms", r"goodput ±1 ms: .* as in 0.1 Mbit/s"),
        ("goodput ±", "the width must be above 0"),
        ("goodput ±0 %", "the width must be above 0"),
        ("goodput ±-1 %", "the width must be above 0"),
        ("goodput ±nan", "the width must be above 0"),
        ("goodput ±inf %", "the width must be above 0"),
        ("goodput ±1 %, goodput ±2 %", "goodput is given twice"),
    ],
)
def test_a_wrong_text_is_refused_with_what_is_allowed(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        conditions(text)


def test_only_a_text_is_a_condition() -> None:
    wrong: Any = 0.01
    with pytest.raises(TypeError, match=r"until = 0\.01: must be a text"):
        conditions(wrong)


def precision(width: float, mean: float | None, half: float | None, relative: bool = False) -> Precision:
    return Precision(Condition("queue_mean", width, relative, "±x"), Summary(mean, 1.0, half, 20))


def test_a_condition_holds_up_to_its_width() -> None:
    assert precision(2.0, 50.0, 2.0).holds
    assert not precision(2.0, 50.0, 2.01).holds
    assert not precision(2.0, 50.0, None).holds
    assert not precision(2.0, None, None).holds


def test_a_relative_width_is_of_the_true_mean() -> None:
    # 25 % of a true mean of 40 is 10; the estimate may then be 50, and its interval a fifth of it wide.
    assert precision(0.25, 50.0, 10.0, relative=True).holds
    assert not precision(0.25, 50.0, 10.1, relative=True).holds
    assert precision(0.25, -50.0, 10.0, relative=True).holds
    assert not precision(0.25, 0.0, 0.0, relative=True).holds, "0 has no relative width"


def test_runs_needed_grow_with_the_square_of_the_width() -> None:
    assert precision(2.0, 50.0, 6.0).excess == pytest.approx(9.0)
    # chi-squared with 19 degrees of freedom at 0.999 is 43.82
    assert precision(2.0, 50.0, 6.0).least_excess == pytest.approx(9.0 * 19 / 43.82, rel=1e-3)
    assert precision(2.0, None, None).least_excess == 0.0


def test_the_width_is_shown_in_the_units_of_tables() -> None:
    one = Precision(Condition("goodput", 0.01, True, "±1 %"), Summary(9.712e6, 1.0, 150e3, 20))
    assert str(one) == "goodput 9.712 ± 0.15 Mbit/s, ±1.5 % (asked: ±1 %)"
    assert str(precision(2.0, 50.0, 6.0)) == "queue_mean 50 ± 6 packets (asked: ±x)"
    assert str(precision(2.0, None, None)) == "queue_mean has no value (asked: ±x)"


def test_every_metric_of_a_result_has_a_precision(tiny: Scenario) -> None:
    result = aqmlab.run(tiny, seeds=2)
    names = "goodput ±1 %, classes.long.goodput ±1 %, links.bottleneck.utilisation ±1 %"
    found = precisions(conditions(names), result)
    assert found[0].summary == result["goodput"]
    assert found[1].summary == Summary.of([run.classes["long"]["goodput"] for run in result.runs])
    assert found[2].summary == Summary.of([run.links["bottleneck"]["utilisation"] for run in result.runs])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("classes.short.goodput ±1 %", r"there is no classes\.short; known: classes\.long"),
        ("classes.long.queue_mean ±1 %", r"classes\.long has no queue_mean: links\.bottleneck\.queue_mean has"),
        ("lanes.bottleneck.low.queue_mean ±1 %", r"there is no lanes\.bottleneck\.low; known: none"),
    ],
)
def test_a_metric_that_a_result_lacks_is_refused(tiny: Scenario, text: str, message: str) -> None:
    with pytest.raises(NoSuchMetric, match=message):
        precisions(conditions(text), aqmlab.run(tiny))
