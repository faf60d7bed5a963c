"""Files of the user's own stay: those that a command reads, and those that it never wrote."""

import sys
from pathlib import Path

import pytest
from conftest import ROOT
from typer.testing import CliRunner

import aqmlab
from aqmlab.cli.app import app
from aqmlab.cli.delivery import require_writable_folder
from aqmlab.files import REPORT, remaking
from aqmlab.kinds import FINDINGS

TEXT = 'extends = "parent.toml"\nduration = "0.4 s"\nwarmup = "0.1 s"\n'


@pytest.mark.parametrize(
    "output", [("--out", "."), ("--csv", "scenario.toml"), ("--csv", "parent.toml"), ("--csv", "mine.py")]
)
def test_a_command_does_not_write_over_what_it_reads(
    output: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "scenario.toml": TEXT,
        "parent.toml": 'extends = "quickstart"\n',
        "mine.py": (ROOT / "examples/mine.py").read_text(),
    }
    for name, text in files.items():
        Path(name).write_text(text)
    found = CliRunner().invoke(app, ["run", "scenario.toml", "--aqm", "./mine.py:Mine", *output])
    assert (found.exit_code, "this command reads it" in found.stderr) == (2, True)
    assert {name: Path(name).read_text() for name in files} == files


def test_files_of_a_folder_that_no_command_wrote_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["run", "quickstart", "--set", "duration=0.4s", "--set", "warmup=0.1s"]
    for name in ("scenario.toml", "figure.png", "report.html"):
        Path(name).write_text("mine")
        found = CliRunner().invoke(app, [*run, "--out", "."])
        assert (found.exit_code, "no result of aqmlab" in found.stderr) == (2, True), found.output
        assert Path(name).read_text() == "mine"
        Path(name).unlink()
    Path("tradeoff.pdf").write_text("mine")
    assert CliRunner().invoke(app, [*run, "--out", "."]).exit_code == 0
    assert Path("tradeoff.pdf").read_text() == "mine"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("advise --down 20mbit --up 5mbit --rtt 20ms", "router.sh"),
        ("tune lred/exp1 --over beta --for goodput", "tuned.toml"),
        ("analyse lred/exp1", "figure.svg"),
        ("evaluate --aqm codel", "scorecard.csv"),
        ("reproduce lred", "report.html"),
        ("reproduce all", "index.html"),
    ],
)
def test_every_command_leaves_files_that_it_never_wrote(command: str, name: str, tmp_path: Path) -> None:
    mine = tmp_path / name
    mine.write_text("mine")
    found = CliRunner().invoke(app, [*command.split(), "--out", str(tmp_path)])
    assert (found.exit_code, "no result of aqmlab" in found.stderr) == (2, True), found.output
    assert mine.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_a_figure_in_a_format_that_the_report_has_not_is_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = ["run", "quickstart", "--set", "duration=0.4s", "--set", "warmup=0.1s", "--out", "."]

    def done(*more: str) -> int:
        monkeypatch.setattr(sys, "argv", ["aqmlab", *run, *more])
        return CliRunner().invoke(app, [*run, *more]).exit_code

    assert done("--figure-format=svg") == 0
    for name in ("figure.pdf", "figure.png"):
        Path(name).write_text("mine")
    assert done("--figure-format", "pdf") == 2
    assert done("--figure-format", "svg") == 0
    assert (Path("figure.pdf").read_text(), Path("figure.png").read_text()) == ("mine", "mine")
    Path("figure.pdf").unlink()
    assert done("--figure-format", "pdf") == 0
    assert not Path("figure.svg").exists(), "it is of the earlier run"
    assert Path("figure.png").read_text() == "mine"


def test_files_whose_making_was_interrupted_are_made_again(tmp_path: Path) -> None:
    head = tmp_path / FINDINGS.head

    def interrupted() -> None:
        with remaking(head):
            (tmp_path / REPORT).write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    require_writable_folder(tmp_path, [REPORT, head.name])
    with remaking(head):
        head.write_text("{}")
    require_writable_folder(tmp_path, [REPORT, head.name])
    assert {file.name for file in tmp_path.iterdir()} == {REPORT, head.name}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("run quickstart --csv same --tc ./same", "--csv"),
        ("run quickstart --csv same --pcapng ./same", "--csv"),
        ("run quickstart --out . --pcapng result.json", "--out"),
        ("run quickstart --out out --csv out/scenario.toml", "--out"),
        ("sweep quickstart --out out --csv out/sweep.json", "--out"),
        ("advise --down 20mbit --up 5mbit --rtt 20ms --out out --csv out/advice.json", "--out"),
    ],
)
def test_two_outputs_are_two_files(command: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(app, command.split())
    assert (found.exit_code, f"{option} writes it as well" in found.stderr) == (2, True), found.output
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_sweep_keeps_files_that_it_never_wrote(tmp_path: Path) -> None:
    scenario = aqmlab.Scenario.load("quickstart").with_(duration="0.4 s", warmup="0.1 s")
    mine = [
        tmp_path / "variants" / "mine.toml",
        tmp_path / "variants" / "mine.py",
        tmp_path / "results" / "20240101.parquet",
    ]
    for file in mine:
        file.parent.mkdir(exist_ok=True)
        file.write_text("mine")
    for seeds in (1, 2):
        aqmlab.sweep(scenario, vary=None, aqms=["pie"], seeds=seeds, out=tmp_path, jobs=1)
    assert all(file.read_text() == "mine" for file in mine)


@pytest.mark.skipif(sys.platform != "linux", reason="the linux engine runs on Linux")
def test_the_linux_engine_removes_only_folders_that_it_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aqmlab.execute import linux

    monkeypatch.setattr(linux, "gettempdir", lambda: str(tmp_path))
    mine, left = tmp_path / "aqmlab-run-mine", tmp_path / "aqmlab-run-left"
    for folder in (mine, left):
        folder.mkdir()
    with linux.run_folder() as folder:
        marks = [path.name for path in folder.iterdir()]
    assert marks
    for name in marks:
        (left / name).touch()
    with linux.run_folder():
        assert (mine.exists(), left.exists()) == (True, False)
