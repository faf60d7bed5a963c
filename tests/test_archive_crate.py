"""The RO-Crate of an archive: its files, its authors, its page."""

import re
from pathlib import Path

import pytest
from archives import SHORT
from typer.testing import CliRunner

import aqmlab
from aqmlab.archive import container
from aqmlab.archive.layout import CRATE, HEAD
from aqmlab.archive.people import Party
from aqmlab.archive.seal import seal
from aqmlab.archive.verify import verify
from aqmlab.cli.app import app

rocrate = pytest.importorskip("rocrate.rocrate", reason="rocrate is not installed")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crate")
    aqmlab.run(aqmlab.Scenario.load("quickstart").with_(SHORT | {"aqm": "red"})).save(folder / "run")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return seal(folder / "run", folder / "run.zip", authors=["Ada", "Émilie <https://orcid.org/1>"]).file


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


def test_authors_and_the_publisher_are_described(folder: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    author = "Ada Lovelace <ada@example.org> <https://orcid.org/0000-0002-1825-0097> (University of London)"
    options = ["--author", author, "--author", "Émilie", "--publisher", "Press <https://press.example>"]
    done = runner.invoke(app, ["seal", str(folder / "run"), "-o", str(tmp_path / "a.zip"), *options])
    assert done.exit_code == 0, done.output
    assert verify(tmp_path / "a.zip", sample=0).is_sound
    (tmp_path / "unpacked").mkdir()
    container.unpack(tmp_path / "a.zip", tmp_path / "unpacked")
    root = rocrate.ROCrate(str(tmp_path / "unpacked")).root_dataset
    ada, emilie = root["author"]
    assert (ada.id, ada["name"], ada["email"]) == (
        "https://orcid.org/0000-0002-1825-0097",
        "Ada Lovelace",
        "ada@example.org",
    )
    assert (ada["affiliation"]["name"], ada["contactPoint"].id) == ("University of London", "mailto:ada@example.org")
    assert (emilie.id, emilie["name"]) == ("#Émilie", "Émilie")
    assert (root["publisher"].id, root["publisher"]["name"]) == ("https://press.example", "Press")


@pytest.mark.parametrize(
    ("text", "party"),
    [
        ("Ada", Party("Ada")),
        ("Ada Lovelace <a@b.org>", Party("Ada Lovelace", mail="a@b.org")),
        ("Ada <https://orcid.org/1> <a@b.org>", Party("Ada", "https://orcid.org/1", "a@b.org")),
        ("Ada (King's College)", Party("Ada", affiliation="King's College")),
    ],
)
def test_a_party_is_read(text: str, party: Party) -> None:
    assert Party.parse(text) == party


@pytest.mark.parametrize("text", ["", "<a@b.org>", "Ada <x>", "Ada <a@b.org> <c@d.org>", "Ada (a) (b)", "Ada <a@b.org"])
def test_a_party_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be a name, with a mail address"):
        Party.parse(text)
