import { createEffect, createMemo, createSignal, For, Match, onCleanup, Show, Switch } from "solid-js";
import { lessons } from "./lessons/index.js";
import { createLab, type Lab } from "./model/lab.js";
import { fragment, type Link } from "./model/setup.js";
import { Disciplines } from "./views/Disciplines.js";
import { Editor } from "./views/Editor.js";
import { LessonPanel } from "./views/Lessons.js";
import { Network } from "./views/Network.js";
import { Plots } from "./views/Plots.js";
import { Readings } from "./views/Readings.js";
import { Results } from "./views/Results.js";
import { Share } from "./views/Share.js";
import { Sliders } from "./views/Sliders.js";
import { scheme, setScheme } from "./views/scheme.js";
import { Transport } from "./views/Transport.js";
import { Trouble } from "./views/Trouble.js";

const TABS = ["Scenario", "Results", "Share and save"] as const;

/** How many seconds plots show at a speed: as many as pass in twenty seconds, rounded. */
function suitable(speed: number): number {
  const wanted = Math.min(60, Math.max(0.5, 20 * speed));
  return [0.5, 1, 2, 5, 10, 20, 60].find((seconds) => seconds >= wanted * 0.99) ?? 60;
}

interface Props {
  link: Link;
  onStart?: (lab: Lab) => void;
  /** Gets the fragment of an address that opens the page as it is now. */
  onChange?: (fragment: string) => void;
}

/** The whole page, or the compact view of it that another page embeds. */
export function App(props: Props) {
  const first = lessons.find(({ id }) => id === props.link.lesson);
  const lab = createLab(
    first
      ? { name: `${first.id}.toml`, text: first.scenario, set: {}, aqms: [...first.aqms] }
      : props.link.setup,
  );
  onCleanup(lab.close);
  const [chosen, setChosen] = createSignal<number | null>(null);
  const shown = createMemo(() => chosen() ?? suitable(lab.speed()));
  const [tab, setTab] = createSignal<(typeof TABS)[number] | null>(null);
  const [lesson, setLesson] = createSignal(first);
  const lanes = createMemo(() => lab.lanes().map((_, i) => i), [], {
    equals: (a, b) => a.length === b.length,
  });

  props.onStart?.(lab);

  createEffect(() => {
    const setup = { ...lab.setup, set: { ...lab.setup.set }, aqms: [...lab.setup.aqms] };
    const current = lesson()?.id;
    if (lab.lanes().length === 0) return;
    void fragment({ setup, embed: props.link.embed, ...(current !== undefined && { lesson: current }) }).then(
      props.onChange,
    );
  });

  const title = () => (lab.lanes()[0]?.checked.scenario.title as string | undefined) ?? "";

  return (
    <div class="playground" data-scheme={scheme()} classList={{ embedded: props.link.embed }}>
      <Show when={!props.link.embed}>
        <header class="page">
          <h1>aqmlab playground</h1>
          <label>
            Scenario{" "}
            <select
              value={lab.setup.text === undefined ? lab.setup.name : ""}
              onChange={(event) => {
                setLesson(undefined);
                void lab.load({ name: event.currentTarget.value, set: {}, aqms: [""] });
              }}
            >
              <Show when={lab.setup.text !== undefined}>
                <option value="">{lab.setup.name}</option>
              </Show>
              <For each={lab.scenarios()}>
                {(name) => (
                  <option value={name} selected={name === lab.setup.name}>
                    {name}
                  </option>
                )}
              </For>
            </select>
          </label>
          <label>
            Lesson{" "}
            <select
              value={lesson()?.id ?? ""}
              onChange={(event) => setLesson(lessons.find(({ id }) => id === event.currentTarget.value))}
            >
              <option value="">none</option>
              <For each={lessons}>
                {({ id, title }) => (
                  <option value={id} selected={id === lesson()?.id}>
                    {title}
                  </option>
                )}
              </For>
            </select>
          </label>
          <button
            type="button"
            class="quiet"
            onClick={() => setScheme(scheme() === "dark" ? "light" : "dark")}
          >
            {scheme() === "dark" ? "Light" : "Dark"}
          </button>
        </header>
      </Show>
      <Trouble lab={lab} />
      <Show when={lab.lanes().length > 0} fallback={<p class="loading">The engine is loading …</p>}>
        <div class="columns">
          <main>
            <Show when={lesson()} keyed>
              {(one) => <LessonPanel lab={lab} lesson={one} onClose={() => setLesson(undefined)} />}
            </Show>
            <p class="title">{title()}</p>
            <For each={lanes()}>{(lane) => <Network lab={lab} lane={lane} />}</For>
            <Transport lab={lab} window={chosen()} setWindow={setChosen} />
            <Readings lab={lab} window={shown()} />
            <Plots lab={lab} window={shown()} />
          </main>
          <aside aria-label="Controls">
            <Disciplines lab={lab} />
            <Sliders lab={lab} first={lesson()?.sliders ?? []} />
          </aside>
        </div>
        <Show when={!props.link.embed}>
          <nav class="tabs" aria-label="More">
            <For each={TABS}>
              {(name) => (
                <button
                  type="button"
                  aria-expanded={tab() === name}
                  onClick={() => setTab((open) => (open === name ? null : name))}
                >
                  {name}
                </button>
              )}
            </For>
          </nav>
          <Switch>
            <Match when={tab() === "Scenario"}>
              <Editor lab={lab} />
            </Match>
            <Match when={tab() === "Results"}>
              <Results lab={lab} />
            </Match>
            <Match when={tab() === "Share and save"}>
              <Share lab={lab} window={shown()} />
            </Match>
          </Switch>
          <p class="note">
            Keys: space plays and pauses, . goes one sample further, n to the next drop, + and - change the
            speed.
          </p>
        </Show>
      </Show>
    </div>
  );
}
