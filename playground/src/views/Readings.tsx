import { createMemo, For, Show } from "solid-js";
import type { Means } from "../model/history.js";
import type { Lab } from "../model/lab.js";
import { short, text } from "../model/quantity.js";
import { laneColour } from "./colours.js";
import { scheme } from "./scheme.js";
import { Term } from "./Term.js";

interface Column {
  title: string;
  term: string;
  value: (means: Means & { fairness: number }) => number;
  format: (value: number) => string;
}

const share = (value: number) => (Number.isNaN(value) ? "–" : `${(100 * value).toFixed(2)} %`);

const COLUMNS: readonly Column[] = [
  { title: "Utilisation", term: "utilisation", value: (m) => m.utilisation, format: share },
  {
    title: "Mean delay",
    term: "queueing delay",
    value: (m) => m.delay,
    format: (v) => (Number.isFinite(v) ? text(v, "s") : "–"),
  },
  { title: "Mean queue", term: "backlog", value: (m) => m.queue, format: (v) => short(v) },
  { title: "Deviation", term: "backlog", value: (m) => m.deviation, format: (v) => short(v) },
  { title: "Dropped", term: "loss ratio", value: (m) => m.drops, format: share },
  { title: "Marked", term: "mark", value: (m) => m.marks, format: share },
  {
    title: "Jain's index",
    term: "jain's index",
    value: (m) => m.fairness,
    format: (v) => (Number.isFinite(v) ? v.toFixed(3) : "–"),
  },
];

/** Means over the shown seconds: one row for each discipline, and what the others differ by from the first. */
export function Readings(props: { lab: Lab; window: number }) {
  const { lab } = props;
  const readings = createMemo(() => {
    lab.frames();
    const since = Math.max(0, lab.now() - props.window);
    return lab.lanes().map(({ samples, flows }) => {
      const means = samples.means(since);
      return means && { ...means, fairness: flows.fairness(since) };
    });
  });
  const difference = (column: Column, lane: number) => {
    const [first, own] = [readings()[0], readings()[lane]];
    if (!first || !own) return "";
    const by = column.value(own) - column.value(first);
    if (!Number.isFinite(by) || by === 0) return "";
    return `${by > 0 ? "+" : "−"}${column.format(Math.abs(by))}`;
  };
  return (
    <div class="scroll">
      <table class="readings">
        <caption>Means of the last {short(readings()[0]?.span ?? 0)} s</caption>
        <thead>
          <tr>
            <th scope="col">Discipline</th>
            <For each={COLUMNS}>
              {({ title, term }) => (
                <th scope="col">
                  <Term name={term}>{title}</Term>
                </th>
              )}
            </For>
          </tr>
        </thead>
        <tbody>
          <For each={lab.lanes()}>
            {(_, lane) => (
              <tr aria-current={lab.selected() === lane() && lab.lanes().length > 1}>
                <th scope="row">
                  <Show when={lab.lanes().length > 1} fallback={lab.label(lane())}>
                    <button
                      type="button"
                      class="quiet"
                      onClick={() => lab.setSelected(lane())}
                      title="Show the flows of this discipline"
                    >
                      <i style={{ background: laneColour(scheme(), lane()) }} />
                      {lab.label(lane())}
                    </button>
                  </Show>
                </th>
                <For each={COLUMNS}>
                  {(column) => (
                    <td>
                      {readings()[lane()]
                        ? column.format(column.value(readings()[lane()] as Means & { fairness: number }))
                        : "–"}
                      <Show when={lane() > 0}>
                        <small>{difference(column, lane())}</small>
                      </Show>
                    </td>
                  )}
                </For>
              </tr>
            )}
          </For>
        </tbody>
      </table>
    </div>
  );
}
