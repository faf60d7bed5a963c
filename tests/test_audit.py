"""`aqmlab audit`: each rule on sets of files with one fault, and none of them on sets that are right."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aqmlab.audit.audit import Audit, audit
from aqmlab.audit.findings import Grade
from aqmlab.audit.router import Given
from aqmlab.foreign.read import parse, read

FOLDER = Path(__file__).parent / "audit"
SETS = FOLDER / "right"

LINK = Given(down=100e6, up=20e6, rtt=0.03)
LINKS = {
    "cake": Given(100e6, 40e6, 0.03, "pppoe-ptm"),
    "simple": LINK,
    "opnsense": LINK,
    "cake_mq": Given(up=1e9),
    "qosmate": LINK,
    "two_links": LINK,
    "sqm_alone": Given(100e6, 40e6, 0.03, "pppoe-ptm"),
    "adsl": Given(16e6, 1e6, 0.04, "pppoe-llcsnap"),
}
"""The link of each set."""

Edits = Sequence[tuple[str, str, str]]


def audited(
    folder: Path, name: str, edits: Edits = (), more: Mapping[str, str] | None = None, given: Given | None = None
) -> Audit:
    """Audit a set after edits, each of a file by a regular expression, and with further files."""
    texts = {file.name: file.read_text() for file in sorted((SETS / name).iterdir())}
    for file, pattern, instead in edits:
        if pattern == "":
            del texts[file]
            continue
        changed = re.sub(pattern, instead, texts[file], flags=re.MULTILINE)
        assert changed != texts[file], f"{file} has no {pattern}"
        texts[file] = changed
    for file, text in {**texts, **(more or {})}.items():
        (folder / file).write_text(text)
    return audit(read(sorted(folder.iterdir())), given)


def rules(found: Audit) -> set[str]:
    return {each.rule for each in found.findings}


@pytest.mark.parametrize("name", [each.name for each in sorted(SETS.iterdir())])
@pytest.mark.parametrize("known", [True, False])
def test_a_set_that_is_right_gives_no_finding(name: str, known: bool, tmp_path: Path) -> None:
    found = audited(tmp_path, name, given=LINKS.get(name) if known else None)
    assert not found.findings, found


FAULTS = [each for file in sorted(FOLDER.glob("faults/*.toml")) for each in tomllib.loads(file.read_text())["fault"]]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_is_found_and_nothing_else(fault: dict[str, Any], tmp_path: Path) -> None:
    given = replace(LINKS[fault["set"]], **fault.get("given", {}))
    found = audited(tmp_path, fault["set"], fault.get("edits", ()), fault.get("files"), given)
    assert rules(found) == set(fault["finds"]), found
    for each in found.findings:
        assert each.evidence
        assert each.grade in (Grade.WRONG, Grade.DOUBTFUL)
        lines = each.mends or {}
        assert lines
        if "tc" in lines:  # the lines are tc's
            assert not parse("mend.sh", f"{lines['tc']}\n").unread


def test_every_rule_has_a_fault() -> None:
    """The names of rules are those in the sources of the rules."""
    folder = Path(audit.__code__.co_filename).parent / "rules"
    sources = "".join(file.read_text() for file in folder.glob("*.py"))
    named = set(re.findall(r'Finding\(\s*"([a-z0-9-]+)"', sources))
    assert named - {name for fault in FAULTS for name in fault["finds"]} == {
        "classes-unused",
        "no-classes",
        "autorate-refused",
    }
