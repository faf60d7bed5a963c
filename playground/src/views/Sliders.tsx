import catalogue from "virtual:catalogue";
import { createMemo, For, Show } from "solid-js";
import type { Lab } from "../model/lab.js";
import { amount, short, text } from "../model/quantity.js";
import { ofDiscipline, position, type Slider, sliders, written } from "../model/sliders.js";
import { flowColour } from "./colours.js";
import { scheme } from "./scheme.js";
import { Term } from "./Term.js";

/** Positions of a slider. */
const STEPS = 300;

const TERMS: Record<string, string> = {
  Buffer: "buffer",
  "Random loss": "random loss",
  "One-way delay": "one-way delay",
};

const shown = ({ value, unit, also }: Slider) =>
  (unit === "share" ? `${short(100 * value)} %` : text(value, unit)) + (also ? ` (${also})` : "");

const same = (a: readonly string[], b: readonly string[]) => a.join() === b.join();

/** The sliders of a link and its traffic; those of `first` come first. A change acts on the running simulation. */
export function Sliders(props: { lab: Lab; first: readonly string[] }) {
  // A range remains while a slider moves in it.
  let ranges = new Map<string, { least: number; most: number }>();
  let of = "";
  const steady = (slider: Slider): Slider => {
    // A change that is under way shows already.
    const value = amount(props.lab.setup.set[slider.path] ?? "", slider.unit) ?? slider.value;
    const range = ranges.get(slider.path);
    const { also, ...other } = slider;
    const rest = value === slider.value ? slider : other;
    if (range && value >= range.least && value <= range.most) return { ...rest, ...range, value };
    const { least, most } = slider;
    ranges.set(slider.path, { least, most });
    return { ...rest, value: Math.min(most, value) };
  };
  const all = createMemo(() => {
    const scenarios = props.lab.lanes().map(({ checked }) => checked.scenario);
    const [scenario] = scenarios;
    const { name, text } = props.lab.setup;
    if (of !== `${name} ${text}`) [of, ranges] = [`${name} ${text}`, new Map()];
    if (scenario === undefined) return [];
    const parameters = props.first.filter((path) => path.startsWith("aqm."));
    const tuning = parameters.flatMap((path) => ofDiscipline(catalogue, scenarios, path));
    return [...sliders(scenario), ...tuning].map(steady);
  });
  // Lists of texts, so that a slider remains while its value changes.
  const own = createMemo(() => props.first.filter((path) => all().some((one) => one.path === path)), [], {
    equals: same,
  });
  const others = (name: Slider["group"]) =>
    createMemo(
      () =>
        all()
          .filter(({ group, path }) => group === name && !own().includes(path))
          .map(({ path }) => path),
      [],
      { equals: same },
    );
  const slider = (path: string) => all().find((one) => one.path === path);

  const group = (legend: string, paths: () => readonly string[]) => (
    <Show when={paths().length > 0}>
      <fieldset class="sliders">
        <legend>{legend}</legend>
        <For each={paths()}>
          {(path) => <Show when={slider(path)}>{(found) => <One lab={props.lab} slider={found()} />}</Show>}
        </For>
      </fieldset>
    </Show>
  );

  return (
    <>
      {group("Of the lesson", own)}
      {group("Link", others("Link"))}
      {group("Traffic", others("Traffic"))}
    </>
  );
}

function One(props: { lab: Lab; slider: Slider }) {
  /** Whether the positions are the values. */
  const isPlain = () => props.slider.whole && !props.slider.logarithmic;
  function move(to: number) {
    const { slider } = props;
    if (isPlain()) return props.lab.change(slider.path, String(to));
    const next = written(slider, to / STEPS);
    // A step of the keyboard is at least one unit.
    const up = to > STEPS * position(slider);
    const isStuck = slider.whole && amount(next, slider.unit) === slider.value;
    const stepped = Math.min(slider.most, Math.max(slider.least, slider.value + (up ? 1 : -1)));
    props.lab.change(slider.path, isStuck ? text(stepped, slider.unit, 9) : next);
  }
  return (
    <div class="slider">
      <span>
        <span>
          <Show when={props.slider.entry !== undefined}>
            <i style={{ background: flowColour(scheme(), props.slider.entry ?? 0) }} />
          </Show>
          <Show when={TERMS[props.slider.label]} fallback={props.slider.label}>
            {(term) => <Term name={term()}>{props.slider.label}</Term>}
          </Show>
        </span>
        <span>{shown(props.slider)}</span>
      </span>
      <input
        type="range"
        {...(isPlain()
          ? { min: props.slider.least, max: props.slider.most, step: 1, value: props.slider.value }
          : { min: 0, max: STEPS, step: 1, value: Math.round(STEPS * position(props.slider)) })}
        aria-label={props.slider.label}
        aria-valuetext={shown(props.slider)}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
    </div>
  );
}
