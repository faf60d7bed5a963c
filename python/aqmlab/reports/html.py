"""The report: one self-contained HTML file, readable without a network."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from aqmlab.figures.runs import ACROSS, BARS, COLOURS, MANY, SMALL_BINS, band, by_queue, colours, curves, recorded
from aqmlab.files import write_text
from aqmlab.reports.text import interval, notes, seeds
from aqmlab.results.distribution import curve, panels, share
from aqmlab.results.metrics import DISTRIBUTIONS, METRICS

if TYPE_CHECKING:
    from aqmlab.results.result import Result

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1150px; margin: 2rem auto; padding: 0 1rem; }}
h1 {{ font-size: 1.6rem; margin-bottom: .2rem; }}
h2 {{ font-size: 1.15rem; margin-top: 2.2rem; }}
.made {{ color: #666; margin-top: 0; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ text-align: right; padding: .25rem .8rem; border-bottom: 1px solid #e5e5e5; white-space: nowrap; }}
th:first-child, td:first-child {{ text-align: left; }}
th:first-child, td:first-child {{ position: sticky; left: 0; background: #fff; }}
tr:hover td {{ background: #f3f5f7; }}
.tall th {{ white-space: normal; vertical-align: bottom; font-weight: 600; }}
[title] {{ cursor: help; }}
pre {{ background: #f6f6f6; padding: .8rem; overflow-x: auto; font-size: 13px; }}
</style>
{head}
</head>
<body>
<h1>{title}</h1>
<p class="made">{made}<br><code>{command}</code></p>
{body}
</body>
</html>
"""

_BODY = """{figures}
<h2>Metrics</h2>
<p>Over [{warmup:g} s, {duration:g} s]{confidence}. Hold the pointer over a name for its definition.</p>
<div class="wide">{table}</div>
{notes}
<h2>Scenario</h2>
{scenarios}"""


def page(title: str, made: str, command: str, body: str, style: str = "", figures: bool = True) -> str:
    """Return the page of a report as HTML that needs no other file.

    ``body`` is HTML, and ``style`` is CSS that follows that of all reports; the other texts are escaped. ``made``
    describes the origin of the report, ``command`` is the command line to repeat it, and ``figures`` includes plotly.
    """
    texts = {"title": title or "aqmlab", "made": made, "command": command}
    escaped = {name: html.escape(text) for name, text in texts.items()}
    head = (f"<style>{style}</style>\n" if style else "") + (f"<script>{get_plotlyjs()}</script>" if figures else "")
    return _PAGE.format(**escaped, head=head, body=body)


def save(results: Mapping[str, Result], file: Path, command: str) -> None:
    """Write the report of results by label to ``file``; ``command`` is the command line to repeat them."""
    first = next(iter(results.values()))
    scenario = first.scenario
    timed = recorded(results)
    figures = []
    if timed:
        explained = f"{curves(timed)}{_CURVES}"
        figures.append(f"<h2>Queue</h2><p>{explained[0].upper()}{explained[1:]}</p>")
        figures.append(embedded(_over_time(timed, results, "queue", "Queue (packets)"), "queue"))
    signalled = {label: result for label, result in timed.items() if "p" in result.signals}
    if signalled:
        probability = _over_time(signalled, results, "p", "Probability of a drop or mark")
        figures.append("<h2>Drop probability</h2>" + embedded(probability, "probability"))
    draw, order = (_dots, ", sorted by the mean queue") if len(results) > MANY else (_bars, "")
    figures.append(f"<h2>Main metrics{order}</h2>" + embedded(draw(results), "bars"))
    for name, distribution in DISTRIBUTIONS.items():
        if shown := panels(results, name):
            drawn = embedded(_distribution(results, name, shown), name)
            figures.append(f"<h2>{distribution.label}</h2><p>{html.escape(distribution.definition)}</p>{drawn}")
    body = _BODY.format(
        figures="\n".join(figures),
        warmup=scenario.warmup,
        duration=scenario.duration,
        confidence=" with 95 % confidence intervals (Student t)"
        if any(len(result.seeds) > 1 for result in results.values())
        else "",
        table=_table(results),
        notes="\n".join(f"<p>{html.escape(note)}</p>" for note in notes(results)),
        scenarios="\n".join(
            f"<details{' open' if len(results) == 1 else ''}><summary>{html.escape(label)}</summary>"
            f"<pre>{html.escape(result.scenario.to_toml())}</pre></details>"
            for label, result in results.items()
        ),
    )
    made = f"{seeds(results).capitalize()}; aqmlab {first.version}"
    write_text(file, page(scenario.title, made, command, body))


