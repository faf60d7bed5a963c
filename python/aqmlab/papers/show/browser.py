"""A paper's figures for a web page: plotly draws each when the reader scrolls near it, then the rest one by one."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from typing import Any

from aqmlab.papers.describe.paper import Axis
from aqmlab.papers.show.layout import Line, Plot, Sheet
from aqmlab.reports.html import in_script, pale

SYMBOLS = dict(
    zip(
        "os^Dv<>P",
        ("circle", "square", "triangle-up", "diamond", "triangle-down", "triangle-left", "triangle-right", "cross"),
        strict=True,
    )
)
"""The plotly names of matplotlib's marks."""

STYLE = """
.legend { display: flex; flex-wrap: wrap; gap: .1rem .9rem; margin: .3rem 0; }
.legend button { font: inherit; font-size: 13px; background: none; border: 0; padding: .15rem .1rem; cursor: pointer; }
.legend button.off { opacity: .35; }
.legend i { display: inline-block; width: 1.5em; height: 0; border-top: 3px solid var(--c); vertical-align: middle;
  margin-right: .4em; }
.legend i.dashed { border-top-style: dashed; }
.legend i.points { width: .65em; height: .65em; border: 0; border-radius: 50%; background: var(--c); }
.legend i.bars { width: .9em; height: .8em; border: 0; background: var(--c); }
"""

SCRIPT = """
const OPTIONS = {displaylogo: false, displayModeBar: matchMedia('(hover: none)').matches ? false : 'hover',
  modeBarButtonsToRemove: ['lasso2d', 'select2d', 'autoScale2d']};
const AXIS = {gridcolor: '#e5e5e5', zeroline: false, showline: true, linecolor: '#444', ticks: 'outside', ticklen: 4,
  tickfont: {size: 11}};
const ABOVE = 30, LEFT = 64, BETWEEN = 72, RIGHT = 12, LEAST = 260;
function sizes(panels, wanted, lines, width) {
  let across = wanted;
  while (across > 1 && (wanted % across || width / across < LEAST)) across--;
  const deep = Math.ceil(panels / across), below = 36 + 14 * lines;
  const each = panels === 1 ? 340 : wanted === 1 && deep > 2 ? 140 : 240;
  return {across, each, below, height: deep * (ABOVE + each + below)};
}
function layout(f, width) {
  const {across, each, below, height} = sizes(f.panels.length, f.across, f.lines, width);
  const inner = (width - LEFT - RIGHT - (across - 1) * BETWEEN) / across;
  const made = {height, width, margin: {l: 0, r: 0, t: 0, b: 0, autoexpand: false}, showlegend: false,
    hovermode: 'closest', dragmode: width < 640 ? false : 'zoom', annotations: [], font: {size: 12, color: '#222',
    family: 'system-ui, sans-serif'}, hoverlabel: {align: 'left'}};
  f.panels.forEach((panel, index) => {
    const number = index ? index + 1 : '', row = Math.floor(index / across);
    const from = (LEFT + index % across * (inner + BETWEEN)) / width;
    const top = 1 - (row * (ABOVE + each + below) + ABOVE) / height;
    made['xaxis' + number] = {...AXIS, ...panel.x, anchor: 'y' + number, domain: [from, from + inner / width]};
    made['yaxis' + number] = {...AXIS, ...panel.y, anchor: 'x' + number, domain: [top - each / height, top]};
    made.annotations.push({text: '<b>' + panel.title + '</b>', x: 0, y: 1, xref: 'x' + number + ' domain',
      yref: 'y' + number + ' domain', xanchor: 'left', yanchor: 'bottom', showarrow: false, align: 'left'});
  });
  return made;
}
function draw(place) {
  if (place.drawn) return;
  place.drawn = true;
  const f = JSON.parse(document.getElementById('data-' + place.id).textContent);
  const show = () => Plotly.react(place, f.data, layout(f, place.clientWidth), OPTIONS);
  show();
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth !== width) { width = place.clientWidth; place.style.minHeight = 0; show(); }
  }).observe(place);
  const buttons = document.querySelectorAll('[data-of="' + place.id + '"] button');
  buttons.forEach(button => button.addEventListener('click', () => {
    const off = button.classList.toggle('off');
    button.setAttribute('aria-pressed', String(!off));
    f.data.forEach(trace => { if (trace.legendgroup === button.dataset.name) trace.visible = !off; });
    show();
  }));
}
const plots = document.querySelectorAll('.plot');
const near = new IntersectionObserver(
  seen => seen.forEach(one => { if (one.isIntersecting) { near.unobserve(one.target); draw(one.target); } }),
  {rootMargin: '800px'});
plots.forEach(place => {
  const {panels, across, lines} = place.dataset;
  place.style.minHeight = sizes(+panels, +across, +lines, place.clientWidth).height + 'px';
  near.observe(place);
});
addEventListener('beforeprint', () => plots.forEach(draw));
function rest() {
  const place = [...plots].find(one => !one.drawn);
  if (place) { draw(place); setTimeout(rest, 50); }
}
addEventListener('load', () => setTimeout(rest, 200));
"""


