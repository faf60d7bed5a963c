"""The report: one HTML file with everything in it, to open without a network."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from aqmlab.distribution import curve, panels, share
from aqmlab.files import write_text
from aqmlab.metrics import DISTRIBUTIONS, METRICS
from aqmlab.plot import BARS, band, colour, curves, recorded
from aqmlab.table import interval, notes, seeds

if TYPE_CHECKING:
    from aqmlab.result import Result

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
td:first-child {{ cursor: help; }}
pre {{ background: #f6f6f6; padding: .8rem; overflow-x: auto; font-size: 13px; }}
</style>
<script>{plotly}</script>
</head>
<body>
<h1>{title}</h1>
<p class="made">{seeds}; aqmlab {version}<br><code>{command}</code></p>
{figures}
<h2>Metrics</h2>
<p>Over [{warmup:g} s, {duration:g} s]{confidence}. Hold the pointer over a name for its definition.</p>
<div class="wide">{table}</div>
{notes}
<h2>Scenario</h2>
{scenarios}
</body>
</html>
"""


def save(results: Mapping[str, Result], file: Path, command: str) -> None:
    """Write the report.

    Parameters
    ----------
    results : mapping
        Results by label.
    file : Path
        The HTML file to write.
    command : str
        The command line that made the results, for the reader to repeat.
    """
    first = next(iter(results.values()))
    scenario = first.scenario
    timed = recorded(results)
    figures = []
    if timed:
        explained = f"{curves(timed)}{_CURVES}"
        figures.append(f"<h2>Queue</h2><p>{explained[0].upper()}{explained[1:]}</p>")
        figures.append(_figure(_over_time(timed, results, "queue", "Queue (packets)"), "queue"))
    signalled = {label: result for label, result in timed.items() if "p" in result.signals}
    if signalled:
        probability = _over_time(signalled, results, "p", "Probability of a drop or mark")
        figures.append("<h2>Drop probability</h2>" + _figure(probability, "probability"))
    figures.append("<h2>Main metrics</h2>" + _figure(_bars(results), "bars"))
    for name, distribution in DISTRIBUTIONS.items():
        if shown := panels(results, name):
            drawn = _figure(_distribution(results, name, shown), name)
            figures.append(f"<h2>{distribution.label}</h2><p>{html.escape(distribution.definition)}</p>{drawn}")
    text = _PAGE.format(
        title=html.escape(scenario.title or "aqmlab"),
        plotly=get_plotlyjs(),
        seeds=html.escape(seeds(results).capitalize()),
        version=html.escape(first.version),
        command=html.escape(command),
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
    write_text(file, text)


def _figure(figure: go.Figure, name: str) -> str:
    # plotly's own writer names the element at random; ours makes the same file from the same results.
    data = json.dumps(json.loads(figure.to_json())).replace("</", "<\\/")
    draw = (
        f"{{const f = {data}; Plotly.newPlot('{name}', f.data, f.layout, {{responsive: true, displaylogo: false}});}}"
    )
    return f'<div id="{name}"></div><script>{draw}</script>'


def _table(results: Mapping[str, Result]) -> str:
    heads = "".join(f"<th>{html.escape(label)}</th>" for label in results)
    rows = []
    if len({tuple(result.seeds) for result in results.values()}) > 1:
        counts = "".join(f"<td>{len(result.seeds)}</td>" for result in results.values())
        rows.append(f'<tr><td title="How many runs these are of.">Seeds</td>{counts}</tr>')
    given = next(iter(results.values())).summary
    for metric in (METRICS[name] for name in METRICS if name in given):
        texts = (interval(metric, result.summary[metric.name], len(result.runs)) for result in results.values())
        cells = "".join(f"<td>{text}</td>" for text in texts)
        rows.append(f'<tr><td title="{html.escape(metric.definition)}">{html.escape(metric.axis)}</td>{cells}</tr>')
    return f"<table><tr><th></th>{heads}</tr>{''.join(rows)}</table>"


def _over_time(timed: Mapping[str, Result], results: Mapping[str, Result], quantity: str, axis: str) -> go.Figure:
    """Draw a panel for each result: the mean of each bin in a band from its least to its greatest."""
    figure = make_subplots(
        rows=len(timed),
        cols=1,
        shared_xaxes="all",
        shared_yaxes="all",
        subplot_titles=[html.escape(label) for label in timed],
        vertical_spacing=0.3 / (len(timed) + 2),
    )
    indices = {label: index for index, label in enumerate(results)}
    for row, (label, result) in enumerate(timed.items(), start=1):
        line = colour(indices[label])
        values = band(result, quantity)
        edge = {"color": line, "width": 0}
        figure.add_scatter(x=values["t"], y=values["max"], line=edge, hoverinfo="skip", row=row, col=1)
        figure.add_scatter(
            x=values["t"],
            y=values["min"],
            line=edge,
            fill="tonexty",
            fillcolor=_pale(line),
            hoverinfo="skip",
            row=row,
            col=1,
        )
        figure.add_scatter(
            x=values["t"], y=values["mean"], line={"color": line, "width": 1.2}, name=html.escape(label), row=row, col=1
        )
        if quantity == "queue" and result.scenario.target is not None:
            figure.add_hline(result.scenario.target, line={"color": "#444", "width": 1, "dash": "dash"}, row=row, col=1)
        if result.scenario.warmup:
            figure.add_vrect(
                0, result.scenario.warmup, fillcolor="#888", opacity=0.1, line={"width": 0}, row=row, col=1
            )
    figure.update_yaxes(rangemode="tozero")
    figure.update_yaxes(title=axis, row=(len(timed) + 1) // 2, col=1)
    figure.update_xaxes(title="Time (s)", row=len(timed), col=1)
    figure.update_layout(height=160 * len(timed) + 120, **_LAYOUT)
    return figure


def _pale(line: str) -> str:
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
            marker={"color": [colour(index) for index in range(len(summaries))]},
            name=metric.label,
            row=1,
            col=column,
        )
    figure.update_layout(height=340, **_LAYOUT)
    return figure


def _distribution(
    results: Mapping[str, Result], name: str, shown: Mapping[str, Mapping[str, list[float]]]
) -> go.Figure:
    """Draw a panel for each traffic entry or link, with a curve for each result."""
    titles = [html.escape(owner) for owner in shown]
    figure = make_subplots(rows=1, cols=len(shown), shared_yaxes="all", subplot_titles=titles)
    indices = {label: index for index, label in enumerate(results)}
    mode = "lines+markers" if DISTRIBUTIONS[name].counted else "lines"
    for column, drawn in enumerate(shown.values(), start=1):
        for label, numbers in drawn.items():
            x, y = curve(name, numbers)
            line = {"color": colour(indices[label]), "width": 1.2}
            figure.add_scatter(x=x, y=y, line=line, mode=mode, name=html.escape(label), row=1, col=column)
    figure.update_xaxes(title=DISTRIBUTIONS[name].axis)
    figure.update_yaxes(type="log" if DISTRIBUTIONS[name].counted else "linear")
    figure.update_yaxes(title=share(name), row=1, col=1)
    figure.update_layout(height=340, **_LAYOUT)
    return figure


_CURVES = (
    "the line is the mean of each bin, the band reaches from its least to its greatest value; "
    "dashes are the target, grey is the warm-up, which the metrics leave out."
)
_LAYOUT = {"template": "plotly_white", "showlegend": False, "margin": {"l": 60, "r": 20, "t": 60, "b": 50}}
