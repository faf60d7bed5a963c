import { createEffect, createMemo, For, on, Show } from "solid-js";
import type { Lab } from "../model/lab.js";
import { short, text } from "../model/quantity.js";
import { LINK, ofDiscipline, position, type Slider, sliders, written } from "../model/sliders.js";
import { flowColour } from "./colours.js";
import { scheme } from "./scheme.js";
import { Term } from "./Term.js";

/** Positions of a slider. */
const STEPS = 300;

const TERMS: Record<string, string> = { Buffer: "buffer", "Random loss": "random loss", Number: "flow" };

const shown = ({ value, unit }: Slider) => (unit === "share" ? `${short(100 * value)} %` : text(value, unit));

const same = (a: readonly string[], b: readonly string[]) => a.join() === b.join();

/** The sliders of a link and its traffic; those of `first` come first. A change acts on the running simulation. */
export function Sliders(props: { lab: Lab; first: readonly string[] }) {
  // A range remains while a slider moves in it.
  const ranges = new Map<string, { least: number; most: number }>();
  createEffect(on([() => props.lab.setup.name, () => props.lab.setup.text], () => ranges.clear()));
  const steady = (slider: Slider): Slider => {
    const { path, value } = slider;
    const range = ranges.get(path);
    if (range && value >= range.least && value <= range.most) return { ...slider, ...range };
    ranges.set(path, { least: slider.least, most: slider.most });
    return slider;
  };
  const all = createMemo(() => {
    const scenarios = props.lab.lanes().map(({ checked }) => checked.scenario);
    const catalogue = props.lab.catalogue();
    const [scenario] = scenarios;
    if (scenario === undefined || catalogue === undefined) return [];
    const parameters = props.first.filter((path) => path.startsWith("aqm."));
    const tuning = parameters.flatMap((path) => ofDiscipline(catalogue, scenarios, path));
    return [...sliders(scenario), ...tuning].map(steady);
  });
  // Lists of texts, so that a slider remains while its value changes.
  const own = createMemo(() => props.first.filter((path) => all().some((one) => one.path === path)), [], {
    equals: same,
  });
  const groups = createMemo(() => [...new Set(all().map(({ group }) => group))], [], { equals: same });
  const others = (name: string) =>
    createMemo(
      () =>
        all()
          .filter(({ group, path }) => group === name && !own().includes(path))
          .map(({ path }) => path),
      [],
      { equals: same },
    );
  const slider = (path: string) => all().find((one) => one.path === path);

  const list = (paths: readonly string[], named: boolean) => (
    <For each={paths}>
      {(path) => (
        <Show when={slider(path)}>{(found) => <One lab={props.lab} slider={found()} named={named} />}</Show>
      )}
    </For>
  );

  return (
    <>
      <Show when={own().length > 0}>
        <fieldset class="sliders">
          <legend>Of the lesson</legend>
          {list(own(), true)}
        </fieldset>
      </Show>
      <For each={groups()}>
        {(name, i) => {
          const paths = others(name);
          return (
            <Show when={paths().length > 0}>
              <fieldset class="sliders">
                <legend>
                  {i() > 0 && <i style={{ background: flowColour(scheme(), i() - 1) }} />}
                  {name}
                </legend>
                {list(paths(), false)}
              </fieldset>
            </Show>
          );
        }}
      </For>
    </>
  );
}

function One(props: { lab: Lab; slider: Slider; named: boolean }) {
  const label = () =>
    (props.named && props.slider.group !== LINK ? `${props.slider.group}: ` : "") + props.slider.label;
  return (
    <div class="slider">
      <span>
        <Show when={TERMS[props.slider.label]} fallback={label()}>
          {(term) => <Term name={term()}>{label()}</Term>}
        </Show>
        <span>{shown(props.slider)}</span>
      </span>
      <input
        type="range"
        min="0"
        max={STEPS}
        value={Math.round(STEPS * position(props.slider))}
        aria-label={label()}
        aria-valuetext={shown(props.slider)}
        onInput={(event) =>
          props.lab.change(
            props.slider.path,
            written(props.slider, Number(event.currentTarget.value) / STEPS),
          )
        }
      />
    </div>
  );
}
