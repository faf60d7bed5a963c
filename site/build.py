"""``python site/build.py [FOLDER]`` builds FOLDER/site, by default out/site, from docs/, the commands and the API.

The reports that `make reproduce` and `make evaluation` have left in FOLDER become part of it.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from embedding import PLAYGROUND, embedded
from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
ROOT = HERE.parent

INDEXES = ("index.md", "README.md")
"""The names of pages that list the pages of their folder."""

ROOT_PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md")
"""The pages outside docs/ that the site has."""

SIGNPOST = "Where to go"
"""The section of the home page whose links lead to pages of other sections."""

TITLES = {"README.md": "Overview <README.md>"}
"""Pages of the home page's table of contents that have another title there."""

EVALUATIONS = {
    "evaluation/all.md": "rfc7928/index.html",
    "evaluation/papers.md": "rfc7928-papers/index.html",
    "evaluation/senders.md": "rfc9743/index.html",
}
"""The pages that sum an evaluation up, and its report in out/."""

GENERATED = ["reference/cli", "reference/python", "reference/papers", "reference/theory/index"]

_LINK = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
# What a page would load from a network when it is opened.
_REMOTE = re.compile(r"""<(?:script|link|img|iframe)[^>]*\b(?:src|href)=["'](?:https?:)?//[^"']*""")


def place(file: Path) -> str | None:
    """Return the place of a file of the repository on the site, relative to its root; None if it is not there."""
    if file.is_relative_to(ROOT / "docs"):
        return file.relative_to(ROOT / "docs").as_posix()
    return file.name if file in ROOT_PAGES else None


def copied(page: Path) -> str:
    """Return the text of a page with its links as on the site; those to files that are not there become code."""

    def link(found: re.Match[str]) -> str:
        text, target, anchor = found.groups()
        file = Path(os.path.normpath(page.parent / target))
        if "://" in target:
            return found[0]
        if to := place(file):
            return f"[{text}]({os.path.relpath(to, os.path.dirname(place(page) or ''))}{anchor or ''})"
        return f"`{file.relative_to(ROOT).as_posix()}`" if text.strip("`") != file.name else text

    return _LINK.sub(link, page.read_text(encoding="utf-8"))


def report(page: str, out: Path) -> Path | None:
    """Return the report that a page of the site sums up; None if there is none, or if it has not been made."""
    folder, name = os.path.split(page.removesuffix(".md"))
    made = f"reproduce/{name}/report.html" if folder == "papers" else EVALUATIONS.get(page)
    return out / made if made and (out / made).is_file() else None


def contents(index: Path, text: str) -> str:
    """Return the tables of contents that Sphinx needs: for each section of an index, the pages that it links to.

    `text` is the index as on the site.
    """
    trees: list[str] = []
    listed: set[str] = set()
    for section in re.split(r"^## ", text, flags=re.MULTILINE):
        title = section.partition("\n")[0]
        targets = dict.fromkeys(target for _, target, _ in _LINK.findall(section) if target.endswith((".md", ".ipynb")))
        if title == SIGNPOST:
            continue
        own = (page for page in targets if ".." not in page and not is_listed_below(index.parent, page))
        pages = [page for page in own if page not in listed]
        listed |= set(pages)
        pages += GENERATED if index == ROOT / "docs/index.md" and title == "Reference" else []
        if index == ROOT / "docs/index.md":
            pages = [TITLES.get(page, page) for page in pages]
        if pages:
            caption = [] if title.startswith("#") else [f":caption: {title}"]
            trees.append("\n".join(["", "```{toctree}", ":hidden:", *caption, "", *pages, "```", ""]))
    return "\n".join(trees)


def is_listed_below(folder: Path, page: str) -> bool:
    """Whether the index of the page's own folder lists it."""
    inner = (folder / page).parent
    return inner != folder and any((inner / name).exists() for name in INDEXES) and Path(page).name not in INDEXES


def main() -> int:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "out"
    source, site = out / "site-source", out / "site"
    playground = ROOT / "out" / PLAYGROUND
    shutil.rmtree(source, ignore_errors=True)
    reports: dict[Path, Path] = {}
    for file in sorted((ROOT / "docs").rglob("*")):
        target = source / file.relative_to(ROOT / "docs")
        target.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix == ".md":
            text = copied(file)
            if playground.is_file():
                text = embedded(file, text, place(file) or "")
            page = file.relative_to(ROOT / "docs")
            if whole := report(page.as_posix(), out):
                reports[page.with_suffix("")] = whole.parent
                text += f'\n<a href="{page.stem}/{whole.name}">The report, with all numbers and figures</a>\n'
            target.write_text(text + (contents(file, text) if file.name in INDEXES else ""), encoding="utf-8")
        elif file.is_file():
            shutil.copy(file, target)
    for file in ROOT_PAGES:
        (source / file.name).write_text(copied(file), encoding="utf-8")
    # The kernels of the notebooks use no settings of the user, and write nothing to the user's folder.
    profile = out / "ipython/profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    (profile / "ipython_kernel_config.py").write_text(
        'get_config().IPKernelApp.log_level = "ERROR"\n', encoding="utf-8"
    )
    os.environ["IPYTHONDIR"] = str(profile.parent.resolve())
    shutil.rmtree(site / "playground", ignore_errors=True)
    if playground.is_file():
        (site / PLAYGROUND).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(playground, site / PLAYGROUND)
    else:
        print(f"without the playground: {playground} is missing; `make setup` builds it", file=sys.stderr)
    failed = build_main(["-q", "-W", "--keep-going", "-j", "auto", "-c", str(HERE), str(source), str(site)])
    for page, folder in reports.items():
        shutil.rmtree(site / page, ignore_errors=True)
        shutil.copytree(folder, site / page, ignore=shutil.ignore_patterns("store"))
    remote = [
        f"{page}: {found}"
        for page in sorted(site.rglob("*.html"))
        for found in _REMOTE.findall(page.read_text(encoding="utf-8"))
    ]
    print("\n".join(remote) or f"{site / 'index.html'}", file=sys.stderr if remote else sys.stdout)
    return failed or bool(remote)


if __name__ == "__main__":
    sys.exit(main())
