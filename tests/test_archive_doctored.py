"""Archives that someone changed who knows all checksums: `verify` finds what does not follow from the runs."""

import io
import json
import os
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars
import pytest
from archives import (
    SHORT,
    Files,
    called,
    changed_document,
    read,
    refused,
    replaced,
    resealed,
    saved_with,
    with_head,
    write,
)
from conftest import ROOT

import aqmlab
from aqmlab.archive.container import ArchiveError
from aqmlab.archive.layout import CRATE, HEAD, PREVIEW, RUNS, SCENARIOS, records
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import Verification, verify
from aqmlab.files import confined, read_whole
from aqmlab.results.result import Run
from aqmlab.sealed import checksum

pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")

SET = [text for name, value in SHORT.items() for text in ("--set", f"{name}={value!r}")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doctored")


@pytest.fixture(scope="module")
def compared(folder: Path) -> Path:
    called(
        "compare",
        "quickstart",
        *SET,
        "--aqm",
        "red",
        "--aqm",
        "pie",
        "--seeds",
        2,
        "--flows",
        "--out",
        folder / "compared",
    )
    return seal(folder / "compared", folder / "compared.zip", authors=["Ada"]).file


@pytest.fixture(scope="module")
def swept(folder: Path) -> Path:
    vary = ["--vary", "dumbbell.rate=5 Mbit/s,8 Mbit/s"]
    called("sweep", "quickstart", *SET, "--aqm", "red", "--aqm", "pie", *vary, "--seeds", 2, "--out", folder / "swept")
    return seal(folder / "swept", folder / "swept.zip").file


@pytest.fixture(scope="module")
def judged(folder: Path) -> Path:
    called("evaluate", "--section", "5.2", "--aqm", "codel", "--seeds", 2, "--out", folder / "judged")
    return seal(folder / "judged", folder / "judged.zip").file


@pytest.fixture(scope="module")
def paper(folder: Path) -> Path:
    called("reproduce", "raqm", "--quick", "--only", "numbers", "--out", folder / "paper")
    return seal(folder / "paper", folder / "paper.zip").file


def verified(files: Files, folder: Path) -> Verification:
    return verify(write(resealed(files), folder / "doctored.zip"), sample=None)


def saved_again(archive: Path, folder: Path, change: Callable[[Run], Run]) -> Files:
    """Return the files of a comparison with another first run, with everything that aqmlab makes from it."""
    files = read(archive)
    comparison = aqmlab.Comparison.load(_written(files, folder))
    red = comparison["red"]
    first, *others = red.runs
    results = {**comparison, "red": replace(red, runs=[change(first), *others])}
    aqmlab.Comparison(results, comparison.baseline).save(folder)
    return {name: (folder / name).read_bytes() for name in files}


def test_they_are_sound_as_they_were_sealed(compared: Path, swept: Path, judged: Path, paper: Path) -> None:
    for archive, made in ((compared, 6), (swept, 4), (judged, 9), (paper, 5)):
        found = verify(archive)
        assert found.is_sound, repr(found)
        assert f"made again, byte for byte the same: {made} of {made} figures" in repr(found)


def test_a_distribution_that_was_changed_is_found(compared: Path, tmp_path: Path) -> None:
    def shorter(run: Run) -> Run:
        links = run.distributions["links"]
        less = {
            owner: {name: [value / 2 for value in values] for name, values in of.items()} for owner, of in links.items()
        }
        return replace(run, distributions={**run.distributions, "links": less})

    found = verified(saved_again(compared, tmp_path, shorter), tmp_path)
    assert [one.is_same for one in found.repeated] == [False, True, True, True]
    assert all(name.startswith("distributions.links") for name in found.repeated[0].differences)
    assert not found.is_sound


@pytest.mark.parametrize("name", ["series", "flows"])
def test_what_was_recorded_over_time_and_changed_is_found(compared: Path, tmp_path: Path, name: str) -> None:
    files = read(compared)
    file = f"red/{name}-1.parquet"
    frame = polars.read_parquet(files[file])
    column = "goodput" if name == "flows" else "bottleneck.queue.mean"
    buffer = io.BytesIO()
    frame.with_columns(polars.col(column) / 2).write_parquet(buffer, metadata=polars.read_parquet_metadata(files[file]))
    files = saved_with(files, {file: buffer.getvalue()})
    found = verified(files, tmp_path)
    assert list(found.repeated[0].differences) == [name]
    assert repr(found).endswith("NOT SOUND")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report.html", "Main metrics", "Better metrics"),
        ("figure.svg", "stroke-width", "stroke-widht"),
        ("tradeoff.svg", "stroke-width", "stroke-widht"),
        (PREVIEW, "Quick start", "Quicker start"),
    ],
)
def test_a_figure_or_a_page_that_was_changed_is_found(
    compared: Path, tmp_path: Path, name: str, old: str, new: str
) -> None:
    found = verified(replaced(read(compared), name, old, new), tmp_path)
    assert found.files.different == [name]
    assert f"{name}: differs from what the runs lead to" in repr(found)
    assert repr(found).endswith("NOT SOUND")


