"""Archives of everything that can be sealed, also with files of the user's own."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import saved
from archives import SHORT, called, changed_document, read, refused, resealed, with_head, write
from conftest import ROOT

import aqmlab
from aqmlab.archive.container import ArchiveError
from aqmlab.archive.layout import OWN, PAPER
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import verify
from aqmlab.execute.engine import Engine

pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")

SET = [text for name, value in SHORT.items() for text in ("--set", f"{name}={value!r}")]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """Return a file with a discipline of the user's own."""
    return Path(shutil.copy(ROOT / "examples" / "mine.py", tmp_path / "own.py"))


def quickstart() -> aqmlab.Scenario:
    return aqmlab.Scenario.load("quickstart").with_(SHORT)


def test_a_sweep_with_labels_in_python_keeps_what_they_stand_for(own: Path, tmp_path: Path) -> None:
    labels = {
        "short": "pie:target=5ms",
        "ours": {"aqm": "red", "dumbbell.buffer": "20 packets"},
        "mine": f"{own}:Mine",
    }
    swept = aqmlab.sweep(
        quickstart(), vary={"dumbbell.rate": ["5 Mbit/s", "8 Mbit/s"]}, aqms=labels, store=tmp_path / "store"
    )
    swept.save(tmp_path / "swept")
    again = aqmlab.Sweep.load(tmp_path / "swept")
    assert list(again.variants) == list(labels)
    assert again.is_saved_in(tmp_path / "swept")
    assert (again.variants["ours"].aqm, again.variants["ours"].buffer) == ("red", "20 packets")
    own.unlink()
    archive = seal(tmp_path / "swept", tmp_path / "swept.zip").file
    with pytest.raises(ArchiveError, match=r"programs that it has: .*variants/own-\w+\.py"):
        verify(archive)
    found = verify(archive, trust=True)
    assert (len(found.repeated), found.is_sound) == (6, True), repr(found)


def test_a_sweep_with_a_recording_is_checked_without_its_file(tmp_path: Path) -> None:
    rates = tmp_path / "rates.txt"
    rates.write_text("".join(f"{ms}\n" for ms in range(1, 1000)))
    text = 'title = "T"\n[dumbbell]\nrates = {file = "rates.txt"}\n[[traffic]]\nname = "ftp"\ncount = 2\n'
    (tmp_path / "t.toml").write_text(text)
    called(
        "sweep", tmp_path / "t.toml", *SET, "--aqm", "red", "--vary", "traffic.ftp.count=2,3", "--out", tmp_path / "s"
    )
    archive = seal(tmp_path / "s", tmp_path / "swept.zip").file
    rates.unlink()
    found = verify(archive)
    assert (len(found.repeated), found.is_sound) == (2, True), repr(found)
    assert "figure.svg" in found.files.same


