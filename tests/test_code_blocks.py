"""Every code block of the pages runs, prints what the page shows, or names the reason why it is not run."""

import re
from pathlib import Path

import pytest
from blocks import figure
from blocks.page import CHAPTERS, PAGES, ROOT, Block, Image, parts
from blocks.run import Session, agree, run

TUTORIAL = sorted((ROOT / "docs/tutorial").glob("*.toml"))

LANGUAGES = {"console", "sh", "python", "toml"}
"""The languages that are run."""

MARGIN = 0.3
"""The largest mean difference of grey levels; machines draw letters alike, and another seed makes a difference of 2."""

QUOTED = {"math", "text"}
"""The languages of formulas and listings, which nothing runs."""


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    return [part for part in parts(page.read_text(encoding="utf-8")) if isinstance(part, Block)]


def is_run(block: Block) -> bool:
    return block.language in LANGUAGES and not block.notes.keys() & {"not run", "tested by"}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_block_is_run_or_names_the_reason(page: Path) -> None:
    for block in blocks(page):
        where = f"{name(page)}:{block.line}"
        if block.language not in LANGUAGES | QUOTED:
            assert block.notes.keys() & {"not run", "tested by"}, (
                f"{where}: nothing runs the language {block.language!r}"
            )
        if "tested by" in block.notes:
            test = ROOT / block.notes["tested by"]
            assert page.name in test.read_text(encoding="utf-8"), f"{where}: {test} does not read the page"
        assert block.notes.get("not run", "reason"), f"{where}: why?"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page not in CHAPTERS and any(map(is_run, blocks(page)))], ids=name
)
@pytest.mark.timeout(300)
def test_blocks_run_and_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    require_agreement(page, tmp_path)


@pytest.mark.timeout(600)
def test_the_tutorial_runs_from_its_first_chapter_to_its_last_in_one_folder(tmp_path: Path) -> None:
    assert {*CHAPTERS, ROOT / "docs/tutorial/index.md"} == set((ROOT / "docs/tutorial").glob("*.md"))
    for chapter in CHAPTERS:
        require_agreement(chapter, tmp_path)


def require_agreement(page: Path, folder: Path) -> None:
    """Run a page's blocks in a folder; what they print and draw must be what the page shows."""
    for block, printed in run(page, folder):
        for (command, shown), now in zip(block.shown, printed, strict=True):
            assert agree(shown, now), f"$ {command}\n{now}\nThe page shows:\n{shown}\n`make docs` records the output."
    for image in parts(page.read_text(encoding="utf-8")):
        if isinstance(image, Image):
            now_drawn, committed = folder / "figure.png", page.parent / image.target
            figure.save(folder / image.source, now_drawn)
            assert figure.difference(now_drawn, committed) < MARGIN, f"{image.target} is out of date: run `make docs`"
            assert committed.stat().st_size < figure.LARGEST


@pytest.mark.parametrize("file", TUTORIAL, ids=name)
def test_the_tutorial_shows_each_of_its_scenarios(file: Path) -> None:
    shown = [
        block.text
        for page in sorted(file.parent.glob("*.md"))
        for block in blocks(page)
        if block.notes.get("file") == file.name
    ]
    assert shown
    assert set(shown) == {file.read_text(encoding="utf-8")}


@pytest.mark.parametrize("page", sorted((ROOT / "docs/tutorial").glob("*.md")), ids=name)
def test_the_tutorial_names_no_number_that_its_commands_do_not_print(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    code = [block.text for block in blocks(page)]
    prose = text
    for block in code:
        prose = prose.replace(block, "")
    numbers = set(re.findall(r"(?<!≈ )\b\d+\.\d+", prose))  # ≈ marks those computed from printed ones
    assert numbers <= set(re.findall(r"\d+\.\d+", "".join(code)))


def test_a_wrong_output_is_found() -> None:
    assert agree("a\n...\nd\n", "a\nb\nc\nd\n")
    assert agree("(seed 1; aqmlab 0.1.0)", "(seed 1; aqmlab 0.2.0+0123456789abcdef)")
    assert not agree("a\n", "a\nb\n")
    assert not agree("a 1.0\n", "a 1.1\n")


@pytest.mark.parametrize("text", ["```sh\naqmlab run none.toml\n```\n", "```toml\n[dumbel]\n```\n"])
def test_a_block_that_fails_is_found(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = parts(text)
    assert isinstance(block, Block)
    with pytest.raises(AssertionError, match=r"none\.toml|dumbel"):
        Session().run(block, "page.md")


def test_a_comment_belongs_to_the_block_that_follows() -> None:
    block, plain, image = parts(
        "<!-- not run: slow -->\n```sh\nmake\n```\n```python\n1\n```\n<!-- figure: a/b.png -->\n![x](c.png)\n"
    )
    assert isinstance(block, Block)
    assert isinstance(plain, Block)
    assert block.notes == {"not run": "slow"}
    assert not plain.notes
    assert image == Image("c.png", "a/b.png")
    with pytest.raises(AssertionError, match="nothing follows"):
        parts("<!-- not run: slow -->\n# Title\n")