def test_figures_of_another_matplotlib_are_not_compared(compared: Path, tmp_path: Path) -> None:
    files = read(compared)
    drawn_by = json.loads(files[HEAD])["drawing"]
    version = drawn_by.split()[1].rstrip(",")
    old = replaced(files, "figure.svg", f"Matplotlib v{version}", "Matplotlib v3.0.1")
    found = verified(old, tmp_path)
    assert "1 figures: not compared: drawn by matplotlib 3.0.1; this is matplotlib" in repr(found)
    assert found.is_sound
    other = with_head(replaced(files, "figure.svg", "stroke-width", "stroke-widht"), drawing=f"{drawn_by}.9")
    found = verified(other, tmp_path)
    assert list(found.files.elsewhere.values()) == [["figure.svg"]]


def test_documents_that_do_not_follow_from_the_runs_are_refused(compared: Path, swept: Path, tmp_path: Path) -> None:
    def better(document: dict) -> None:
        document["differences"]["pie"]["red"]["goodput"]["mean"] = 1e6

    files = read(compared)
    files["comparison.json"] = changed_document(files["comparison.json"], better)
    refused(resealed(files), tmp_path, r"comparison\.json: differences: not what its runs")
    files = read(compared)
    more = changed_document(files["red/result.json"], lambda document: document["engine"].update(packets=1.0))
    files = saved_with(files, {"red/result.json": more})
    refused(resealed(files), tmp_path, r"red/result\.json: engine: not what its runs")
    files = read(swept)
    files["sweep.json"] = changed_document(files["sweep.json"], lambda document: document.update(wanted=9))
    refused(resealed(files), tmp_path, r"sweep\.json: wanted = 9: it has 8 runs, and 0 that failed")


def test_the_runs_of_one_discipline_are_not_those_of_another(compared: Path, swept: Path, tmp_path: Path) -> None:
    files = read(compared)
    swapped = {
        name.replace("red/", "-/").replace("pie/", "red/").replace("-/", "pie/"): data for name, data in files.items()
    }
    comparison = aqmlab.Comparison.load(_written(files, tmp_path / "was"))
    turned = aqmlab.Comparison({"red": comparison["pie"], "pie": comparison["red"]}, "red")
    turned.save(tmp_path / "turned")
    for name in ("comparison.json", "red/result.json", "pie/result.json"):
        swapped[name] = (tmp_path / "turned" / name).read_bytes()
    swapped[RUNS] = files[RUNS].replace(b"red", b"-").replace(b"pie", b"red").replace(b"-", b"pie")
    refused(resealed(swapped), tmp_path, r"result\.json: the runs of (red|pie) are of (red|pie)")

    files = read(swept)
    part = "results/00000.parquet"
    frame = polars.read_parquet(files[part])
    names = polars.col("aqm").replace({"red": "pie", "pie": "red"})
    found = verified(_with_part(files, part, frame.with_columns(names)), tmp_path)
    assert all("not the scenario of this run" in one.error for one in found.repeated)
    slower = frame.with_columns(polars.col("dumbbell.rate").replace({5e6: 8e6, 8e6: 5e6}))
    found = verified(_with_part(files, part, slower), tmp_path)
    assert all("not the scenario of this run" in one.error for one in found.repeated)


