"""Files of every version open for ever, and those of a later one are refused with what to do."""

import json
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import polars
import pytest
from conftest import Cli

import aqmlab
from aqmlab import Comparison, Result, Sweep, kinds
from aqmlab.diffs.diff import diff
from aqmlab.kinds import Kind, LaterSchema
from aqmlab.runs.store import Store
from aqmlab.sealed import checksum, sealed, unsealed
from aqmlab_papers.evaluation.show import pages as evaluation_pages
from aqmlab_papers.show import pages as paper_pages

FILES = Path(__file__).parent / "files"
VERSIONS = [int(folder.name) for folder in FILES.iterdir()]
every_version = pytest.mark.parametrize("version", sorted(VERSIONS))

HEADS = {
    "run/result.json": kinds.RESULT,
    "compare/comparison.json": kinds.COMPARISON,
    "sweep/sweep.json": kinds.SWEEP,
    "evaluate/evaluation.json": kinds.EVALUATION,
    "reproduce/findings.json": kinds.FINDINGS,
}
"""The documents with a checksum."""

TABLES = {
    "run/series-7.parquet": kinds.SERIES,
    "run/cwnd-7.parquet": kinds.CWND,
    "run/flows-7.parquet": kinds.FLOWS,
    "sweep/results/00000.parquet": kinds.SWEEP_TABLE,
    "store/parts/*.parquet": kinds.PART,
    "store/series/*.parquet": kinds.SERIES,
    "reproduce/fig1.parquet": kinds.FIGURE_DATA,
}
"""The tables."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the files of the newest version."""
    return Path(shutil.copytree(FILES / str(max(VERSIONS)), tmp_path / "files"))


def table(folder: Path, name: str) -> Path:
    (file,) = folder.glob(name)
    return file


def every_kind() -> Iterator[Kind]:
    return (kind for kind in vars(kinds).values() if isinstance(kind, Kind))


def test_there_are_files_of_every_version() -> None:
    assert sorted(VERSIONS) == list(range(1, max(kind.version for kind in every_kind()) + 1))


def test_the_newest_files_have_the_versions_of_today() -> None:
    newest = FILES / str(max(VERSIONS))
    for name, kind in HEADS.items():
        assert json.loads((newest / name).read_text())["schema"] == kind.version, name
    for name, kind in TABLES.items():
        assert polars.read_parquet_metadata(table(newest, name)).items() >= {
            ("aqmlab.schema", str(kind.version)),
            ("aqmlab.kind", kind.name),
        }, name


@every_version
def test_a_result_of_every_version_opens(version: int) -> None:
    result = Result.load(FILES / f"{version}/run")
    assert result.seeds == [7, 8]
    assert result.engine_version is None  # not saved when these files were made
    assert result.scenario.title == "Small"
    assert len(result.frame) == 2
    assert result.metrics["goodput"] == pytest.approx(result.frame["goodput"].mean())
    assert result.series["t"].to_list() == [0.0, 0.5, 1.0, 1.5]
    assert result.cwnd_of(8)["class"].unique().to_list() == ["long"]
    assert len(result.flows) == 2 * 3


@every_version
def test_a_comparison_of_every_version_opens(version: int) -> None:
    comparison = Comparison.load(FILES / f"{version}/compare")
    assert list(comparison) == ["lred", "pi"]
    assert comparison["pi"].metrics["goodput"] == comparison.frame["goodput"][1]


@every_version
def test_a_sweep_of_every_version_opens(version: int) -> None:
    swept = Sweep.load(FILES / f"{version}/sweep")
    assert (swept.done, swept.wanted) == (2, 2)
    assert swept.frame["aqm.q0"].to_list() == [10, 20]
    assert len(swept.means()) == 2


@every_version
def test_a_store_of_every_version_has_its_runs(version: int, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FILES / f"{version}/store", tmp_path / "store"))
    (named,) = (file.stem for file in (folder / "series").iterdir())
    first = bytes.fromhex(named[:64])
    kept = Store(folder)
    frame = kept.frame({first, *_journalled(folder)})
    assert frame["seed"].to_list() == [7, 7]
    assert frame["goodput"].null_count() == 0
    assert kept.series(named.rpartition("-")[0])["t"].to_list() == [0.0, 0.5, 1.0, 1.5]
    kept.compact()
    again = Store(folder).frame(set(frame["key"]))
    assert again.sort("key").drop("key").equals(frame.sort("key").drop("key"))


def _journalled(folder: Path) -> list[bytes]:
    """Return the key of the single run in the journal; it follows the head of its record."""
    (file,) = (folder / "journals").iterdir()
    return [file.read_bytes()[16:48]]


@every_version
def test_an_evaluation_and_a_reproduction_of_every_version_open(version: int) -> None:
    folder = FILES / str(version)
    found = unsealed(folder / "evaluate/evaluation.json", kinds.EVALUATION, "")
    assert "The sections: 5.1.1 " in evaluation_pages.text(found, [], "images")
    found = unsealed(folder / "reproduce/findings.json", kinds.FINDINGS, "")
    assert "With CoDel packets wait for less time" in paper_pages.claims(found, {})


@every_version
def test_results_of_every_version_are_compared_with_those_of_today(version: int) -> None:
    newest = FILES / str(max(VERSIONS))
    for name in ("run", "compare", "sweep"):
        assert not diff(FILES / f"{version}/{name}", newest / name).settings


