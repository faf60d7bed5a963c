"""Archives of results: what is sealed is verified, and what was changed is found."""

import json
import re
import shutil
import stat
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from archives import (
    SHORT,
    Files,
    called,
    changed_document,
    made_by,
    read,
    refused,
    replaced,
    resealed,
    with_head,
    write,
)
from test_files_page import hold, keys, names
from typer.testing import CliRunner

import aqmlab
from aqmlab.archive import container
from aqmlab.archive.container import ArchiveError
from aqmlab.archive.documents import is_same, require_own_label
from aqmlab.archive.layout import CRATE, HEAD, RUNS, records
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import verify
from aqmlab.cli.app import app
from aqmlab.execute.engine import PACKETS
from aqmlab.kinds import ARCHIVE
from aqmlab.sealed import checksum, sealed, unsealed

ROOT = Path(__file__).parents[1]

rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")


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


def better(run: Path, folder: Path) -> Files:
    """Return the files of an archive whose second run has more goodput, with the means and checksums that follow."""
    (folder / "better").mkdir()
    container.unpack(run, folder / "better")
    result = aqmlab.Result.load(folder / "better")
    first, second, third = result.runs
    more = {**second.metrics, "goodput": (second.metrics["goodput"] or 0) + 1.0}
    replace(result, runs=(first, replace(second, metrics=more), third)).save(folder / "better")
    return resealed({name: (folder / "better" / name).read_bytes() for name in read(run)})


def test_a_result_is_sealed_and_verified(run: Path) -> None:
    found = verify(run)
    assert found.is_sound
    assert [str(one) for one in found.repeated] == [f"seed {seed}: bit-identical" for seed in (1, 2, 3)]
    assert found.engines == found.head["engines"] == {"packet": PACKETS.version}
    assert (found.head["version"], found.judged) == (aqmlab.__version__, None)
    assert repr(found).endswith("\nsound")
    assert repr(verify(run, sample=0)).endswith("sound, but no run was repeated")


def test_the_same_results_make_the_same_archive(folder: Path, run: Path) -> None:
    copy = Path(shutil.copytree(folder / "run", folder / "copy"))
    again = seal(copy, folder / "again.zip", authors=["Ada", "Émilie <https://orcid.org/1>"])
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
    aqmlab.compare(wanted, aqms=["red", f"{own}:Mine"]).save(folder / "own")
    archive = seal(folder / "own", folder / "own.zip").file
    for file in (own, trace, rates):
        file.unlink()
    monkeypatch.chdir("/")
    with pytest.raises(ArchiveError, match=r"2 programs that it has: .*sealed/scenarios/own-\w+\.py: .*--trust"):
        verify(archive)
    found = verify(archive, trust=True)
    assert [one.is_same for one in found.repeated] == [True, True], repr(found)
    for one in found.repeated:
        assert str(tmp_path) not in read(archive)[one.record.scenario].decode()


def test_a_sweep_has_the_scenario_of_each_of_its_runs(folder: Path) -> None:
    vary = {"dumbbell.rate": ["5 Mbit/s", "8 Mbit/s"], "aqm.target": "5 ms", "traffic.flows.count": "2,3"}
    scenario = aqmlab.Scenario.load("quickstart").with_(SHORT)
    swept = aqmlab.sweep(scenario, vary=vary, aqms=["codel", "pie:max_burst=0.1s"], seeds=2, store=folder / "store")
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


