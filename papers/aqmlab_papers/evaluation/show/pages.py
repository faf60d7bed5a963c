"""Write a short page from an evaluation: ``python -m aqmlab_papers.evaluation.show.pages FOLDER PAGE [FIGURE...]``.

The report beside the evaluation has all that the page leaves out: the numbers of each section, tables and figures.
"""

import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.files import write_text
from aqmlab.kinds import EVALUATION
from aqmlab.reports.image import small_copy
from aqmlab.reports.pages import table
from aqmlab.sealed import unsealed
from aqmlab_papers.evaluation.show.document import SIGNS, beyond, opened
from aqmlab_papers.evaluation.show.files import DOCUMENT
from aqmlab_papers.evaluation.standards import standard_of
from aqmlab_papers.evaluation.verdict import Verdict

Document = Mapping[str, Any]


def write(folder: Path, page: Path, figures: Collection[str] = ()) -> None:
    """Write a page from the folder of an evaluation, with the figures of these names in a folder of the page's name.

    Raises `ValueError` if the evaluation is missing, not whole, or lacks one of the figures.
    """
    found = unsealed(folder / DOCUMENT, EVALUATION, f"aqmlab evaluate --out {folder}")
    if found["failures"] or found["sections"]:
        raise ValueError(f"{folder}: not all sections were evaluated without a failure; aqmlab evaluate does the rest")
    images = page.with_suffix("")
    shutil.rmtree(images, ignore_errors=True)
    written = text(found, figures, images.name)
    for name in figures:
        small_copy(folder / f"{name}.png", images / f"{name}.png")
    write_text(page, written)


def text(found: Document, figures: Collection[str], images: str) -> str:
    """Return the page as Markdown; the figures of these names are in the folder ``images``."""
    standard = standard_of(found)
    labels = ", ".join(f"`{label}`" for label in found["labels"])
    signs = ", ".join(f"{SIGNS[each]} {each}" for each in (Verdict.BETTER, Verdict.WORSE, Verdict.NONE))
    drawn = {each["name"]: (one["heading"], each["text"]) for one in found["guidelines"] for each in one["figures"]}
    if strange := set(figures) - set(drawn):
        raise ValueError(f"{', '.join(sorted(strange))}: the evaluation has the figures {', '.join(drawn)}")
    rows = found["scorecard"]
    parts = [
        f"# {standard.name}: {len(found['labels'])} {standard.nouns}",
        f"*Generated from an evaluation by `make evaluation`; [the reading]({standard.reading}) is by hand.*",
        f"`{found['command']}` made it: {labels}; {found['seeds']} seeds, {found['done']} runs. Its report has the "
        "numbers of each section with their intervals, the figures, and the commands that repeat them.",
        "## Scorecard",
        f"Numbers of measures that are {signs} compared with `{found['reference']}`; in {standard.own[0]} compared "
        f"with {standard.own[1]}.",
        table(
            ["", *(cell["section"] for cell in rows[0]["cells"])],
            [[f"`{row['label']}`", *(cell["text"] for cell in row["cells"])] for row in rows],
        ),
        *found["method"],
        f"The sections: {'; '.join(one['heading'] for one in found['guidelines'])}.",
        *_listed("Beyond a bound of the RFC", beyond(found)),
        *_listed("Open", opened(found)),
    ]
    for name in figures:
        heading, caption = drawn[name]
        parts += [f"![{heading}]({images}/{name}.png)", f"*{heading}. {caption}*"]
    return "\n\n".join(parts) + "\n"


def _listed(heading: str, lines: Sequence[str]) -> list[str]:
    """Return a section that is a list; nothing if that is empty."""
    return [f"## {heading}", "\n".join(f"* {line}" for line in lines)] if lines else []


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
