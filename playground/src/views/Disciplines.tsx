import catalogue from "virtual:catalogue";
import { createMemo, For, Show } from "solid-js";
import {
  aqm,
  discipline,
  field,
  hasTables,
  type Parameter,
  withParameter,
  words,
} from "../model/catalogue.js";
import type { Lab } from "../model/lab.js";
import { disciplineOf } from "../model/scenario.js";
import { LANES } from "../model/setup.js";
import { laneColour } from "./colours.js";
import { scheme } from "./scheme.js";
import { Text } from "./Term.js";

/** What one more lane begins with. */
const NEXT = ["codel", "pie", "fq_codel", "red", "droptail"];

const NAMES = [...catalogue.aqms, ...catalogue.variants].map(({ name }) => name).sort();

/** The choice of the disciplines, and all their parameters. */
export function Disciplines(props: { lab: Lab }) {
  const { lab } = props;
  const add = () => {
    const name = NEXT.find((one) => !lab.setup.aqms.some((other) => words(other).name === one)) ?? "droptail";
    void lab.compare([...lab.setup.aqms.map((_, lane) => lab.explicit(lane)), name]);
  };
  const lanes = createMemo(() => lab.setup.aqms.map((_, i) => i), [], {
    equals: (a, b) => a.length === b.length,
  });
  return (
    <>
      <For each={lanes()}>{(lane) => <One lab={lab} lane={lane} />}</For>
      <Show when={lab.setup.aqms.length < LANES}>
        <button type="button" onClick={add}>
          Compare with another discipline
        </button>
      </Show>
    </>
  );
}

function One(props: { lab: Lab; lane: number }) {
  const { lab, lane } = props;
  const own = (): Record<string, unknown> => {
    const scenario = lab.lanes()[lane]?.checked.scenario;
    return scenario ? disciplineOf(scenario) : {};
  };
  const chosen = () => lab.setup.aqms[lane] ?? "";
  const name = () => (chosen() === "" ? String(own().name ?? "") : words(chosen()).name);
  const found = createMemo(() => discipline(catalogue, name()));
  const summary = () =>
    catalogue.variants.find((one) => one.name === name())?.summary ?? found()?.summary ?? "";
  /** Whether the scenario's own discipline has a table, which words cannot have. */
  const hasTable = () => chosen() === "" && hasTables(own());
  const problem = (key: string) => {
    const trouble = lab.trouble();
    return trouble?.lane === lane
      ? trouble.problems.find(({ path }) => path === `aqm.${key}`)?.text
      : undefined;
  };
  return (
    <fieldset class="discipline" style={{ "--own": laneColour(scheme(), lane) }}>
      <legend>Discipline{lab.setup.aqms.length > 1 ? ` ${lane + 1}` : ""}</legend>
      <div class="row">
        <select
          aria-label={`Discipline ${lane + 1}`}
          value={name()}
          onChange={(event) => lab.choose(lane, event.currentTarget.value)}
        >
          <For each={NAMES}>
            {(one) => (
              <option value={one} selected={one === name()}>
                {one}
              </option>
            )}
          </For>
        </select>
        <Show when={lab.setup.aqms.length > 1}>
          <button
            type="button"
            aria-label={`Take ${name()} away`}
            onClick={() => void lab.compare(lab.setup.aqms.filter((_, i) => i !== lane))}
          >
            ×
          </button>
        </Show>
      </div>
      <p class="note">
        <Text>{`${name()}: ${summary()}`}</Text>
      </p>
      <Show when={(found()?.presets.length ?? 0) > 0 && name() === found()?.name}>
        <label class="row">
          Preset
          <select
            value={words(chosen()).values.preset ?? ""}
            onChange={(event) =>
              lab.choose(
                lane,
                aqm({
                  name: name(),
                  values: event.currentTarget.value ? { preset: event.currentTarget.value } : {},
                }),
              )
            }
          >
            <option value="">defaults</option>
            <For each={found()?.presets}>
              {(preset) => (
                <option
                  value={preset.name}
                  title={preset.summary}
                  selected={preset.name === words(chosen()).values.preset}
                >
                  {preset.name}
                </option>
              )}
            </For>
          </select>
        </label>
      </Show>
      <Show when={found()}>
        {(known) => (
          <details>
            <summary>How it works</summary>
            <pre>{known().doc}</pre>
          </details>
        )}
      </Show>
      <Show when={(found()?.parameters.length ?? 0) > 0}>
        <details>
          <summary>Parameters</summary>
          <Show when={hasTable()}>
            <p class="note">The scenario gives this discipline a table: change it in the scenario's text.</p>
          </Show>
          <For each={found()?.parameters}>
            {(parameter) => (
              <Entry
                parameter={parameter}
                value={own()[parameter.name]}
                disabled={hasTable()}
                problem={problem(parameter.name)}
                id={`lane-${lane}-${parameter.name}`}
                onChange={(value) =>
                  lab.choose(lane, withParameter(lab.explicit(lane), parameter.name, value))
                }
              />
            )}
          </For>
        </details>
      </Show>
    </fieldset>
  );
}

interface EntryProps {
  parameter: Parameter;
  value: unknown;
  disabled: boolean;
  problem: string | undefined;
  id: string;
  onChange: (value: string | undefined) => void;
}

/** One parameter: its value, unit, sentence and allowed values. */
function Entry(props: EntryProps) {
  const { parameter, id } = props;
  const kind = field(parameter);
  const shown = () =>
    typeof props.value === "object" ? JSON.stringify(props.value) : String(props.value ?? parameter.default);
  const doc = `${id}-doc`;
  const common = { id, "aria-describedby": doc };
  return (
    <div class="entry">
      <label for={id}>
        <code>{parameter.name}</code>
      </label>
      <Show when={kind.kind === "flag"}>
        <input
          {...common}
          type="checkbox"
          disabled={props.disabled}
          checked={shown() === "true"}
          onChange={(event) => props.onChange(String(event.currentTarget.checked))}
        />
      </Show>
      <Show when={kind.kind === "choice" && kind}>
        {(choice) => (
          <select
            {...common}
            disabled={props.disabled}
            value={shown()}
            onChange={(event) => props.onChange(event.currentTarget.value)}
          >
            <For each={(choice() as { of: string[] }).of}>
              {(one) => (
                <option value={one} selected={one === shown()}>
                  {one}
                </option>
              )}
            </For>
          </select>
        )}
      </Show>
      <Show when={kind.kind === "text" || kind.kind === "table"}>
        <input
          {...common}
          type="text"
          value={shown()}
          disabled={props.disabled || kind.kind === "table"}
          aria-invalid={props.problem !== undefined}
          onChange={(event) => props.onChange(event.currentTarget.value.trim() || undefined)}
        />
      </Show>
      <Show when={props.problem}>
        <p class="problem">{props.problem}</p>
      </Show>
      <p class="note" id={doc}>
        {parameter.doc}{" "}
        <span class="allowed">
          {parameter.allowed}; default {String(parameter.default)}.
        </span>
      </p>
    </div>
  );
}
