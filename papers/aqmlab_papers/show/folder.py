"""The folder of a reproduction: figures, their data, the report, and the findings as JSON."""

from __future__ import annotations

import hashlib
import multiprocessing
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab.figures import matplotlib, model
from aqmlab.figures.browser import specification
from aqmlab.files import REPORT, json_text, parquet, remaking, replacing
from aqmlab.kinds import FIGURE_DATA
from aqmlab.kinds import FINDINGS as KIND
from aqmlab.sealed import sealed, unsealed
from aqmlab_papers.describe.paper import Figure
from aqmlab_papers.judge.findings import Assessment, Watch
from aqmlab_papers.show import layout, report
from aqmlab_papers.show.document import Document, document
from aqmlab_papers.show.layout import colours, sheet
from aqmlab_papers.show.texts import FINDINGS

if TYPE_CHECKING:
    import polars

_WORTH = 8
"""The number of figures from which more processes are faster, although each must first import the drawing code."""


def write(
    assessment: Assessment,
    folder: Path,
    command: str,
    seconds: float | None = None,
    jobs: int = 1,
    made_from: str = "",
    watch: Watch | None = None,
) -> list[str]:
    """Write all findings, except files that are up to date; return the names of all files.

    The files are ``NAME.svg``, ``.png``, ``.parquet`` and ``.csv`` for each figure, the last two for each table,
    ``report.html`` and ``findings.json``. ``seconds`` is the time that the runs took. With ``jobs`` above 1, figures
    are drawn in processes that import the calling program anew. ``made_from`` is the fingerprint to keep in the
    findings. ``watch`` is called after each figure.
    """
    sheets = _sheets(assessment)
    found = _found(assessment, sheets, command, seconds, made_from)
    files = [file for item in found["items"] for file in item["files"]]
    before = _before(folder)
    _keep_times(found, before)
    if before == found and all((folder / name).is_file() for name in (*files, REPORT)):
        return [*files, REPORT, FINDINGS]
    with remaking(folder / FINDINGS):
        for one in assessment.drawn:
            for form, data in _data(one.frame).items():
                _write(folder / f"{one.item.name}.{form}", data)
        changed = {name: sheets[name] for name in _changed(found, before, folder)}
        for number, (name, images) in enumerate(_images(changed, jobs), 1):
            if watch:
                watch(f"{number} of {len(changed)} figures drawn", number / len(changed))
            for form, data in images.items():
                _write(folder / f"{name}.{form}", data)
        _write(folder / REPORT, report.text(found, sheets).encode())
        _write(folder / FINDINGS, sealed(found))
    return [*files, REPORT, FINDINGS]


def contents(assessment: Assessment, known: Document, watch: Watch | None = None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file that `write` writes.

    ``known`` has the findings of an earlier call with the same runs, from which come the command, the number of runs
    that were not in the store, and the time that they took. ``watch`` is called after each figure.
    """
    sheets = _sheets(assessment)
    found = _found(assessment, sheets, known["command"], known["seconds"], known["made_from"])
    found["simulated"] = known["simulated"]
    yield FINDINGS, sealed(found)
    yield REPORT, report.text(found, sheets).encode()
    for one in assessment.drawn:
        yield from ((f"{one.item.name}.{form}", data) for form, data in _data(one.frame).items())
    for number, (name, images) in enumerate(_images(sheets, 1), 1):
        yield from ((f"{name}.{form}", data) for form, data in images.items())
        if watch:
            watch(f"{number} of {len(sheets)} figures drawn", number / len(sheets))


def _sheets(assessment: Assessment) -> dict[str, model.Figure]:
    """Lay out every figure."""
    figures = [one for one in assessment.drawn if isinstance(one.item, Figure)]
    colour = colours(assessment.findings.paper, figures)
    return {one.item.name: sheet(one, colour, assessment.findings.judging) for one in figures}


def _found(
    assessment: Assessment, sheets: Mapping[str, model.Figure], command: str, seconds: float | None, made_from: str
) -> Document:
    found = document(assessment, dict(sheets), command, seconds) | {"made_from": made_from}
    for item in found["items"]:
        if item["kind"] == "figure":
            item["drawn_from"] = _digest(sheets[item["name"]])
    return found


def _before(folder: Path) -> Document:
    """Read the findings of an earlier call; empty if it did not finish."""
    try:
        return unsealed(folder / FINDINGS, KIND, "")
    except (OSError, ValueError):
        return {}


def _keep_times(found: Document, before: Mapping[str, Any]) -> None:
    """Keep the recorded duration if no run was missing: the time of a look-up is of no interest."""
    if found["simulated"] == 0 and before.get("done") == found["done"]:
        found |= {key: before[key] for key in ("seconds", "simulated") if key in before}


def _changed(found: Document, before: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """Yield the names of the figures whose images are missing or were drawn from other data."""
    old = {item["name"]: item.get("drawn_from") for item in before.get("items", [])}
    for item in found["items"]:
        if item["kind"] == "figure":
            there = all((folder / f"{item['name']}.{form}").is_file() for form in ("svg", "png"))
            if not there or old.get(item["name"]) != item["drawn_from"]:
                yield item["name"]


def _digest(one: model.Figure) -> str:
    """Hash all that a figure shows, and the code that lays it out and draws its images."""
    shown = hashlib.sha256(json_text({"title": one.title, "small": one.small_print, **specification(one)}).encode())
    for module in (model, matplotlib, layout):
        shown.update(Path(str(module.__file__)).read_bytes())
    return shown.hexdigest()[:16]


def _images(sheets: Mapping[str, model.Figure], jobs: int) -> Iterator[tuple[str, dict[str, bytes]]]:
    if jobs < 2 or len(sheets) < _WORTH:
        for name, one in sheets.items():
            yield name, matplotlib.images(one)
        return
    yield from zip(sheets, _pool(jobs).map(matplotlib.images, sheets.values()), strict=True)


@cache
def _pool(jobs: int) -> ProcessPoolExecutor:
    """Return worker processes. They are kept for the next paper: their imports take as long as several figures."""
    # Spawned, not forked: a fork would copy the locks of polars, but not the threads that release them.
    return ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_let_be)


def _let_be() -> None:
    """Ignore Ctrl-C in a worker: the main process handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _data(frame: polars.DataFrame) -> dict[str, bytes]:
    return {"parquet": parquet(frame, FIGURE_DATA), "csv": frame.write_csv().encode()}


def _write(file: Path, data: bytes) -> None:
    """Write a file, unless it has this content already."""
    if file.is_file() and file.read_bytes() == data:
        return
    with replacing(file) as temporary:
        temporary.write_bytes(data)
