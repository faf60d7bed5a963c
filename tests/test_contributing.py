"""CONTRIBUTING.md's instructions for adding an AQM, followed to the letter in a copy of the crate."""

import os
import re
import shutil
import subprocess

import pytest
from conftest import ROOT

TREE = ROOT / "target" / "contributing"
"""The copy. Its path is constant, which lets cargo reuse earlier builds."""

QUICK = """
[profile.test.package.aqm]
opt-level = 1
debug = 0
"""
"""Quick to build and quick enough to run. The crate's dependencies are already built for the other tests."""

FILE = "crates/aqm/src/aqm/erd.rs"
LIST = "crates/aqm/src/aqm.rs"


def example() -> tuple[str, str]:
    """Return the example's file and line."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page[page.index("## Adding an AQM") :].partition("\n## ")[0]
    assert f"`{FILE}`" in section
    assert f"`{LIST}`" in section
    # The file's head contains a block of text, hence a block ends only at a fence that opens a line.
    file, line = re.findall(r"^```rust\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    return file, line


def copy() -> None:
    """Copy the crate, and the workspace without other members."""
    shutil.rmtree(TREE, ignore_errors=True)
    TREE.mkdir(parents=True)
    for name in ("Cargo.lock", ".cargo", "rustfmt.toml"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, TREE / name)
    for folder in ("crates/aqm", "kernel"):
        shutil.copytree(ROOT / folder, TREE / folder)
    whole = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    workspace, changes = re.subn(r"^members = .*$", 'members = ["crates/aqm"]', whole, flags=re.MULTILINE)
    assert changes == 1
    (TREE / "Cargo.toml").write_text(workspace + QUICK, encoding="utf-8")


def call(*command: str) -> str:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(ROOT / "target"), "CARGO_TERM_COLOR": "never"}
    done = subprocess.run(command, cwd=TREE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# On a fresh clone this first builds the crates that the tests need.
@pytest.mark.timeout(1200)
def test_the_example_of_a_new_discipline_works_to_the_letter() -> None:
    file, line = example()
    copy()
    (TREE / FILE).write_text(file, encoding="utf-8")
    listed = (TREE / LIST).read_text(encoding="utf-8")
    before, opening, entries = listed.partition("\n    one queue {\n")
    assert opening
    inside, end, after = entries.partition("\n    }\n")
    assert end
    (TREE / LIST).write_text(f"{before}{opening}{inside}\n{line.rstrip()}{end}{after}", encoding="utf-8")
    (TREE / "crates/aqm/tests/named.rs").write_text(
        "//! The new name is in the list.\n\n"
        '#[test]\nfn it_is_listed() {\n    assert!(aqm::aqm::NAMES.contains(&"erd"));\n}\n',
        encoding="utf-8",
    )
    call("rustfmt", "--check", "--edition", "2024", FILE)
    whole = TREE / "crates/aqm/tests/all.rs"
    whole.write_text(f"{whole.read_text(encoding='utf-8')}mod named;\n", encoding="utf-8")
    told = call("cargo", "test", "-p", "aqm", "--lib", "--test", "all")
    assert "aqm::erd::tests::arrivals_above_the_level_are_dropped_at_random ... ok" in told
    assert "it_is_listed ... ok" in told
    assert "every_algorithm_builds_from_its_defaults_and_presets ... ok" in told