def test_one_bit_is_enough(run: Path, tmp_path: Path) -> None:
    data = run.read_bytes()
    harmless = 0
    for place in range(0, len(data), len(data) // 200):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        (tmp_path / "bit.zip").write_bytes(flipped)
        try:
            verify(tmp_path / "bit.zip", sample=0)
        except ArchiveError:
            continue
        harmless += 1  # a date, or what else the list of the entries has that no content depends on
    assert harmless <= 5


@pytest.mark.parametrize("part", [0, 10, 0.5, 0.99])
def test_a_torn_archive_is_refused(run: Path, tmp_path: Path, part: float) -> None:
    data = run.read_bytes()
    (tmp_path / "torn.zip").write_bytes(data[: int(part if part >= 1 else part * len(data))])
    with pytest.raises(ArchiveError, match="torn or damaged"):
        verify(tmp_path / "torn.zip")


Change = Callable[[Files], Files]


def added(name: str, data: bytes = b"x") -> Change:
    return lambda files: {**files, name: data}


def without(name: str) -> Change:
    return lambda files: {one: data for one, data in files.items() if one != name}


def headed(**changes: object) -> Change:
    return lambda files: with_head(files, **changes)


def reading(files: Files) -> Files:
    """Let a run read a file of the system."""
    scenario = records(files[RUNS])[0].scenario
    more = b'\n[[traffic]]\nname = "x"\nkind = "trace"\nfile = "/etc/passwd"\n'
    return resealed({**files, scenario: files[scenario] + more})


LEADS_OUT = "leads out of the folder, or is no name for a file"
TWICE = "is in it twice, apart from small and capital letters"
NESTED = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda files: {**files, "scenario.toml": files["scenario.toml"] + b"\n"}, r"scenario\.toml: changed: its SHA"),
        (without("scenario.toml"), "missing: scenario.toml"),
        (added("more.txt"), r"not sealed, but there: more\.txt$"),
        (without(HEAD), r"seal\.json is missing"),
        (lambda files: {}, r"seal\.json is missing"),
        (added("./scenario.toml"), f"'./scenario.toml' {LEADS_OUT}"),
        (added("../evil.txt"), LEADS_OUT),
        (added("/evil.txt"), LEADS_OUT),
        (added("a/../../evil.txt"), LEADS_OUT),
        (added("C:evil.txt"), LEADS_OUT),
        (added("a\\evil.txt"), LEADS_OUT),
        (added("scenario.toml/x"), "'scenario.toml/x' is in 'scenario.toml', which is a file"),
        (added("a" * 300), "is no name for a file on every system"),
        (added("a/" * 600 + "b"), "is no name for a file on every system"),
        (added("SCENARIO.toml"), TWICE),
        (added("scenario.TOML"), TWICE),
        (added("sealed/RUNS.csv"), TWICE),
        (lambda files: {**files, "caf\u00e9": b"x", "cafe\u0301": b"x"}, "is in it twice"),
        (added(HEAD, NESTED), "doctored"),
        (added(CRATE, NESTED), "doctored"),
        (headed(authors=[1, 2]), r"seal\.json: authors = \[1, 2\]: must be a list of texts"),
        (headed(files=[]), r"seal\.json: files = \[\]: must be a table of texts"),
        (headed(engines=None), r"seal\.json: engines = None: must be a table of texts"),
        (lambda files: resealed({**files, RUNS: b"\xff\x00\xfe"}), r"sealed/runs\.csv: no table of runs: "),
        (reading, r"file = '/etc/passwd': not in the archive"),
    ],
)
def test_what_is_not_as_it_was_sealed_is_refused(run: Path, tmp_path: Path, change: Change, reason: str) -> None:
    refused(change(read(run)), tmp_path, reason)
    assert not list(tmp_path.parent.glob("evil*"))


def test_a_file_that_was_changed_with_its_checksum_is_refused(run: Path, tmp_path: Path) -> None:
    files = read(run)
    files["scenario.toml"] += b"\n"

    def change(head: dict) -> None:
        head["files"]["scenario.toml"] = checksum(files["scenario.toml"])

    files[HEAD] = changed_document(files[HEAD], change)
    refused(files, tmp_path, r"scenario\.toml: changed with its checksum")
    head = json.loads(files[HEAD])
    refused({**files, HEAD: json.dumps(head).encode()}, tmp_path, "seal.json: no checksum at its end")


def test_bytes_that_are_of_no_file_are_refused(run: Path, tmp_path: Path) -> None:
    data, odd = run.read_bytes(), tmp_path / "odd.zip"
    with zipfile.ZipFile(run) as archive:
        second = archive.infolist()[1].header_offset
        start = archive.start_dir
    end = bytearray(data[start:])
    for more in (b"#!/bin/sh\n" + data, data + b"more", data[:-2] + b"\x04\x00more"):
        odd.write_bytes(more)
        with pytest.raises(
            ArchiveError, match=r"odd\.zip: (it has bytes that are of none of its files|torn or damaged)"
        ):
            verify(odd, sample=0)
    assert second < start < len(data) - len(end) + 1
    with zipfile.ZipFile(odd, "w") as archive:
        for name, content in read(run).items():
            archive.writestr(name, content)
        archive.mkdir("sub")
    with pytest.raises(ArchiveError, match=r"'sub/' leads out of the folder, or is no name for a file"):
        verify(odd, sample=0)


