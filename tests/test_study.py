"""Studies: `[sweep]` of a scenario, the arguments that replace it, and what is wrong with either."""

import json
import math
from pathlib import Path

import pytest
from conftest import Cli
from sweeping import STUDY, VARY

import aqmlab
from aqmlab import Scenario


def test_an_unknown_path_is_an_error_with_a_suggestion(tiny: Scenario) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=r'dumbbell.rat: unknown key; did you mean "rate"'):
        aqmlab.sweep(tiny, vary={"dumbbell.rat": "1,2"})
    with pytest.raises(aqmlab.ScenarioError, match=r'q00: unknown key; did you mean "q0"'):
        aqmlab.sweep(tiny, vary={"aqm.q00": "1,2"}, aqms=["lred", "pi"])
    # At once, without checking each of a million points, some of which may be invalid for another reason.
    with pytest.raises(aqmlab.ScenarioError, match=r'lng: no such entry; did you mean "long"'):
        aqmlab.sweep(tiny, vary={"aqm.q0": "0,1..999", "traffic.lng.count": "0,1..999"})


def test_a_path_below_a_value_is_an_error(tiny: Scenario) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=r"^--vary traffic\.long\.count\.x: .*: not a table") as caught:
        aqmlab.sweep(tiny, vary={"traffic.long.count.x": "1,2"})
    assert (caught.value.kind, caught.value.path) == ("path", "traffic.long.count")


def test_an_unknown_path_is_reported_without_other_problems(tiny: Scenario) -> None:
    with pytest.raises(aqmlab.ScenarioError) as caught:
        aqmlab.sweep(tiny, vary={"dumbbell.rat": "1,2"}, aqms=["lred:q0=-1"])
    assert str(caught.value) == '--vary dumbbell.rat: dumbbell.rat: unknown key; did you mean "rate"?'
    assert [problem["path"] for problem in caught.value.problems] == ["dumbbell.rat"]
    assert (caught.value.file, caught.value.line) == (None, None)


def test_an_unknown_path_of_a_study_has_its_file_and_line(tiny: Scenario) -> None:
    study = Scenario.parse(tiny.to_toml() + "[sweep.vary]\n'dumbbell.rat' = [1, 2]\n", "mine:3.toml")
    line = len(tiny.to_toml().splitlines()) + 2
    with pytest.raises(aqmlab.ScenarioError) as caught:
        aqmlab.sweep(study)
    assert (caught.value.file, caught.value.line) == ("mine:3.toml", line)
    assert [(problem["file"], problem["line"]) for problem in caught.value.problems] == [("mine:3.toml", line)]
    elsewhere = tiny._with_text("sweep.vary.dumbbell.rat", "1:2")
    with pytest.raises(aqmlab.ScenarioError, match=r"^--set ") as caught:
        aqmlab.sweep(elsewhere)
    assert (caught.value.file, caught.value.line) == (None, None)


def test_what_varies_is_named_by_its_path(tiny: Scenario) -> None:
    with pytest.raises(ValueError, match="vary: 1 must be the dotted path"):
        aqmlab.sweep(tiny, vary={1: [2, 3]})  # type: ignore[dict-item]


def test_two_names_of_one_parameter_do_not_vary_together(tiny: Scenario) -> None:
    with pytest.raises(ValueError, match=r"aqm\.q0 and aqm\.q_ref are one parameter"):
        aqmlab.sweep(tiny, vary={"aqm.q0": "10,20", "aqm.q_ref": "30,40"}, aqms=["droptail", "pi"])
    with pytest.raises(ValueError, match=r"traffic\.1\.count and traffic\.long\.count are one parameter"):
        aqmlab.sweep(tiny, vary={"traffic.1.count": 5, "dumbbell.delay": "1,2 ms", "traffic.long.count": "3,4"})


@pytest.mark.parametrize(
    ("set_path", "varied"),
    [
        ("traffic.long.count", "traffic.long.count"),
        ("traffic.1.count", "traffic.long.count"),
        ("traffic.long.count", "traffic.1.count"),
        ("aqm.q0", "aqm.q_ref"),
    ],
)
def test_what_varies_is_not_set_as_well(tiny: Scenario, set_path: str, varied: str) -> None:
    chosen = tiny.with_(aqm="pi").with_({set_path: 3})
    message = rf"^{varied} varies, but --set {set_path}=3 sets it: omit one of them; .* --vary {varied}=VALUE"
    with pytest.raises(ValueError, match=message):
        aqmlab.sweep(chosen, vary={varied: "1,2"})
    study = Scenario.parse(tiny.with_(aqm="pi").to_toml() + f"[sweep.vary]\n{varied} = [1, 2]\n", "study.toml")
    with pytest.raises(ValueError, match=message):
        aqmlab.sweep(study.with_({set_path: 3}))