def embedded(figure: go.Figure, name: str) -> str:
    """Return a figure as HTML, in an element whose ``name`` must be unique in the page."""
    # plotly's writer names the element at random; here the same results must yield the same file.
    data = in_script(json.loads(figure.to_json()))
    draw = (
        f"{{const f = {data}; Plotly.newPlot('{name}', f.data, f.layout, {{responsive: true, displaylogo: false}});}}"
    )
    return f'<div id="{name}"></div><script>{draw}</script>'


def in_script(data: Any) -> str:
    """Return data as JSON that cannot end the script element that contains it."""
    return json.dumps(data, allow_nan=False).replace("</", "<\\/").replace("<!--", "\\u003c!--")


def _table(results: Mapping[str, Result]) -> str:
    """Write all metrics, one per row; with many results, one result per row."""
    given = next(iter(results.values())).summary
    unequal = len({tuple(result.seeds) for result in results.values() if result.not_modelled is None}) > 1
    lines = [[("", ""), *((label, "") for label in results)]]
    if unequal:
        told = ("Seeds", "How many runs these are of.")
        counts = ("-" if result.not_modelled is not None else str(len(result.seeds)) for result in results.values())
        lines.append([told, *((count, "") for count in counts)])
    for metric in (METRICS[name] for name in METRICS if name in given):
        texts = (interval(metric, result.summary[metric.name], len(result.runs)) for result in results.values())
        lines.append([(metric.axis, metric.definition), *((text, "") for text in texts)])
    many = len(results) > MANY
    if many:
        lines = [list(line) for line in zip(*lines, strict=True)]
    rows = ("".join(cell("td" if index else "th", *one) for one in line) for index, line in enumerate(lines))
    form = ' class="tall"' if many else ""
    return f"<table{form}>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def cell(tag: str, text: str, definition: str = "") -> str:
    """Return a table cell as HTML, with the definition shown under the pointer; ``tag`` is ``td`` or ``th``."""
    told = f' title="{html.escape(definition)}"' if definition else ""
    return f"<{tag}{told}>{html.escape(text)}</{tag}>"


