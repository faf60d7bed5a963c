"""The documentation builds as a site, without a warning, and loads nothing from a network."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from conftest import ROOT

from aqmlab import Scenario
from aqmlab.playground.address import Address

sys.path.insert(0, str(ROOT / "site"))
import embedding

AQMS = sorted(set((ROOT / "docs/reference/aqms").glob("*.md")) - {ROOT / "docs/reference/aqms/index.md"})
CHAPTERS = sorted(set((ROOT / "docs/tutorial").glob("*.md")) - {ROOT / "docs/tutorial/index.md"})
PLAYED = [*AQMS, *CHAPTERS, ROOT / "docs/guide/playground.md"]
"""The pages that have the playground."""

RATE, MEMORY = 2e4, 100e6
"""Packets per second of simulated time, and bytes of memory, that a page can afford for each discipline."""


@pytest.mark.timeout(900)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    (tmp_path / "reproduce/lred").mkdir(parents=True)
    (tmp_path / "reproduce/lred/report.html").write_text("of this paper", encoding="utf-8")
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
    assert (tmp_path / "site/papers/lred/report.html").read_text(encoding="utf-8") == "of this paper"
    assert 'href="lred/report.html"' in (tmp_path / "site/papers/lred.html").read_text(encoding="utf-8")
    assert "report.html" not in (tmp_path / "site/papers/raqm.html").read_text(encoding="utf-8")
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


def views(page: Path) -> list[Address]:
    return [address for _, address in embedding.trials(page, page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PLAYED, ids=lambda page: page.stem)
def test_a_page_has_the_playground_with_a_scenario_that_a_browser_can_run(page: Path) -> None:
    (address,) = views(page)
    view = Address.parse(f"{address.fragment}&embed")
    assert view == replace(address, embed=True)
    scenario = Scenario.load(view.scenario) if view.scenario else Scenario.parse(view.toml or "")
    for spec in view.aqms or [scenario.aqm]:
        shown = scenario.with_(aqm=spec) if view.aqms else scenario
        for setting in view.settings:
            shown = shown._with_text(*setting.split("=", 1))
        shown.check()
        assert shown._packets / shown.duration < RATE
        assert shown._memory < MEMORY
    if page in AQMS:
        assert page.stem in (view.aqms or [scenario.aqm])


def test_no_line_to_try_is_overlooked() -> None:
    named = {page for page in (ROOT / "docs").rglob("*.md") if "Try it:" in page.read_text(encoding="utf-8")}
    assert named == set(PLAYED)


def test_the_frame_stands_below_its_paragraph(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("A\n\nTry it: `aqmlab playground quickstart\n--aqm pi:q_ref=9` opens\nit.\n\nB\n", encoding="utf-8")
    text = embedding.embedded(page, page.read_text(encoding="utf-8"), "reference/aqms/page.md")
    assert text.startswith("A\n\nTry it: `aqmlab playground quickstart\n--aqm pi:q_ref=9` opens\nit.\n\n<div")
    assert text.endswith("</div>\n\nB\n")
    target = "../../playground/index.html#scenario=quickstart&amp;aqm=pi:q_ref=9"
    assert re.findall(r'<iframe src="([^"]*)" title="([^"]*)"', text) == [
        (f"{target}&amp;embed", "The playground: quickstart and pi:q_ref=9")
    ]
    assert re.findall(r'<a href="([^"]*)"', text) == [target]


def test_a_command_that_would_fail_is_an_error(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    with pytest.raises(ValueError, match="no such file"):
        embedding.embedded(page, "Try it: `aqmlab playground none.toml`", "page.md")
    with pytest.raises(typer.BadParameter, match="not a valid int"):
        embedding.embedded(page, "Try it: `aqmlab playground --port x`", "page.md")
