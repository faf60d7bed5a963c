"""Tables of runs, as frames and as CSV, and series averaged over the seeds."""

from pathlib import Path

import numpy as np
import polars
import pytest
from conftest import Cli

import aqmlab
from aqmlab import Scenario
from aqmlab.results.series import averaged
from aqmlab.results.student import quantile

SHORT = ("--set", "duration=2 s", "--set", "warmup=0.5 s")


def test_a_comparison_has_a_column_for_each_variable(tiny: Scenario) -> None:
    frame = aqmlab.compare(tiny, aqms=["lred", "pi"], seeds=2, engines=["packet", "fluid"]).frame
    assert frame.columns[:4] == ["label", "aqm", "engine", "seed"]
    assert frame.rows()[0][:4] == ("lred, packet", "lred", "packet", 7)
    assert frame["engine"].to_list() == ["packet", "packet", "fluid"] * 2
    assert frame["response_time"].is_null().all()


def test_csv_has_a_row_for_each_run_and_nothing_where_a_value_is_unknown(
    quick_cli: Cli, small_file: Path, tmp_path: Path
) -> None:
    done = quick_cli("run", small_file, *SHORT, "--seeds", "2", "--csv", "deep/run.csv", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("written to deep/run.csv: the metrics of every run\n")
    result = aqmlab.Result.load(tmp_path / "out")
    read = polars.read_csv(tmp_path / "deep/run.csv")
    assert read["goodput"].to_list() == [run.metrics["goodput"] for run in result.runs], "all digits"
    assert read["classes.long.goodput"].to_list() == [run.classes["long"]["goodput"] for run in result.runs]
    header, first, *_ = (tmp_path / "deep/run.csv").read_text(encoding="utf-8").splitlines()
    assert first.split(",")[header.split(",").index("response_time")] == ""
    done = quick_cli("compare", small_file, *SHORT, "--aqm", "lred", "--aqm", "pi", "--json", "--csv", "two.csv")
    assert done.stderr == "written to two.csv: the metrics of every run\n"
    assert polars.read_csv(tmp_path / "two.csv")["aqm"].to_list() == ["lred", "pi"]
    quick_cli("sweep", small_file, *SHORT, "--vary", "aqm.q0=10,20", "--out", "swept", "--csv", "swept.csv")
    swept = polars.read_csv(tmp_path / "swept.csv")
    assert swept.columns == aqmlab.Sweep.load(tmp_path / "swept").frame.columns
    assert swept["aqm.q0"].to_list() == [10, 20]


def test_a_file_that_cannot_be_written_is_refused_before_any_run(
    quick_cli: Cli, small_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for arguments in (("run",), ("sweep", "--vary", "aqm.q0=10,20")):
        done = quick_cli(arguments[0], small_file, *arguments[1:], "--csv", "file/run.csv")
        assert done.returncode == 2
        assert "--csv" in done.stderr
        assert not done.stdout


def test_series_are_averaged_bin_by_bin(tiny: Scenario) -> None:
    result = aqmlab.run(tiny, seeds=3)
    frame = result.mean_series
    column = "bottleneck.queue.mean"
    runs = np.array([result.series_of(seed)[column].to_numpy() for seed in result.seeds])
    assert frame["t"].equals(result.series["t"])
    assert frame[column].to_numpy() == pytest.approx(runs.mean(axis=0))
    assert frame[f"{column}.least"].to_numpy() == pytest.approx(runs.min(axis=0))
    assert frame[f"{column}.greatest"].to_numpy() == pytest.approx(runs.max(axis=0))
    half = quantile(0.95, 2) * runs.std(axis=0, ddof=1) / np.sqrt(3)
    assert frame[f"{column}.ci95"].to_numpy() == pytest.approx(half)
    assert len(frame.columns) == 1 + 4 * (len(result.series.columns) - 1)


def test_a_run_without_a_value_does_not_count() -> None:
    first = polars.DataFrame({"t": [0.0, 1.0, 2.0], "delay": [1.0, None, None]})
    second = first.with_columns(delay=polars.Series([3.0, 5.0, None]))
    frame = averaged([first, second])
    assert frame["delay"].to_list() == [2.0, 5.0, None]
    assert frame["delay.least"].to_list() == [1.0, 5.0, None]
    assert frame["delay.greatest"].to_list() == [3.0, 5.0, None]
    assert frame["delay.ci95"].to_list() == [pytest.approx(quantile(0.95, 1)), None, None]


def test_one_run_has_its_series_and_no_interval(tiny: Scenario) -> None:
    result = aqmlab.run(tiny)
    frame = result.mean_series
    assert frame["bottleneck.queue.max"].equals(result.series["bottleneck.queue.max"])
    assert frame["bottleneck.queue.max.ci95"].is_null().all()
    with pytest.raises(ValueError, match="different bins"):
        averaged([result.series, result.series.head(5)])