def _with_part(files: Files, name: str, frame: polars.DataFrame) -> Files:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, metadata=polars.read_parquet_metadata(files[name]))
    return saved_with(files, {name: buffer.getvalue()})


def _written(files: Files, folder: Path) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_numbers_and_texts_of_a_report_that_were_changed_are_found(paper: Path, judged: Path, tmp_path: Path) -> None:
    def surer(document: dict) -> None:
        document["claims"][0]["why"] = "It is certain."

    files = read(paper)
    files["findings.json"] = changed_document(files["findings.json"], surer)
    found = verified(files, tmp_path)
    assert found.files.different == ["findings.json"]
    assert not found.is_sound

    files = read(judged)
    found = verified(replaced(files, "index.html", "codel", "CODEL"), tmp_path)
    assert found.files.different == ["index.html"]
    csv = files["scorecard.csv"].decode().replace("codel", "CODEL")
    found = verified({**files, "scorecard.csv": csv.encode()}, tmp_path)
    assert found.files.different == ["scorecard.csv"]


def test_a_description_that_is_not_that_of_the_head_is_refused(compared: Path, tmp_path: Path) -> None:
    for old, new in (("Ada", "Eve"), ("Quick start", "Quicker start")):
        files = replaced(read(compared), CRATE, old, new)
        files[HEAD] = changed_document(
            files[HEAD], lambda head, files=files: head["files"].update({CRATE: checksum(files[CRATE])})
        )
        refused(files, tmp_path, r"ro-crate-metadata\.json: (authors|title) = .*: seal\.json has")


def test_an_encrypted_archive_is_refused(compared: Path, tmp_path: Path) -> None:
    data = bytearray(compared.read_bytes())
    place = data.rindex(b"PK\x01\x02")
    data[place + 8] |= 1
    (tmp_path / "encrypted.zip").write_bytes(data)
    with pytest.raises(ArchiveError, match=r"encrypted\.zip: '.*' is encrypted"):
        verify(tmp_path / "encrypted.zip")


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1e999", "9" * 5000, "[" * 100_000 + "]" * 100_000])
def test_numbers_that_are_none_are_refused(compared: Path, tmp_path: Path, value: str) -> None:
    files = read(compared)
    text = files["red/result.json"].decode()
    start = text.index('"goodput": ') + len('"goodput": ')
    text = text[:start] + value + text[text.index(",", start) :]
    body = text[: text.rindex('"sha256": "') + len('"sha256": "')].encode()
    end = b'"\n}\n'
    changed = {"red/result.json": body + checksum(body).encode() + end}
    head = changed_document(
        files["comparison.json"],
        lambda document: document["files"].update({"red/result.json": checksum(changed["red/result.json"])}),
    )
    refused(resealed({**files, **changed, "comparison.json": head}), tmp_path, "doctored")


def test_a_device_is_refused(tmp_path: Path) -> None:
    entry = zipfile.ZipInfo("device")
    entry.external_attr = (stat.S_IFCHR | 0o666) << 16
    with zipfile.ZipFile(tmp_path / "device.zip", "w") as made:
        made.writestr(entry, "")
    with pytest.raises(ArchiveError, match="no file but a link or a device"):
        verify(tmp_path / "device.zip")


