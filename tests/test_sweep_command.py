"""The command `aqmlab sweep`."""

import json
from pathlib import Path

import polars
import pytest
from conftest import Cli

import aqmlab
from aqmlab import Scenario, Sweep
from aqmlab.cli import sweep
from aqmlab.cli.delivery import deliver


def test_the_command_prints_and_writes(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    options = ["--vary", "aqm.q0=10,20", "--aqm", "lred", "--aqm", "pi", "--seeds", "2", "--out", "deep/out"]
    done = quick_cli("sweep", small_file, *options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Differences from lred" in done.stdout
    assert "8 runs simulated now" in done.stdout
    names = {file.name for file in (tmp_path / "deep/out").iterdir()}
    assert names == {"figure.png", "figure.svg", "report.html", "results", "scenario.toml", "store", "sweep.json"}
    drawn = (tmp_path / "deep/out/figure.png").stat()
    again = quick_cli("sweep", small_file, *options)
    assert "nothing to do" in again.stdout
    assert (tmp_path / "deep/out/figure.png").stat() == drawn, "nothing is drawn again"
    (tmp_path / "deep/out/figure.svg").unlink()
    assert "figure.svg" in quick_cli("sweep", small_file, *options).stdout
    assert (tmp_path / "deep/out/figure.svg").is_file(), "what is said to be written is there"


def test_results_are_written_though_nobody_reads_the_table(
    tiny: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    swept = aqmlab.sweep(tiny, seeds=2)
    monkeypatch.setattr("typer.echo", closed)
    with pytest.raises(BrokenPipeError):
        deliver(swept, False, tmp_path, lambda folder: sweep._save(swept, folder))
    assert (tmp_path / "report.html").is_file()
    assert Sweep.load(tmp_path).done == 2


def test_the_command_without_out_writes_into_out_and_the_name(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = quick_cli("sweep", small_file, "--vary", "aqm.q0=10,20", "--json")
    assert (done.returncode, done.stderr[:21]) == (0, "written to out/small:")
    assert json.loads(done.stdout)["done"] == 2
    assert len(polars.read_parquet(tmp_path / "out/small/results/*.parquet")) == 2


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--vary", "aqm.q0"], "PATH=VALUES"),
        (["--vary", "aqm.q0=1", "--vary", "aqm.q0=2"], "given twice"),
        (["--vary", "aqm.q0=1..9"], "no step"),
        (["--vary", "aqm.q0=1,2..1e300"], "1,2..1e300: more than 1000000 values"),
        (["--vary", "aqm.q0=1e-30,2e-30..5"], "more than 1000000 values"),
        (["--vary", "aqm.q0=-5"], "--vary aqm.q0=-5: aqm.q0 = -5: must be"),
        (["--vary", "aqm.q00=1,9"], 'did you mean "q0"'),
        (["--vary", "dumbbell.rat=1,9"], 'did you mean "rate"'),
        (["--vary", "traffic.lng.count=1,9"], 'did you mean "long"'),
        (["--vary", "aqm=lred,pi"], "with --aqm or"),
        (["--method", "halton"], "halton"),
        (["--aqm", "lrd"], "lred"),
        (["--aqm", "lred", "--set", "aqm.q0=9"], "--vary aqm.q0=9"),
        (["--seeds", "0"], "--seeds"),
        (["--store", "small.toml"], "small.toml: not a folder"),
        (["--method", "grid", "--samples", "9"], "the method is grid"),
    ],
)
def test_bad_usage_exits_2_and_writes_nothing(
    quick_cli: Cli, small_file: Path, tmp_path: Path, options: list[str], complaint: str
) -> None:
    done = quick_cli("sweep", small_file, *options)
    assert done.returncode == 2, done.stderr
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out/small/results").exists()


@pytest.mark.parametrize(
    ("first", "then", "has"),
    [
        (["run"], ["sweep", "--vary", "aqm.q0=10"], "result.json"),
        (["sweep", "--vary", "aqm.q0=10"], ["compare", "--aqm", "lred", "--aqm", "pi"], "sweep.json"),
        (["compare", "--aqm", "lred", "--aqm", "pi"], ["run"], "comparison.json"),
    ],
)
def test_the_results_of_another_command_are_not_replaced(
    quick_cli: Cli, small_file: Path, tmp_path: Path, first: list[str], then: list[str], has: str
) -> None:
    done = quick_cli(first[0], small_file, *first[1:], "--out", "out")
    assert done.returncode == 0, done.stderr
    before = {file: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    done = quick_cli(then[0], small_file, *then[1:], "--out", "out")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"out: has {has}, the results of another command; choose another folder, or remove it" in done.stderr
    assert before == {file: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()}


def test_a_failure_exits_1_and_is_listed_at_the_end(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    done = quick_cli("sweep", small_file, "--vary", "aqm.q0=10,-10")
    assert done.returncode == 1
    assert done.stderr.startswith("1 failed:\n  lred, aqm.q0 = -10: ")
    assert len(polars.read_parquet(tmp_path / "out/small/results/*.parquet")) == 1
