"""``python site/build.py`` builds out/site from docs/, the command line and the Python API."""

import os
import re
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
ROOT = HERE.parent
SOURCE, SITE = ROOT / "out/site-source", ROOT / "out/site"

INDEXES = ("index.md", "README.md")

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
# What a page would load from a network when it is opened.
_REMOTE = re.compile(r"""<(?:script|link|img|iframe)[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*""")


def copied(page: Path) -> str:
    """Return the text of a page of docs/, its links to files outside docs/ as code."""

    def link(found: re.Match[str]) -> str:
        text, target, _ = found.groups()
        file = Path(os.path.normpath(page.parent / target))
        if "://" in target or file.is_relative_to(ROOT / "docs"):
            return found[0]
        return f"`{file.relative_to(ROOT).as_posix()}`" if text.strip("`") != file.name else text

    return _LINK.sub(link, page.read_text(encoding="utf-8"))


def contents(index: Path) -> str:
    """Return the table of contents that Sphinx needs: the pages that an index links to, in its order."""
    text = index.read_text(encoding="utf-8")
    linked = dict.fromkeys(target for _, target, _ in _LINK.findall(text) if target.endswith(".md"))
    inside = [page for page in linked if (index.parent / page).is_relative_to(index.parent) and ".." not in page]
    more = ["cli", "python", "papers", "theory/index"] if index.parent.name == "reference" else []
    return "\n".join(["", "```{toctree}", ":hidden:", "", *inside, *more, "```", ""])


def main() -> int:
    shutil.rmtree(SOURCE, ignore_errors=True)
    for file in sorted((ROOT / "docs").rglob("*")):
        target = SOURCE / file.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            target.write_text(copied(file) + (contents(file) if file.name in INDEXES else ""), encoding="utf-8")
        elif file.is_file():
            shutil.copy(file, target)
    failed = build_main(["-q", "-W", "--keep-going", "-j", "auto", "-c", str(HERE), str(SOURCE), str(SITE)])
    remote = [
        f"{page}: {found}"
        for page in sorted(SITE.rglob("*.html"))
        for found in _REMOTE.findall(page.read_text(encoding="utf-8"))
    ]
    print("\n".join(remote) or f"{SITE / 'index.html'}", file=sys.stderr if remote else sys.stdout)
    return failed or bool(remote)


if __name__ == "__main__":
    sys.exit(main())
