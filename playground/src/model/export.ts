import type { Quantity } from "./history.js";
import type { Lab } from "./lab.js";

/** What a file of samples has of each lane: counters from the start of the run, the queue and the probability now. */
const COLUMNS = {
  queue: "queue_packets",
  p: "p",
  arrivals: "arrivals_packets",
  drops: "drops_packets",
  marks: "marks_packets",
  departures: "departures_packets",
  departed_bytes: "departed_bytes",
  waited: "waited_packet_seconds",
  delivered: "delivered_bytes",
  capacity: "capacity_bits",
} as const;

/** The samples that the page keeps, as CSV: a row for each time and discipline. */
export function csv(lab: Lab): string {
  const names = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];
  const lines = [["t_s", "aqm", ...names.map((name) => COLUMNS[name])].join(",")];
  lab.lanes().forEach(({ samples }, lane) => {
    const aqm = `"${lab.label(lane).replaceAll('"', '""')}"`;
    for (let row = 0; row < samples.length; row++) {
      const values = names.map((name) => samples.columns[name][row] as number);
      const t = samples.columns.t[row] as number;
      lines.push([t.toFixed(6), aqm, ...values.map((value) => (Number.isNaN(value) ? "" : value))].join(","));
    }
  });
  return `${lines.join("\n")}\n`;
}

interface Curve {
  label: string;
  colour: string;
  x: Float64Array;
  y: Float64Array;
}

interface Panel {
  title: string;
  unit: string;
  /** What a value is multiplied with to be in that unit. */
  scale: number;
  curves: Curve[];
}

/** Quantity, title, unit, what a value is multiplied with, and the time in s over which it is averaged. */
const PANELS: readonly [Quantity, string, string, number, number][] = [
  ["queue", "Queue", "packets", 1, 0.01],
  ["delay", "Queueing delay", "ms", 1000, 0.05],
  ["losses", "Drops in 0.5 s", "% of arrivals", 100, 0.5],
  ["marked", "Marks in 0.5 s", "% of arrivals", 100, 0.5],
  ["p", "Drop probability p", "%", 100, 0.01],
  ["throughput", "Link rate in use", "Mbit/s", 1e-6, 0.2],
];

/** The plots of the link as one vector graphic: the last `window` s. */
export function svg(lab: Lab, window: number, colour: (lane: number) => string): string {
  const since = Math.max(0, lab.now() - window);
  const panels = PANELS.map(
    ([quantity, title, unit, scale, width]): Panel => ({
      title,
      unit,
      scale,
      curves: lab.lanes().map(({ samples }, lane) => {
        const [x, y] = samples.series([[quantity, width]], since, Number.POSITIVE_INFINITY) as [
          Float64Array,
          Float64Array,
        ];
        return { label: lab.label(lane), colour: colour(lane), x, y };
      }),
    }),
  );
  const height = panels.length * (PANEL + GAP) + 30;
  const keys = panels[0]?.curves.map(({ label, colour }, i) => {
    const x = LEFT + (i * (WIDTH - LEFT)) / (panels[0]?.curves.length ?? 1);
    return `<path d="M${x} 14h20" stroke="${colour}" stroke-width="2"/><text x="${x + 26}" y="18">${escaped(label)}</text>`;
  });
  const drawn = panels.map((panel, i) => drawing(panel, 30 + i * (PANEL + GAP), [since, lab.now()]));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" \
font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>${keys?.join("")}${drawn.join("")}</svg>\n`;
}

const WIDTH = 720;
const LEFT = 60;
const PANEL = 130;
const GAP = 50;

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

function drawing({ title, unit, scale, curves }: Panel, top: number, [from, to]: [number, number]): string {
  const values = curves.flatMap(({ y }) => Array.from(y)).filter(Number.isFinite);
  const most = values.reduce((a, b) => Math.max(a, b), 1e-9) * scale * 1.05;
  const across = (t: number) => LEFT + ((t - from) / Math.max(to - from, 1e-9)) * (WIDTH - LEFT - 10);
  const up = (value: number) => top + PANEL - (value / most) * PANEL;
  const ticks = steps(most).map(
    (tick) =>
      `<path d="M${LEFT} ${up(tick)}H${WIDTH - 10}" stroke="#ddd"/><text x="${LEFT - 6}" y="${up(tick) + 4}" text-anchor="end">${tick}</text>`,
  );
  const times = steps(to - from).map((tick) => {
    const t = Number((from + tick).toPrecision(6));
    return `<text x="${across(from + tick)}" y="${top + PANEL + 16}" text-anchor="middle">${t} s</text>`;
  });
  const lines = curves.map(({ colour, x, y }) => {
    const points = Array.from(x, (t, i) => [t, (y[i] as number) * scale] as const);
    const path = points.map(([t, value], i) => {
      if (!Number.isFinite(value)) return "";
      const begins = i === 0 || !Number.isFinite(points[i - 1]?.[1] ?? Number.NaN);
      return `${begins ? "M" : "L"}${across(t).toFixed(1)} ${up(value).toFixed(1)}`;
    });
    return `<path d="${path.join("")}" fill="none" stroke="${colour}" stroke-width="1.3"/>`;
  });
  return `<text x="${LEFT}" y="${top - 6}">${title} (${unit})</text>${ticks.join("")}${times.join("")}${lines.join("")}`;
}

/** Round numbers from 0 up to `most`: three to six. */
function steps(most: number): number[] {
  const raw = most / 4;
  const size = 10 ** Math.floor(Math.log10(Math.max(raw, 1e-12)));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((one) => one >= raw) ?? size;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}
