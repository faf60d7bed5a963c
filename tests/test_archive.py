"""Archives of results: what is sealed is verified, and what was changed is found."""

import json
import re
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from test_files_page import hold, keys, names
from typer.testing import CliRunner

import aqmlab
from aqmlab.archive import container
from aqmlab.archive.container import ArchiveError
from aqmlab.archive.layout import CRATE, HEAD, RUNS, records
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import verify
from aqmlab.cli.app import app
from aqmlab.execute.engine import PACKETS
from aqmlab.kinds import ARCHIVE
from aqmlab.sealed import checksum, sealed, unsealed

ROOT = Path(__file__).parents[1]
SHORT = {"duration": "3 s", "warmup": "1 s"}

rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")

Files = dict[str, bytes]


def called(*arguments: object) -> None:
    found = CliRunner().invoke(app, [str(each) for each in arguments])
    assert found.exit_code == 0, found.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("archive")


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    aqmlab.run(aqmlab.Scenario.load("quickstart").with_(SHORT | {"aqm": "red"}), seeds=3).save(folder / "run")
    return seal(folder / "run", folder / "run.zip", authors=["Ada", "Émilie <https://orcid.org/1>"]).file


@pytest.fixture(scope="module")
def paper(folder: Path) -> Path:
    called("reproduce", "raqm", "--quick", "--only", "numbers", "--out", folder / "raqm")
    return seal(folder / "raqm", folder / "raqm.zip").file


def read(archive: Path) -> Files:
    with zipfile.ZipFile(archive) as found:
        return {name: found.read(name) for name in found.namelist()}


def write(files: Files, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    return archive


def resealed(files: Files) -> Files:
    """Return files whose lists of checksums are right: as one makes them who knows how."""
    crate = json.loads(files[CRATE])
    for one in crate["@graph"]:
        if "sha256" in one:
            one["sha256"] = checksum(files[one["@id"]])
    files = {**files, CRATE: json.dumps(crate).encode()}
    head = json.loads(files[HEAD])
    del head["sha256"]
    head["files"] = {name: checksum(files[name]) for name in head["files"]}
    return {**files, HEAD: sealed(head)}


def changed_document(data: bytes, change: Callable[[dict], None]) -> bytes:
    document = json.loads(data)
    del document["sha256"]
    change(document)
    return sealed(document)


def test_a_result_is_sealed_and_verified(run: Path) -> None:
    found = verify(run)
    assert found.is_sound
    assert [str(one) for one in found.repeated] == [f"seed {seed}: bit-identical" for seed in (1, 2, 3)]
    assert (found.version, found.head["version"], found.judged) == (PACKETS.version, PACKETS.version, None)
    assert repr(found).endswith("sound")


def test_the_same_results_make_the_same_archive(folder: Path, run: Path) -> None:
    again = seal(folder / "run", folder / "again.zip", authors=["Ada", "Émilie <https://orcid.org/1>"])
    assert again.file.read_bytes() == run.read_bytes()
    assert again.sha256 == verify(run).sha256


def test_the_sample_is_drawn_by_the_seed(folder: Path) -> None:
    aqmlab.run(aqmlab.Scenario.load("quickstart").with_(SHORT), seeds=8).save(folder / "eight")
    archive = seal(folder / "eight", folder / "eight.zip").file

    def drawn(seed: int | None) -> list[int]:
        return [one.record.seed for one in verify(archive, sample=3, seed=seed).repeated]

    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(4)}) > 1
    first = verify(archive, sample=2)
    assert [one.record for one in verify(archive, sample=2, seed=first.seed).repeated] == [
        one.record for one in first.repeated
    ]
    assert f"--seed {first.seed}" in repr(first)
    assert len(verify(archive, sample=None).repeated) == 8
    assert verify(archive, sample=0).is_sound