@pytest.mark.parametrize("name", HEADS)
def test_a_document_of_a_later_version_is_refused_with_what_to_do(folder: Path, name: str) -> None:
    file, kind = folder / name, HEADS[name]
    document = json.loads(file.read_text()) | {"schema": kind.version + 1, "version": "9.1"}
    del document["sha256"]
    file.write_bytes(sealed(document))
    with pytest.raises(LaterSchema) as refused:
        unsealed(file, kind, "do it again")
    assert str(refused.value) == (
        f"{file}: schema {kind.version + 1} of {kind.called}; aqmlab {aqmlab.__version__} reads up to schema "
        f"{kind.version}: read it with aqmlab 9.1 or a later one, or to recreate it: do it again"
    )


def _of_a_later_version(file: Path) -> bytes:
    metadata = {"aqmlab.schema": "99", "aqmlab.version": "9.1"}
    polars.read_parquet(file).write_parquet(file, metadata=metadata)
    return file.read_bytes()


def test_series_of_a_later_version_are_refused(folder: Path) -> None:
    data = _of_a_later_version(folder / "run/series-7.parquet")
    head = folder / "run/result.json"
    document = json.loads(head.read_text())
    document["files"]["series-7.parquet"] = checksum(data)
    del document["sha256"]
    head.write_bytes(sealed(document))
    with pytest.raises(LaterSchema, match=r"series-7\.parquet: schema 99 of a series; .* with aqmlab 9\.1 or a later"):
        _ = Result.load(folder / "run").series


def test_parts_and_series_of_a_later_version_are_refused_and_kept(folder: Path) -> None:
    store = folder / "store"
    part, series = table(store, "parts/*.parquet"), table(store, "series/*.parquet")
    name = series.stem.rpartition("-")[0]
    later_part = part.rename(part.with_name(f"1-{checksum(_of_a_later_version(part))}.parquet"))
    later_series = series.rename(series.with_name(f"{name}-{checksum(_of_a_later_version(series), name)}.parquet"))
    kept = Store(store)
    with pytest.raises(LaterSchema, match=r"schema 99 of a part of a store; .* or choose another folder with --store"):
        kept.finished(set())
    with pytest.raises(LaterSchema, match=r"schema 99 of a series; .* or choose another folder with --store"):
        kept.series(name)
    assert later_part.exists()
    assert later_series.exists()
    assert not kept.damage


def test_a_journal_of_a_later_version_is_refused_and_kept(folder: Path) -> None:
    journal = table(folder / "store", "journals/*")
    head = struct.pack("<4sII", b"aqm3", 4, crc32(b"what"))
    journal.write_bytes(head + struct.pack("<I", crc32(head)) + b"what")
    kept = Store(folder / "store")
    with pytest.raises(
        LaterSchema, match=r"schema 3 of a journal of a store; .* or choose another folder with --store"
    ):
        kept.finished(set())
    with pytest.raises(LaterSchema):
        kept.compact()
    assert journal.exists()


def test_a_journal_whose_version_is_damaged_loses_one_run(folder: Path) -> None:
    journal = table(folder / "store", "journals/*")
    journal.write_bytes(journal.read_bytes().replace(b"aqm1", b"aqm3", 1))
    kept = Store(folder / "store")
    kept.finished(set())
    assert list(kept.damage.values()) == [1]


def test_a_command_refuses_a_store_of_a_later_version(folder: Path, quick_cli: Cli, small_file: Path) -> None:
    part = table(folder, "store/parts/*.parquet")
    part.rename(part.with_name(f"1-{checksum(_of_a_later_version(part))}.parquet"))
    done = quick_cli("sweep", small_file, "--vary", "aqm.q0=10", "--store", folder / "store")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "schema 99 of a part of a store" in done.stderr


def test_a_printed_document_of_a_later_version_is_refused(folder: Path, quick_cli: Cli, tmp_path: Path) -> None:
    printed = json.loads((folder / "run/result.json").read_text()) | {"schema": 99}
    del printed["sha256"]
    (tmp_path / "later.json").write_text(json.dumps(printed))
    done = quick_cli("diff", folder / "run", "later.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(r"later\.json: schema 99 of a result; .* or repeat the call that printed it", done.stderr)


@pytest.mark.parametrize("name", HEADS)
def test_a_document_without_a_version_is_refused_with_what_to_do(folder: Path, name: str) -> None:
    file, kind = folder / name, HEADS[name]
    document = json.loads(file.read_text())
    del document["sha256"], document["schema"]
    file.write_bytes(sealed(document))
    with pytest.raises(ValueError, match=rf"no schema, the version of {kind.called}: .*; to recreate it: do it again"):
        unsealed(file, kind, "do it again")


def test_parts_and_series_without_a_version_are_refused_and_kept(folder: Path) -> None:
    store = folder / "store"
    for name, kind in (("parts", "part of a store"), ("series", "series")):
        file = table(store, f"{name}/*.parquet")
        polars.read_parquet(file).write_parquet(file)  # without metadata
        named = file.stem.rpartition("-")[0]
        data = file.read_bytes()
        kept = file.rename(file.with_name(f"{named}-{checksum(data, named if name == 'series' else '')}.parquet"))
        with pytest.raises(ValueError, match=rf"no schema, the version of a {kind}: .*; choose another folder with"):
            Store(store).finished(set()) if name == "parts" else Store(store).series(named)
        assert kept.exists()


@pytest.mark.parametrize("schema", [-1, 0, 1.0, True, "1"])
def test_a_version_that_is_no_number_is_refused(folder: Path, tmp_path: Path, schema: object) -> None:
    printed = json.loads((folder / "run/result.json").read_text()) | {"schema": schema}
    del printed["sha256"]
    (tmp_path / "odd.json").write_text(json.dumps(printed))
    with pytest.raises(ValueError, match=r"odd\.json: schema = .*: must be a whole number"):
        diff(folder / "run", tmp_path / "odd.json")
