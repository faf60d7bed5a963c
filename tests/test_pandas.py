"""Frames of pandas: where pandas is installed, and where it is not."""

import sys

import pandas
import polars
import pytest

import aqmlab
from aqmlab import Result, Scenario, Sweep
from aqmlab.results import frames


@pytest.fixture
def result(tiny: Scenario) -> Result:
    return aqmlab.run(tiny, seeds=2)


@pytest.fixture
def swept(tiny: Scenario) -> Sweep:
    return aqmlab.sweep(tiny, vary={"aqm.q0": "10,20"}, aqms=["lred", "pi"])


def test_a_result_has_a_row_for_each_run(result: Result) -> None:
    frame = result.to_pandas()
    assert frame["seed"].tolist() == [7, 8]
    assert frame["goodput"].tolist() == [run.metrics["goodput"] for run in result.runs]
    assert frame["classes.long.goodput"].tolist() == [run.classes["long"]["goodput"] for run in result.runs]
    assert frame["loss_ratio"].dtype == float
    assert frame["response_time"].isna().all()  # None in the result


def test_a_comparison_has_the_rows_of_its_results(tiny: Scenario) -> None:
    compared = aqmlab.compare(tiny, aqms=["lred", "pi"], seeds=2)
    frame = compared.to_pandas()
    assert frame[["label", "seed"]].values.tolist() == [["lred", 7], ["lred", 8], ["pi", 7], ["pi", 8]]
    assert frame["queue_mean"].tolist()[2:] == compared["pi"].to_pandas()["queue_mean"].tolist()


def test_an_empty_comparison_has_no_row() -> None:
    assert aqmlab.Comparison({}).to_pandas().columns.tolist() == ["label", "aqm", "engine", "seed"]


def test_a_missing_number_is_nan_and_a_missing_text_none() -> None:
    frame = frames.to_pandas(polars.DataFrame({"n": [1, None], "text": ["a", None], "flag": [True, False]}))
    assert frame["n"].isna().tolist() == frame["text"].isna().tolist() == [False, True]
    assert (frame["n"].dtype, frame["flag"].dtype) == (float, bool)
    assert isinstance(frame, pandas.DataFrame)


def test_any_frame_of_a_sweep_becomes_one_of_pandas_without_pyarrow(
    swept: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for frame in (swept.means(), swept.differences("queue_mean"), swept.best("goodput", by="aqm")):
        converted = swept.to_pandas(frame)
        assert list(converted.columns) == frame.columns
        assert converted["aqm"].tolist() == frame["aqm"].to_list()
    assert swept.to_pandas(swept.means())["queue_mean"].tolist() == swept.means()["queue_mean"].to_list()
