import { createEffect, onCleanup, onMount } from "solid-js";
import uPlot from "uplot";
import { scheme } from "./scheme.js";
import { Term } from "./Term.js";

export interface Line {
  label: string;
  colour: string;
  dashed?: boolean;
}

interface Props {
  title: string;
  /** The word of the glossary that the title is about. */
  term?: string;
  /** What the title does not say: the unit and the averaging. */
  note: string;
  lines: Line[];
  /** Times in s, then the values of each line. */
  data: () => Float64Array[];
  /** The interval of time that is shown, in s. */
  range: () => [number, number];
  /** The times of changes, in s, which vertical lines mark. */
  changes: () => readonly number[];
  /** The smallest upper end of the values. */
  least: number;
  /** A value as the axis shows it. */
  format: (value: number) => string;
}

/** Values with null, which draws nothing, for those that are not defined. */
const gapped = (values: Float64Array): ArrayLike<number | null> =>
  values.some(Number.isNaN) ? Array.from(values, (value) => (Number.isNaN(value) ? null : value)) : values;

/** The height of a plot of this width, in CSS pixels. */
const height = (width: number) => Math.round(Math.min(340, Math.max(150, 0.42 * width)));

const FONT = "11px system-ui, sans-serif";

/** A plot over the last seconds, drawn anew with every frame. */
export function Plot(props: Props) {
  let place!: HTMLDivElement;
  let plot: uPlot | undefined;

  function mark(drawn: uPlot, colour: string) {
    const { ctx, bbox } = drawn;
    ctx.save();
    ctx.strokeStyle = colour;
    ctx.setLineDash([2, 4]);
    ctx.beginPath();
    const [from, to] = props.range();
    for (const time of props.changes()) {
      if (time < from || time > to) continue;
      const x = drawn.valToPos(time, "x", true);
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
    }
    ctx.stroke();
    ctx.restore();
  }

  const build = () => {
    plot?.destroy();
    const style = getComputedStyle(place);
    const [muted, grid] = [style.getPropertyValue("--muted"), style.getPropertyValue("--grid")];
    const axis = { stroke: muted, font: FONT, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    plot = new uPlot(
      {
        width: place.clientWidth,
        height: height(place.clientWidth),
        legend: { show: false },
        cursor: { show: false },
        pxAlign: false,
        padding: [6, 20, 0, 0],
        hooks: { drawAxes: [(drawn) => mark(drawn, muted)] },
        scales: {
          x: { time: false, range: () => props.range() },
          y: { range: (_, low, high) => [Math.min(0, low), Math.max(props.least, high * 1.05)] },
        },
        axes: [
          {
            ...axis,
            size: 22,
            values: (_, ticks) => ticks.map((t) => `${Number(t.toFixed(3))} s`),
            space: 70,
          },
          { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => props.format(tick)), space: 26 },
        ],
        series: [
          {},
          ...props.lines.map(({ label, colour, dashed }) => ({
            label,
            stroke: colour,
            // Without a graphics processor, a browser draws wider lines ten times slower.
            width: 1,
            points: { show: false },
            spanGaps: false,
            ...(dashed && { dash: [4, 3] }),
          })),
        ],
      },
      [[], ...props.lines.map(() => [])],
      place,
    );
  };

  onMount(() => {
    const observer = new ResizeObserver(() =>
      plot?.setSize({ width: place.clientWidth, height: height(place.clientWidth) }),
    );
    observer.observe(place);
    onCleanup(() => {
      observer.disconnect();
      plot?.destroy();
    });
    let built = "";
    createEffect(() => {
      const data = props.data().map(gapped);
      const now = JSON.stringify([scheme(), props.lines]);
      if (now !== built) {
        built = now;
        build();
      }
      plot?.setData(data as uPlot.AlignedData);
    });
  });

  return (
    <figure class="plot">
      <figcaption>
        <strong>{props.term ? <Term name={props.term}>{props.title}</Term> : props.title}</strong>
        <span class="note">{props.note}</span>
      </figcaption>
      <div
        ref={(element) => {
          place = element;
        }}
        role="img"
        aria-label={`${props.title} over time, ${props.note}: ${props.lines.map(({ label }) => label).join(", ")}`}
      />
    </figure>
  );
}
