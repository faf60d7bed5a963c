"""The report: one self-contained HTML file, readable without a network."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
from markupsafe import Markup
from plotly.offline import get_plotlyjs
from plotly.subplots import make_subplots

from aqmlab.figures.runs import ACROSS, BARS, COLOURS, MANY, SMALL_BINS, band, by_queue, colours, curves, recorded
from aqmlab.files import write_text
from aqmlab.reports.template import rendered
from aqmlab.reports.text import interval, notes, seeds
from aqmlab.results.distribution import curve, panels, share
from aqmlab.results.metrics import DISTRIBUTIONS, METRICS

if TYPE_CHECKING:
    from aqmlab.results.result import Result


def save(results: Mapping[str, Result], file: Path, command: str) -> None:
    """Write the report of results by label to ``file``; ``command`` is the command line to repeat them."""
    first = next(iter(results.values()))
    scenario = first.scenario
    text = rendered(
        "run.html",
        title=scenario.title,
        made=f"{seeds(results).capitalize()}; aqmlab {first.version}",
        command=command,
        scripts=scripts(),
        figures=_figures(results),
        window=f"[{scenario.warmup:g} s, {scenario.duration:g} s]",
        replicated=any(len(result.seeds) > 1 for result in results.values()),
        metrics=_metrics(results),
        many=len(results) > MANY,
        notes=notes(results),
        scenarios={label: result.scenario.to_toml() for label, result in results.items()},
    )
    write_text(file, text)


def scripts() -> Markup:
    """Return the JavaScript that a page with figures from `embedded` needs in its head."""
    return Markup(get_plotlyjs())


def _figures(results: Mapping[str, Result]) -> list[tuple[str, str, Markup]]:
    """Draw all figures, each with its heading and its description; some have none."""
    timed = recorded(results)
    figures = []
    if timed:
        explanation = f"{curves(timed)}{_CURVES}"
        queue = _over_time(timed, results, "queue", "Queue (packets)")
        figures.append(("Queue", explanation[0].upper() + explanation[1:], embedded(queue, "queue")))
    signalled = {label: result for label, result in timed.items() if "p" in result.signals}
    if signalled:
        probability = _over_time(signalled, results, "p", "Probability of a drop or mark")
        figures.append(("Drop probability", "", embedded(probability, "probability")))
    draw, order = (_dots, ", sorted by the mean queue") if len(results) > MANY else (_bars, "")
    figures.append((f"Main metrics{order}", "", embedded(draw(results), "bars")))
    for name, distribution in DISTRIBUTIONS.items():
        if shown := panels(results, name):
            drawn = embedded(_distribution(results, name, shown), name)
            figures.append((distribution.label, distribution.definition, drawn))
    return [(heading, text, Markup(figure)) for heading, text, figure in figures]


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


def _metrics(results: Mapping[str, Result]) -> list[list[tuple[str, str]]]:
    """List all metrics, one a line, or with many results one result a line; a cell has a text and a definition."""
    summary = next(iter(results.values())).summary
    unequal = len({tuple(result.seeds) for result in results.values() if result.not_modelled is None}) > 1
    lines = [[("", ""), *((label, "") for label in results)]]
    if unequal:
        counts = ("-" if result.not_modelled is not None else str(len(result.seeds)) for result in results.values())
        lines.append([("Seeds", "How many runs these are of."), *((count, "") for count in counts)])
    for metric in (METRICS[name] for name in METRICS if name in summary):
        texts = (interval(metric, result.summary[metric.name], len(result.runs)) for result in results.values())
        lines.append([(metric.axis, metric.definition), *((text, "") for text in texts)])
    return [list(line) for line in zip(*lines, strict=True)] if len(results) > MANY else lines


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
