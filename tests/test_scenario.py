"""The Python interface of a scenario."""

import os
import pickle
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import SMALL
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import Scenario, ScenarioError, shipped, sweep
from aqmlab.execute.variants import with_discipline


def test_values_are_seconds_and_numbers(small: Scenario) -> None:
    assert (small.title, small.aqm, small.duration, small.warmup, small.seed) == ("Small", "lred", 5.0, 1.0, 7)
    assert small._memory > 0
    assert small._packets > 0
    assert repr(small) == "<Scenario 'Small': lred, 5 s, seed 7>"


def nested(kind: type, depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


def test_numbers_of_quantities_are_in_base_units(small: Scenario) -> None:
    numbers = {"duration": 4.5, "dumbbell.rate": 2e6, "dumbbell.sender_delay": [0.08, "10 ms"], "aqm": "pie"}
    texts = {"duration": "4.5 s", "dumbbell.rate": "2 Mbit/s", "dumbbell.sender_delay": ["80 ms", "10 ms"]}
    read = small.with_(numbers).with_({"aqm.alpha": 0.2, "traffic.1.start": 1})
    written = small.with_({**texts, "aqm": "pie"}).with_({"aqm.alpha": "0.2 Hz", "traffic.1.start": "1 s"})
    assert read.resolved == written.resolved
    with pytest.raises(ScenarioError, match='buffer = 100: must be a quantity like "200 packets"'):
        small.with_({"dumbbell.buffer": 100}).check()
    with pytest.raises(ScenarioError, match="must be a quantity"):
        small._with_text("duration", "4.5").check()  # a person may mean any unit


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_scenario_is_made_of_the_tables_of_its_file_and_of_its_resolved_values(name: str) -> None:
    scenario = Scenario.load(name)
    scenario.check()
    assert Scenario.load(f"{name}.toml") == scenario
    assert Scenario.from_dict(tomllib.loads(scenario.to_toml())) == scenario
    resolved = Scenario.from_dict(scenario.resolved).resolved
    assert {**resolved, "traffic": len(resolved["traffic"])} == {
        **scenario.resolved,
        "traffic": len(scenario.resolved["traffic"]),
    }


def test_what_is_no_scenario_is_refused_at_once() -> None:
    tables = {"duration": 2, "dumbbell": {"rate": 1e6}, "traffic": [{"count": 3, "tcp": {"min_rto": 0.5}}]}
    assert Scenario.from_dict(tables).resolved["traffic"][0]["tcp"]["min_rto"] == "500 ms"
    assert Scenario.from_dict({"extends": "quickstart", "duration": 7}).duration == 7
    with pytest.raises(TypeError, match=r"of a dict: call .*Scenario\.from_dict\(MAPPING\)"):
        Scenario(tables)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be a mapping"):
        Scenario.from_dict(3)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match=r'dumbbell\.rat: unknown key; did you mean "rate"'):
        Scenario.from_dict({**tables, "dumbbell": {"rat": 1}}).check()
    endless: dict[str, Any] = {}
    endless["dumbbell"] = endless
    with pytest.raises(ScenarioError, match="nested too deep"):
        Scenario.from_dict(endless)


def test_what_is_nested_too_deep_is_refused(small: Scenario) -> None:
    endless: list[Any] = []
    endless.append(endless)
    circle: dict[str, Any] = {}
    circle["a"] = circle
    for settings in (
        {"seed": nested(list, 10_000)},
        {"seed": nested(list, 64)},
        {"seed": endless},
        nested(dict, 10_000),
        nested(dict, 65),
        circle,
        {".".join(["a"] * 10_000): 1},
    ):
        with pytest.raises(ScenarioError, match="nested too deep: must lie in 64 tables and lists"):
            small.with_(settings)
    assert small.with_({"seed": nested(list, 63)}) != small
    assert small.with_(nested(dict, 64)) != small