def test_a_metric_that_was_changed_everywhere_is_found_by_repeating_the_run(run: Path, tmp_path: Path) -> None:
    found = verify(write(better(run, tmp_path), tmp_path / "better.zip"))
    assert [one.is_same for one in found.repeated] == [True, False, True]
    assert list(found.repeated[1].differences) == ["goodput"]
    assert re.search(r"seed 2: 1 metrics differ: goodput \S+ was sealed, \S+ now", repr(found))
    assert repr(found).endswith("NOT SOUND")


def test_a_verdict_that_was_changed_everywhere_is_found(paper: Path, tmp_path: Path) -> None:
    files = read(paper)
    changed = ""

    def change(document: dict) -> None:
        nonlocal changed
        claim = next(one for one in document["claims"] if one["verdict"] == "partly")
        claim["verdict"], changed = "reproduced", claim["claim"]

    files["findings.json"] = changed_document(files["findings.json"], change)
    counts = json.loads(files[HEAD])["verdicts"]
    counts["reproduced"] += 1
    counts["partly"] -= 1
    files = with_head(files, verdicts={name: count for name, count in counts.items() if count})
    found = verify(write(resealed(files), tmp_path / "better.zip"), sample=0)
    assert found.judged
    assert found.judged.changed == {changed: ("reproduced", "partly")}
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
    refused(resealed(files), tmp_path, r"sealed/runs\.csv: not the runs of the results")
    listed = {**files, RUNS: files[RUNS].partition(b"\n")[0] + b"\n"}
    found = verify(write(resealed(with_head(listed, runs=0)), tmp_path / "none.zip"))
    assert found.judged
    assert re.fullmatch(r"sealed/store: \d+ of \d+ runs of the claims are missing", found.judged.error)
    assert not found.is_sound


def test_an_archive_of_another_version_says_so(run: Path, tmp_path: Path) -> None:
    files = read(run)

    def later(head: dict) -> None:
        head["schema"] = ARCHIVE.version + 1

    old = made_by(files, "result.json", engine_version="0.0.9+abc")
    found = verify(write(resealed(with_head(old, engines={"packet": "0.0.9+abc"})), tmp_path / "old.zip"))
    assert f"made by the packet engine 0.0.9+abc; this is {PACKETS.version}: " in repr(found)
    assert found.is_sound
    unknown = made_by(files, "result.json", engine_version=None, version="0.0.9")
    unknown = with_head(unknown, engines={}, version="0.0.9", code="")
    found = verify(write(resealed(unknown), tmp_path / "unknown.zip"))
    assert "figures and reports: not made again: other code of aqmlab made them" in repr(found)
    assert f"made by aqmlab 0.0.9; this is {aqmlab.__version__}: " in repr(found)
    assert found.is_sound
    new = resealed({**files, HEAD: changed_document(files[HEAD], later)})
    refused(new, tmp_path, "schema 2 of an archive; aqmlab .* reads up to schema 1: read it with")


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
        made.writestr("zeros", bytes(container.LARGE + 1))
    with pytest.raises(ArchiveError, match="a zip bomb"):
        verify(tmp_path / "bomb.zip")


def test_more_than_there_is_room_for_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = container.shutil._ntuple_diskusage(1, 1, 0)  # type: ignore[attr-defined]
    monkeypatch.setattr(container.shutil, "disk_usage", lambda _: usage)
    with pytest.raises(ArchiveError, match=r"it unpacks to .* GB, and 0\.0 GB are free"):
        verify(run)
    monkeypatch.undo()
    monkeypatch.setattr(container, "MOST_BYTES", 1000)
    with pytest.raises(ArchiveError, match="a zip bomb"):
        verify(run)


def test_a_size_that_is_not_true_is_found(run: Path, tmp_path: Path) -> None:
    data = run.read_bytes()
    with zipfile.ZipFile(run) as archive:
        entry = archive.getinfo("scenario.toml")
    true, false = (number.to_bytes(4, "little") for number in (entry.file_size, entry.file_size - 1))
    place = data.rindex(b"scenario.toml", 0, data.rindex(b"PK\x05\x06"))
    head = place - 46
    assert data[head : head + 4] == b"PK\x01\x02"
    assert data[head + 24 : head + 28] in (true, b"\xff" * 4)
    (tmp_path / "false.zip").write_bytes(data[: head + 24] + false + data[head + 28 :])
    with pytest.raises(ArchiveError, match=r"false\.zip: "):
        verify(tmp_path / "false.zip")


