"""The report of a sweep: one self-contained HTML file, readable without a network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from aqmlab.figures.sweep import abscissa, axis, explained, sweep
from aqmlab.files import write_text
from aqmlab.reports.figure import embedded
from aqmlab.reports.sweep_text import MAIN, place, summary_of, versions
from aqmlab.reports.template import rendered
from aqmlab.reports.text import EACH_FOR_ITSELF, SHOWN, interval, signed
from aqmlab.results.metrics import METRICS
from aqmlab.text import span

if TYPE_CHECKING:
    from aqmlab.runs.swept import Sweep

_MOST_ROWS = 1000
"""The largest number of table rows in the report; the data set has all."""


class _Table(NamedTuple):
    """Lines of cells, each with a text and a definition, and the number of rows that were left out."""

    lines: list[list[tuple[str, str]]]
    more: int


def save(swept: Sweep, file: Path, command: str) -> None:
    """Write the report of a sweep with at least one run to ``file``; ``command`` is as for `text`."""
    write_text(file, text(swept, command))


def text(swept: Sweep, command: str) -> str:
    """Return the report of a sweep with at least one run; ``command`` is the command line to repeat it."""
    scenario = swept.scenario
    x = abscissa(swept) if swept.parameters else ""
    explanation = explained(swept, x) if x else ""
    seeds = f"seed{'s' if len(swept.seeds) > 1 else ''} {span(swept.seeds)}"
    return rendered(
        "sweep.html",
        title=scenario.title,
        made=f"{swept.done} runs, {seeds}; {versions(swept)}",
        command=command,
        has_figures=bool(x),
        x=x,
        explanation=explanation[:1].upper() + explanation[1:],
        figure=embedded(sweep(swept, x), "sweep") if x else "",
        failures=[str(failure) for failure in swept.failures[:_MOST_ROWS]],
        more_failures=len(swept.failures) - _MOST_ROWS,
        first=swept.aqms[0],
        each_for_itself=EACH_FOR_ITSELF,
        differences=_differences(swept) if len(swept.aqms) > 1 and len(swept.seeds) > 1 else None,
        window=f"[{scenario.warmup:g} s, {scenario.duration:g} s]",
        replicated=len(swept.seeds) > 1,
        means=_means(swept),
        toml=scenario.to_toml(),
    )


def _means(swept: Sweep) -> _Table:
    metrics = [METRICS[name] for name in SHOWN]
    rows = (
        [*place(swept, row), *(interval(one, summary_of(row, one.name), row["runs"]) for one in metrics)]
        for row in swept.means(SHOWN, _MOST_ROWS).iter_rows(named=True)
    )
    return _table(swept, SHOWN, rows, swept.count("aqm", *swept.parameters))


def _differences(swept: Sweep) -> _Table:
    frames = [swept.differences(name, swept.aqms[0]) for name in MAIN.compared]
    together = zip(*(frame.head(_MOST_ROWS).iter_rows(named=True) for frame in frames), strict=True)
    rows = (
        [
            *place(swept, each[0]),
            *(
                signed(METRICS[name], row["difference"], row["ci95"])
                for name, row in zip(MAIN.compared, each, strict=True)
            ),
        ]
        for each in together
    )
    return _table(swept, MAIN.compared, rows, len(frames[0]))


def _table(swept: Sweep, names: Sequence[str], rows: Iterable[Sequence[str]], count: int) -> _Table:
    """Put a head above the first rows of ``count``."""
    head = [("", ""), *((axis(swept, path), "") for path in swept.parameters)]
    head += [(METRICS[name].axis, METRICS[name].definition) for name in names]
    return _Table([head, *([(text, "") for text in row] for row in rows)], count - _MOST_ROWS)