def test_a_pipe_is_no_archive(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    with pytest.raises(ArchiveError, match="must be a regular file"):
        verify(tmp_path / "pipe.zip")


def test_a_kernel_outside_the_archive_is_not_run(compared: Path, tmp_path: Path) -> None:
    evil = tmp_path / "linux"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    evil.chmod(0o755)
    engine = f"linux:kernel={evil}"
    files = read(compared)
    comparison = aqmlab.Comparison.load(_written(files, tmp_path / "was"))
    version = aqmlab.execute.engine.Engine.parse(engine).version
    results = {label: replace(one, engine_name=engine, engine_version=version) for label, one in comparison.items()}
    aqmlab.Comparison(results, comparison.baseline).save(tmp_path / "was")
    files = {name: (tmp_path / "was" / name).read_bytes() for name in files}
    files[RUNS] = files[RUNS].replace(b",packet,", f",{engine},".encode())
    found = verified(with_head(files, engines={engine: version}), tmp_path)
    assert found.left == 4
    assert not found.repeated
    assert not (tmp_path / "ran").exists()


def test_a_program_at_a_path_of_a_sweep_or_an_evaluation_is_not_run(swept: Path, judged: Path, tmp_path: Path) -> None:
    evil = tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n" + (ROOT / "examples" / "mine.py").read_text())
    files = read(swept)
    part = "results/00000.parquet"
    frame = polars.read_parquet(files[part])
    first = polars.col("aqm") == frame["aqm"][0]
    for label in (f"{evil}:Mine", f"fq:aqm='{evil}',flows=4"):
        name = polars.when(first).then(polars.lit(label)).otherwise("aqm").alias("aqm")
        found = verified(_with_part(files, part, frame.with_columns(name)), tmp_path)
        assert any("not the scenario of this run" in one.error for one in found.repeated)
        assert not (tmp_path / "ran").exists()

    files = read(judged)
    files["evaluation.json"] = changed_document(
        files["evaluation.json"], lambda document: document.update(reference=f"{evil}:Mine")
    )
    found = verified(files, tmp_path)
    assert found.judged
    assert found.judged.error == "evaluation.json: no evaluation that can be sealed"

    def inside(document: dict) -> None:
        document["labels"] = [f"fq:aqm='{evil}',flows=4" if one == "codel" else one for one in document["labels"]]
        document["reference"] = document["labels"][0]

    files["evaluation.json"] = changed_document(files["evaluation.json"], inside)
    title = f"Evaluation by RFC 7928: {', '.join(json.loads(files['evaluation.json'])['labels'])}"
    crate = files[CRATE].replace(json.loads(files[HEAD])["title"].encode(), title.encode())
    found = verified(with_head({**files, CRATE: crate}, title=title), tmp_path)
    assert repr(found).endswith("NOT SOUND")
    assert not (tmp_path / "ran").exists()


def test_a_reader_that_is_confined_reads_nothing_outside(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "rates.csv"
    for file in (inside / "rates.csv", outside):
        file.parent.mkdir(exist_ok=True)
        file.write_text("time,rate_mbps\n0,5\n1,8\n")
    (inside / "link").symlink_to(outside)

    def rates(file: Path) -> None:
        aqmlab.Scenario.load("quickstart").with_({"dumbbell.rates.file": str(file)}).check()

    with confined(inside):
        rates(inside / "rates.csv")
        for file in (outside, inside / "link", inside / ".." / "rates.csv"):
            with pytest.raises(aqmlab.ScenarioError, match="not in the archive"):
                rates(file)
            with pytest.raises(OSError, match="not in the archive"):
                read_whole(file)
    rates(outside)


def test_an_archive_without_a_scenario_is_incomplete_whatever_the_sample(swept: Path, tmp_path: Path) -> None:
    files = read(swept)
    place = next(name for name in files if name.startswith(SCENARIOS))
    del files[place]
    crate = json.loads(files[CRATE])
    crate["@graph"] = [one for one in crate["@graph"] if one["@id"] != place]
    for one in crate["@graph"]:
        if "hasPart" in one:
            one["hasPart"] = [part for part in one["hasPart"] if part["@id"] != place]
    files[CRATE] = json.dumps(crate).encode()
    files[HEAD] = changed_document(files[HEAD], lambda head: head["files"].pop(place))
    with pytest.raises(ArchiveError, match=rf"missing: {place}"):
        verify(write(resealed(files), tmp_path / "doctored.zip"), sample=0)


@pytest.mark.parametrize(
    ("cell", "form", "rows", "size"),
    [(0, polars.UInt8, 200_000_000, r"1\.6"), ("x" * 1_000_000, polars.String, 2000, r"2\.0")],
    ids=["many rows", "a text that many rows repeat"],
)
def test_a_table_that_would_fill_the_memory_is_refused(
    compared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    cell: int | str,
    form: type[polars.DataType],
    rows: int,
    size: str,
) -> None:
    monkeypatch.setattr("aqmlab.archive.inside.free_memory", lambda: 1_000_000_000)
    buffer = io.BytesIO()
    polars.select(t=polars.repeat(cell, rows, dtype=form)).write_parquet(buffer)
    assert len(buffer.getvalue()) < 1_000_000
    files = saved_with(read(compared), {"red/series-1.parquet": buffer.getvalue()})
    refused(resealed(files), tmp_path, rf"red/series-1\.parquet: a table of {size} GB, and 1\.0 GB of memory are free")


def test_a_recording_outside_the_archive_is_not_read_for_the_results(compared: Path, tmp_path: Path) -> None:
    files = read(compared)
    more = b'\n[[traffic]]\nname = "x"\nkind = "trace"\nfile = "/etc/passwd"\n'
    files = saved_with(files, {"red/scenario.toml": files["red/scenario.toml"] + more})
    scenario = records(files[RUNS])[0].scenario
    assert scenario.startswith(SCENARIOS)
    refused(resealed(files), tmp_path, rf"red/scenario\.toml: not the scenario of its runs, {scenario}")


@pytest.mark.parametrize("path", ["hidden.txt", "/tmp/x.toml", "../../x.toml", "sealed/scenarios/../../x.toml"])
def test_a_scenario_elsewhere_is_not_read(swept: Path, tmp_path: Path, path: str) -> None:
    files = read(swept)
    head, first, *rest = files["sealed/runs.csv"].decode().splitlines(keepends=True)
    scenario = next(cell for cell in first.split(",") if cell.startswith("sealed/scenarios/"))
    files["sealed/runs.csv"] = "".join([head, first.replace(scenario, path), *rest]).encode()
    refused(resealed(files), tmp_path, r"sealed/runs\.csv: scenario = .*: must be a file like sealed/scenarios/")


def test_runs_of_a_sweep_that_are_there_twice_are_refused(swept: Path, tmp_path: Path) -> None:
    files, part = read(swept), "results/00000.parquet"
    frame = polars.read_parquet(files[part])
    refused(resealed(_with_part(files, part, polars.concat([frame, frame]))), tmp_path, "a run is there twice")


def test_a_sweep_without_a_seed_of_a_point_is_refused(swept: Path, tmp_path: Path) -> None:
    files, part = read(swept), "results/00000.parquet"
    frame = polars.read_parquet(files[part])[1:]
    head, _, *rest = files[RUNS].decode().splitlines(keepends=True)
    files[RUNS] = "".join([head, *rest]).encode()
    fewer = {"wanted": len(frame), "done": len(frame)}
    files["sweep.json"] = changed_document(files["sweep.json"], lambda document: document.update(fewer))
    files = with_head(_with_part(files, part, frame), runs=len(frame))
    refused(resealed(files), tmp_path, "a point lacks some of its 2 seeds")