def test_lists_hold_so_many_values_at_most(small: Scenario) -> None:
    doubled: Any = 1
    for _ in range(60):
        doubled = [doubled, doubled]
    for values in (doubled, range(1_000_001), range(2**60), [range(600_000), range(600_000)]):
        with pytest.raises(ScenarioError, match="seed: too many values: a list must hold 1000000 at most"):
            small.with_({"seed": values})
    assert small.with_({"seed": range(100_000)}) != small


@pytest.mark.parametrize("values", [nested(list, 10_000), [nested(list, 10_000)]])
def test_what_varies_is_no_list_of_lists(small: Scenario, values: Any) -> None:
    with pytest.raises(ValueError, match=r"aqm\.q0 = \[\[.*must be a number"):
        sweep(small, vary={"aqm.q0": values})


def test_a_scenario_never_changes(small: Scenario) -> None:
    before = small.to_toml()
    changed = small.with_(seed=8)
    assert changed.seed == 8
    assert small.to_toml() == before
    assert small != changed
    assert small == changed.with_(seed=7)


def test_nested_and_dotted_settings_are_the_same(small: Scenario) -> None:
    dotted = small.with_({"traffic.long.count": 3, "dumbbell.rate": "1 Mbit/s"})
    nested = small.with_(traffic={"long": {"count": 3}}, dumbbell={"rate": "1 Mbit/s"})
    assert dotted == nested
    assert dotted != small


def test_an_alias_sets_the_target_of_any_discipline(small: Scenario) -> None:
    assert small.with_(aqm="pi:q0=33").resolved == small.with_(aqm="pi:q_ref=33").resolved


def test_unknown_settings_are_refused_with_a_suggestion(small: Scenario) -> None:
    with pytest.raises(ScenarioError, match="duration"):
        small.with_(durration="5 s").check()
    with pytest.raises(ScenarioError, match="q_ref"):
        small.with_(aqm="pi:q_reff=3").check()


def test_a_program_can_tell_problems_apart() -> None:
    broken = Scenario.parse(SMALL.replace("count = 10", "count = -10\ncuont = 1"), "some.toml")
    with pytest.raises(ScenarioError) as caught:
        broken.check()
    error = pickle.loads(pickle.dumps(caught.value))  # as a process that runs it sends it back
    assert (error.kind, error.path, error.file, error.line) == ("value", "traffic.long.count", "some.toml", 17)
    assert [(one["kind"], one["line"]) for one in error.problems] == [("value", 17), ("path", 18)]
    assert str(error).splitlines()[1] == f"some.toml:18: {error.problems[1]['text']}"
    with pytest.raises(ScenarioError) as caught:
        Scenario.parse("a = ", "some.toml")
    assert (caught.value.kind, caught.value.line) == ("file", 1)
    for path, kind in {"aqm.q00": "path", "traffic.lng.count": "path", "aqm.q0": "value"}.items():
        with pytest.raises(ScenarioError) as caught:
            Scenario.parse(SMALL, "some.toml").with_({path: -1}).check()
        assert (caught.value.kind, caught.value.file) == (kind, None)
    assert ScenarioError("raised by Python").problems == ()


def test_a_missing_file_is_a_problem_of_the_scenario() -> None:
    with pytest.raises(ScenarioError, match="nowhere") as caught:
        Scenario.load("nowhere.toml")
    assert (caught.value.kind, caught.value.file, caught.value.line) == ("file", "nowhere.toml", None)