def test_an_archive_that_was_exchanged_is_refused(run: Path) -> None:
    assert verify(run, sample=0, expect=verify(run, sample=0).sha256.upper()).is_sound
    with pytest.raises(ArchiveError, match="expected 0000: another archive"):
        verify(run, expect="0000")


def test_folders_that_cannot_be_sealed_are_refused(folder: Path, run: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"has none of result\.json, .*; give a folder that --out wrote"):
        seal(tmp_path, folder / "x.zip")
    for name in ("advise", "tune"):
        answer = tmp_path / name
        answer.mkdir()
        (answer / ("advice.json" if name == "advise" else "tune.json")).write_text("{}")
        with pytest.raises(ValueError, match=rf"`aqmlab {name}`, .*; seal takes a folder that --out of run, compare"):
            seal(answer, folder / "x.zip")
    (folder / "run" / "link").symlink_to("/etc/passwd")
    with pytest.raises(ValueError, match="link: a link, not a file"):
        seal(folder / "run", tmp_path / "x.zip")
    (folder / "run" / "link").unlink()
    (folder / "run" / HEAD).write_text("")
    with pytest.raises(ValueError, match="a file of its own of this name"):
        seal(folder / "run", tmp_path / "x.zip")
    (folder / "run" / HEAD).unlink()
    with pytest.raises(ValueError, match="must be a name, with a mail address"):
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

    worse = runner.invoke(app, ["verify", str(write(better(run, tmp_path), tmp_path / "worse.zip")), "--all"])
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


def test_a_program_outside_the_archive_is_never_run(run: Path, paper: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + (ROOT / "examples" / "mine.py").read_text())
    files = read(run)
    scenario = records(files[RUNS])[0].scenario
    for name in (scenario, "scenario.toml"):
        outside = replaced(files, name, 'name = "red"', f'name = "{evil}:Mine"')
        refused(resealed(outside), tmp_path, r"evil\.py:Mine.*: not in the archive")
    (tmp_path / "paper").mkdir()
    (tmp_path / "paper" / "paper.py").write_text(evil.read_text())
    files = read(paper)
    files["findings.json"] = changed_document(
        files["findings.json"], lambda found: found.update(paper=str(tmp_path / "paper"))
    )
    found = verify(write(resealed(files), tmp_path / "paper.zip"), sample=0)
    assert found.judged
    assert "neither one of the papers of aqmlab nor in the archive" in found.judged.error
    assert not (tmp_path / "ran").exists()


def test_the_table_of_runs_has_the_runs_of_the_results(folder: Path, tmp_path: Path) -> None:
    aqmlab.compare(aqmlab.Scenario.load("quickstart").with_(SHORT), aqms=["red", "pie"]).save(folder / "two")
    files = read(seal(folder / "two", folder / "two.zip").file)
    lines = files[RUNS].decode().splitlines(keepends=True)
    fewer = with_head({**files, RUNS: "".join(lines[:-1]).encode()}, runs=1)
    refused(resealed(fewer), tmp_path, r"sealed/runs\.csv: no run of pie/result\.json")
    real = {**files, RUNS: files[RUNS].replace(b",packet,", b",linux,")}
    refused(resealed(real), tmp_path, r"sealed/runs\.csv: not the runs of the results")
    red, pie = (one.scenario for one in records(files[RUNS]))
    swapped = resealed(replaced(files, RUNS, pie, red))
    refused(swapped, tmp_path, rf"pie/scenario\.toml: not the scenario of its runs, {red}")


def test_means_that_were_changed_everywhere_are_refused(run: Path, tmp_path: Path) -> None:
    files = read(run)
    for part in ("metrics", "summary"):
        changed = changed_document(
            files["result.json"], lambda document, part=part: document[part].update(goodput=document["seeds"])
        )
        refused(resealed({**files, "result.json": changed}), tmp_path, rf"result\.json: {part}: not what its runs")


