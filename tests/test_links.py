"""Every link between the pages leads somewhere, and every page that is named exists."""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(<?([^()<>\s]+)>?\)")
NAMED = re.compile(r"\bdocs/[\w./-]+\.(?:md|png)\b")
FILE = re.compile(r"`((?:crates|python|tests|benches|docs)/[\w./-]*\w/?)`")

EXAMPLES = {"crates/aqm/src/aqm/mine.rs", "crates/aqm/src/aqm/erd.rs"}
"""Files that the reader of a page is asked to write."""


@cache
def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def unfenced(page: Path) -> str:
    """Return the page's text without its fenced blocks."""
    return re.sub(r"(?ms)^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    return LINK.findall(re.sub(r"`[^`\n]*`", "code", unfenced(page)))


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    found: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", unfenced(page), re.MULTILINE):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        again = sum(slug == one or re.fullmatch(rf"{re.escape(slug)}-\d+", one) is not None for one in found)
        found.add(f"{slug}-{again}" if again else slug)
    return found


def broken(page: Path) -> list[str]:
    """Return the relative links of a page that lead to no file, or to no heading of it."""
    lost = []
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            lost.append(link)
    return lost


PAGES = tracked("*.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    text = "# A `b`, c\n[1](page.md#a-b-c) [2](page.md#d) [3](none.md) `[4](none.md)`\n```\n[5](none.md)\n```\n"
    page.write_text(text, encoding="utf-8")
    assert broken(page) == ["page.md#d", "none.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = set(FILE.findall(page.read_text(encoding="utf-8"))) - EXAMPLES
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_pages_that_code_names_exist() -> None:
    own = {Path(__file__), ROOT / "tests" / "test_reproduce.py"}  # the latter writes pages of its own
    for file in tracked("*.py", "*.rs", "*.toml", "*.sh", "Makefile"):
        if file not in own:
            named = set(NAMED.findall(file.read_text(encoding="utf-8")))
            assert [name for name in sorted(named) if not (ROOT / name).exists()] == [], file


def test_the_index_leads_to_every_page() -> None:
    reached, open_ = set[Path](), [ROOT / "docs" / "index.md"]
    while open_:
        page = open_.pop()
        reached.add(page)
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page) if ":" not in link}
        open_ += [one for one in targets if one.suffix == ".md" and one.exists() and one not in reached]
    assert set(tracked("docs/*.md")) <= reached
