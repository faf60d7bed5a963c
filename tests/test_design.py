"""Parameters of a sweep: the notation of values, and the points that they form."""

import contextlib
import string
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.runs.points import DRAWN, design, number, parsed, unit

UNITS = ["", "s", "ms", "Mbit/s", "kB", "packets", "/s"]


@given(st.integers(-500, 500), st.integers(-50, 50).filter(bool), st.integers(1, 40), st.sampled_from(UNITS))
def test_a_range_goes_on_in_its_steps(first: int, step: int, count: int, own: str) -> None:
    second, last = first + step, first + count * step
    values = parsed(f"{first},{second}..{last} {own}")
    expected = range(first, last + (1 if step > 0 else -1), step)
    assert values == [f"{value} {own}" if own else value for value in expected]


@given(st.integers(1, 9), st.integers(1, 40), st.integers(1, 6))
def test_steps_of_a_fraction_do_not_drift(step: int, count: int, digits: int) -> None:
    scale = Decimal(1).scaleb(-digits)
    values = parsed(f"0,{step * scale:f}..{count * step * scale:f}")
    assert [float(value) for value in values] == [float(step * place * scale) for place in range(count + 1)]


@given(st.lists(st.text(string.ascii_letters + "-_", min_size=1), min_size=1, unique=True))
def test_names_are_taken_as_they_are(names: list[str]) -> None:
    if not {"true", "false"} & set(names):
        assert parsed(",".join(names)) == names


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert parsed(text)


@pytest.mark.parametrize("text", ["1E100", "1E999999", "-1E400", "99999999999999999999"])
def test_a_number_beyond_64_bits_is_read_for_the_schema_to_refuse(text: str) -> None:
    assert parsed(text) == [float(text)]


def test_values_may_be_of_any_kind() -> None:
    assert parsed("rfc, linux") == ["rfc", "linux"]
    assert parsed("true,false") == [True, False]
    assert parsed("0.5,1,2e3") == [0.5, 1, 2000]
    assert parsed("uniform(1 ms, 2 ms),3 ms") == ["uniform(1 ms, 2 ms)", "3 ms"]
    assert parsed("'ns2.35:flavour=sack,ecn=true',rfc") == ["ns2.35:flavour=sack,ecn=true", "rfc"]
    assert parsed("../a.csv,../b.csv") == ["../a.csv", "../b.csv"]
    assert parsed("1,2..4,10,20..40") == [1, 2, 3, 4, 10, 20, 30, 40]


