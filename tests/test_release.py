"""What a release has beside its code: manual, licences, bill of materials, and the page on dependencies."""

import re
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT

from release import dependencies, licences, manual, sbom
from release.environment import declared, packages
from release.parts import PLAYGROUND, parts


def test_the_manual_is_up_to_date() -> None:
    assert manual.FILE.read_text(encoding="utf-8") == manual.page(), "run `make docs`"


def test_the_manual_has_every_command_option_and_exit_status() -> None:
    text = manual.FILE.read_text(encoding="utf-8").replace("\\-", "-")
    for heading in (".SS aqmlab run", ".SS aqmlab design redtail", ".SS aqmlab doctor", ".B --most-seeds N"):
        assert heading in text.splitlines()
    statuses = text.partition(".SH EXIT STATUS")[2].partition(".SH")[0]
    page = (ROOT / "docs/reference/errors.md").read_text(encoding="utf-8").partition("## The command")[0]
    assert set(re.findall(r"^\.B (\d+)$", statuses, re.MULTILINE)) == set(
        re.findall(r"^\| (\d+) \|", page, re.MULTILINE)
    )


def test_the_manual_has_the_environment_that_is_read() -> None:
    sources = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "python/aqmlab").rglob("*.py"))
    assert set(re.findall(r'"(_?AQMLAB_[A-Z]+)"', sources)) == set(manual.ENVIRONMENT)


def test_the_manual_has_no_errors() -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    command = ["mandoc", "-T", "lint", "-W", "warning", manual.FILE]
    found = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    assert [line for line in found if 'missing date, using "": TH' not in line] == []


def test_the_licences_are_those_of_the_lock_files() -> None:
    lines = licences.FILE.read_text(encoding="utf-8").splitlines()
    listed = {line for line in lines if re.fullmatch(r"(cargo|npm) \S+ \S+: .+", line)}
    assert listed == {licences.head(part) for part in parts()}, "run `make licences`"
    assert len(listed) > 80


def test_the_licences_are_those_of_the_packages() -> None:
    if not (PLAYGROUND / "node_modules").is_dir():
        pytest.skip("the packages of npm are not installed: make licences")
    assert licences.FILE.read_text(encoding="utf-8") == licences.collected(), "run `make licences`"


def test_the_bill_of_materials_has_every_package_and_is_the_same_each_time(tmp_path: Path) -> None:
    bill = sbom.document()  # which the schema allows
    purls = {component["purl"] for component in bill["components"]}
    every = packages(extra for extra in declared() if extra)
    assert purls == {one.purl for one in [*parts(), *every.values()]}
    optional = {one["name"] for one in bill["components"] if one["scope"] == "optional"}
    assert {"pandas", "control", "distributed"} <= optional
    assert not {"numpy", "scipy", "pyo3", "uplot"} & optional
    below = {one["ref"]: one.get("dependsOn", []) for one in bill["dependencies"]}
    reached, new = set(), [bill["metadata"]["component"]["bom-ref"]]
    while new:
        reached.add(ref := new.pop())
        new += set(below[ref]) - reached
    assert reached - {bill["metadata"]["component"]["bom-ref"]} == purls
    first, second = (sbom.main(tmp_path / name).read_bytes() for name in ("first", "second"))
    assert first == second


def test_the_bill_of_materials_is_checked_by_the_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sbom, "uuid5", lambda *_: SimpleNamespace(urn="no number"))
    with pytest.raises(ValueError, match="no number"):
        sbom.document()


def test_the_page_on_dependencies_has_every_requirement() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in dependencies.FILE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    required = {row[0].strip("`"): row[2:] for row in rows if len(row) == 5}
    for one in declared()[""]:
        assert required[one.name][0] == str(one.specifier), "run `make docs`"
        assert required[one.name][2] == dependencies.USES[one.name]
    extras = {row[0].strip("`"): row[1] for row in rows if len(row) == 4}
    assert set(extras) - {"extra", "---"} == {extra for extra in declared() if extra}
    for extra, names in extras.items():
        assert all(f"`{one.name}` {one.specifier}" in names for one in declared().get(extra, ()))


def test_every_requirement_has_a_use() -> None:
    assert set(dependencies.USES) == {one.name for each in declared().values() for one in each}