def test_what_a_run_reads_travels_with_it(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own, trace, rates = tmp_path / "own.py", tmp_path / "trace.csv", tmp_path / "rates.txt"
    own.write_text((ROOT / "examples" / "mine.py").read_text())
    trace.write_text("time,size\n0.1,500\n0.2,1500\n")
    rates.write_text("".join(f"{ms}\n" for ms in range(1, 1000)))
    scenario = tmp_path / "mine.toml"
    scenario.write_text(
        f"""title = "Mine"
[dumbbell]
rates = {{file = "{rates.name}"}}
buffer = "50 packets"
[[traffic]]
name = "ftp"
count = 2
[[traffic]]
name = "replayed"
kind = "trace"
file = "{trace.name}"
"""
    )
    wanted = aqmlab.Scenario.load(scenario).with_(SHORT)
    aqmlab.compare(wanted, ["red", f"{own}:Mine"]).save(folder / "own")
    archive = seal(folder / "own", folder / "own.zip").file
    for file in (own, trace, rates):
        file.unlink()
    monkeypatch.chdir("/")
    with pytest.raises(ArchiveError, match=r"2 programs in Python.*sealed/scenarios/own-\w+\.py: .*--trust"):
        verify(archive)
    found = verify(archive, trust=True)
    assert [one.is_same for one in found.repeated] == [True, True], repr(found)
    assert str(tmp_path) not in read(archive)[found.repeated[0].record.scenario].decode()


def test_a_sweep_has_the_scenario_of_each_of_its_runs(folder: Path) -> None:
    vary = {"dumbbell.rate": ["5 Mbit/s", "8 Mbit/s"], "aqm.target": "5 ms", "traffic.flows.count": "2,3"}
    scenario = aqmlab.Scenario.load("quickstart").with_(SHORT)
    swept = aqmlab.sweep(scenario, vary, ["codel", "pie:max_burst=0.1s"], seeds=2, store=folder / "store")
    swept.save(folder / "sweep")
    archive = seal(folder / "sweep", folder / "sweep.zip").file
    found = verify(archive, sample=None)
    assert len(found.repeated) == 16
    assert found.is_sound, repr(found)
    assert len({one.record.scenario for one in found.repeated}) == 8


def test_the_verdicts_of_a_paper_are_judged_again(paper: Path) -> None:
    found = verify(paper, sample=2)
    assert found.is_sound, repr(found)
    assert found.judged
    assert len(found.judged.stated) == 4
    assert "4 of 4 verdicts stand" in repr(found)
    assert "report.html" in read(paper)


def test_an_evaluation_is_judged_again(folder: Path) -> None:
    called("evaluate", "--section", "5.2", "--aqm", "codel", "--seeds", 2, "--out", folder / "evaluation")
    archive = seal(folder / "evaluation", folder / "evaluation.zip").file
    found = verify(archive, sample=2)
    assert found.is_sound, repr(found)
    assert found.judged
    assert found.judged.now == found.judged.stated
    assert len(found.judged.stated) > 0


def test_the_crate_is_one_and_has_every_file(run: Path, tmp_path: Path) -> None:
    names = container.unpack(run, tmp_path)
    crate = rocrate.ROCrate(str(tmp_path))
    root = crate.root_dataset
    assert root["name"] == "Quick start"
    assert [author["name"] for author in root["author"]] == ["Ada", "Émilie"]
    assert root["license"].id == "https://spdx.org/licenses/Apache-2.0"
    described = {entity.id for entity in crate.data_entities}
    assert described | {HEAD, CRATE, "ro-crate-preview.html"} == {*names, "./"} - {"./"} | {HEAD}
    page = (tmp_path / "ro-crate-preview.html").read_text()
    assert "Quick start" in page
    for link in re.findall(r'href="([^"]+)"', page):
        assert (tmp_path / link).is_file(), link


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_one_bit_is_enough(run: Path, tmp_path: Path, place: float) -> None:
    data = bytearray(run.read_bytes())
    data[int(place * len(data))] ^= 1
    (tmp_path / "bit.zip").write_bytes(data)
    with pytest.raises(ArchiveError, match=r"bit\.zip: "):
        verify(tmp_path / "bit.zip")


@pytest.mark.parametrize("part", [0, 10, 0.5, 0.99])
def test_a_torn_archive_is_refused(run: Path, tmp_path: Path, part: float) -> None:
    data = run.read_bytes()
    (tmp_path / "torn.zip").write_bytes(data[: int(part if part >= 1 else part * len(data))])
    with pytest.raises(ArchiveError, match="torn or damaged"):
        verify(tmp_path / "torn.zip")


def refused(files: Files, folder: Path, reason: str) -> None:
    with pytest.raises(ArchiveError, match=reason) as error:
        verify(write(files, folder / "doctored.zip"))
    assert str(error.value).startswith(f"{folder / 'doctored.zip'}: ")
    assert "/aqmlab-" not in str(error.value)


def test_a_changed_file_is_refused(run: Path, tmp_path: Path) -> None:
    files = read(run)
    refused(
        {**files, "scenario.toml": files["scenario.toml"] + b"\n"}, tmp_path, r"scenario\.toml: changed: its SHA-256"
    )


def test_a_file_that_was_changed_with_its_checksum_is_refused(run: Path, tmp_path: Path) -> None:
    files = read(run)
    files["scenario.toml"] += b"\n"

    def change(head: dict) -> None:
        head["files"]["scenario.toml"] = checksum(files["scenario.toml"])

    files[HEAD] = changed_document(files[HEAD], change)
    refused(files, tmp_path, r"scenario\.toml: changed with its checksum")
    head = json.loads(files[HEAD])
    refused({**files, HEAD: json.dumps(head).encode()}, tmp_path, "seal.json: no checksum at its end")


def test_missing_and_added_files_are_refused(run: Path, tmp_path: Path) -> None:
    files = read(run)
    refused({name: data for name, data in files.items() if name != "scenario.toml"}, tmp_path, "missing: scenario.toml")
    refused({**files, "more.txt": b""}, tmp_path, r"1 files were not sealed: more\.txt")
    refused({name: data for name, data in files.items() if name != HEAD}, tmp_path, r"seal\.json is missing")
    refused({}, tmp_path, r"seal\.json is missing")


def test_a_metric_that_was_changed_everywhere_is_found_by_repeating_the_run(run: Path, tmp_path: Path) -> None:
    files = read(run)

    def change(document: dict) -> None:
        document["runs"][1]["metrics"]["goodput"] += 1.0

    files["result.json"] = changed_document(files["result.json"], change)
    found = verify(write(resealed(files), tmp_path / "better.zip"))
    assert [one.is_same for one in found.repeated] == [True, False, True]
    assert list(found.repeated[1].differences) == ["goodput"]
    assert re.search(r"seed 2: 1 metrics differ: goodput \S+ was sealed, \S+ now", repr(found))
    assert repr(found).endswith("NOT SOUND")


def test_a_verdict_that_was_changed_everywhere_is_found(paper: Path, tmp_path: Path) -> None:
    files = read(paper)
    changed = ""

    def change(document: dict) -> None:
        nonlocal changed
        claim = next(one for one in document["claims"] if one["verdict"] == "contradicted")
        claim["verdict"], changed = "reproduced", claim["claim"]

    files["findings.json"] = changed_document(files["findings.json"], change)
    found = verify(write(resealed(files), tmp_path / "better.zip"), sample=0)
    assert found.judged
    assert found.judged.changed == {changed: ("reproduced", "contradicted")}
    assert not found.is_sound
    assert "3 of 4 verdicts stand" in repr(found)


def test_runs_that_are_missing_from_the_store_are_found(paper: Path, tmp_path: Path) -> None:
    files = read(paper)
    part = next(name for name in files if "/parts/" in name)
    head = json.loads(files[HEAD])
    del files[part], head["sha256"], head["files"][part]
    crate = json.loads(files[CRATE])
    crate["@graph"] = [one for one in crate["@graph"] if one["@id"] != part]
    files |= {CRATE: json.dumps(crate).encode(), HEAD: sealed(head)}
    with pytest.raises(ArchiveError, match="runs are missing"):
        verify(write(resealed(files), tmp_path / "fewer.zip"))
    found = verify(write(resealed(files), tmp_path / "fewer.zip"), sample=0)
    assert found.judged
    assert re.fullmatch(r"sealed/store: \d+ of \d+ runs of the claims are missing", found.judged.error)
    assert not found.is_sound


def test_an_archive_of_another_version_says_so(run: Path, tmp_path: Path) -> None:
    files = read(run)

    def older(head: dict) -> None:
        head["version"] = "0.0.9+abc"

    def later(head: dict) -> None:
        head["schema"] = ARCHIVE.version + 1

    old = verify(write(resealed({**files, HEAD: changed_document(files[HEAD], older)}), tmp_path / "old.zip"))
    assert f"made by aqmlab 0.0.9+abc; this is {PACKETS.version}: " in repr(old)
    assert old.is_sound
    new = resealed({**files, HEAD: changed_document(files[HEAD], later)})
    refused(new, tmp_path, "schema 2 of an archive; aqmlab .* reads up to schema 1: read it with")


@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "a/../../evil.txt", "C:evil.txt", "a\\evil.txt"])
def test_paths_that_leave_the_folder_are_refused(run: Path, tmp_path: Path, name: str) -> None:
    refused({**read(run), name: b"evil"}, tmp_path, "leads out of the folder")
    assert not list(tmp_path.parent.glob("evil*"))


