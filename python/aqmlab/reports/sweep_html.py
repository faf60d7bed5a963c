"""The report of a sweep: one self-contained HTML file, readable without a network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import plotly.graph_objects as go
from markupsafe import Markup
from plotly.subplots import make_subplots

from aqmlab.figures.runs import BARS
from aqmlab.figures.sweep import abscissa, axis, described, explained, facets, is_line, shades
from aqmlab.files import write_text
from aqmlab.reports.html import LAYOUT, embedded, pale, scripts
from aqmlab.reports.sweep_text import COMPARED, place, signed, summary_of
from aqmlab.reports.template import rendered
from aqmlab.reports.text import SHOWN, interval
from aqmlab.results.metrics import METRICS
from aqmlab.text import span

if TYPE_CHECKING:
    import polars

    from aqmlab.sweeps.result import Sweep

_MOST_ROWS = 1000
"""The largest number of table rows in the report; the data set has all."""


class _Table(NamedTuple):
    """Lines of cells, each with a text and a definition, and the number of rows that were left out."""

    lines: list[list[tuple[str, str]]]
    more: int


def save(swept: Sweep, file: Path, command: str) -> None:
    """Write the report of a sweep with at least one run to ``file``; ``command`` is the command line to repeat it."""
    scenario = swept.scenario
    x = abscissa(swept) if swept.parameters else ""
    explanation = explained(swept, x) if x else ""
    seeds = f"seed{'s' if len(swept.seeds) > 1 else ''} {span(swept.seeds)}"
    text = rendered(
        "sweep.html",
        title=scenario.title,
        made=f"{swept.done} runs, {seeds}; aqmlab {swept.version}",
        command=command,
        scripts=scripts(),
        x=x,
        explanation=explanation[:1].upper() + explanation[1:],
        facets=_facets(swept, x) if x else [],
        failures=[str(failure) for failure in swept.failures[:_MOST_ROWS]],
        more_failures=len(swept.failures) - _MOST_ROWS,
        first=swept.aqms[0],
        differences=_differences(swept) if len(swept.aqms) > 1 and len(swept.seeds) > 1 else None,
        window=f"[{scenario.warmup:g} s, {scenario.duration:g} s]",
        replicated=len(swept.seeds) > 1,
        means=_means(swept),
        toml=scenario.to_toml(),
    )
    write_text(file, text)


def _facets(swept: Sweep, x: str) -> list[tuple[str, Markup]]:
    """Draw a figure for each combination of the other parameters, and name the combination."""
    return [
        (title, Markup(embedded(_lines(swept, frame, x), f"lines-{number}")))
        for number, (title, frame) in enumerate(facets(swept, x))
    ]


def _lines(swept: Sweep, frame: polars.DataFrame, x: str) -> go.Figure:
    """Draw a panel for each of the main metrics, with a line and its band for each discipline."""
    metrics = [described(name) for name in BARS]
    figure = make_subplots(rows=2, cols=2, subplot_titles=[metric.axis for metric in metrics], vertical_spacing=0.14)
    line = is_line(swept, frame, x)
    for index, (name, metric) in enumerate(zip(BARS, metrics, strict=True)):
        where = {"row": index // 2 + 1, "col": index % 2 + 1}
        for label, colour in zip(swept.aqms, shades(len(swept.aqms)), strict=True):
            own = frame.filter(aqm=label)
            own = own.sort(x) if own[x].dtype.is_numeric() else own
            at = own[x].to_list()
            mean = (own[name] * metric.scale).to_list()
            half = (own[f"{name}_ci95"] * metric.scale).to_list()
            group = {"legendgroup": label, "name": html.escape(label)}
            if line and any(half):
                pairs = [(0.0 if m is None else m, h or 0.0) for m, h in zip(mean, half, strict=True)]
                edges = {
                    "line": {"color": colour, "width": 0},
                    "hoverinfo": "skip",
                    "showlegend": False,
                    "mode": "lines",
                }
                figure.add_scatter(x=at, y=[m + h for m, h in pairs], **edges, **group, **where)
                low = [m - h for m, h in pairs]
                figure.add_scatter(x=at, y=low, fill="tonexty", fillcolor=pale(colour), **edges, **group, **where)
            figure.add_scatter(
                x=at,
                y=mean,
                mode="lines+markers" if line else "markers",
                line={"color": colour, "width": 1.6},
                error_y={"array": half, "thickness": 1.2} if not line and any(half) else None,
                showlegend=index == 0,
                **group,
                **where,
            )
    for column in (1, 2):
        figure.update_xaxes(title=html.escape(axis(swept, x)), row=2, col=column)
    figure.update_layout(height=640, **{**LAYOUT, "showlegend": True})
    return figure


def _means(swept: Sweep) -> _Table:
    metrics = [METRICS[name] for name in SHOWN]
    rows = (
        [*place(swept, row), *(interval(one, summary_of(row, one.name), row["runs"]) for one in metrics)]
        for row in swept.summary.head(_MOST_ROWS).iter_rows(named=True)
    )
    return _table(swept, SHOWN, rows, len(swept.summary))


def _differences(swept: Sweep) -> _Table:
    frames = [swept.differences(name, swept.aqms[0]) for name in COMPARED]
    together = zip(*(frame.head(_MOST_ROWS).iter_rows(named=True) for frame in frames), strict=True)
    rows = (
        [
            *place(swept, each[0]),
            *(signed(METRICS[name], row["difference"], row["ci95"]) for name, row in zip(COMPARED, each, strict=True)),
        ]
        for each in together
    )
    return _table(swept, COMPARED, rows, len(frames[0]))


def _table(swept: Sweep, names: Sequence[str], rows: Iterable[Sequence[str]], count: int) -> _Table:
    """Put a head above the first rows of ``count``."""
    head = [("", ""), *((axis(swept, path), "") for path in swept.parameters)]
    head += [(METRICS[name].axis, METRICS[name].definition) for name in names]
    return _Table([head, *([(text, "") for text in row] for row in rows)], count - _MOST_ROWS)
