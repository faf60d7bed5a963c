import { createMemo, For, Show } from "solid-js";
import { classOf, DRAWN, numberOf } from "../model/flows.js";
import type { Quantity } from "../model/history.js";
import type { Lab } from "../model/lab.js";
import { short, text } from "../model/quantity.js";
import { traffic } from "../model/scenario.js";
import { flowColour, laneColour } from "./colours.js";
import { type Line, Plot } from "./Plot.js";
import { scheme } from "./scheme.js";

/** The most points of a line: beyond, every second or third is drawn. */
const POINTS = 2500;

interface Panel {
  quantity: Quantity;
  title: string;
  term?: string;
  note: string;
  /** The time over which a value is averaged, in s. */
  width: number;
  least: number;
  format: (value: number) => string;
}

const share = (value: number) => `${short(100 * value)} %`;
const seconds = (value: number) => (value === 0 ? "0" : text(value, "s"));
const rate = (value: number) => (value === 0 ? "0" : text(value, "bit/s"));

const PANELS: readonly Panel[] = [
  {
    quantity: "queue",
    title: "Queue",
    term: "backlog",
    note: "packets",
    width: 0.01,
    least: 10,
    format: short,
  },
  {
    quantity: "delay",
    title: "Queueing delay",
    term: "queueing delay",
    note: "mean of those that left in the last 50 ms",
    width: 0.05,
    least: 0.005,
    format: seconds,
  },
  {
    quantity: "losses",
    title: "Drops",
    term: "loss ratio",
    note: "share of the arrivals of the last 0.5 s",
    width: 0.5,
    least: 0.01,
    format: share,
  },
  {
    quantity: "p",
    title: "Drop probability p",
    term: "drop probability",
    note: "as the discipline computes it",
    width: 0.01,
    least: 0.01,
    format: share,
  },
  {
    quantity: "marked",
    title: "Marks",
    term: "mark",
    note: "share of the arrivals of the last 0.5 s",
    width: 0.5,
    least: 0.01,
    format: share,
  },
  {
    quantity: "throughput",
    title: "Link rate in use",
    term: "throughput",
    note: "over the last 0.2 s",
    width: 0.2,
    least: 1e5,
    format: rate,
  },
];

/** The moving plots: of the link for all disciplines, of the flows for the selected one. */
export function Plots(props: { lab: Lab; window: number }) {
  const { lab } = props;
  const since = () => {
    lab.frames();
    return lab.now() - props.window;
  };
  const range = (): [number, number] => [
    Math.max(0, lab.now() - props.window),
    Math.max(props.window, lab.now()),
  ];
  const lines = createMemo<Line[]>(() =>
    lab.lanes().map((_, i) => ({ label: lab.label(i), colour: laneColour(scheme(), i), dashed: i === 2 })),
  );
  const data = ({ quantity, width }: Panel) => {
    const from = since();
    const [first = [new Float64Array(), new Float64Array()], ...others] = lab
      .lanes()
      .map(({ samples }) => samples.series([[quantity, width]], from, POINTS));
    return [...first, ...others.map(([, values]) => values as Float64Array)];
  };
  const isShown = ({ quantity }: Panel) => {
    lab.frames();
    if (quantity !== "p" && quantity !== "marked") return true;
    return lab.lanes().some(({ samples }) => {
      const last = samples.columns[quantity === "p" ? "p" : "marks"][samples.length - 1] ?? 0;
      return quantity === "p" ? !Number.isNaN(last) : last > 0;
    });
  };

  const lane = () => lab.lanes()[lab.selected()];
  const flows = createMemo(
    () => {
      lab.frames();
      return lane()?.flows.drawn() ?? [];
    },
    [],
    { equals: (a, b) => a.length === b.length && a.every((flow, i) => flow === b[i]) },
  );
  const flowLines = createMemo<Line[]>(() => {
    const ranks = new Map<number, number>();
    const scenario = lane()?.checked.scenario;
    const entries = scenario ? traffic(scenario) : [];
    return flows().map((flow) => {
      const of = classOf(flow);
      const rank = (ranks.get(of) ?? 0) + 1;
      ranks.set(of, rank);
      return { label: `${entries[of]?.name} ${rank}`, colour: flowColour(scheme(), of, numberOf(flow)) };
    });
  });
  const ofFlows = () =>
    `${flows().length === DRAWN ? `${DRAWN} flows` : "each flow"} of ${lab.label(lab.selected())}`;

  return (
    <section class="plots" aria-label="Plots">
      <For each={PANELS}>
        {(panel) => (
          <Show when={isShown(panel)}>
            <Plot
              title={panel.title}
              {...(panel.term !== undefined && { term: panel.term })}
              note={panel.note}
              lines={lines()}
              data={() => data(panel)}
              range={range}
              changes={lab.changes}
              least={panel.least}
              format={panel.format}
            />
          </Show>
        )}
      </For>
      <Show when={flows().length > 0}>
        <Plot
          title="Congestion windows"
          term="congestion window"
          note={`segments, ${ofFlows()}`}
          lines={flowLines()}
          data={() => lane()?.flows.windows(flows(), since()) ?? []}
          range={range}
          changes={lab.changes}
          least={4}
          format={short}
        />
        <Plot
          title="Rates of the flows"
          term="goodput"
          note={`delivered in order, over the last 0.5 s, ${ofFlows()}`}
          lines={flowLines()}
          data={() => lane()?.flows.rates(flows(), since(), 0.5) ?? []}
          range={range}
          changes={lab.changes}
          least={1e5}
          format={rate}
        />
      </Show>
    </section>
  );
}
