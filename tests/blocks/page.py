"""The code blocks of a page, its figures, and the comments that say how they are tested."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[2]

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

_INDEX = ROOT / "docs/tutorial/index.md"

CHAPTERS = [
    _INDEX.parent / name
    for name in re.findall(r"^\| \[\d+\. .*?\]\((.+?)\)", _INDEX.read_text(encoding="utf-8"), re.MULTILINE)
]
"""The tutorial, in the order of its index: a reader calls the commands of all chapters in one folder."""

NOTES = {
    "not run": "why a block is not run",
    "tested by": "the file of the test that runs a block",
    "run with": "options that shorten the simulations of a block",
    "first": "Python code that a page leaves out",
    "file": "the name under which a block is saved in the folder in which the page's commands run",
    "printed": "a text is the output of the Python block above it",
    "figure": "the file, written by the page's commands, from which an image is made",
}
"""The comments ``<!-- NAME: TEXT -->``, each directly before what it describes."""

_NOTE = re.compile(rf"<!-- ({'|'.join(NOTES)}):\s(.*?)\s*-->", re.DOTALL)


_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)\n?((?:(?!\$ ).*\n)*)", re.MULTILINE)
"""A command, continued after a backslash, and its output."""


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    line: int
    """The line of the page at which the content begins, from 1."""
    language: str
    text: str
    notes: Mapping[str, str]

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Each command of a ``console`` block, after its prompt, and the output below it; or an output alone."""
        if "printed" in self.notes:
            return [("", self.text)]
        if self.language != "console":
            return []
        assert self.text.startswith("$ "), f"line {self.line}: a console block begins with a prompt"
        return _COMMAND.findall(self.text)


@dataclass(frozen=True)
class Image:
    """An image of a page that the page's commands make."""

    target: str
    """The path of the image, relative to the page."""
    source: str
    """The file from which it is made, relative to the folder in which the page's commands run."""


def parts(text: str) -> list[Block | Image]:
    """Return the code blocks and the images made by commands, in the order of the page."""
    found: list[Block | Image] = []
    notes: dict[str, str] = {}
    for token in MarkdownIt().parse(text):
        if token.type == "html_block":
            notes |= dict(_NOTE.findall(token.content))
        elif token.type in ("fence", "code_block"):
            assert token.map
            first = token.map[0] + (token.type == "fence")
            found.append(Block(first + 1, token.info.strip(), token.content, notes))
            notes = {}
        elif token.type == "inline" and (source := notes.pop("figure", None)):
            (image,) = (child for child in token.children or () if child.type == "image")
            found.append(Image(str(image.attrs["src"]), source))
        elif token.type != "paragraph_open":
            assert not notes, f"nothing follows the comment {notes}"
    return found