def embedded(sheet: Sheet) -> str:
    """Return a figure as HTML for a page that has `STYLE` and, at its end, `SCRIPT`.

    The HTML has the legend, the place of the figure, and the data, which are parsed only when it is drawn.
    """
    name = html.escape(sheet.name)
    styles = {line.name: line.style for plot in reversed(sheet.plots) for line in reversed(plot.lines)}
    buttons = "".join(
        f'<button type="button" aria-pressed="true" data-name="{html.escape(one)}" style="--c: {sheet.colours[one]}">'
        f'<i class="{styles[one]}"></i>{html.escape(one)}</button>'
        for one in sheet.names
    )
    legend = f'<div class="legend" data-of="{name}">{buttons}</div>' if buttons else ""
    data = f'<script type="application/json" id="data-{name}">{in_script(specification(sheet))}</script>'
    told = f'data-panels="{len(sheet.plots)}" data-across="{sheet.across}" data-lines="{_lines(sheet)}"'
    return f'{legend}<div class="plot" id="{name}" {told}></div>{data}'


def specification(sheet: Sheet) -> dict[str, Any]:
    """Return the figure as data for plotly.

    ``data`` has the traces; ``panels`` has title and axes of each panel; ``across`` is the number of panels in a row;
    ``lines`` is the number of lines of text below an x axis.
    """
    data = [
        trace
        for number, plot in enumerate(sheet.plots, start=1)
        for line in plot.lines
        for trace in _traces(line, plot, sheet, "" if number == 1 else str(number))
    ]
    panels = [
        {
            "title": html.escape(plot.title if plot.lines else f"{plot.title}: no data"),
            "x": _along(plot),
            "y": _axis(plot.panel.y) | _upright(plot),
        }
        for plot in sheet.plots
    ]
    return {"across": sheet.across, "lines": _lines(sheet), "panels": panels, "data": data}


def _lines(sheet: Sheet) -> int:
    return max((len(text) for plot in sheet.plots for text in plot.texts(_WRAP)), default=1)


_WRAP = 14
"""The number of characters of a category in one line."""


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"title": {"text": html.escape(axis.label), "standoff": 6}}
    ends = [axis.low, axis.high]
    if axis.log:
        found["type"] = "log"
        ends = [math.log10(end) if end else None for end in ends]
    if ends != [None, None]:
        found["range"] = ends
    return found


def _along(plot: Plot) -> dict[str, Any]:
    found = _axis(plot.panel.x)
    if plot.categories:
        places = list(range(len(plot.categories)))
        texts = ["<br>".join(html.escape(line) for line in text) for text in plot.texts(_WRAP)]
        found |= {"tickvals": places, "ticktext": texts, "range": [-0.6, len(texts) - 0.4], "showgrid": False}
    return found


def _upright(plot: Plot) -> dict[str, Any]:
    free = plot.panel.y.low is None and not plot.panel.y.log and plot.never_negative
    return {"rangemode": "nonnegative"} if free else {}


def _traces(line: Line, plot: Plot, sheet: Sheet, number: str) -> list[dict[str, Any]]:
    colour = sheet.colours[line.name]
    common: dict[str, Any] = {"legendgroup": line.name, "xaxis": f"x{number}", "yaxis": f"y{number}"}
    x, y = _numbers(line.x), _numbers(line.y)
    shape = {"shape": "hv"} if line.style == "steps" else {}
    told: dict[str, Any] = {"name": html.escape(line.name)}
    place, interval = "%{x}", ""
    if plot.categories:
        told["text"] = [html.escape(plot.categories[int(number)]) for number in line.x]
        place = "%{text}"
    if line.low is not None and line.high is not None and len(x) <= _TOLD:
        pairs = zip(_numbers(line.low), _numbers(line.high), strict=True)
        told["customdata"] = ["" if None in pair else f"{pair[0]:.4g} to {pair[1]:.4g}" for pair in pairs]
        interval = "<br>%{customdata}"
    told["hovertemplate"] = f"{place}: %{{y}}{interval}<extra>%{{fullData.name}}</extra>"
    if line.style == "bars":
        width = 0.8 / len(plot.bars)
        offset = (plot.bars.index(line.name) - len(plot.bars) / 2) * width
        look = {
            "type": "bar",
            "marker": {"color": colour},
            "width": 0.92 * width,
            "offset": offset + 0.04 * width,
            "textposition": "none",
        }
        return [{**common, **told, **look, "x": x, "y": y, **_reach(line, "#333333")}]
    traces = []
    if line.banded and line.low is not None and line.high is not None:
        edge = {**common, "type": "scatter", "mode": "lines", "hoverinfo": "skip", "x": x}
        edge["line"] = {"color": colour, "width": 0, **shape}
        traces = [
            {**edge, "y": _numbers(line.high)},
            {**edge, "y": _numbers(line.low), "fill": "tonexty", "fillcolor": pale(colour)},
        ]
    modes = ["lines"] * (line.style != "points") + ["markers"] * line.marked
    dash = {"dash": "dash"} if line.style == "dashed" else {}
    look = {
        "type": "scatter",
        "mode": "+".join(modes),
        "line": {"color": colour, "width": 1.8 if len(x) <= _TOLD else 1.1, **shape, **dash},
    }
    if line.marked:
        look["marker"] = {"color": colour, "size": 6, "symbol": SYMBOLS[sheet.marks[line.name]]}
    error = {} if line.banded else _reach(line, colour)
    return [*traces, {**common, **told, **look, "x": x, "y": y, **error}]


_TOLD = 200
"""The largest number of points of a curve with a thicker line, and with its intervals shown under the pointer."""


def _reach(line: Line, colour: str) -> dict[str, Any]:
    """Return error bars, or nothing without an interval."""
    if line.low is None or line.high is None:
        return {}
    above, below = _numbers(line.high - line.y), _numbers(line.y - line.low)
    bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
    return {"error_y": {**bars, "thickness": 1.2, "width": 3, "color": colour}}


def _numbers(values: Iterable[float]) -> list[float | None]:
    """Convert numbers for JSON, to six significant digits; None stands for those that are not finite."""
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values]
