"""Dependencies: allowed licences, no package twice, and no download without a checksum."""

import json
import re
import subprocess
from typing import Any

import pytest
from conftest import ROOT

from release.parts import linked

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}
"""Licences that require no more than their notice."""


def metadata() -> dict[str, Any]:
    """Return cargo's metadata of all packages, those of tests and of other systems included."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    found: dict[str, Any] = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout)
    return found


def is_allowed(expression: str) -> bool:
    """Return whether an SPDX expression offers an allowed licence, with all that it joins by AND."""
    expression = expression.strip()
    while (
        inner := re.sub(r"\(([^()]*)\)", lambda found: "MIT" if is_allowed(found[1]) else "no", expression)
    ) != expression:
        expression = inner
    return any(
        all(part.strip() in ALLOWED for part in choice.split(" AND ")) for choice in re.split(r" OR |/", expression)
    )


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("MIT/GPL-3.0", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", True),
        ("(GPL-2.0 OR GPL-3.0) AND MIT", False),
    ],
)
def test_an_expression_is_allowed_if_a_choice_of_it_is(expression: str, allowed: bool) -> None:
    assert is_allowed(expression) is allowed


def test_every_crate_has_a_licence_that_allows_its_use() -> None:
    licences = {package["name"]: package["license"] or "none" for package in metadata()["packages"]}
    assert len(licences) > 50
    assert {name: licence for name, licence in licences.items() if not is_allowed(licence)} == {}


def test_no_crate_is_built_in_twice() -> None:
    names = [package["name"] for package, _ in linked(["py"], "x86_64-unknown-linux-gnu")]
    assert len(names) > 20
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.parametrize("lock", ["requirements.lock", "requirements-run.lock"])
def test_every_python_package_is_pinned_with_its_checksums(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8").replace("\\\n", "")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    assert len(lines) > 30
    bare = [
        line
        for line in lines
        if not re.fullmatch(r"[\w.-]+==\S+( ; [^#]*?)?(\s+--hash=sha256:[0-9a-f]{64})+", line.strip())
    ]
    assert bare == []


def test_every_crate_is_from_here_or_has_a_checksum() -> None:
    blocks = (ROOT / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]")[1:]
    foreign = [block for block in blocks if "source = " in block]
    assert len(foreign) > 50
    assert [block for block in foreign if not re.search(r'checksum = "[0-9a-f]{64}"', block)] == []