def test_a_number_without_a_unit_has_that_of_its_neighbour() -> None:
    assert parsed("10,20..40 ms") == ["10 ms", "20 ms", "30 ms", "40 ms"]
    assert parsed("10 ms,20..40 ms") == ["10 ms", "20 ms", "30 ms", "40 ms"]
    assert parsed("10 ms,20,1 s") == ["10 ms", "20 s", "1 s"]
    assert parsed("10 ms,20") == ["10 ms", "20 ms"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("20..160", "no step: write the first two values, like 20,NEXT..160"),
        ("20,40..150", "steps of 20 miss 150; write 140 or 160"),
        ("20,20..60", "steps of 0 do not reach 60"),
        ("20,40..0", "steps of 20 do not reach 0"),
        ("1 s,2..5 ms", "all three must have the same unit"),
        ("20,40..x", "must be two numbers with dots between them"),
        ("0,1..1e9", "more than 1000000 values"),
        ("", "no values"),
        ("1,,2", "a value is missing"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_correct_form(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        parsed(text)


def test_a_grid_has_every_value_with_every_other() -> None:
    points = design({"aqm.q0": "20,40", "traffic.long.count": [1, 2, 3]})
    assert points.points == [(20, 1), (20, 2), (20, 3), (40, 1), (40, 2), (40, 3)]
    assert points.label(points.points[1]) == "aqm.q0 = 20, traffic.long.count = 2"


def test_paired_lists_go_side_by_side() -> None:
    assert design({"a": "1,2", "b": "x,y"}, "paired").points == [(1, "x"), (2, "y")]
    with pytest.raises(ValueError, match="a has 2, b has 1"):
        design({"a": "1,2", "b": "x"}, "paired")


def test_a_paired_list_may_repeat_a_value_but_no_point() -> None:
    assert design({"a": "1,1,2", "b": "x,y,y"}, "paired").points == [(1, "x"), (1, "y"), (2, "y")]
    with pytest.raises(ValueError, match="1, x is given twice"):
        design({"a": "1,2,1", "b": "x,x,x"}, "paired")


def test_nothing_that_varies_is_one_point() -> None:
    assert design({}).points == [()]
    assert design({}, "paired").points == [()]


@pytest.mark.parametrize("method", DRAWN)
def test_drawn_points_are_from_their_distributions_and_repeat(method: str) -> None:
    vary = {"q": "uniform(20, 60)", "d": "log(1 ms, 1 s)", "w": "uniform(0.0, 1.0)", "t": "rfc,linux"}
    points = design(vary, method, 200, 7)
    assert points.points == design(vary, method, 200, 7).points
    assert points.points != design(vary, method, 200, 8).points
    q, d, w, t = zip(*points.points, strict=True)
    assert {type(value) for value in q} == {int}
    assert (min(q), max(q)) == (20, 60)
    delays = [number(value) for value in d]
    assert all(one and one[1] == "s" and 1e-3 <= one[0] <= 1 for one in delays)
    assert 0.02 < np.median([one[0] for one in delays if one]) < 0.05, "half of them below the geometric mean"
    assert all(isinstance(value, float) and 0 <= value <= 1 for value in w)
    assert set(t) == {"rfc", "linux"}


@pytest.mark.parametrize("method", DRAWN)
def test_a_point_that_is_drawn_twice_counts_once(method: str) -> None:
    points = design({"a": "uniform(1, 3)", "b": "x,y"}, method, 200).points
    assert sorted(points) == [(a, b) for a in (1, 2, 3) for b in ("x", "y")]


def test_a_latin_hypercube_has_one_point_in_each_slice() -> None:
    points = design({"a": "uniform(0.0, 1.0)", "b": "log(1.0, 1024.0)"}, "latin", 10)
    assert sorted(int(a * 10) for a, _ in points.points) == list(range(10))
    assert sorted(int(np.log2(b)) for _, b in points.points) == list(range(10))


@pytest.mark.parametrize(
    ("vary", "method", "reason"),
    [
        ({"aqm": "lred,pi"}, "grid", "with --aqm or"),
        ({"seed": "1,2"}, "grid", "is the same at all points"),
        ({"record.step": "1 s"}, "grid", "results do not depend on record"),
        ({"a": "uniform(1, 2)"}, "grid", "method = random or latin"),
        ({"a": "uniform(2, 1)"}, "latin", "must be less than the second"),
        ({"a": "log(0, 1)"}, "latin", "above 0"),
        ({"a": "uniform(1 s, 2 packets)"}, "latin", "same kind of unit"),
        ({"a": "uniform(x, 2)"}, "latin", "two numbers"),
        ({}, "latin", "nothing to draw"),
        ({"a": "1,1"}, "grid", "1 is given twice"),
        ({"a": "1 s,1000 ms"}, "grid", "1 s and 1000 ms are equal"),
        ({"a": [1, 1.0]}, "grid", "1 is given twice"),
        ({"a": []}, "grid", "no values"),
        ({"a": [[1]]}, "grid", "must be a number"),
        ({"a": "1"}, "gird", "must be one of grid"),
        ({"a": "0,1..9999", "b": "0,1..999"}, "grid", "10000000 points"),
    ],
)
def test_senseless_designs_are_refused(vary: dict[str, object], method: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        design(vary, method)


def test_messages_name_the_place_of_the_value() -> None:
    with pytest.raises(ValueError, match=r"^study.toml:7: sweep.vary.a: 1..3 has no step"):
        design({"a": "1..3"}, origins={"a": "study.toml:7: sweep.vary.a"})


def test_plain_numbers_have_the_unit_of_their_parameter() -> None:
    assert unit("aqm.q0") == "packets"
    assert unit("traffic.long.count") == "flows"
    assert unit("dumbbell.delay") == "s"
    assert unit("link.up.aqm.q0") == "packets"
    assert unit("nothing.of.it") == ""


def test_numbers_of_numpy_are_numbers() -> None:
    assert design({"a": np.array([1, 2])}).points == [(1,), (2,)]
    assert design({"a": np.linspace(0, 1, 3)}).points == [(0.0,), (0.5,), (1.0,)]
