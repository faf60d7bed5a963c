"""The figures and the report in the folder of a result, a comparison or a sweep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aqmlab.results.comparison import Comparison

if TYPE_CHECKING:
    from aqmlab.figures.model import Figure
    from aqmlab.runs.swept import Sweep


def figures(results: Comparison | Sweep) -> Iterator[tuple[str, Figure]]:
    """Yield the figures of results that have runs, each with the name of its files."""
    if isinstance(results, Comparison):
        from aqmlab.figures import runs, tradeoff

        yield "figure", runs.comparison(results)
        if len(results) > 1 and tradeoff.is_drawn(results):
            yield "tradeoff", tradeoff.tradeoff(results)
    elif results.parameters:
        from aqmlab.figures import sweep

        yield "figure", sweep.sweep(results)


def report(results: Comparison | Sweep, command: str) -> str:
    """Return the report of results that have runs, as HTML; ``command`` is the command line to repeat them."""
    if isinstance(results, Comparison):
        from aqmlab.reports import html

        return html.text(results, command, results.baseline)
    from aqmlab.reports import sweep_html

    return sweep_html.text(results, command)