def test_another_head_does_not_hide_the_verdicts(run: Path, paper: Path, tmp_path: Path) -> None:
    files = read(paper)
    both = {**files, "result.json": read(run)["result.json"]}
    head = json.loads(both[HEAD])
    del head["sha256"]
    head["files"]["result.json"], head["head"] = "", "result.json"
    refused(resealed({**both, HEAD: sealed(head)}), tmp_path, r"changed with its checksum|seal one of them alone")
    for wrong in ({"verdicts": {"reproduced": 4}}, {"verdicts": {}}, {"title": "Better"}, {"kind": "a sweep"}):
        refused(
            resealed(with_head(files, **wrong)),
            tmp_path,
            rf"json: {next(iter(wrong))} = .*: (the results have|seal\.json has)",
        )


def test_a_paper_of_another_version_is_not_judged_and_says_so(paper: Path, tmp_path: Path) -> None:
    files = made_by(read(paper), "findings.json", engine="0.0.9+abc")
    old = resealed(with_head(files, version="0.0.9+abc", engines={"packet": "0.0.9+abc"}))
    found = verify(write(old, tmp_path / "old.zip"), sample=1)
    assert repr(found).endswith("INCOMPLETE: not judged again")
    assert "the keys of runs are those of aqmlab 0.0.9+abc" in repr(found)
    assert found.repeated[0].is_same


def test_names_of_all_kinds_are_sealed_and_verified(folder: Path) -> None:
    place = folder / "naïve name"
    scenario = aqmlab.Scenario.load("quickstart").with_(SHORT | {"traffic.flows.tcp": "newreno"})
    aqmlab.compare(scenario, aqms=["red", "pie:target=5ms"], engines=["packet", "fluid"]).save(place)
    (place / "notes é, 50 %.txt").write_text("x")
    found = verify(seal(place, folder / "names.zip").file)
    assert found.is_sound, repr(found)
    assert {one.record.engine for one in found.repeated} == {"packet", "fluid"}
    assert any("pie:target=5ms" in one.record.label for one in found.repeated)


@pytest.mark.parametrize("name", ["notes: draft.txt", "what?.txt"])
def test_a_name_that_other_systems_cannot_have_is_refused_when_it_is_sealed(
    folder: Path, tmp_path: Path, name: str
) -> None:
    copy = Path(shutil.copytree(folder / "run", tmp_path / "copy"))
    (copy / name).write_text("x")
    with pytest.raises(ArchiveError, match="no name for a file on every system: rename it"):
        seal(copy, tmp_path / "x.zip")
    assert not (tmp_path / "x.zip").exists()


def test_an_archive_inside_the_folder_is_refused(folder: Path, run: Path) -> None:
    with pytest.raises(ValueError, match=r"x\.zip: is in the folder that is sealed: choose a file outside"):
        seal(folder / "run", folder / "run" / "x.zip")


def test_a_run_that_does_not_fit_into_the_memory_is_not_started(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aqmlab.archive.repeated.free_memory", lambda: 1000)
    found = verify(run)
    assert all("GB of memory needed" in one.error for one in found.repeated)
    assert not found.is_sound


def test_an_archive_of_before_the_rule_of_ns2_was_written_is_the_same() -> None:
    saved, now = ({"dumbbell": {"buffer_admission": value}} for value in ("auto", "ns2"))
    assert is_same(saved, now)
    assert not is_same(now, saved)
    assert not is_same({"dumbbell": {"buffer_admission": "fits"}}, now)
    assert not is_same({"dumbbell": {"buffer": "auto"}}, {"dumbbell": {"buffer": "ns2"}})


@pytest.mark.parametrize(
    ("label", "discipline", "allowed"),
    [
        ("pie", "pie", True),
        ("pie:target=5 ms", "pie", True),
        ("pie, fluid", "pie", True),
        ("small buffer", "red", True),
        ("kernel:pie limit 9", "kernel:pie limit 9", True),
        ("pie", "red", False),
        ("pie:target=5 ms", "red", False),
        ("pie, fluid", "red", False),
        ("kernel:pie limit 9", "pie", False),
        ("kernel:pie limit 9", "kernel:red limit 9", False),
    ],
)
def test_a_label_that_names_another_discipline_is_refused(label: str, discipline: str, allowed: bool) -> None:
    with nullcontext() if allowed else pytest.raises(ValueError, match=f"the runs of {label} are of {discipline}"):
        require_own_label("x", label, discipline)
