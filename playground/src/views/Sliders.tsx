import { createMemo, For, Show } from "solid-js";
import type { Lab } from "../model/lab.js";
import { short, text } from "../model/quantity.js";
import { LINK, type Slider, sliders } from "../model/sliders.js";
import { flowColour } from "./colours.js";
import { scheme } from "./scheme.js";
import { Term } from "./Term.js";

/** Positions of a slider. */
const STEPS = 300;

const TERMS: Record<string, string> = { Buffer: "buffer", "Random loss": "random loss", Number: "flow" };

/** The position of a value. */
function position({ value, least, most, logarithmic }: Slider): number {
  const part = logarithmic
    ? Math.log(value / least) / Math.log(most / least)
    : (value - least) / (most - least);
  return Math.round(part * STEPS);
}

/** The value of a position, as the scenario writes it. */
function written(slider: Slider, at: number): string {
  const { least, most, logarithmic, unit } = slider;
  const part = at / STEPS;
  const value = logarithmic ? least * (most / least) ** part : least + part * (most - least);
  const whole =
    unit === "packets" || unit === "B" ? Math.max(1, Math.round(Number(value.toPrecision(2)))) : value;
  return unit === "flows"
    ? String(Math.round(value))
    : unit === "share"
      ? value.toFixed(4)
      : text(whole, unit, 2);
}

const shown = ({ value, unit }: Slider) => (unit === "share" ? `${short(100 * value)} %` : text(value, unit));

const same = (a: readonly string[], b: readonly string[]) => a.join() === b.join();

/** The sliders of a link and its traffic; those of `first` come first. A change acts on the running simulation. */
export function Sliders(props: { lab: Lab; first: readonly string[] }) {
  const all = createMemo(() => {
    const scenario = props.lab.lanes()[0]?.checked.scenario;
    return scenario === undefined ? [] : sliders(scenario);
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
        <output>{shown(props.slider)}</output>
      </span>
      <input
        type="range"
        min="0"
        max={STEPS}
        value={position(props.slider)}
        aria-label={label()}
        aria-valuetext={shown(props.slider)}
        onInput={(event) =>
          props.lab.change(props.slider.path, written(props.slider, Number(event.currentTarget.value)))
        }
      />
    </div>
  );
}
