"""The report of a sweep: one self-contained HTML file, readable without a network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from aqmlab.figures.runs import BARS
from aqmlab.figures.sweep import abscissa, axis, described, explained, facets, is_line, shades
from aqmlab.files import write_text
from aqmlab.reports.html import LAYOUT, cell, embedded, page, pale
from aqmlab.reports.sweep_text import COMPARED, place, signed, summary_of
from aqmlab.reports.text import SHOWN, interval
from aqmlab.results.metrics import METRICS
from aqmlab.text import span

if TYPE_CHECKING:
    import polars

    from aqmlab.sweeps.result import Sweep

_MOST_ROWS = 1000
"""The largest number of table rows in the report; the data set has all."""


def save(swept: Sweep, file: Path, command: str) -> None:
    """Write the report of a sweep with at least one run to ``file``; ``command`` is the command line to repeat it."""
    parts = []
    if swept.parameters:
        x = abscissa(swept)
        told = explained(swept, x)
        parts.append(f"<h2>Over {html.escape(x)}</h2><p>{html.escape(told[0].upper() + told[1:])}.</p>")
        for number, (told, frame) in enumerate(facets(swept, x)):
            parts.append(f"<h3>{html.escape(told)}</h3>" if told else "")
            parts.append(embedded(_lines(swept, frame, x), f"lines-{number}"))
    if swept.failures:
        listed = "".join(f"<li>{html.escape(str(failure))}</li>" for failure in swept.failures[:_MOST_ROWS])
        parts.append(f"<h2>Failed</h2><ul>{listed}</ul>{_more(len(swept.failures), 'sweep.json')}")
    if len(swept.aqms) > 1 and len(swept.seeds) > 1:
        first = html.escape(swept.aqms[0])
        parts.append(
            f"<h2>Differences to {first}</h2><p>Each discipline less {first}, run by run of the same seed, with 95 % "
            "confidence intervals of the mean difference (paired, Student t). A star: the interval leaves 0 out.</p>"
        )
        parts.append(_differences(swept))
    scenario = swept.scenario
    parts.append(
        f"<h2>Metrics</h2><p>Over [{scenario.warmup:g} s, {scenario.duration:g} s], means of the runs"
        f"{' with 95 % confidence intervals (Student t)' if len(swept.seeds) > 1 else ''}. Hold the pointer over a "
        "name for its definition. All metrics of all runs are in <code>results/*.parquet</code>.</p>"
    )
    parts.append(_means(swept))
    parts.append(f"<h2>Scenario</h2><pre>{html.escape(scenario.to_toml())}</pre>")
    told = f"{swept.done} runs, seed{'s' if len(swept.seeds) > 1 else ''} {span(swept.seeds)}; aqmlab {swept.version}"
    write_text(file, page(scenario.title, told, command, "\n".join(parts)))


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


def _means(swept: Sweep) -> str:
    metrics = [METRICS[name] for name in SHOWN]
    rows = (
        [*place(swept, row), *(interval(one, summary_of(row, one.name), row["runs"]) for one in metrics)]
        for row in swept.summary.head(_MOST_ROWS).iter_rows(named=True)
    )
    return _table(swept, SHOWN, rows) + _more(len(swept.summary), "results/*.parquet")


def _differences(swept: Sweep) -> str:
    frames = [swept.differences(name, swept.aqms[0]) for name in COMPARED]
    together = zip(*(frame.head(_MOST_ROWS).iter_rows(named=True) for frame in frames), strict=True)
    rows = (
        [
            *place(swept, each[0]),
            *(signed(METRICS[name], row["difference"], row["ci95"]) for name, row in zip(COMPARED, each, strict=True)),
        ]
        for each in together
    )
    return _table(swept, COMPARED, rows) + _more(len(frames[0]), "results/*.parquet")


def _table(swept: Sweep, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    heads = ["", *(axis(swept, path) for path in swept.parameters)]
    head = [cell("th", text) for text in heads]
    head += [cell("th", METRICS[name].axis, METRICS[name].definition) for name in names]
    lines = ["".join(head), *("".join(cell("td", text) for text in row) for row in rows)]
    return f'<div class="wide"><table>{"".join(f"<tr>{line}</tr>" for line in lines)}</table></div>'


def _more(count: int, where: str) -> str:
    return f"<p>{count - _MOST_ROWS} more are in <code>{where}</code>.</p>" if count > _MOST_ROWS else ""