def test_a_part_of_what_varies_is_not_set_and_a_whole_is_set_without_it(tiny: Scenario) -> None:
    with pytest.raises(ValueError, match=r"traffic\.long\.tcp varies, but --set traffic\.long\.tcp\.min_rto="):
        aqmlab.sweep(tiny.with_({"traffic.long.tcp.min_rto": "1 s"}), vary={"traffic.long.tcp": "rfc,linux"})
    with pytest.raises(ValueError, match=r"dumbbell\.delay varies, but --set dumbbell="):
        aqmlab.sweep(tiny._with_text("dumbbell", "{delay='3 ms'}"), vary={"dumbbell.delay": "1,2 ms"})
    with pytest.raises(ValueError, match=r"aqm\.q_ref varies, but --aqm pi:q0=3 sets it"):
        aqmlab.sweep(tiny, vary={"aqm.q_ref": "1,2"}, aqms=["lred", "pi:q0=3"])
    # The last of the two would undo the first, at the points whose text sets the parameter.
    with pytest.raises(ValueError, match=r"are one parameter: let only one of them vary$"):
        aqmlab.sweep(tiny, vary={"traffic.long.tcp": ["rfc", "rfc:min_rto=1 s"], "traffic.long.tcp.min_rto": ["2 s"]})
    with pytest.raises(ValueError, match=r"or put traffic\.long\.tcp before traffic\.long\.tcp\.min_rto$"):
        aqmlab.sweep(tiny, vary={"traffic.long.tcp.min_rto": ["1 s", "2 s"], "traffic.long.tcp": "rfc,linux"})
    ordered = aqmlab.sweep(tiny, vary={"traffic.long.tcp": "rfc,linux", "traffic.long.tcp.min_rto": ["1 s", "2 s"]})
    assert ordered.done == 4


def test_a_parameter_of_no_discipline_is_an_error(tiny: Scenario) -> None:
    with pytest.raises(ValueError, match="none of pi, droptail has beta"):
        aqmlab.sweep(tiny, vary={"aqm.beta": "1,2"}, aqms=["pi", "droptail"])


def test_texts_in_the_place_of_a_scenario_or_a_list_are_errors_that_name_the_fix(tiny: Scenario) -> None:
    with pytest.raises(TypeError, match=r"load it with Scenario\.load\('tiny\.toml'\)"):
        aqmlab.sweep("tiny.toml", vary=VARY)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"must be a list of strings: \['lred'\]"):
        aqmlab.sweep(tiny, vary=VARY, aqms="lred")


def test_a_study_and_a_call_are_equal(tiny: Scenario) -> None:
    table = "[sweep]\naqm = ['lred', 'pi']\nseeds = 2\n[sweep.vary]\n'aqm.q0' = '10,20..30'\n"
    study = Scenario.parse(f"{tiny.to_toml()}\n{table}")
    swept, same = aqmlab.sweep(study), aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"], seeds=2)
    assert swept.frame.equals(same.frame)
    fewer = aqmlab.sweep(study, vary={"aqm.q0": [20]}, aqms=["rem"], seeds=1)
    assert fewer.frame.select("aqm", "aqm.q0", "seed").rows() == [("rem", 20, 7)]


def test_a_drawn_design_is_recorded(tiny: Scenario, tmp_path: Path) -> None:
    swept = aqmlab.sweep(
        tiny, vary={"aqm.q0": "uniform(10, 40)"}, method="latin", samples=5, sample_seed=3, out=tmp_path
    )
    assert (swept.method, swept.sample_seed) == ("latin", 3)
    assert json.loads((tmp_path / "sweep.json").read_text())["sample_seed"] == 3
    assert swept.frame["aqm.q0"].n_unique() == 5
    with pytest.raises(ValueError, match="the method is grid"):
        aqmlab.sweep(tiny, vary=VARY, method="grid", samples=5)


def test_the_shipped_study_is_experiment_3() -> None:
    study = Scenario.load("lred/exp3")._study
    assert study is not None
    assert [entry["value"] for entry in study["vary"]] == ["20,40..160"]
    assert [spec.partition(":")[0] for spec in study["aqm"]] == ["lred", "pi", "pistar", "rem"]
    assert math.isclose(Scenario.load("lred/exp3").with_(aqm=study["aqm"][2]).duration, 200)


def test_validate_parses_the_values_of_a_study(quick_cli: Cli, small: Scenario, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(small.to_toml() + STUDY, encoding="utf-8")
    assert quick_cli("validate", study).stdout.splitlines()[0].endswith("; its sweep has 160 runs")
    study.write_text(small.to_toml() + STUDY.replace("10,20..40", "10..40"), encoding="utf-8")
    line = study.read_text().split('"aqm.q0"')[0].count("\n") + 1
    done = quick_cli("validate", study)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{study}:{line}: sweep.vary.aqm.q0: 10..40 has no step")


def test_all_typos_of_a_study_are_reported_with_their_lines(quick_cli: Cli, small: Scenario, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text("titel = 'x'\n" + small.to_toml() + STUDY.replace("seeds", "seds"), encoding="utf-8")
    done = quick_cli("sweep", study)
    assert done.returncode == 2
    assert f'{study}:1: titel: unknown key; did you mean "title"?' in done.stderr
    assert 'sweep.seds: unknown key; did you mean "seeds"?' in done.stderr
    study.write_text(small.to_toml() + STUDY.replace("aqm.q0", "dumbbell.rat"), encoding="utf-8")
    line = study.read_text().split('"dumbbell.rat"')[0].count("\n") + 1
    for command in ("sweep", "validate"):
        done = quick_cli(command, study)
        assert done.returncode == 2
        assert f'{study}:{line}: sweep.vary.dumbbell.rat: dumbbell.rat: unknown key; did you mean "rate"' in done.stderr
