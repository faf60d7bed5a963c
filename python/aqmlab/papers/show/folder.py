"""The folder of a reproduction: figures, the data behind them, the report, and the findings as JSON."""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.figures import runs as general
from aqmlab.files import json_text, parquet, replacing
from aqmlab.papers.describe.paper import Figure
from aqmlab.papers.judge.findings import Assessment, Watch
from aqmlab.papers.show import layout, matplotlib, report
from aqmlab.papers.show.browser import specification
from aqmlab.papers.show.document import Document, document
from aqmlab.papers.show.layout import Sheet, colours, sheet
from aqmlab.papers.show.texts import FINDINGS
from aqmlab.sealed import sealed, unsealed

if TYPE_CHECKING:
    import polars

_WORTH = 8
"""From how many figures on another process is sooner done, for all that it has to import first."""


def write(
    assessment: Assessment,
    folder: Path,
    command: str,
    seconds: float | None = None,
    jobs: int = 1,
    made_from: str = "",
    watch: Watch | None = None,
) -> list[str]:
    """Write all that was found, but for what is there already.

    Parameters
    ----------
    assessment : Assessment
        Figures, tables and verdicts.
    folder : Path
        Where to.
    command : str
        The command line, for the reader to repeat.
    seconds : float
        How long it took to run.
    jobs : int
        How many figures to draw at a time. More than one takes processes that import the calling program anew.
    made_from : str
        What tells whether all this is to be made again: the findings keep it.
    watch : callable
        Called after each figure.

    Returns
    -------
    list of str
        The files' names: of each figure ``NAME.svg``, ``.png``, ``.parquet`` and ``.csv``, of each table the last two,
        ``report.html`` and ``findings.json``.
    """
    figures = [one for one in assessment.drawn if isinstance(one.item, Figure)]
    colour = colours(assessment.findings.paper, figures)
    main = assessment.findings.evidence["paper"]
    sheets = {one.item.name: sheet(one, colour, main) for one in figures}
    found = document(assessment, sheets, command, seconds) | {"made_from": made_from}
    for item in found["items"]:
        if item["kind"] == "figure":
            item["drawn_from"] = _digest(sheets[item["name"]])
    files = [file for item in found["items"] for file in item["files"]]
    before = _before(folder)
    _keep_times(found, before)
    if before == found and all((folder / name).is_file() for name in (*files, "report.html")):
        return [*files, "report.html", FINDINGS]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FINDINGS).unlink(missing_ok=True)  # while the files are of different runs there shall be no such sign
    for one in assessment.drawn:
        for form, data in _data(one.frame).items():
            _write(folder / f"{one.item.name}.{form}", data)
    changed = {name: sheets[name] for name in _changed(found, before, folder)}
    for number, (name, images) in enumerate(_images(changed, jobs), 1):
        if watch:
            watch(f"{number} of {len(changed)} figures drawn", number / len(changed))
        for form, data in images.items():
            _write(folder / f"{name}.{form}", data)
    _write(folder / "report.html", report.text(found, sheets).encode())
    _write(folder / FINDINGS, sealed(found))
    return [*files, "report.html", FINDINGS]


def _before(folder: Path) -> Document:
    """Read what an earlier call has found; nothing if it was stopped."""
    try:
        return unsealed(folder / FINDINGS, "")
    except (OSError, ValueError):
        return {}


def _keep_times(found: Document, before: Mapping[str, Any]) -> None:
    """When nothing was left to run, what it once took tells more than what it takes to look."""
    if found["simulated"] == 0 and before.get("done") == found["done"]:
        found |= {key: before[key] for key in ("seconds", "simulated") if key in before}


def _changed(found: Document, before: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Name the figures whose images are not those of the same data."""
    old = {item["name"]: item.get("drawn_from") for item in before.get("items", [])}
    for item in found["items"]:
        if item["kind"] == "figure":
            there = all((folder / f"{item['name']}.{form}").is_file() for form in ("svg", "png"))
            if not there or old.get(item["name"]) != item["drawn_from"]:
                yield item["name"]


def _digest(one: Sheet) -> str:
    """Tell figures apart: by all that they show, and by what draws them."""
    shown = hashlib.sha256(json_text({"title": one.title, "small": one.small_print, **specification(one)}).encode())
    for module in (general, matplotlib, layout):
        shown.update(Path(str(module.__file__)).read_bytes())
    return shown.hexdigest()[:16]


def _images(sheets: Mapping[str, Sheet], jobs: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    if jobs < 2 or len(sheets) < _WORTH:
        for name, one in sheets.items():
            yield name, matplotlib.images(one)
        return
    yield from zip(sheets, _pool(jobs).map(matplotlib.images, sheets.values()), strict=True)


@cache
def _pool(jobs: int) -> ProcessPoolExecutor:
    """Give processes to draw in; kept for the next paper, as what they import takes as long as several figures."""
    # Not a fork: the threads of polars would not be in it, but their locks.
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_let_be)


def _let_be() -> None:
    """Leave Ctrl-C to the process that draws for the user."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _data(frame: polars.DataFrame) -> dict[str, bytes]:
    return {"parquet": parquet(frame), "csv": frame.write_csv().encode()}


def _write(file: Path, data: bytes) -> None:
    """Write a file, unless it is there already."""
    if file.is_file() and file.read_bytes() == data:
        return
    with replacing(file) as temporary:
        temporary.write_bytes(data)
