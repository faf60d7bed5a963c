import catalogue from "virtual:catalogue";
import type { Results as Found, Opening } from "aqmlab";
import { createSignal, For, Show } from "solid-js";
import type { Lab } from "../model/lab.js";
import { short } from "../model/quantity.js";
import { openings } from "../model/setup.js";
import { Refusal } from "../worker/protocol.js";
import { save } from "./save.js";
import { Term } from "./Term.js";

/** The metrics of whole runs: what `aqmlab run` prints for the same scenario and seed, bit for bit. */
export function Results(props: { lab: Lab }) {
  const { lab } = props;
  const [found, setFound] = createSignal<{ label: string; opening: Opening; results: Found }[]>([]);
  /** The setup of the results. */
  const [of, setOf] = createSignal("");
  const isOld = () => found().length > 0 && of() !== JSON.stringify(lab.accepted());
  const [done, setDone] = createSignal<number | null>(null);
  const [message, setMessage] = createSignal<string | null>(null);

  async function run() {
    setFound([]);
    setMessage(null);
    const all = openings(lab.accepted()).map((opening, lane) => ({ opening, label: lab.label(lane) }));
    setOf(JSON.stringify(lab.accepted()));
    lab.setPlaying(false);
    try {
      for (const [i, { opening, label }] of all.entries()) {
        const progress = (part: number) => setDone((i + part) / all.length);
        progress(0);
        const results = await lab.client.ask<Found>({ ask: "run", opening }, progress);
        setFound((before) => [...before, { label, opening, results }]);
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      setMessage(error instanceof Refusal || error.message !== "stopped" ? error.message : "Stopped.");
    }
    setDone(null);
  }

  const rows = () =>
    catalogue.metrics.filter(({ name }) => found().some(({ results }) => results.metrics[name] != null));

  return (
    <section>
      <p class="note">
        A run of the whole scenario, from its start to its <code>duration</code>, with what is set above. The
        numbers are those of <code>aqmlab run</code> for the same scenario and seed, bit for bit.
      </p>
      <div class="row">
        <button type="button" class="main" disabled={done() !== null} onClick={() => void run()}>
          Run the scenario
        </button>
        <Show when={done() !== null}>
          <progress value={done() ?? 0} aria-label="The part of the run that is done" />
          <button type="button" onClick={() => void lab.client.ask({ ask: "stop" })}>
            Stop
          </button>
        </Show>
        <Show when={found().length > 0 && done() === null}>
          <button
            type="button"
            onClick={() => save("results.json", "application/json", JSON.stringify(found(), null, 2))}
          >
            Save JSON
          </button>
        </Show>
      </div>
      <Show when={message()}>
        <pre class="problem">{message()}</pre>
      </Show>
      <Show when={isOld()}>
        <p class="note" role="status">
          These are results of what was set up before.
        </p>
      </Show>
      <Show when={found().length > 0}>
        <div class="scroll">
          <table class="results">
            <thead>
              <tr>
                <th scope="col">Metric</th>
                <th scope="col">Unit</th>
                <For each={found()}>{({ label }) => <th scope="col">{label}</th>}</For>
              </tr>
            </thead>
            <tbody>
              <For each={rows()}>
                {({ name, unit, doc }) => (
                  <tr>
                    <th scope="row">
                      <Term name={name} meaning={doc.replaceAll("`", "")}>
                        <code>{name}</code>
                      </Term>
                    </th>
                    <td>{unit}</td>
                    <For each={found()}>
                      {({ results }) => (
                        <td>
                          {results.metrics[name] == null ? "–" : short(results.metrics[name] as number, 6)}
                        </td>
                      )}
                    </For>
                  </tr>
                )}
              </For>
            </tbody>
          </table>
        </div>
      </Show>
    </section>
  );
}
