"""The command ``aqmlab export``: the same numbers in every format, with units where the format has a place for them."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from conftest import TINY, Cli
from scipy.io import netcdf_file

import aqmlab
from aqmlab import METRICS, Comparison, Result, Sweep
from aqmlab.cli.export import Name
from aqmlab.exchange.export import WRITERS
from aqmlab.exchange.table import TABLES
from aqmlab.results import columns
from aqmlab.results.columns import described

FILES = Path(__file__).parent / "files/1"
RUN, COMPARE, SWEEP = FILES / "run", FILES / "compare", FILES / "sweep"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "out.nc"


def variables(file: Path) -> tuple[dict[str, Any], dict[str, dict[str, bytes]], dict[str, Any]]:
    """Read NetCDF: the values of each variable, its attributes, and those of the file."""
    with netcdf_file(file, mmap=False) as found:
        values = {name: one[:].copy() for name, one in found.variables.items()}
        return values, {name: one._attributes for name, one in found.variables.items()}, found._attributes


def frames() -> dict[Path, polars.DataFrame]:
    return {
        RUN: Result.load(RUN).frame,
        COMPARE: Comparison.load(COMPARE).frame,
        SWEEP: Sweep.load(SWEEP).frame,
    }


def test_a_file_of_the_result_is_not_replaced(quick_cli: Cli) -> None:
    before = (RUN / "series-7.parquet").read_bytes()
    done = quick_cli("export", RUN, "-o", RUN / "series-7.parquet")
    assert (done.returncode, done.stdout) == (2, "")
    assert "series-7.parquet: the results have Parquet files of their own there; choose another folder" in done.stderr
    assert (RUN / "series-7.parquet").read_bytes() == before


@pytest.mark.parametrize("folder", [RUN, COMPARE, SWEEP])
def test_csv_json_lines_and_parquet_have_the_runs(folder: Path, tmp_path: Path, quick_cli: Cli) -> None:
    expected = frames()[folder]
    for ending in ("csv", "jsonl", "parquet"):
        done = quick_cli("export", folder, "-o", f"deep/runs.{ending}")
        assert (done.returncode, done.stdout) == (0, f"written to deep/runs.{ending}: 2 rows of runs\n"), done.stderr
    csv = polars.read_csv(tmp_path / "deep/runs.csv", schema_overrides=expected.schema)
    assert csv.equals(expected)
    assert polars.read_parquet(tmp_path / "deep/runs.parquet").equals(expected)
    lines = (tmp_path / "deep/runs.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == expected.to_dicts()
    assert sorted(file.name for file in (tmp_path / "deep").iterdir()) == ["runs.csv", "runs.jsonl", "runs.parquet"]


@pytest.mark.parametrize("folder", [RUN, COMPARE, SWEEP])
def test_netcdf_has_the_runs_with_units_and_meanings(folder: Path, file: Path) -> None:
    expected = frames()[folder]
    assert aqmlab.export(folder, file) == 2
    values, attributes, about = variables(file)
    assert set(values) == set(expected.columns)
    for column in expected.iter_columns():
        if column.dtype == polars.String:
            assert [row.tobytes().decode().rstrip("\0") for row in values[column.name]] == column.to_list()
            assert "units" not in attributes[column.name]
        else:
            assert np.array_equal(values[column.name], column.cast(polars.Float64).to_numpy(), equal_nan=True)
    assert expected["queue_delay_mean"].null_count() == 0
    assert attributes["queue_delay_mean"]["units"] == b"s"
    assert attributes["classes.long.goodput"]["units"] == b"bit/s"
    assert attributes["jain"]["units"] == b"1"
    assert attributes["goodput"]["long_name"].decode() == METRICS["goodput"].definition
    assert attributes["engine.events"]["long_name"] == b"Events of the engine."
    assert about["source"].decode() == f"aqmlab {aqmlab.__version__}"
    assert about["title"] == b"Small"
    assert (about["made_by"].startswith(b"aqmlab 0.1.0"), about["table"], int(about["schema"])) == (True, b"runs", 1)


def test_every_column_of_every_table_has_a_meaning(file: Path) -> None:
    exported = [(RUN, table) for table in TABLES] + [(COMPARE, "runs"), (SWEEP, "runs")]
    for folder, table in exported:
        aqmlab.export(folder, file, table)
        for name, attributes in variables(file)[1].items():
            assert attributes["long_name"].decode() != name, (folder, table)


def test_the_parameters_of_a_sweep_have_their_units(file: Path) -> None:
    aqmlab.export(SWEEP, file)
    assert variables(file)[1]["aqm.q0"]["units"] == b"packets"


def test_series_of_all_seeds_are_one_table(tmp_path: Path) -> None:
    result = Result.load(RUN)
    assert aqmlab.export(result, tmp_path / "series.parquet", "series") == 2 * 4
    found = polars.read_parquet(tmp_path / "series.parquet")
    assert found["seed"].to_list() == [7] * 4 + [8] * 4
    for seed in result.seeds:
        assert found.filter(polars.col("seed") == seed).drop("seed").equals(result.series_of(seed))
    aqmlab.export(result, tmp_path / "cwnd.parquet", "cwnd")
    assert polars.read_parquet(tmp_path / "cwnd.parquet").columns == ["seed", "t", "flow", "class", "cwnd", "ssthresh"]
    aqmlab.export(result, tmp_path / "flows.parquet", "flows")
    assert polars.read_parquet(tmp_path / "flows.parquet").drop("seed").equals(result.flows.drop("seed"))


def test_signals_have_the_unit_and_the_text_of_their_discipline(tmp_path: Path) -> None:
    scenario = aqmlab.Scenario.parse(TINY)
    results = aqmlab.compare(scenario, aqms=["red", "dualpi2"])
    aqmlab.export(results, tmp_path / "series.nc", "series")
    values, attributes, _ = variables(tmp_path / "series.nc")
    assert attributes["bottleneck.avg.mean"]["units"] == b"packets"
    assert attributes["bottleneck.avg.mean"]["long_name"].endswith(b"Average queue at the last arrival.")
    assert attributes["bottleneck.delay_l.mean"]["units"] == b"s"
    assert attributes["bottleneck.lane.l4s.throughput"]["units"] == b"bit/s"
    labels = [row.tobytes().decode().rstrip("\0") for row in values["label"]]
    assert np.isnan(values["bottleneck.avg.mean"]).tolist() == [label == "dualpi2" for label in labels]


def test_counts_that_netcdf_has_no_room_for_are_doubles(tmp_path: Path) -> None:
    aqmlab.export(RUN, tmp_path / "flows.nc", "flows")
    values = variables(tmp_path / "flows.nc")[0]
    assert values["losses"].dtype == ">i4"
    seeds = aqmlab.run(aqmlab.Scenario.parse(TINY), seeds=[2**31])
    aqmlab.export(seeds, tmp_path / "seeds.nc")
    assert variables(tmp_path / "seeds.nc")[0]["seed"].tolist() == [2.0**31]


def test_names_outside_ascii_are_utf_8(tmp_path: Path) -> None:
    scenario = aqmlab.Scenario.parse(TINY.replace('"long"', '"téléchargement"'))
    aqmlab.export(aqmlab.run(scenario), tmp_path / "runs.nc")
    assert "classes.téléchargement.goodput".encode() in (tmp_path / "runs.nc").read_bytes()


def test_hdf5_has_the_runs_with_units_and_meanings(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    aqmlab.export(SWEEP, tmp_path / "runs.h5")
    expected = Sweep.load(SWEEP).frame
    with h5py.File(tmp_path / "runs.h5") as found:
        assert set(found) == set(expected.columns)
        assert [text.decode() for text in found["aqm"]] == expected["aqm"].to_list()
        assert found["goodput"][:].tolist() == expected["goodput"].to_list()
        assert found["goodput"].attrs["units"] == "bit/s"
        assert found["goodput"].attrs["long_name"] == METRICS["goodput"].definition
        assert found.attrs["source"] == f"aqmlab {aqmlab.__version__}"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([RUN, "-o", "runs.xls"], "runs.xls: must end in .csv, .jsonl, .nc, .h5 or .parquet, which is the format\n"),
        ([RUN, "-o", "folder.csv"], "folder.csv: not a file; choose another name, or move it\n"),
        ([RUN, "-o", "pipe.csv"], "pipe.csv: not a file; choose another name, or move it\n"),
        (["folder.csv", "-o", "a.csv"], "folder.csv: has none of result.json, comparison.json, sweep.json; "),
        (["nowhere", "-o", "a.csv"], "Invalid value for FOLDER: 'nowhere': there is no such folder\n"),
        ([RUN / "scenario.toml", "-o", "a.csv"], "scenario.toml: must be a folder that --out of run, compare or sweep"),
        (
            [COMPARE, "-o", "a.csv", "--table", "series"],
            "compare: --table series: this run recorded no series: set record.series = true\n",
        ),
        (
            [SWEEP, "-o", "a.csv", "--table", "flows"],
            "sweep: --table flows: a sweep keeps no flows: repeat a point with aqmlab run, with --set of its values\n",
        ),
    ],
)
def test_what_cannot_be_exported_is_refused(
    quick_cli: Cli, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    done = quick_cli("export", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.csv", "pipe.csv"]


def test_a_file_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "runs.csv"
    file.write_text("earlier")

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space left") as failed:
            aqmlab.export(RUN, file)
    assert failed.value.filename == str(file)
    assert (file.read_text(), len(list(tmp_path.iterdir()))) == ("earlier", 1)
    aqmlab.export(RUN, file)
    assert file.read_text().startswith("seed,")


def test_the_command_has_every_table_and_format() -> None:
    assert [one.value for one in Name] == list(TABLES)
    assert list(WRITERS) == [".csv", ".jsonl", ".nc", ".h5", ".parquet"]
    with pytest.raises(ValueError, match=r"table = 'links': must be one of runs, series, cwnd, flows"):
        aqmlab.export(RUN, "a.csv", "links")


def test_a_queue_of_a_discipline_is_no_traffic_entry() -> None:
    lane = described("bottleneck.lane.l4s.delay", columns.SERIES)
    entry = described("bottleneck.long.delay", columns.SERIES)
    assert lane is not None
    assert entry is not None
    assert (lane.name, "queue" in lane.meaning, "traffic entry" in entry.meaning) == (
        "bottleneck.lane.l4s.delay",
        True,
        True,
    )
    assert described("no such thing", columns.SERIES) is None
