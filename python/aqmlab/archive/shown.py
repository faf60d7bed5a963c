"""The figures and the report of a result, a comparison or a sweep, made again from an unpacked archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.execute.recordings import files_of
from aqmlab.figures import matplotlib
from aqmlab.files import FIGURE_FORMATS, REPORT
from aqmlab.kinds import RESULT
from aqmlab.reports import folder as reports
from aqmlab.reports.template import command_of

if TYPE_CHECKING:
    from aqmlab.results.comparison import Comparison
    from aqmlab.runs.swept import Sweep
    from aqmlab.scenario import Scenario

_NEEDS_TEX = "pgf"
"""The format that few machines can make."""


def command(folder: Path) -> str:
    """Return the command line that the report of a folder quotes; empty if it has no report."""
    path = folder / REPORT
    return command_of(path.read_text(encoding="utf-8")) if path.is_file() else ""


def files(
    folder: Path, results: Comparison | Sweep, names: Sequence[str], scenarios: Sequence[Scenario]
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each figure and of the report, of those that are in a folder.

    The report of scenarios that read files has their paths: it is left out, and so are the figures of a single result
    whose discipline is in such a file.
    """
    there = set(names)
    own = any(one._core.own_algorithms for one in scenarios)
    if own and RESULT.head in there:
        return
    for name, figure in reports.figures(results):
        forms = [form for form in FIGURE_FORMATS if f"{name}.{form}" in there and form != _NEEDS_TEX]
        for form, data in matplotlib.images(figure, forms).items() if forms else ():
            yield f"{name}.{form}", data
    if REPORT in there and not own and not any(files_of(one.to_toml()) for one in scenarios):
        yield REPORT, reports.report(results, command(folder)).encode()
