"""Every link between the pages leads somewhere, and every page that is named exists."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\[\]]*\])*\]\(<?([^()<>\s]+)>?\)")
NAMED = re.compile(r"\bdocs/[\w./-]+\.(?:md|png)\b")
FILE = re.compile(r"`((?:crates|python|tests|benches|docs|release)/[\w./-]*\w/?)`")

QUOTED = re.compile(r"(?<![\w./-])[\w-][\w./-]*\.(?:css|csv|html|jsonl|lock|md|py|rs|sh|tcl|toml)\b")

EXAMPLES = {"crates/aqm/src/aqm/mine.rs", "crates/aqm/src/aqm/erd.rs"}
"""Files that the reader of a page is asked to write."""

ELSEWHERE = {"ns-default.tcl", "report.html", "scenario.toml", "x.toml"}
"""Files that comments name and the repository does not have: examples, those of ns-2, and those that aqmlab writes."""

FOLDERS = ("benches", "crates", "docs", "examples", "papers", "python", "release", "site", "tests")
BUILT = {"__pycache__", "target"}


@cache
def files(*endings: str) -> list[Path]:
    """Return the files with these endings, without built ones."""
    found = [file for file in ROOT.iterdir() if file.is_file()]
    found += [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.*")]
    sources = (file for file in found if not BUILT & set(file.relative_to(ROOT).parts))
    return sorted(file for file in sources if file.name.endswith(endings))


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


PAGES = [file for file in files(".md") if file.name != "page.md"]
"""All pages; that of a paper is checked where it stands filled, in docs/papers."""


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
    for file in files(".py", ".rs", ".toml", ".sh", "Makefile"):
        if file not in own:
            named = set(NAMED.findall(file.read_text(encoding="utf-8")))
            assert [name for name in sorted(named) if not (ROOT / name).exists()] == [], file


def remarks(file: Path) -> Iterator[str]:
    """Yield the comments and docstrings of a program."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".rs":
        yield from re.findall(r"//.*", text)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value.value


def unknown(file: Path) -> list[str]:
    """Return the file names in a program's comments and docstrings that no file of the repository has."""
    named = {name for remark in remarks(file) for name in QUOTED.findall(remark)} - EXAMPLES - ELSEWHERE
    named = {name for name in named if "NAME" not in name}  # stands for any name
    return sorted(name for name in named if not any(path.endswith(f"/{name}") for path in paths()))


@cache
def paths() -> list[str]:
    return [f"/{file.relative_to(ROOT).as_posix()}" for file in files("")]


def test_files_that_comments_name_exist() -> None:
    found = {str(file.relative_to(ROOT)): unknown(file) for file in files(".py", ".rs")}
    assert len(found) > 400
    assert {file: names for file, names in found.items() if names} == {}


def test_an_unknown_file_in_a_comment_is_found(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text('"""See `README.md`, none.md."""\nx = "own.toml"  # by theory/laws.py, not theory/laws.rs\n')
    assert unknown(program) == ["none.md", "theory/laws.rs"]
    module = tmp_path / "module.rs"
    module.write_text("//! See `aqm.rs`, gone/aqm.rs.\n")
    assert unknown(module) == ["gone/aqm.rs"]


def test_the_index_leads_to_every_page() -> None:
    reached, open_ = set[Path](), [ROOT / "docs" / "index.md"]
    while open_:
        page = open_.pop()
        reached.add(page)
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page) if ":" not in link}
        open_ += [one for one in targets if one.suffix == ".md" and one.exists() and one not in reached]
    assert {page for page in PAGES if ROOT / "docs" in page.parents} <= reached
