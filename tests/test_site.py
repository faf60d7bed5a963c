"""The documentation builds as a site, without a warning, and loads nothing from a network."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.mark.timeout(900)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "site/build.py"), str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {page.relative_to(tmp_path / "site").as_posix() for page in (tmp_path / "site").rglob("*.html")}
    assert {"index.html", "README.html", "CONTRIBUTING.html", "search.html"} <= pages
    assert {"reference/cli.html", "reference/python.html"} <= pages
    assert {
        "tutorial/index.html",
        "tutorial/own-aqm.html",
        "tutorial/9-rust.html",
        "notebooks/disciplines.html",
    } <= pages
    assert {"reference/aqms/lred.html", "theory/loop.html", "papers/lred.html"} <= pages
    commands = (tmp_path / "site/reference/cli.html").read_text(encoding="utf-8")
    assert all(f"aqmlab {name}" in commands for name in ("run", "sweep", "design lred"))
    assert "--seeds" in commands
    notebook = (tmp_path / "site/notebooks/disciplines.html").read_text(encoding="utf-8")
    assert notebook.count("<img") >= 3, "the notebook is shown with its figures"
    assert "<math" in (tmp_path / "site/theory/loop.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted((ROOT / "docs").rglob("*.ipynb")), ids=lambda file: file.stem)
def test_notebooks_are_stored_without_outputs(file: Path) -> None:
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    assert [cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