def test_links_twins_and_bombs_are_refused(run: Path, tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as made:
        made.writestr(link, "/etc/passwd")
    with pytest.raises(ArchiveError, match="no file but a link"):
        verify(tmp_path / "link.zip")
    with zipfile.ZipFile(tmp_path / "twins.zip", "w") as made:
        made.writestr("a", "1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            made.writestr("a", "2")
    with pytest.raises(ArchiveError, match="'a' is in it twice"):
        verify(tmp_path / "twins.zip")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("zeros", bytes(50 << 20))
    with pytest.raises(ArchiveError, match="a zip bomb"):
        verify(tmp_path / "bomb.zip")


def test_a_size_that_is_not_true_is_refused(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "MOST_BYTES", 1000)
    with pytest.raises(ArchiveError, match=r"it unpacks to .* GB, more than"):
        verify(run)


def test_an_archive_that_was_exchanged_is_refused(run: Path) -> None:
    assert verify(run, sample=0, expect=verify(run, sample=0).sha256.upper()).is_sound
    with pytest.raises(ArchiveError, match="expected 0000: another archive"):
        verify(run, expect="0000")


def test_folders_that_cannot_be_sealed_are_refused(folder: Path, run: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has none of result\.json, .*; give a folder that --out wrote"):
        seal(tmp_path, tmp_path / "x.zip")
    (folder / "run" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="link: a link, not a file"):
        seal(folder / "run", tmp_path / "x.zip")
    (folder / "run" / "link").unlink()
    (folder / "run" / HEAD).write_text("")
    with pytest.raises(ValueError, match="a file of its own of this name"):
        seal(folder / "run", tmp_path / "x.zip")
    (folder / "run" / HEAD).unlink()
    with pytest.raises(ValueError, match="an author is a name"):
        seal(folder / "run", tmp_path / "x.zip", authors=["<https://orcid.org/1>"])
    with pytest.raises(ValueError, match="SPDX identifier"):
        seal(folder / "run", tmp_path / "x.zip", license="my own")
    assert not (tmp_path / "x.zip").exists()


def test_a_reproduction_whose_runs_are_gone_is_refused(folder: Path, paper: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no store; name the folder of the runs with --store"):
        seal(folder / "raqm", tmp_path / "x.zip", store=tmp_path / "none")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"9 of 9 runs are not here: .*repeat the command"):
        seal(folder / "raqm", tmp_path / "x.zip", store=tmp_path / "empty")


def test_the_table_of_runs_says_how_to_repeat_each(run: Path, tmp_path: Path) -> None:
    container.unpack(run, tmp_path)
    listed = records((tmp_path / RUNS).read_bytes())
    assert [(one.seed, one.engine, one.result) for one in listed] == [(s, "packet", "result.json") for s in (1, 2, 3)]
    again = aqmlab.run(aqmlab.Scenario.load(tmp_path / listed[1].scenario), seeds=[2])
    assert again.runs[0].metrics == aqmlab.Result.load(tmp_path).runs[1].metrics
    with pytest.raises(ValueError, match="no table of runs"):
        records(b"label\nx\n")


def test_the_commands(folder: Path, run: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, ["seal", str(folder / "run"), "-o", str(tmp_path / "a.zip"), "--json"])
    document = json.loads(done.stdout)
    assert (done.exit_code, document["runs"], document["kind"]) == (0, 3, "a result")
    found = runner.invoke(app, ["verify", str(tmp_path / "a.zip"), "--expect", document["sha256"], "--json"])
    assert found.exit_code == 0
    answer = json.loads(found.stdout)
    assert answer["sound"]
    assert [one["same"] for one in answer["repeated"]] == [True] * 3

    files = read(run)
    files["result.json"] = changed_document(
        files["result.json"], lambda document: document["runs"][0]["metrics"].update(goodput=1.0)
    )
    worse = runner.invoke(app, ["verify", str(write(resealed(files), tmp_path / "worse.zip")), "--all"])
    assert (worse.exit_code, worse.stdout.splitlines()[-1]) == (1, "NOT SOUND")
    torn = runner.invoke(app, ["verify", str(write({}, tmp_path / "torn.zip"))])
    assert (torn.exit_code, "seal.json is missing" in torn.stderr) == (1, True)
    for arguments in (["verify", "none.zip"], ["seal", str(tmp_path), "-o", str(tmp_path / "b.zip")]):
        assert runner.invoke(app, arguments).exit_code == 2
    folder_in_the_way = runner.invoke(app, ["seal", str(folder / "run"), "-o", str(tmp_path)])
    assert (folder_in_the_way.exit_code, "Is a directory" in folder_in_the_way.stderr) == (2, True)


def test_the_head_has_what_a_reader_needs(run: Path, tmp_path: Path) -> None:
    container.unpack(run, tmp_path)
    head = unsealed(tmp_path / HEAD, ARCHIVE, "")
    assert set(head["files"]) == {*read(run)} - {HEAD}
    for key in ("title", "date", "license", "authors", "platform", "version", "command"):
        assert key in head


def test_the_page_on_files_has_every_key_of_the_head_and_every_column(paper: Path, tmp_path: Path) -> None:
    container.unpack(paper, tmp_path)
    hold(keys("Archive"), [json.loads((tmp_path / HEAD).read_bytes())])
    assert names("Runs of an archive") == (tmp_path / RUNS).read_text().partition("\n")[0].split(",")
