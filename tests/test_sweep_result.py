"""The result of a sweep: its frame, its statistics, and its files."""

import json
from dataclasses import replace
from pathlib import Path

import polars
import pytest
from damaged import damaged
from scipy import stats
from sweeping import VARY, data_set

import aqmlab
from aqmlab import Scenario, Sweep
from aqmlab.execute import threads as local
from aqmlab.execute.task import Outcome
from aqmlab.reports import sweep_text
from aqmlab.reports.parts import Choice
from aqmlab.runs.table import RunTable
from aqmlab.sealed import sealed


def test_whole_numbers_and_others_are_one_column(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,10.5..11"})
    assert list(swept.frame["aqm.q0"]) == [10.0, 10.5, 11.0]


def test_a_sweep_takes_the_numbers_that_its_table_has(tiny: Scenario) -> None:
    vary = {"aqm.alpha": "0.05,0.5 Hz", "dumbbell.delay": "5,10 ms", "traffic.1.start": "0,0.5 s"}
    swept = aqmlab.sweep(tiny.with_(aqm="pie"), vary=vary, jobs=1)
    again = aqmlab.sweep(
        tiny.with_(aqm="pie"), vary={path: swept.frame[path].unique().to_list() for path in vary}, jobs=1
    )
    key = ["aqm", *vary]
    assert again.frame.sort(key).equals(swept.frame.sort(key))
    assert again.parameters == swept.parameters == {"aqm.alpha": "/s", "dumbbell.delay": "s", "traffic.1.start": "s"}
    with pytest.raises(ValueError, match=r"0\.01 s and 10 ms are equal"):
        aqmlab.sweep(tiny, vary={"dumbbell.delay": [0.01, "10 ms"]})


def test_a_choice_has_a_table_with_the_values_of_each_link_and_entry(tiny: Scenario) -> None:
    two = Scenario.from_dict({**tiny.resolved, "traffic": [{"name": "long"}, {"name": "call", "kind": "voip"}]})
    swept = aqmlab.sweep(two, vary={"dumbbell.rate": "2,4 Mbit/s"}, aqms=["droptail", "codel"], seeds=2, jobs=1)
    classes = sweep_text.text(swept, Choice(classes=("call",)))
    assert all(part in classes for part in ("Traffic:", "One-way p95", "droptail, call"))
    assert not any(part in classes for part in ("Links", "long"))
    metric = sweep_text.text(swept, Choice(metrics=("delay_p95",)))
    assert metric.count("codel, call") == metric.count("codel, long") == 2 + 2, "means and differences of two points"
    mean = swept.means(["classes.call.delay_p95"]).row(0, named=True)["classes.call.delay_p95"]
    assert f" {mean * 1e3:.1f}" in metric
    assert "No run has a value" in sweep_text.text(swept, Choice(metrics=("video_bitrate",)))


def test_a_part_of_a_parameter_may_vary(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.design.n": [100, 200]}, aqms=["pistar", "droptail"])
    assert (swept.done, swept.failures) == (4, ())
    assert swept.frame["key"].n_unique() == 3


def test_differences_are_paired_and_have_students_interval(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": "10,30"}, aqms=["lred", "pi", "red"], seeds=4)
    found = swept.differences("queue_mean", to="lred")
    assert found.select("aqm", "to").unique(maintain_order=True).rows() == [("pi", "lred"), ("red", "lred")]
    for row in found.filter(aqm="pi").iter_rows(named=True):
        at = swept.frame.filter(polars.col("aqm.q0") == row["aqm.q0"])
        own, other = (at.filter(aqm=label)["queue_mean"].to_numpy() for label in ("pi", "lred"))
        interval = stats.ttest_rel(own, other).confidence_interval(0.95)
        assert row["difference"] - row["ci95"] == pytest.approx(interval.low)
        assert row["difference"] + row["ci95"] == pytest.approx(interval.high)
        assert row["runs"] == 4
    pairs = swept.differences("queue_mean").select("aqm", "to").unique(maintain_order=True).rows()
    assert pairs == [("pi", "lred"), ("red", "lred"), ("red", "pi")]


def test_a_pair_counts_only_when_both_have_a_value(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={}, aqms=["lred", "pi"], seeds=3)
    holed = polars.when(polars.col("seed") == 8, polars.col("aqm") == "pi").then(None)
    frame = swept.frame.with_columns(holed.otherwise(polars.col("queue_mean")).alias("queue_mean"))
    holed_sweep = replace(swept, table=RunTable((frame,)))
    (row,) = holed_sweep.differences("queue_mean").to_dicts()
    (whole,) = aqmlab.sweep(tiny, vary={}, aqms=["lred", "pi"], seeds=[7, 9]).differences("queue_mean").to_dicts()
    assert (row["runs"], row["difference"], row["ci95"]) == (2, whole["difference"], whole["ci95"])


def test_a_summary_is_that_of_a_comparison(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={}, aqms=["lred", "pi"], seeds=4).means()
    results = aqmlab.compare(tiny, aqms=["lred", "pi"], seeds=4)
    for row in swept.iter_rows(named=True):
        for name, summary in results[row["aqm"]].summaries.items():
            if "." in name:
                continue  # a sweep leaves out columns without any value
            assert row[name] == (None if summary.mean is None else pytest.approx(summary.mean))
            assert row[f"{name}_ci95"] == (None if summary.ci95 is None else pytest.approx(summary.ci95, abs=1e-9))


def test_one_seed_has_no_interval(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi"])
    assert swept.means()["queue_mean_ci95"].is_null().all()
    assert swept.differences("queue_mean", "pi")["ci95"].is_null().all()


def test_rows_of_which_all_seeds_are_one_run_have_no_interval_and_a_remark() -> None:
    scenario = aqmlab.Scenario.load("quickstart").with_({"duration": "6 s", "traffic.flows.start": "0 s"})
    remark = "give the same run, because nothing in it is random: there is no interval."
    same = repr(aqmlab.sweep(scenario, vary={"dumbbell.rate": "5Mbit/s,10Mbit/s"}, aqms=["codel"], seeds=2))
    assert f"\nAll seeds {remark}" in same
    assert "±" not in same
    some = repr(aqmlab.sweep(scenario, vary={"dumbbell.rate": "10Mbit/s"}, aqms=["codel", "pi"], seeds=2))
    assert f"\nIn 1 of 2 rows all seeds {remark}" in some
    random = scenario.with_({"traffic.flows.start": "uniform(0 s, 100 ms)"})
    assert remark not in repr(aqmlab.sweep(random, vary={"dumbbell.rate": "10Mbit/s"}, aqms=["codel"], seeds=2))


def test_the_best_is_the_least_or_the_largest(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, aqms=["lred", "pi", "droptail"], seeds=2)
    means = swept.means()
    assert swept.best("goodput")["goodput"][0] == means["goodput"].max()
    assert swept.best("queue_mean")["queue_mean"][0] == means["queue_mean"].min()
    assert swept.best("queue_mean", largest=True)["queue_mean"][0] == means["queue_mean"].max()
    each = swept.best("queue_mean", by="aqm")
    assert list(each["aqm"]) == ["lred", "pi", "droptail"]
    assert list(swept.best("queue_mean", by="aqm.q0")["aqm.q0"]) == [10, 20, 30]
    with pytest.raises(LookupError, match="queue_mea: no such metric"):
        swept.best("queue_mea")
    with pytest.raises(LookupError, match="arrivals: neither more nor less of it is better as such: set largest"):
        swept.best("arrivals")
    assert swept.best("link_goodput")["link_goodput"][0] == means["link_goodput"].max()
    with pytest.raises(LookupError, match=r"must be one of aqm, aqm\.q0"):
        swept.best("goodput", by="q0")


def test_a_sweep_reads_what_it_writes(tiny: Scenario, tmp_path: Path) -> None:
    swept = aqmlab.sweep(
        tiny, vary={"aqm.q0": "10,-10", "traffic.long.tcp": "rfc,linux"}, aqms=["lred"], seeds=2, out=tmp_path
    )
    loaded = Sweep.load(tmp_path)
    assert loaded.frame.equals(swept.frame)
    assert json.dumps(loaded.document()) == json.dumps(swept.document())
    assert loaded.failures == swept.failures
    assert loaded.is_saved_in(tmp_path)
    assert not aqmlab.sweep(tiny, vary=VARY).is_saved_in(tmp_path)
    one_line = polars.read_parquet(tmp_path / "results" / "*.parquet")
    assert one_line.equals(swept.frame)
    assert list(one_line["traffic.long.tcp"].unique().sort()) == ["linux", "rfc"]


def test_fewer_files_than_before_leave_none_behind(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = aqmlab.sweep(tiny, vary=VARY, seeds=2)
    with monkeypatch.context() as patch:
        patch.setattr("aqmlab.runs.table.SLICE", 2)
        swept.save(tmp_path)
    assert len(data_set(tmp_path)) == 3
    assert Sweep.load(tmp_path).frame.equals(swept.frame)
    swept.save(tmp_path)
    assert list(data_set(tmp_path)) == ["00000.parquet"]


def test_a_sweep_of_which_every_run_fails_can_be_saved(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "simulate", lambda *_: Outcome(error="out of luck"))
    swept = aqmlab.sweep(tiny, vary=VARY, seeds=2, out=tmp_path)
    assert (swept.done, len(swept.failures), len(swept.means())) == (0, 6, 0)
    loaded = Sweep.load(tmp_path)
    assert (loaded.done, loaded.failures, repr(loaded)) == (0, swept.failures, "Small (none of 6 runs finished)")


def test_a_sweep_of_which_anything_is_damaged_is_refused_by_name(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, vary=VARY, seeds=2, out=tmp_path)
    for name in ("results/00000.parquet", "sweep.json", "scenario.toml"):
        file = tmp_path / name
        sound = file.read_bytes()
        for data in damaged(sound):
            file.write_bytes(data)
            with pytest.raises(ValueError, match=rf"{name}: .* to recreate it: repeat the sweep that wrote it"):
                Sweep.load(tmp_path)
        file.unlink()
        with pytest.raises((ValueError, FileNotFoundError), match=name):
            Sweep.load(tmp_path)
        file.write_bytes(sound)
    assert Sweep.load(tmp_path).done == 6


def test_files_of_a_sweep_that_are_exchanged_or_of_another_are_refused(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aqmlab.runs.table.SLICE", 2)
    aqmlab.sweep(tiny, vary=VARY, out=tmp_path / "one")
    aqmlab.sweep(tiny, vary={"aqm.q0": "11,21..31"}, out=tmp_path / "two")
    first, second = (tmp_path / "one/results" / name for name in ("00000.parquet", "00001.parquet"))
    first.rename(tmp_path / "aside")
    second.rename(first)
    (tmp_path / "aside").rename(second)
    with pytest.raises(ValueError, match=r"00000\.parquet: not the file that was saved"):
        Sweep.load(tmp_path / "one")
    (tmp_path / "two/sweep.json").replace(tmp_path / "one/sweep.json")
    with pytest.raises(ValueError, match="not the file that was saved"):
        Sweep.load(tmp_path / "one")


def test_a_sweep_of_another_version_is_refused(tiny: Scenario, tmp_path: Path) -> None:
    aqmlab.sweep(tiny, vary=VARY, out=tmp_path)
    (tmp_path / "sweep.json").write_bytes(sealed({"schema": 1, "wanted": 3, "files": {}}))
    with pytest.raises(ValueError, match=r"sweep\.json: from another version of aqmlab \(no scenario\.toml"):
        Sweep.load(tmp_path)


def test_a_grid_is_an_array_of_xarray(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": [10, 20], "dumbbell.delay": "3,5 ms"}, aqms=["lred", "pi"], seeds=2)
    found = swept.to_xarray()
    assert dict(found.sizes) == {"aqm": 2, "aqm.q0": 2, "dumbbell.delay": 2, "seed": 2}
    chosen = {"aqm": "lred", "aqm.q0": 20, "dumbbell.delay": 0.005, "seed": 8}
    (row,) = swept.frame.filter(*(polars.col(name) == value for name, value in chosen.items()))["queue_mean"]
    assert float(found["queue_mean"].sel(chosen)) == row
    assert (found["goodput"].attrs["units"], found["dumbbell.delay"].attrs["units"]) == ("bit/s", "s")
    drawn = aqmlab.sweep(tiny, vary={"aqm.q0": "uniform(10, 40)"}, method="latin", samples=2)
    with pytest.raises(ValueError, match="to_xarray needs a grid, and the points of this sweep are latin"):
        drawn.to_xarray()


def test_a_summary_has_the_statistics_of_every_metric(tiny: Scenario) -> None:
    swept = aqmlab.sweep(tiny, vary={"aqm.q0": [10, 20]}, aqms=["lred", "pi"], seeds=3)
    means = swept.means()
    for scope, column in (("all", "goodput"), ("classes", "classes.long.goodput")):
        rows = swept.summary.filter(metric="goodput", scope=scope)
        assert rows["mean"].to_list() == means[column].to_list()
        assert rows["ci95"].to_list() == means[f"{column}_ci95"].to_list()
        assert rows["n"].to_list() == means["runs"].to_list()
    assert swept.summary.columns == [
        "aqm",
        "engine",
        *swept.parameters,
        *["scope", "name", "metric", "mean", "std", "ci95", "n"],
    ]
    everything = swept.differences(to="lred")
    one = swept.differences("goodput", "lred")
    assert everything.filter(metric="goodput").equals(one)
    assert everything["metric"].n_unique() == sum("." not in name for name in swept.metrics)
