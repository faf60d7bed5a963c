"""Two saved results compared: settings, versions, metrics with paired or Welch's intervals, and what is refused."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from scipy import stats

import aqmlab
from aqmlab import Comparison, Result, Scenario, Summary
from aqmlab.diffs.diff import Change, Setting, welch
from aqmlab.results.student import quantile


@pytest.fixture
def result(tiny: Scenario) -> Result:
    return aqmlab.run(tiny, seeds=3)


def values(result: Result, metric: str) -> np.ndarray:
    return np.array([run.metrics[metric] for run in result.runs])


def test_settings_that_differ_have_the_paths_of_set(tiny: Scenario, result: Result) -> None:
    other = aqmlab.run(tiny.with_({"aqm.q0": 5, "traffic.long.count": 4, "dumbbell.rate": "1 Mbit/s"}), seeds=3)
    found = aqmlab.diff(result, other)
    assert found.settings == (
        Setting("dumbbell.rate", "2 Mbit/s", "1 Mbit/s"),
        Setting("aqm.q0", 20.0, 5.0),
        Setting("traffic.long.count", 3, 4),
    )
    assert found.origins == ()
    changed = tiny.with_({one.path: one.second for one in found.settings})
    assert changed.resolved == other.scenario.resolved, "the paths are those of --set"


def test_a_setting_that_one_lacks_is_null(tiny: Scenario, result: Result) -> None:
    found = aqmlab.diff(result, aqmlab.run(tiny.with_(aqm="pi"), seeds=3))
    assert Setting("aqm.name", "lred", "pi") in found.settings
    assert next(one for one in found.settings if one.path == "aqm.beta").second is None
    assert next(line for line in repr(found).splitlines() if line.startswith("aqm.beta")).split()[-1] == "-"


def test_the_same_seeds_are_paired(tiny: Scenario, result: Result) -> None:
    other = aqmlab.run(tiny.with_({"aqm.q0": 5}), seeds=3)
    found = aqmlab.diff(result, other)
    change = found.metrics[""]["queue_mean"]
    differences = values(other, "queue_mean") - values(result, "queue_mean")
    assert found.paired
    assert change.difference == pytest.approx(differences.mean())
    assert change.ci95 == pytest.approx(quantile(0.95, 2) * differences.std(ddof=1) / np.sqrt(3))
    assert "B - A, seed by seed:" in repr(found)


def test_other_seeds_have_welchs_interval(tiny: Scenario, result: Result) -> None:
    other = aqmlab.run(tiny.with_({"aqm.q0": 5, "seed": 20}), seeds=4)
    found = aqmlab.diff(result, other)
    change = found.metrics[""]["queue_mean"]
    test = stats.ttest_ind(values(other, "queue_mean"), values(result, "queue_mean"), equal_var=False)
    low, high = test.confidence_interval(0.95)
    assert not found.paired
    assert change.difference == pytest.approx((low + high) / 2)
    assert change.ci95 == pytest.approx((high - low) / 2)
    assert "B - A, not paired: the seeds differ:" in repr(found)


def test_one_run_has_no_interval() -> None:
    one, two = Summary.of([1.0]), Summary.of([2.0, 4.0])
    assert (welch(one, two).difference, welch(one, two).ci95) == (2.0, None)
    assert welch(Summary.of([None]), two).difference is None
    assert welch(Summary.of([1.0, 1.0]), Summary.of([2.0, 2.0])).ci95 == 0.0


def test_the_fluid_model_is_compared_with_the_mean(tiny: Scenario, result: Result) -> None:
    model = aqmlab.run(tiny, engine="fluid")
    found = aqmlab.diff(result, model)
    assert Setting("engine_name", "packet", "fluid") in found.origins
    change = found.metrics[""]["queue_mean"]
    assert change.ci95 == pytest.approx(result["queue_mean"].ci95)
    assert "of the fluid model from the mean" in repr(found)


def test_equal_results_have_no_difference(tiny: Scenario, result: Result) -> None:
    text = repr(aqmlab.diff(result, aqmlab.run(tiny, seeds=3)))
    assert "No setting differs." in text
    assert "All metrics of all runs are equal." in text


def test_every_metric_of_each_part_is_compared_but_not_the_cost(result: Result) -> None:
    names = list(aqmlab.diff(result, result).document()["metrics"][""])
    assert {"goodput", "classes.long.goodput", "links.bottleneck.loss_ratio"} <= set(names)
    assert not [name for name in names if name.startswith("engine.")]


def test_comparisons_are_matched_by_label(tiny: Scenario) -> None:
    first = aqmlab.compare(tiny, aqms=["lred", "pi"], seeds=2)
    second = aqmlab.compare(tiny.with_({"dumbbell.rate": "1 Mbit/s"}), aqms=["pi", "droptail"], seeds=2)
    found = aqmlab.diff(first, second)
    assert list(found.metrics) == ["pi"]
    assert found.missing == (["lred"], ["droptail"])
    assert found.settings == (Setting("dumbbell.rate", "2 Mbit/s", "1 Mbit/s"),)
    assert "Only in A: lred" in repr(found)
    both = Comparison({"lred": first["lred"], "pi": second["pi"]})
    (setting,) = aqmlab.diff(first, both).settings
    assert setting.labels == ("pi",), "it differs there only"
    assert "dumbbell.rate of pi" in repr(aqmlab.diff(first, both))


def test_sweeps_are_matched_by_discipline_and_point(tiny: Scenario, tmp_path: Path) -> None:
    first = aqmlab.sweep(tiny, vary={"aqm.q0": "10,20"}, aqms=["lred", "pi"], seeds=2, out=tmp_path / "a")
    second = aqmlab.sweep(
        tiny.with_({"traffic.long.count": 5}), vary={"aqm.q0": "20,30"}, aqms=["lred"], seeds=2, out=tmp_path / "b"
    )
    found = aqmlab.diff(tmp_path / "a", tmp_path / "b")
    assert list(found.metrics) == ["lred, aqm.q0 = 20"]
    assert len(found.missing[0]) == 3
    before = first.means().filter(aqm="lred")["goodput"].to_list()[1]
    after = second.means()["goodput"].to_list()[0]
    assert found.metrics["lred, aqm.q0 = 20"]["goodput"].difference == pytest.approx(after - before)


def test_files_and_folders_of_the_commands_are_read(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    short = ("--set", "duration=2 s", "--set", "warmup=0.5 s", "--seeds", "2")
    done = quick_cli("run", small_file, *short, "--json", "--out", "a")
    (tmp_path / "a.json").write_text(done.stdout, encoding="utf-8")
    quick_cli("compare", small_file, *short, "--aqm", "lred:q0=9", "--aqm", "pi", "--out", "both")
    done = quick_cli("diff", "a.json", "both/lred_q0=9", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["settings"] == [{"path": "aqm.q0", "first": 20.0, "second": 9.0, "labels": []}]
    assert document["paired"]
    assert set(document["metrics"][""]["queue_mean"]) == {"first", "second", "difference", "ci95"}
    text = quick_cli("diff", "a", "both/lred_q0=9/result.json").stdout
    assert "aqm.q0" in text
    assert "Mean queue (packets)" in text


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("torn.json", "torn.json: not JSON"),
        ("changed/result.json", "its checksum differs"),
        ("other.json", "other.json: not printed or saved by aqmlab run, compare or sweep: its keys are x"),
        ("binary", "binary: not JSON"),
        ("empty", "has none of result.json, comparison.json, sweep.json"),
        ("swept.json", "swept.json: printed by a sweep, which has no single runs: give the folder"),
        ("both", "both is a comparison, a is a result of aqmlab run: give two of one kind; a comparison has a folder"),
        ("old.json", "from another version of aqmlab, or changed: KeyError('scenario')"),
    ],
)
def test_what_is_no_result_of_the_same_kind_is_refused(
    quick_cli: Cli, tiny: Scenario, tmp_path: Path, first: str, message: str
) -> None:
    result = aqmlab.run(tiny)
    result.save(tmp_path / "a")
    result.save(tmp_path / "changed")
    file = tmp_path / "changed/result.json"
    file.write_text(file.read_text(encoding="utf-8").replace('"seed": 7', '"seed": 8'), encoding="utf-8")
    (tmp_path / "torn.json").write_text(json.dumps(result.document())[:1000], encoding="utf-8")
    (tmp_path / "other.json").write_text('{"x": 1}', encoding="utf-8")
    (tmp_path / "old.json").write_text('{"schema": 1, "runs": []}', encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"PAR1\xff\xfe")
    (tmp_path / "empty").mkdir()
    Comparison({"lred": result}).save(tmp_path / "both")
    swept = aqmlab.sweep(tiny)
    (tmp_path / "swept.json").write_text(json.dumps(swept.document()), encoding="utf-8")
    done = quick_cli("diff", first, "a")
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout


def test_nothing_in_common_is_said(result: Result) -> None:
    with pytest.raises(ValueError, match="nothing in common: a comparison has lred, a comparison has pi"):
        aqmlab.diff(Comparison({"lred": result}), Comparison({"pi": result}))


def test_another_version_is_named(result: Result) -> None:
    found = aqmlab.diff(result, replace(result, version="0.0.9"))
    assert found.origins == (Setting("version", result.version, "0.0.9"),)
    assert next(line for line in repr(found).splitlines() if line.startswith("version")).endswith("0.0.9")


def test_a_limit_is_passed_beyond_it_and_beyond_the_seeds(tiny: Scenario, result: Result) -> None:
    found = aqmlab.diff(result, aqmlab.run(tiny.with_({"dumbbell.rate": "1 Mbit/s"}), seeds=3))
    change = found.metrics[""]["link_goodput"]
    assert change.difference is not None
    assert change.ci95 is not None
    assert change.difference < -change.ci95 < 0, "half as much is carried, whatever the seed"
    fall, mean = -change.difference, change.first.mean
    assert mean is not None
    for limit, is_passed in [
        (f"link_goodput -{0.99 * fall}", True),
        (f"link_goodput -{1.01 * fall}", False),
        (f"link_goodput -{99 * fall / mean} %", True),
        (f"link_goodput -{101 * fall / mean} %", False),
        ("link_goodput +1 %", False),
    ]:
        assert [each.label for each in found.passed(limit)] == [""] * is_passed, limit
    # A difference that may be one of the seeds alone is none.
    noisy = Change(change.first, change.second, -fall, 1.01 * fall)
    assert replace(found, metrics={"": {"link_goodput": noisy}}).passed(f"link_goodput -{0.99 * fall}") == []
    gone = Change(change.first, Summary.of([None]), None, None)
    (passed,) = replace(found, metrics={"": {"link_goodput": gone}}).passed("link_goodput -99 %")
    assert "to no value Mbit/s" in str(passed)
    alone = Change(change.first, change.second, -fall, None)
    assert replace(found, metrics={"": {"link_goodput": alone}}).passed(f"link_goodput -{0.99 * fall}") != []


def test_limits_are_for_each_label_and_each_entry(tiny: Scenario) -> None:
    first, second = (Comparison({"a": aqmlab.run(tiny), "b": aqmlab.run(tiny.with_({"aqm.q0": q}))}) for q in (20, 5))
    (passed,) = aqmlab.diff(first, second).passed("long.delay_mean -1 us")
    assert (passed.label, passed.limit.name) == ("b", "classes.long.delay_mean")
    assert str(passed).startswith("b: classes.long.delay_mean from ")
    with pytest.raises(ValueError, match=r"b: a comparison has no such runs"):
        aqmlab.diff(first, Comparison({"a": first["a"]})).passed("long.delay_mean -1 us")


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("goodput", "must be METRIC +AMOUNT or METRIC -AMOUNT"),
        ("goodput 10 %", "must be METRIC +AMOUNT or METRIC -AMOUNT"),
        ("goodput +x", "must be METRIC +AMOUNT or METRIC -AMOUNT"),
        (
            "goodput +1 ms",
            "the amount must be above 0, in % of the mean, as in 1 %, or as in 0.1 Mbit/s",
        ),
        ("goodput -0 %", "the amount must be above 0"),
        ("rtt_p9 +1 ms", "there is no such metric; did you mean 'rtt_p99'?"),
        ("nobody.goodput +1 %", "the first has no classes.nobody.goodput"),
    ],
)
def test_a_limit_of_another_form_is_refused(result: Result, limit: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        aqmlab.diff(result, result).passed(limit)


def test_the_command_ends_with_6_beyond_a_limit(quick_cli: Cli, tiny: Scenario, tmp_path: Path) -> None:
    for name, q0 in (("a", 20), ("b", 5)):
        aqmlab.run(tiny.with_({"aqm.q0": q0})).save(tmp_path / name)
    done = quick_cli("diff", "a", "b", "--fail", "queue_mean +1 %", "--fail", "queue_mean -1 %")
    assert (done.returncode, done.stderr.count("beyond")) == (6, 1)
    assert "Mean queue (packets)" in done.stdout
    assert quick_cli("diff", "b", "a", "--fail", "queue_mean -1 %").returncode == 0
    assert quick_cli("diff", "b", "a", "--fail", "queue_mean").returncode == 2