def test_a_file_extends_another_whose_scenario_it_changes(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    own = tmp_path / "own.toml"
    own.write_text(
        'extends = "small.toml"\nduration = "7 s"\n[[traffic]]\nname = "calls"\nkind = "voip"\n', encoding="utf-8"
    )
    small, scenario = Scenario.load(tmp_path / "small.toml"), Scenario.load(own)
    assert (small._extension, scenario.duration) == (None, 7)
    assert len(scenario.resolved["traffic"]) == len(small.resolved["traffic"]) + 1
    assert scenario._extension is not None
    assert [Path(file).name for file in scenario._extension["files"]] == ["small.toml"]
    before = small.resolved["duration"]
    assert scenario._extension["changes"][0] == {"path": "duration", "old": f'"{before}"', "new": '"7 s"'}
    # What is kept of it extends nothing.
    copy = Scenario.parse(scenario.to_toml())
    assert (copy == scenario, copy._extension, copy.resolved) == (True, None, scenario.resolved)


def test_a_file_and_a_text_extend_a_shipped_scenario_by_its_name(tmp_path: Path) -> None:
    text = 'extends = "lred/exp1"\nduration = "70 s"\n'
    whole = Scenario.load("lred/exp1").with_(duration="70 s")
    own = tmp_path / "own.toml"
    own.write_text(text, encoding="utf-8")
    for scenario in (Scenario.load(own), Scenario.parse(text)):
        assert scenario.resolved == whole.resolved
        assert scenario._extension is not None
        assert scenario._extension["files"] == [os.fspath(shipped()["lred/exp1"])]
    with pytest.raises(ScenarioError, match=r'some.toml:2: extends = .*\(did you mean "lred/exp1"\?\)'):
        Scenario.parse('\nextends = "lred/exp"', "some.toml")


def test_a_setting_extends_nothing() -> None:
    with pytest.raises(ScenarioError, match="only the text of a scenario says what it extends"):
        Scenario.parse(SMALL).with_(extends="small.toml")


def test_a_scenario_of_a_paper_that_is_not_installed_says_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.scenario.plugins.entries", lambda group: {})
    with pytest.raises(ScenarioError, match=r"nowhere: no such file; .* pip install 'aqmlab\[papers\]'$"):
        Scenario.load("nowhere")


@given(
    title=st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    seed=st.integers(0, 2**50),
    band=st.floats(1e-6, 10.0, exclude_min=True),
    gentle=st.booleans(),
    delays=st.lists(st.integers(0, 500).map(lambda ms: f"{ms} ms"), min_size=1, max_size=5),
)
def test_settings_survive_being_written_and_read(
    title: str, seed: int, band: float, gentle: bool, delays: list[str]
) -> None:
    scenario = Scenario.parse(SMALL).with_(
        {"dumbbell.receiver_delay": delays, "response.band": band, "aqm.gentle": gentle},
        aqm="red",
        title=title,
        seed=seed,
    )
    again = Scenario.parse(scenario.to_toml())
    assert again == scenario
    assert again.resolved == scenario.resolved
    assert (again.title, again.seed) == (title, seed)
    assert again.resolved["response"]["band"] == band


def test_a_reverse_direction_with_a_discipline_of_its_own_gets_that_of_the_command_too() -> None:
    home = Scenario.load("links/home").with_(aqm="fq_codel").resolved
    assert home["reverse_aqm"]["name"] == home["aqm"]["name"] == "fq_codel"
    alone = Scenario.load("links/home").with_(aqm="fq_codel")._with_text("reverse_aqm.name", "droptail").resolved
    assert (alone["aqm"]["name"], alone["reverse_aqm"]["name"]) == ("fq_codel", "droptail")
    assert "reverse_aqm" not in Scenario.load("quickstart").with_(aqm="fq_codel").resolved


def test_the_name_of_a_discipline_means_its_defaults_also_if_it_is_the_files(tiny: Scenario) -> None:
    own = Scenario.parse("[dumbbell]\n[aqm]\nname = 'pie'\npreset = 'linux'\ntarget = '100 ms'\n[[traffic]]\n")
    plain = Scenario.parse("[dumbbell]\n[[traffic]]\n")
    for chosen in (own.with_(aqm="pie"), own.with_(aqm="pie"), with_discipline(own, "pie")):
        assert chosen.resolved == plain.with_(aqm="pie").resolved
    # A target queue is kept, by any discipline that has one.
    assert (
        tiny.with_({"aqm.beta": 0.5, "aqm.q0": 33}).with_(aqm="lred").resolved == tiny.with_(aqm="lred:q0=33").resolved
    )