def _over_time(timed: Mapping[str, Result], results: Mapping[str, Result], quantity: str, axis: str) -> go.Figure:
    """Draw a panel for each result: the mean of each bin, in a band from its least to its greatest value."""
    many = len(results) > MANY
    across = ACROSS if many else 1
    deep = -(-len(timed) // across)
    shown = by_queue(timed) if many else timed
    figure = make_subplots(
        rows=deep,
        cols=across,
        shared_xaxes="all",
        shared_yaxes="all",
        subplot_titles=[html.escape(label) for label in shown],
        vertical_spacing=0.3 / (deep + 2),
        horizontal_spacing=0.02,
    )
    colour = colours(results)
    shapes = []
    for place, (label, result) in enumerate(shown.items()):
        where = {"row": place // across + 1, "col": place % across + 1}
        line = COLOURS[0] if many else colour[label]
        values = band(result, quantity, SMALL_BINS if many else None)
        edge = {"color": line, "width": 0}
        figure.add_scatter(x=values["t"], y=values["max"], line=edge, hoverinfo="skip", **where)
        figure.add_scatter(
            x=values["t"], y=values["min"], line=edge, fill="tonexty", fillcolor=pale(line), hoverinfo="skip", **where
        )
        figure.add_scatter(
            x=values["t"], y=values["mean"], line={"color": line, "width": 1.2}, name=html.escape(label), **where
        )
        shapes += _shapes(result, str(place + 1) if place else "", quantity == "queue")
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title=axis, row=(deep + 1) // 2, col=1)
    if many:
        figure.update_annotations(font={"size": 11})
        for place in range(len(shown) - across, len(shown)):
            figure.update_xaxes(showticklabels=True, row=place // across + 1, col=place % across + 1)
        for place in range(len(shown), deep * across):
            figure.update_xaxes(visible=False, row=place // across + 1, col=place % across + 1)
            figure.update_yaxes(visible=False, row=place // across + 1, col=place % across + 1)
    figure.update_xaxes(title="Time (s)", row=deep, col=1)
    # plotly's hline and vrect visit all other panels at each call.
    figure.update_layout(shapes=shapes, height=(110 if many else 160) * deep + 120, **LAYOUT)
    return figure


def _shapes(result: Result, number: str, with_target: bool) -> list[dict[str, Any]]:
    """Return the line of the target and the area of the warm-up, for the panel with this number."""
    across = {"type": "line", "xref": f"x{number} domain", "yref": f"y{number}", "x0": 0, "x1": 1}
    along = {"type": "rect", "xref": f"x{number}", "yref": f"y{number} domain", "y0": 0, "y1": 1}
    shapes: list[dict[str, Any]] = []
    target, warmup = result.scenario.target, result.scenario.warmup
    if with_target and target is not None:
        shapes.append({**across, "y0": target, "y1": target, "line": {"color": "#444", "width": 1, "dash": "dash"}})
    if warmup:
        shapes.append({**along, "x0": 0, "x1": warmup, "fillcolor": "#888", "opacity": 0.1, "line": {"width": 0}})
    return shapes


def pale(line: str) -> str:
    """Return the colour of the band behind a line of colour ``#rrggbb``: the same, three quarters transparent."""
    red, green, blue = bytes.fromhex(line.removeprefix("#"))
    return f"rgba({red}, {green}, {blue}, 0.25)"


def _bars(results: Mapping[str, Result]) -> go.Figure:
    figure = make_subplots(rows=1, cols=len(BARS), subplot_titles=[METRICS[name].axis for name in BARS])
    for column, name in enumerate(BARS, start=1):
        metric = METRICS[name]
        summaries = [result.summary[name] for result in results.values()]
        figure.add_bar(
            x=[html.escape(label) for label in results],
            y=[None if s.mean is None else s.mean * metric.scale for s in summaries],
            error_y={
                "type": "data",
                "array": [None if s.ci95 is None else s.ci95 * metric.scale for s in summaries],
            },
            marker={"color": list(colours(results).values())},
            name=metric.label,
            row=1,
            col=column,
        )
    figure.update_layout(height=340, **LAYOUT)
    return figure


def _dots(results: Mapping[str, Result]) -> go.Figure:
    """Draw a row for each of many results."""
    results = by_queue(results)
    titles = [METRICS[name].axis for name in BARS]
    figure = make_subplots(rows=1, cols=len(BARS), shared_yaxes="all", subplot_titles=titles, horizontal_spacing=0.03)
    for column, name in enumerate(BARS, start=1):
        metric = METRICS[name]
        summaries = [result.summary[name] for result in results.values()]
        figure.add_scatter(
            x=[None if s.mean is None else s.mean * metric.scale for s in summaries],
            y=[html.escape(label) for label in results],
            error_x={
                "type": "data",
                "array": [None if s.ci95 is None else s.ci95 * metric.scale for s in summaries],
            },
            mode="markers",
            marker={"color": COLOURS[0], "size": 8},
            name=metric.label,
            row=1,
            col=column,
        )
    figure.update_yaxes(autorange="reversed", type="category", tickmode="linear", automargin=True)
    figure.update_layout(height=18 * len(results) + 120, **LAYOUT)
    return figure


def _distribution(
    results: Mapping[str, Result], name: str, shown: Mapping[str, Mapping[str, list[float]]]
) -> go.Figure:
    """Draw a panel for each traffic entry or link, with a curve for each result."""
    titles = [html.escape(owner) for owner in shown]
    figure = make_subplots(rows=1, cols=len(shown), shared_yaxes="all", subplot_titles=titles)
    colour = colours(results)
    many = len(results) > MANY
    named: set[str] = set()
    mode = "lines+markers" if DISTRIBUTIONS[name].counted else "lines"
    for column, drawn in enumerate(shown.values(), start=1):
        for label in by_queue(results) if many else results:
            if label not in drawn:
                continue
            x, y = curve(name, drawn[label])
            figure.add_scatter(
                x=x,
                y=y,
                line={"color": colour[label], "width": 1.2},
                mode=mode,
                name=html.escape(label),
                legendgroup=label,
                showlegend=many and label not in named,
                row=1,
                col=column,
            )
            named.add(label)
    figure.update_xaxes(title=DISTRIBUTIONS[name].axis)
    figure.update_yaxes(type="log" if DISTRIBUTIONS[name].counted else "linear")
    figure.update_yaxes(title=share(name), row=1, col=1)
    layout = {**LAYOUT, "showlegend": True, "legend": {"font": {"size": 10}}} if many else LAYOUT
    figure.update_layout(height=460 if many else 340, **layout)
    return figure


_CURVES = (
    "the line is the mean of each bin, the band reaches from its least to its greatest value; "
    "dashes are the target, grey is the warm-up, which the metrics leave out."
)
LAYOUT = {"template": "plotly_white", "showlegend": False, "margin": {"l": 60, "r": 20, "t": 60, "b": 50}}
