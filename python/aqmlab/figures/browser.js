// Draws the figures of a page with uPlot: it has the axes, the zoom and the pointer; the shapes are drawn here.
// Each figure is drawn when the reader scrolls near it, then the rest one by one.
(() => {
'use strict';

const LEAST_WIDTH = 230, PIXELS = 96, LABEL = 18, RIGHT = 10, CHARACTER = 7, POINTER = 40, MARK = 12, NUMBERS = 46;
const root = document.documentElement;
const theme = name => getComputedStyle(root).getPropertyValue(name).trim();
const shown = colour => colour === '#000000' || colour === '#222222' ? theme('--text') || colour : colour;
const number = value => value === null ? '-' : String(+value.toPrecision(4));
const at = (values, index) => values ? values[index] : null;

// A scale of uPlot that starts with the panel's range; a double click returns to it. uPlot asks for the range of x when
// the reader zooms, too, with the ends of the selection.
function scale(axis, zooms) {
  const range = (_, low, high) => zooms && low !== null && low !== undefined ? [low, high] : axis.range;
  return {time: false, auto: true, distr: axis.log ? 3 : 1, dir: axis.down ? -1 : 1, range};
}

// The room around a panel in pixels; panels in one column have the same, so that their axes are in line.
function sides(grid, panel, first, bottom) {
  const column = grid.same_y ? grid.panels : [panel], ticks = panel.x.ticks || [];
  const widest = Math.max(0, ...column.flatMap(one => (one.y.ticks || []).map(longest)));
  const lines = Math.max(1, ...ticks.map(text => text.split('\n').length));
  const labelled = first && grid.panels.some(one => one.y.label);
  return {
    left: first ? (widest ? 14 + 6.6 * widest : NUMBERS) + (labelled && !panel.y.label ? LABEL : 0) : 12,
    right: Math.max(RIGHT, ...grid.panels.map(rightAxis)),
    below: bottom ? 9 + 14 * lines : 12,
    xLabel: bottom && panel.x.label ? LABEL : 0,
    yLabel: labelled && panel.y.label ? LABEL : 0,
  };
}

// The room for a panel's right axis, with its label.
const rightAxis = panel => panel.right ? NUMBERS + (panel.right.label ? LABEL : 0) : 0;

const longest = text => Math.max(...text.split('\n').map(line => line.length));

function axis(of, side, size, labelSize, numbered, length) {
  const made = {
    side, size, stroke: theme('--text'), font: '12px system-ui, sans-serif',
    grid: {stroke: theme('--grid'), width: 1, show: !of.ticks, filter: (_, all) => of.log ? labelled(all) : all},
    ticks: {stroke: theme('--muted'), width: 1, size: 4},
    border: {show: true, stroke: theme('--muted'), width: 1}, gap: 3,
  };
  if (labelSize) {
    const font = Math.max(8, Math.min(12, length / (.58 * of.label.length)));  // a long label is smaller, and not cut off
    Object.assign(made, {label: of.label, labelSize, labelGap: 0, labelFont: font + 'px system-ui, sans-serif'});
  }
  if (of.ticks) made.splits = () => of.ticks.map((_, index) => index);
  if (of.step) made.incrs = [of.step];
  if (of.whole) made.incrs = [1, 2, 5].flatMap(digit => [0, 1, 2, 3, 4, 5, 6].map(power => digit * 10 ** power)).sort((a, b) => a - b);
  if (of.log) made.splits = (u, _, low, high) => logarithmic(low, high);
  if (!numbered) made.values = (_, splits) => splits.map(() => '');
  else if (of.ticks) made.values = (_, splits) => splits.map(place => of.ticks[place] ?? '');
  else if (of.log) made.values = (_, splits) => labelled(splits).map(value => value === null ? '' : plain(value));
  return made;
}

// The ticks of a logarithmic axis: digits from 1 to 9 at each power of ten; of a narrower range, five even steps.
function logarithmic(low, high) {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    for (let digit = 1; digit <= 9; digit++) {
      const value = +(digit + 'e' + power);
      if (value >= low && value <= high) found.push(value);
    }
  }
  return found.length > 1 ? found : Array.from({length: 5}, (_, step) => +(low + (high - low) * step / 4).toPrecision(3));
}

// The ticks with a label and a line, null in the place of the others: 1, 2 and 5, or on a long axis powers of ten.
function labelled(splits) {
  const known = splits.filter(value => value !== null), dense = known.at(-1) < 400 * known[0];
  for (const digits of dense ? [[1, 2, 5]] : [[1], [1, 2, 5]]) {
    const kept = splits.map(value => digits.includes(first(value)) ? value : null);
    if (kept.filter(value => value !== null).length > 1) return kept;
  }
  return splits;
}

// The first digit, if it is the only one; uPlot replaces ticks that it leaves out by null.
function first(value) {
  return value === null ? null : +value.toExponential().split('e')[0];
}

function plain(value) {
  return value >= 1e-3 && value < 1e5 ? String(+value.toPrecision(3)) : value.toExponential();
}

const DRAW = {
  curve(u, shape, x, y, c) {
    const {context} = c, step = shape.steps, colour = shown(shape.colour);
    if (shape.low && shape.band) {
      context.globalAlpha = .2;
      context.fillStyle = colour;
      bands(shape, (from, to) => {
        context.beginPath();
        trace(context, shape.x, shape.high, from, to, x, y, step, false);
        trace(context, shape.x, shape.low, from, to, x, y, step, true);
        context.fill();
      });
      context.globalAlpha = 1;
    } else if (shape.low) {
      errors(shape.x, shape.low, shape.high, x, y, c, colour, false);
    }
    if (shape.width) {
      context.globalAlpha = shape.opacity ?? 1;
      c.line(colour, shape.width * 1.25, shape.dash);
      context.beginPath();
      runs(shape.y, (from, to) => trace(context, shape.x, shape.y, from, to, x, y, step, false, true));
      context.stroke();
      context.globalAlpha = 1;
    }
    if (shape.mark) {
      context.setLineDash([]);
      context.fillStyle = shape.hollow ? theme('--surface') || '#fff' : colour;
      context.strokeStyle = colour;
      context.lineWidth = 1.6 * c.ratio;
      const size = (shape.size ?? 4.4) * .62 * c.ratio;
      shape.y.forEach((value, index) => {
        if (value === null) return;
        const px = x(shape.x[index]), py = y(value);
        if (shape.mark === 'pixel') return context.fillRect(px, py, c.ratio, c.ratio);
        context.beginPath();
        MARKS[shape.mark](context, px, py, size);
        context.fill();
        if (shape.hollow) context.stroke();
      });
    }
  },
  bars(u, shape, x, y, c) {
    const {context} = c, half = (1 - (shape.gap ?? .08)) / 2 * shape.width;
    shape.at.forEach((place, index) => {
      const value = shape.value[index];
      if (value === null) return;
      context.fillStyle = shown(shape.colours[index]);
      const [a, b] = shape.horizontal ? [y(place - half), y(place + half)] : [x(place - half), x(place + half)];
      const [from, to] = shape.horizontal ? [x(0), x(value)] : [y(0), y(value)];
      if (shape.horizontal) context.fillRect(from, Math.min(a, b), to - from, Math.abs(b - a));
      else context.fillRect(Math.min(a, b), to, Math.abs(b - a), from - to);
    });
    const across = shape.horizontal;
    if (shape.low) errors(shape.at, shape.low, shape.high, x, y, c, theme('--text'), across);
    (shape.texts || []).forEach((text, index) => {
      const end = Math.max(shape.value[index] ?? 0, at(shape.high, index) ?? 0);
      const [px, py] = across ? [x(end) + 5 * c.ratio, y(shape.at[index])] : [x(shape.at[index]), y(end) - 4 * c.ratio];
      c.text(text, px, py, theme('--text'), across ? 'left' : 'center', across ? 'middle' : 'bottom');
    });
  },
  guide(u, shape, x, y, c) {
    const {left, top, width, height} = u.bbox;
    c.line(shown(shape.colour) === '#444444' ? theme('--muted') : shown(shape.colour), shape.width * 1.25, shape.dash);
    c.context.beginPath();
    if (shape.upright) c.segment(x(shape.value), top, x(shape.value), top + height);
    else c.segment(left, y(shape.value), left + width, y(shape.value));
    c.context.stroke();
  },
  shade(u, shape, x, y, c) {
    c.context.globalAlpha = shape.opacity;
    c.context.fillStyle = shape.colour;
    c.context.fillRect(x(shape.start), u.bbox.top, x(shape.end) - x(shape.start), u.bbox.height);
    c.context.globalAlpha = 1;
  },
  note(u, shape, x, y, c) {
    const px = x(shape.x) + shape.dx * 1.33 * c.ratio, py = y(shape.y) - shape.dy * 1.33 * c.ratio;
    if (shape.joined) {
      c.line(shown(shape.colour), .8, []);
      c.context.beginPath();
      c.segment(x(shape.x), y(shape.y), px, py);
      c.context.stroke();
    }
    c.text(shape.text, px, py, shown(shape.colour), shape.left ? 'right' : 'left', 'middle');
  },
  arrow(u, shape, x, y, c) {
    const from = [x(shape.x), y(shape.y)], to = [x(shape.to_x), y(shape.to_y)], size = 7 * c.ratio;
    const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
    c.context.fillStyle = shown(shape.colour);
    c.context.beginPath();
    for (const [turn, length] of [[0, size], [2.5, size], [-2.5, size]]) {
      c.context.lineTo(from[0] + length * Math.cos(angle + turn), from[1] + length * Math.sin(angle + turn));
    }
    c.context.fill();
  },
};

const corners = turns => (context, x, y, size) => {
  turns.forEach(turn => context.lineTo(x + size * 1.25 * Math.sin(turn * Math.PI), y - size * 1.25 * Math.cos(turn * Math.PI)));
  context.closePath();
};
const MARKS = {
  circle: (context, x, y, size) => context.arc(x, y, size, 0, 2 * Math.PI),
  square: (context, x, y, size) => context.rect(x - size, y - size, 2 * size, 2 * size),
  plus: (context, x, y, size) => {
    context.rect(x - size, y - size / 2.6, 2 * size, size / 1.3);
    context.rect(x - size / 2.6, y - size, size / 1.3, 2 * size);
  },
  diamond: corners([0, .5, 1, 1.5]),
  triangle: corners([0, 2 / 3, 4 / 3]),
  'triangle-down': corners([1, 5 / 3, 1 / 3]),
  'triangle-left': corners([1.5, 1 / 6, 5 / 6]),
  'triangle-right': corners([.5, 7 / 6, 11 / 6]),
};

// Calls `draw` with the first and the last index of each part without a gap.
function runs(values, draw) {
  let from = -1;
  for (let index = 0; index <= values.length; index++) {
    const known = index < values.length && values[index] !== null;
    if (known && from < 0) from = index;
    if (!known && from >= 0) { draw(from, index - 1); from = -1; }
  }
}

function bands(shape, draw) {
  runs(shape.low.map((low, index) => low === null || shape.high[index] === null ? null : 0), draw);
}

function trace(context, xs, ys, from, to, x, y, steps, back, lift) {
  for (let count = from; count <= to; count++) {
    const index = back ? to - (count - from) : count, px = x(xs[index]), py = y(ys[index]);
    if (lift && count === from) { context.moveTo(px, py); continue; }
    if (steps && count > from) {
      if (back) context.lineTo(x(xs[index + 1]), py);
      else context.lineTo(px, y(ys[index - 1]));
    }
    context.lineTo(px, py);
  }
}

function errors(places, low, high, x, y, c, colour, across) {
  c.line(colour, 1.2, []);
  c.context.beginPath();
  places.forEach((place, index) => {
    if (low[index] === null || high[index] === null) return;
    const cap = 3 * c.ratio;
    if (across) {
      const py = y(place), from = x(low[index]), to = x(high[index]);
      c.segment(from, py, to, py);
      for (const end of [from, to]) c.segment(end, py - cap, end, py + cap);
    } else {
      const px = x(place), from = y(low[index]), to = y(high[index]);
      c.segment(px, from, px, to);
      for (const end of [from, to]) c.segment(px - cap, end, px + cap, end);
    }
  });
  c.context.stroke();
}

function drawShapes(u, panel, hidden) {
  const context = u.ctx, ratio = devicePixelRatio || 1;
  const [x, y, right] = ['x', 'y', 'right'].map(scale => value => u.valToPos(value, scale, true));
  const texts = [];
  const c = {
    context, ratio,
    line(colour, width, dash) {
      context.strokeStyle = colour;
      context.lineWidth = width * ratio;
      context.lineJoin = 'round';
      context.setLineDash((dash || []).map(part => part * width * ratio));
    },
    segment(x0, y0, x1, y1) { context.moveTo(x0, y0); context.lineTo(x1, y1); },
    text(...given) { texts.push(given); },  // drawn last, and not cut off at the edge of the panel
    write(text, px, py, colour, align, baseline) {
      context.font = 12 * ratio + 'px system-ui, sans-serif';
      context.fillStyle = colour;
      context.textAlign = align;
      context.textBaseline = baseline;
      context.fillText(text, px, py);
    },
  };
  context.save();
  context.beginPath();
  context.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
  context.clip();
  panel.shapes.forEach(shape => { if (!hidden.has(shape.name)) DRAW[shape.kind](u, shape, x, shape.right ? right : y, c); });
  if (!panel.shapes.length) {
    c.text('no data', u.bbox.left + u.bbox.width / 2, u.bbox.top + u.bbox.height / 2, theme('--muted'), 'center', 'middle');
  }
  context.restore();
  texts.forEach(given => c.write(...given));
}

// The point of a curve, or the bar, that is nearest to the pointer.
function nearest(u, panel, hidden, left, top) {
  let best = null, least = POINTER ** 2;
  const offer = (shape, index, px, py, distance) => {
    if (distance < least) { least = distance; best = {shape, index, px, py}; }
  };
  for (const shape of panel.shapes) {
    if (hidden.has(shape.name)) continue;
    if (shape.kind === 'curve' && shape.name) {
      shape.x.forEach((value, index) => {
        if (shape.y[index] === null) return;
        const px = u.valToPos(value, 'x'), py = u.valToPos(shape.y[index], shape.right ? 'right' : 'y');
        offer(shape, index, px, py, (px - left) ** 2 + (py - top) ** 2);
      });
    } else if (shape.kind === 'bars') {
      shape.at.forEach((place, index) => {
        if (shape.value[index] === null) return;
        const along = shape.horizontal ? 'x' : 'y', other = shape.horizontal ? 'y' : 'x';
        const end = u.valToPos(shape.value[index], along), middle = u.valToPos(place, other);
        const [px, py] = shape.horizontal ? [end, middle] : [middle, end];
        const off = shape.horizontal ? py - top : px - left;
        const half = Math.abs(u.valToPos(place + shape.width / 2, other) - middle);
        // A mark on the bar is nearer, where the pointer is at the mark.
        if (Math.abs(off) < half) offer(shape, index, px, py, Math.max(Math.abs(off), MARK) ** 2);
      });
    }
  }
  return best;
}

function described(panel, {shape, index}) {
  const ticks = panel.x.ticks || panel.y.ticks, bar = shape.kind === 'bars';
  const place = bar ? shape.at[index] : shape.x[index], value = bar ? shape.value[index] : shape.y[index];
  const name = ticks && (bar || panel.x.ticks) ? (ticks[Math.round(place)] ?? '').replaceAll('\n', ' ') : number(place);
  const low = at(shape.low, index), high = at(shape.high, index);
  const interval = low === null || low === undefined || high === null ? '' : ` (${number(low)} to ${number(high)})`;
  const quantity = panel.right ? (shape.right ? panel.right : panel.y).label : '';
  return [shape.name, quantity, `${name}: ${number(value)}${interval}`].filter(Boolean).join('\n');
}

function plot(panel, place, width, height, size, first, bottom, hidden, zoomed) {
  place.textContent = '';
  if (panel.title) {
    const title = document.createElement('div');
    title.className = 'panel-title';
    title.textContent = panel.title;
    title.style.color = panel.colour ? shown(panel.colour) : '';
    title.style.paddingLeft = size.left + size.yLabel + 'px';
    place.append(title);
  }
  const whole = height + size.below + size.xLabel + 8, {right} = panel;
  const inner = width - size.left - size.yLabel - size.right;
  panel.x.range = [panel.x.range[0], roomForTexts(panel, inner)];
  if (panel.square) square(panel, inner, height);
  const tip = document.createElement('div');
  tip.className = 'tip';
  tip.hidden = true;
  const point = u => {
    const found = u.cursor.left < 0 ? null : nearest(u, panel, hidden, u.cursor.left, u.cursor.top);
    tip.hidden = !found;
    if (!found) return;
    tip.textContent = described(panel, found);
    const leftwards = found.px > u.over.clientWidth / 2;
    tip.style.left = leftwards ? '' : found.px + 10 + 'px';
    tip.style.right = leftwards ? u.over.clientWidth - found.px + 10 + 'px' : '';
    tip.style.top = Math.max(0, found.py - 40) + 'px';
  };
  const touch = matchMedia('(hover: none)').matches;
  const u = new uPlot({
    width, height: whole, padding: [8, size.right - rightAxis(panel), 0, 0], legend: {show: false},
    cursor: {points: {show: false}, drag: {x: !touch, y: !touch, uni: 12}},
    scales: {x: scale(panel.x, true), y: scale(panel.y, false), ...right && {right: scale(right, false)}},
    axes: [
      axis(panel.x, 2, size.below, size.xLabel, bottom, width - size.left),
      axis(panel.y, 3, size.left, size.yLabel, first, height),
      ...right ? [{...axis(right, 1, NUMBERS, right.label && LABEL, true, height), scale: 'right', grid: {show: false}}] : [],
    ],
    series: [{}, ...['y', 'right'].slice(0, right ? 2 : 1).map(scale => ({scale, paths: () => null, points: {show: false}}))],
    hooks: {draw: [u => drawShapes(u, panel, hidden)], setCursor: [point], setScale: [zoomed]},
  }, [panel.x.range, panel.y.range, ...right ? [right.range] : []], place);
  u.over.append(tip);
}

// The upper end of x at which the texts of horizontal bars have room in a panel of this width.
function roomForTexts(panel, width) {
  let high = panel.x.full ??= panel.x.range[1];
  for (const shape of panel.shapes) {
    if (shape.kind !== 'bars' || !shape.horizontal || !shape.texts) continue;
    shape.texts.forEach((text, index) => {
      const end = Math.max(shape.value[index] ?? 0, at(shape.high, index) ?? 0);
      high = Math.max(high, end * width / Math.max(width - (text.length + 1.5) * CHARACTER, width / 4));
    });
  }
  return high;
}

// Widens one of the ranges, to give both axes the same scale.
function square(panel, width, height) {
  const length = range => range[1] - range[0], [x, y] = [panel.x, panel.y];
  x.wanted ??= x.range;
  y.wanted ??= y.range;
  const unit = Math.max(length(x.wanted) / width, length(y.wanted) / height);
  for (const [of, size] of [[x, width], [y, height]]) {
    const middle = (of.wanted[0] + of.wanted[1]) / 2;
    of.range = [middle - unit * size / 2, middle + unit * size / 2];
  }
}

// A hook of uPlot by which the panels of a grid are zoomed together along the axes that they share.
function together(grid) {
  const peers = new Set();
  let busy = false;
  return (u, which) => {
    peers.add(u);
    // Each panel has its own right axis.
    if (busy || which === 'right' || !(which === 'x' ? grid.same_x : grid.same_y)) return;
    busy = true;
    const {min, max} = u.scales[which];
    peers.forEach(peer => { if (peer !== u) peer.setScale(which, {min, max}); });
    busy = false;
  };
}

function layOut(figure, place, hidden) {
  const width = place.clientWidth;
  place.textContent = '';
  for (const row of figure.rows) {
    const side = width >= 760 && row.length > 1, sum = row.reduce((all, grid) => all + grid.weight, 0);
    const line = document.createElement('div');
    line.className = 'grids';
    place.append(line);
    for (const grid of row) {
      const own = Math.floor(side ? (width - 16 * (row.length - 1)) * grid.weight / sum : width);
      let across = grid.across;
      while (across > 1 && own / across < Math.min(LEAST_WIDTH, own)) across--;
      const box = document.createElement('div');
      box.className = 'panels';
      box.style.width = own + 'px';
      line.append(box);
      const places = grid.panels.map((panel, index) => {
        const first = index % across === 0, bottom = !grid.same_x || index + across >= grid.panels.length;
        const numbered = first || !grid.same_y;
        return {panel, first: numbered, bottom, size: sides(grid, panel, numbered, bottom)};
      });
      const lefts = Array.from({length: across}, (_, column) => Math.max(0, ...places
        .filter((_, index) => index % across === column).map(({size}) => size.left + size.yLabel)));
      const inner = (own - lefts.reduce((a, b) => a + b, 0)) / across;
      const zoomed = together(grid);
      places.forEach(({panel, first, bottom, size}, index) => {
        const cell = document.createElement('div'), wide = Math.floor(inner + lefts[index % across]);
        cell.style.width = wide + 'px';
        box.append(cell);
        plot(panel, cell, wide, Math.round(grid.height * PIXELS), size, first, bottom, hidden, zoomed);
      });
    }
  }
}

function draw(place) {
  if (place.drawn) return;
  place.drawn = true;
  const figure = JSON.parse(place.querySelector('script').textContent), rows = place.querySelector('.rows');
  const hidden = new Set();
  place.redraw = () => layOut(figure, rows, hidden);
  place.redraw();
  rows.style.minHeight = '';
  let width = rows.clientWidth;
  new ResizeObserver(() => {
    if (rows.clientWidth !== width) { width = rows.clientWidth; place.redraw(); }
  }).observe(rows);
  place.querySelectorAll('.legend button').forEach(button => button.addEventListener('click', () => {
    const off = button.getAttribute('aria-pressed') === 'true';
    button.setAttribute('aria-pressed', String(!off));
    if (off) hidden.add(button.dataset.name); else hidden.delete(button.dataset.name);
    place.redraw();
  }));
}

const figures = [...document.querySelectorAll('.figure')];
const near = new IntersectionObserver(
  seen => seen.forEach(one => { if (one.isIntersecting) { near.unobserve(one.target); draw(one.target); } }),
  {rootMargin: '800px'});
figures.forEach(place => near.observe(place));
addEventListener('beforeprint', () => figures.forEach(draw));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => figures.forEach(place => place.redraw?.()));
function rest() {
  const place = figures.find(one => !one.drawn);
  if (place) { draw(place); setTimeout(rest, 50); }
}
addEventListener('load', () => setTimeout(rest, 200));
})();
