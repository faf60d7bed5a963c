// Runs browser.js on one figure in a page and a uPlot that only record, and prints what is drawn, and what a pointer
// at the first point of each panel is shown. Arguments: browser.js, a file with the figure, the width of the page.
const fs = require('fs');
const [, , script, file, width] = process.argv;
const panels = [];

class Element {
  constructor(tag) {
    Object.assign(this, {tag, style: {}, dataset: {}, children: [], attributes: {}, listeners: {}, textContent: ''});
    this.clientWidth = +width;
  }
  append(...more) { this.children.push(...more); }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  getAttribute(name) { return this.attributes[name]; }
  setAttribute(name, value) { this.attributes[name] = value; }
}

class uPlot {
  constructor(options, data, place) {
    Object.assign(this, {options, place, cursor: {left: -1, top: -1}, bbox: {left: 0, top: 0, width: 100, height: 100}});
    this.over = new Element('div');
    this.calls = [];
    this.ctx = new Proxy({}, {
      get: (target, name) => name in target ? target[name] : (...given) => { this.calls.push([name, ...given]); },
      set: (target, name, value) => { target[name] = value; return true; },
    });
    this.ranges = Object.fromEntries(Object.entries(options.scales).map(([name, scale]) => [name, scale.range()]));
    options.hooks.draw.forEach(hook => hook(this));
    panels.push(this);
    // As uPlot does when it has been made.
    Object.keys(options.scales).forEach(scale => options.hooks.setScale.forEach(hook => hook(this, scale)));
  }
  get scales() {
    return Object.fromEntries(Object.entries(this.ranges).map(([name, [min, max]]) => [name, {min, max}]));
  }
  setScale(which, {min, max}) { this.ranges[which] = [min, max]; }
  // All axes are 100 pixels long; y axes point upwards unless the scale is turned round.
  valToPos(value, which) {
    const scale = this.options.scales[which], log = scale.distr === 3;
    const [low, high, at] = [...this.ranges[which], value].map(one => log ? Math.log10(one) : one);
    const part = (at - low) / (high - low);
    return 100 * ((which !== 'x') === (scale.dir === 1) ? 1 - part : part);
  }
}

const rows = new Element('div'), button = new Element('button'), place = new Element('figure');
button.dataset.name = 'first';
button.attributes['aria-pressed'] = 'true';
place.querySelector = what => what === 'script' ? {textContent: fs.readFileSync(file, 'utf8')} : rows;
place.querySelectorAll = () => [button];
Object.assign(globalThis, {
  uPlot,
  document: {documentElement: {}, querySelectorAll: () => [place], createElement: tag => new Element(tag)},
  getComputedStyle: () => ({getPropertyValue: name => name}),
  matchMedia: () => ({matches: false, addEventListener() {}}),
  addEventListener() {},
  devicePixelRatio: 1,
  ResizeObserver: class { observe() {} },
  IntersectionObserver: class {
    constructor(seen) { this.seen = seen; }
    observe(target) { this.seen([{isIntersecting: true, target}]); }
    unobserve() {}
  },
});
new Function(fs.readFileSync(script, 'utf8'))();

const shown = panels.splice(0).map(panel => {
  const [tip] = panel.over.children;
  panel.cursor = {left: 50, top: 50};
  panel.options.hooks.setCursor[0](panel);
  return {calls: panel.calls, ranges: panel.ranges, axes: panel.options.axes.map((axis, which) => ({
    label: axis.label,
    texts: axis.values ? axis.values(null,
      axis.splits ? [...axis.splits(null, 0, ...panel.ranges[axis.scale ?? 'xy'[which]]), ...which ? [null] : []] : []) : null,
  })), tip: tip.hidden ? null : tip.textContent};
});
button.listeners.click();
console.log(JSON.stringify({panels: shown, hidden: panels.map(panel => panel.calls)}));
