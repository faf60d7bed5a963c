"""The text of `--aqm SPEC`: every value is passed on, and nonsense causes an error and nothing else."""

from contextlib import suppress
from typing import Any

import pytest
from conftest import RELAXED, SMALL
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import Scenario, ScenarioError, catalogue, disciplines
from aqmlab.execute.task import by_algorithm
from aqmlab.execute.variants import spelled_out
from aqmlab.reports import listing

# Without a target, which would remain in force for other disciplines.
PLAIN = Scenario.parse(SMALL.replace("q0 = 20\n", ""))
ENTRIES = {entry["name"]: entry for entry in catalogue()["aqms"]}
"""Timing on a shared machine is not a property to test."""

SPACES = st.sampled_from(["", " ", "  "])


@st.composite
def defaults_as_specs(draw: st.DrawFn) -> tuple[str, str]:
    """Return a discipline, and a SPEC that sets some of its defaults in some notation."""
    name = draw(st.sampled_from(sorted(ENTRIES)))
    chosen = []
    for one in ENTRIES[name]["parameters"]:
        # A value with a comma in it would need brackets.
        if isinstance(one["default"], (dict, list)) or not draw(st.booleans()):
            continue
        key = draw(st.sampled_from([one["name"], *one["aliases"]]))
        value = listing.written(one["default"])
        if isinstance(one["default"], str) and draw(st.booleans()):
            value = f'"{value}"'
        chosen.append(f"{draw(SPACES)}{key}{draw(SPACES)}={draw(SPACES)}{value}{draw(SPACES)}")
    chosen = draw(st.permutations(chosen))
    return name, f"{draw(SPACES)}{name}{draw(SPACES)}" + (f":{','.join(chosen)}" if chosen else "")


@RELAXED
@given(defaults_as_specs())
def test_a_default_may_be_said_by_any_of_its_names_in_any_order(given: tuple[str, str]) -> None:
    name, spec = given
    assert PLAIN.with_(aqm=spec).resolved == PLAIN.with_(aqm=name).resolved


@RELAXED
@given(q0=st.floats(0, 1e9), beta=st.floats(0, 10, exclude_min=True), window=st.integers(1, 1000), ecn=st.booleans())
def test_numbers_come_through_to_the_last_digit(q0: float, beta: float, window: int, ecn: bool) -> None:
    spec = f"lred:q0={q0!r},beta={beta!r},window={window},ecn={'true' if ecn else 'false'}"
    found = PLAIN.with_(aqm=spec).resolved["aqm"]
    assert (found["q0"], found["beta"], found["window"], found["ecn"]) == (q0, beta, window, ecn)


@RELAXED
@given(st.text(max_size=30) | st.builds("{}:{}={}".format, st.sampled_from(disciplines()), st.text(), st.text()))
def test_nonsense_is_a_problem_of_the_scenario_and_nothing_worse(text: str) -> None:
    with suppress(ScenarioError):
        PLAIN.with_(aqm=text).check()


@pytest.mark.parametrize("name", ENTRIES)
def test_a_preset_is_the_values_that_its_page_lists(name: str) -> None:
    for preset in ENTRIES[name]["presets"]:
        whole = PLAIN.with_(aqm=f"{name}:preset={preset['name']}").resolved["aqm"]
        listed = PLAIN.with_({f"aqm.{key}": value for key, value in simple(preset["values"]).items()}, aqm=name)
        assert listed.resolved["aqm"] == whole


def simple(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that can be set by a path: of a nested algorithm its SPEC, of a table each value."""
    told: dict[str, Any] = {}
    for key, value in values.items():
        if not isinstance(value, dict):
            told[key] = value
        elif "name" in value:
            told[key] = listing.written(value)
        else:
            told |= {f"{key}.{inner}": one for inner, one in value.items()}
    return told


def test_a_variant_is_its_preset() -> None:
    for variant in catalogue()["variants"]:
        preset = PLAIN.with_(aqm=f"{variant['of']}:preset={variant['preset']}")
        named = PLAIN.with_(aqm=variant["name"])
        assert named.aqm == variant["name"]
        assert by_algorithm(named.resolved) == by_algorithm(preset.resolved)


@RELAXED
@given(st.lists(st.sampled_from(["all", *disciplines(), "pi:q_ref=9", "red:min_th=3"]), unique=True, max_size=6))
def test_what_is_spelled_out_has_each_name_once_and_stays_as_it_is(specs: list[str]) -> None:
    every = spelled_out(specs)
    assert len(set(every)) == len(every)
    assert spelled_out(every) == every
    assert set(every) == set(specs) - {"all"} | (set(disciplines()) if "all" in specs else set())
