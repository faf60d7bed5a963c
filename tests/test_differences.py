"""Differences between queue disciplines, in a comparison: paired by seed, on the same engine, from a baseline."""

import json
from pathlib import Path

import numpy as np
import polars
import pytest
from conftest import Cli

import aqmlab
from aqmlab import Comparison, Scenario
from aqmlab.execute.task import Task
from aqmlab.reports import html
from aqmlab.reports.text import EACH_FOR_ITSELF
from aqmlab.results.student import quantile


@pytest.fixture
def found(tiny: Scenario) -> Comparison:
    return aqmlab.compare(tiny, aqms=["lred", "pi:q_ref=9", "droptail"], seeds=[7, 9, 14])


def rows(found: Comparison, metric: str) -> list[dict[str, object]]:
    return found.differences().filter(polars.col("metric") == metric).to_dicts()


def test_disciplines_are_compared_with_the_first_seed_by_seed(found: Comparison) -> None:
    first, second = rows(found, "queue_mean")
    pairs = zip(found["pi:q_ref=9"].runs, found["lred"].runs, strict=True)
    values = np.array([own.metrics["queue_mean"] - other.metrics["queue_mean"] for own, other in pairs])  # type: ignore[operator]
    assert (first["label"], first["to"], second["label"], second["to"]) == ("pi:q_ref=9", "lred", "droptail", "lred")
    assert first["runs"] == 3
    assert first["difference"] == pytest.approx(values.mean())
    assert first["ci95"] == pytest.approx(quantile(0.95, 2) * values.std(ddof=1) / np.sqrt(3))


def test_another_baseline_turns_the_signs(found: Comparison) -> None:
    other = found.against("droptail")
    (forth,) = [row for row in rows(found, "queue_mean") if row["label"] == "droptail"]
    (back,) = [row for row in rows(other, "queue_mean") if row["label"] == "lred"]
    assert back["to"] == "droptail"
    assert back["difference"] == -forth["difference"]  # type: ignore[operator]
    assert back["ci95"] == forth["ci95"]
    assert (found.baseline, other.baseline) == ("lred", "droptail")
    assert "Differences from droptail, seed by seed:" in repr(other)
    with pytest.raises(LookupError, match="baseline = 'pie': must be one of lred, pi:q_ref=9, droptail"):
        found.against("pie")


def test_table_document_and_report_have_the_differences(found: Comparison, tmp_path: Path) -> None:
    table = repr(found).partition("Differences from lred, seed by seed:\n")[2]
    assert [line.split()[0] for line in table.splitlines()[3:5]] == ["pi:q_ref=9", "droptail"]
    assert EACH_FOR_ITSELF in " ".join(table.split())
    document = found.document()
    assert document["baseline"] == "lred"
    assert list(document["differences"]) == ["pi:q_ref=9", "droptail"]
    expected = rows(found, "goodput")[1]
    assert document["differences"]["droptail"]["lred"]["goodput"]["mean"] == expected["difference"]
    assert document["differences"]["droptail"]["lred"]["goodput"]["ci95"] == expected["ci95"]
    html.save(found, tmp_path / "report.html", "aqmlab compare", "droptail")
    report = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<h2>Differences from droptail, seed by seed</h2>" in report
    assert EACH_FOR_ITSELF in report


def test_a_star_marks_an_interval_that_excludes_0(tiny: Scenario) -> None:
    fast, slow = aqmlab.run(tiny, seeds=8), aqmlab.run(tiny.with_({"dumbbell.rate": "1 Mbit/s"}), seeds=8)
    found = Comparison({"fast": fast, "same": fast, "slow": slow})
    table = repr(found).partition("Differences from")[2].splitlines()
    same, slower = (next(line for line in table if line.startswith(label)) for label in ("same", "slow"))
    row = rows(found, "goodput")[1]
    assert abs(row["difference"]) > row["ci95"], "the premise"  # type: ignore[arg-type,operator]
    assert f"{row['difference'] / 1e6:+.3f} ± {row['ci95'] / 1e6:.3f} *" in slower  # type: ignore[operator]
    assert "*" not in same, "equal runs differ by 0"


def test_one_seed_has_differences_without_interval(tiny: Scenario) -> None:
    found = aqmlab.compare(tiny, aqms=["lred", "pi"])
    table = repr(found).partition("Differences from lred:\n")[2]
    assert table.splitlines()[-1].startswith("pi")
    assert "±" not in table
    assert {row["ci95"] for row in rows(found, "queue_mean")} == {None}


def test_several_engines_have_both_tables(tiny: Scenario, fake: list[Task], tmp_path: Path) -> None:
    found = aqmlab.compare(tiny, aqms=["lred", "pi"], seeds=2, engines=["packet", "linux"]).against("pi")
    assert {(row["label"], row["to"]) for row in found.differences().to_dicts()} == {
        ("lred, linux", "lred, packet"),
        ("pi, linux", "pi, packet"),
        ("lred, packet", "pi, packet"),
        ("lred, linux", "pi, linux"),
    }
    assert "Differences from packet, seed by seed:" in repr(found)
    assert "Differences from pi on the same engine, seed by seed:" in repr(found)
    assert "Differences from pi on the same engine, seed by seed" in str(found._repr_html_())
    found.save(tmp_path)
    loaded = Comparison.load(tmp_path)
    assert loaded.baseline == "pi"
    assert loaded.differences().equals(found.differences())


def test_the_command_takes_a_baseline(quick_cli: Cli, small_file: Path, tmp_path: Path) -> None:
    short = ("--set", "duration=2 s", "--set", "warmup=0.5 s")
    options = ("--aqm", "lred", "--aqm", "pi:q_ref=9", "--seeds", "2", "--baseline", "pi")
    done = quick_cli("compare", small_file, *short, *options, "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "Differences from pi:q_ref=9, seed by seed:" in done.stdout
    assert "Differences from pi:q_ref=9, seed by seed" in (tmp_path / "out/report.html").read_text(encoding="utf-8")
    assert Comparison.load(tmp_path / "out").baseline == "pi:q_ref=9"
    document = json.loads(quick_cli("compare", small_file, *short, *options, "--json").stdout)
    assert list(document["differences"]) == ["lred"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--aqm", "lred", "--aqm", "pi", "--baseline", "pie"], "pie: must be one of lred, pi"),
        (["--aqm", "pi:q_ref=9", "--aqm", "pi:q_ref=8", "--baseline", "pi"], "must be one of pi:q_ref=9, pi:q_ref=8"),
        (["--aqm", "pi", "--baseline", "pi"], "there is one discipline"),
    ],
)
def test_a_baseline_that_is_not_there_is_refused(
    quick_cli: Cli, small_file: Path, options: list[str], message: str
) -> None:
    done = quick_cli("compare", small_file, *options)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
