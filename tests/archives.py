"""Archives as files by name: to be read, changed and written again."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from aqmlab.archive.container import ArchiveError
from aqmlab.archive.layout import CRATE, HEAD
from aqmlab.archive.verify import verify
from aqmlab.cli.app import app
from aqmlab.sealed import checksum, sealed

SHORT = {"duration": "3 s", "warmup": "1 s"}

Files = dict[str, bytes]


def called(*arguments: object) -> None:
    found = CliRunner().invoke(app, [str(each) for each in arguments])
    assert found.exit_code == 0, found.output


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


def refused(files: Files, folder: Path, reason: str) -> None:
    with pytest.raises(ArchiveError, match=reason) as error:
        verify(write(files, folder / "doctored.zip"))
    assert str(error.value).startswith(f"{folder / 'doctored.zip'}: ")
    assert "/aqmlab-" not in str(error.value)


def made_by(files: Files, name: str, **versions: str | None) -> Files:
    """Return files whose results are of other versions."""
    return {**files, name: changed_document(files[name], lambda document: document.update(versions))}


def replaced(files: Files, name: str, old: str, new: str) -> Files:
    text = files[name].decode()
    assert old in text
    return {**files, name: text.replace(old, new).encode()}


def with_head(files: Files, /, **changes: object) -> Files:
    return {**files, HEAD: changed_document(files[HEAD], lambda head: head.update(changes))}


def saved_with(files: Files, changed: Files) -> Files:
    """Return files with others in their places, and with the checksums that results have of them."""
    files = {**files, **changed}
    for head in sorted(
        (name for name in files if name.endswith(("result.json", "comparison.json", "sweep.json"))), key=len
    )[::-1]:
        place = head.rpartition("/")[0]
        below = f"{place}/" if place else ""

        def counted(document: dict, below: str = below) -> None:
            document["files"] = {name: checksum(files[f"{below}{name}"]) for name in document["files"]}

        files[head] = changed_document(files[head], counted)
    return files
