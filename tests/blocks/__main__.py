"""``python -m blocks [PAGE …]`` writes what the commands of the pages print, and the figures that they draw."""

import sys
import tempfile
from pathlib import Path

from blocks import figure
from blocks.page import CHAPTERS, PAGES, Image, parts
from blocks.run import agree, run


def outline(text: str) -> list[str]:
    """Return the lines of an output without blanks at their ends and blank lines at its ends."""
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def record(pages: list[Path]) -> None:
    """Write the outputs and images of pages that share a folder anew; an output that agrees with its page stays."""
    with tempfile.TemporaryDirectory() as name:
        for page in pages:
            print(page)
            _record(page, Path(name))


def _record(page: Path, folder: Path) -> None:
    text = page.read_text(encoding="utf-8")
    lines = text.split("\n")
    for block, printed in reversed(run(page, folder)):
        pairs = list(zip(block.shown, printed, strict=True))
        if not all(agree(shown, now) for (_, shown), now in pairs):
            new = [([f"$ {command}"] if command else []) + outline(now) for (command, _), now in pairs]
            start = block.line - 1
            lines[start : start + block.text.count("\n")] = [line for one in new for line in one]
    page.write_text("\n".join(lines), encoding="utf-8")
    for image in parts(text):
        if isinstance(image, Image):
            figure.save(folder / image.source, page.parent / image.target)


wanted = [Path(name).resolve() for name in sys.argv[1:]] or PAGES
for page in wanted:
    if page not in CHAPTERS and "```console\n" in page.read_text(encoding="utf-8"):
        record([page])
if set(wanted) & set(CHAPTERS):
    record(CHAPTERS)