def test_an_evaluation_with_a_discipline_of_ones_own_is_judged_again(own: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    called("evaluate", "--section", "5.2", "--aqm", f"{own}:Mine", "--seeds", 2, "--out", out)
    archive = seal(out, tmp_path / "out.zip").file
    own.unlink()
    assert f"{OWN}1-own.py" in read(archive)
    with pytest.raises(ArchiveError, match=r"programs that it has: .*--trust"):
        verify(archive)
    found = verify(archive, trust=True)
    assert found.is_sound, repr(found)
    assert found.judged
    assert any(f"{own}:Mine" in place for place in found.judged.stated)
    with pytest.raises((ValueError, OSError), match=r"own\.py"):
        seal(out, tmp_path / "again.zip")


def test_a_paper_of_ones_own_is_judged_again(tmp_path: Path) -> None:
    paper, out = saved.paper(tmp_path / "bloat"), tmp_path / "bloat" / "out"
    called("reproduce", paper, "--quick", "--out", out)
    with pytest.raises(ValueError, match=r"bloat: not one of the papers of aqmlab, .*: name its folder with --paper"):
        seal(out, tmp_path / "x.zip")
    with pytest.raises(ValueError, match="no such paper"):
        seal(out, tmp_path / "x.zip", paper=tmp_path)
    archive = seal(out, tmp_path / "bloat.zip", paper=paper).file
    shutil.rmtree(paper)
    assert {name for name in read(archive) if name.startswith(PAPER)} == {f"{PAPER}base.toml", f"{PAPER}paper.py"}
    with pytest.raises(ArchiveError, match=r"programs that it has: .*sealed/paper/paper\.py"):
        verify(archive)
    found = verify(archive, trust=True)
    assert found.is_sound, repr(found)
    assert found.judged
    assert found.judged.stated == {"shorter": "reproduced"}
    assert set(found.files.same) >= {"findings.json", "report.html", "fig1.svg", "fig1.parquet"}

    files = read(archive)
    files["findings.json"] = changed_document(
        files["findings.json"], lambda known: known["claims"][0].update(verdict="contradicted")
    )
    changed = verify(
        write(resealed(with_head(files, verdicts={"contradicted": 1})), tmp_path / "changed.zip"), sample=0, trust=True
    )
    assert changed.judged
    assert changed.judged.changed == {"shorter": ("contradicted", "reproduced")}


def test_a_paper_of_ones_own_does_not_take_the_place_of_one_of_aqmlab(tmp_path: Path) -> None:
    called("reproduce", "raqm", "--quick", "--only", "numbers", "--out", tmp_path / "raqm")
    with pytest.raises(ValueError, match="raqm is a paper of aqmlab: omit --paper"):
        seal(tmp_path / "raqm", tmp_path / "x.zip", paper=saved.paper(tmp_path / "bloat"))


@pytest.mark.parametrize(
    "options",
    [
        ["--aqm", "red", "--until", "goodput ±20 %", "--most-seeds", "20"],
        ["--aqm", "red", "--until", "goodput ±20 %", "--long-run"],
        ["--aqm", "red", "--engine", "fluid"],
    ],
)
def test_results_of_all_kinds_of_runs_are_checked(tmp_path: Path, options: list[str]) -> None:
    called("run", "quickstart", *SET, "--set", "traffic.flows.tcp=newreno", *options, "--out", tmp_path / "out")
    found = verify(seal(tmp_path / "out", tmp_path / "out.zip").file, sample=None)
    assert found.is_sound, repr(found)
    assert found.repeated
    assert "report.html" in found.files.same


def test_an_interval_by_batch_means_that_was_changed_is_found(tmp_path: Path) -> None:
    options = ["--aqm", "red", "--until", "goodput ±20 %", "--long-run"]
    called("run", "quickstart", *SET, *options, "--out", tmp_path / "out")
    files = read(seal(tmp_path / "out", tmp_path / "out.zip").file)

    def narrower(document: dict) -> None:
        for part in ("batches", "summary"):
            document[part]["goodput"]["ci95"] = 1.0

    files["result.json"] = changed_document(files["result.json"], narrower)
    found = verify(write(resealed(files), tmp_path / "narrower.zip"))
    assert list(found.repeated[0].differences) == ["batches.goodput"]


def test_an_engine_with_options_of_python_says_so(tmp_path: Path) -> None:
    scenario = quickstart().with_({"aqm": "red", "traffic.flows.tcp": "newreno"})
    aqmlab.fluid(scenario, step=0.002).save(tmp_path / "out")
    found = verify(seal(tmp_path / "out", tmp_path / "out.zip").file)
    version = Engine("fluid").version
    assert f"made by the fluid engine {version},step=0.002; this is {version}: " in repr(found)


def test_a_scenario_that_extends_another_is_whole_in_the_archive(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('extends = "quickstart"\n[dumbbell]\nrate = "5 Mbit/s"\n')
    (tmp_path / "more.toml").write_text('extends = "base.toml"\ntitle = "More"\n')
    called("run", tmp_path / "more.toml", *SET, "--out", tmp_path / "out")
    archive = seal(tmp_path / "out", tmp_path / "out.zip").file
    for name in ("base.toml", "more.toml"):
        (tmp_path / name).unlink()
    assert verify(archive).is_sound
    files = read(archive)
    name = next(name for name in files if name.startswith("sealed/scenarios/"))
    files[name] = b'extends = "quickstart"\n' + files[name]
    refused(resealed(files), tmp_path, "extends = 'quickstart': a scenario in an archive is whole")


@pytest.mark.linux
@pytest.mark.usefixtures("guest")
@pytest.mark.filterwarnings("ignore::aqmlab.MachineWarning")
def test_runs_on_linux_with_a_virtual_clock_are_repeated(tmp_path: Path) -> None:
    scenario = quickstart().with_(aqm="pie")
    aqmlab.compare(scenario, aqms=["pie", "kernel:fq_codel"], engines=["linux"]).save(tmp_path / "out")
    archive = seal(tmp_path / "out", tmp_path / "out.zip").file
    found = verify(archive)
    assert (len(found.repeated), found.left, found.is_sound) == (2, 0, True), repr(found)
    assert found.engines == found.head["engines"]

    # Another kernel or other programs: then nothing is repeated.
    comparison = aqmlab.Comparison.load(tmp_path / "out")
    results = {label: replace(one, engine_version=f"{one.engine_version}x") for label, one in comparison.items()}
    aqmlab.Comparison(results).save(tmp_path / "other")
    found = verify(seal(tmp_path / "other", tmp_path / "other.zip").file)
    assert (len(found.repeated), found.left, found.is_sound) == (0, 2, True)
    assert "2 runs are not repeatable here" in repr(found)
    assert f"made by the linux engine {results['pie'].engine_version}; this is" in repr(found)


@pytest.mark.linux
@pytest.mark.usefixtures("guest")
@pytest.mark.filterwarnings("ignore::aqmlab.MachineWarning")
def test_a_sweep_on_linux_is_checked_with_disciplines_of_the_kernel(tmp_path: Path) -> None:
    swept = aqmlab.sweep(
        quickstart(),
        vary={"traffic.flows.count": [2]},
        aqms=["pie", "kernel:fq_codel"],
        engine="linux",
        store=tmp_path / "store",
    )
    swept.save(tmp_path / "swept")
    found = verify(seal(tmp_path / "swept", tmp_path / "swept.zip").file)
    assert (len(found.repeated), found.left, found.is_sound) == (2, 0, True), repr(found)


@pytest.mark.parametrize("name", ["run", "compare", "sweep"])
@pytest.mark.parametrize("version", sorted(folder.name for folder in (ROOT / "tests/files").iterdir()))
def test_results_that_an_earlier_version_saved_are_sealed_and_checked(tmp_path: Path, version: str, name: str) -> None:
    found = verify(seal(ROOT / "tests" / "files" / version / name, tmp_path / "old.zip").file)
    assert len(found.repeated) == 2
    assert not any(one.error for one in found.repeated)
    assert found.files.is_sound


def test_an_archive_does_not_depend_on_the_machine(tmp_path: Path) -> None:
    # Only the date of an archive, and the processor time of runs outside of sweeps, are of the machine.
    undated = "from aqmlab.archive import crate; crate.when = lambda seconds: 'then'; "
    program = [sys.executable, "-c", f"{undated}from aqmlab.cli.app import app; app(prog_name='aqmlab')"]
    settings = [
        {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"},
        {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "2", "HOME": "/nowhere", "COLUMNS": "40"},
    ]
    archives = []
    for number, (setting, umask) in enumerate(zip(settings, (0o022, 0o077), strict=True)):
        (folder := tmp_path / str(number)).mkdir()

        def call(*words: str, folder: Path = folder, setting: dict[str, str] = setting, umask: int = umask) -> None:
            subprocess.run([*program, *words], cwd=folder, env={**os.environ, **setting}, umask=umask, check=True)

        call("sweep", "quickstart", *SET, "--vary", "dumbbell.rate=5 Mbit/s,8 Mbit/s", "--out", "sweep")
        if number:
            shutil.copytree(tmp_path / "0" / "compare", folder / "compare")
        else:
            call("compare", "quickstart", *SET, "--aqm", "pie", "--aqm", "codel", "--out", "compare")
        for name in ("sweep", "compare"):
            call("seal", name, "-o", f"{name}.zip")
        archives.append([(folder / f"{name}.zip").read_bytes() for name in ("sweep", "compare")])
    assert archives[0] == archives[1]
