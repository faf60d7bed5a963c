import listed from "virtual:listed";
import { createEffect, createMemo, createSignal, For, type JSX, onCleanup, Show } from "solid-js";
import { lessons } from "./lessons/index.js";
import { createLab, type Lab } from "./model/lab.js";
import { fragment, type Link } from "./model/setup.js";
import { Disciplines } from "./views/Disciplines.js";
import { Editor } from "./views/Editor.js";
import { Files } from "./views/Files.js";
import { LessonPanel } from "./views/Lessons.js";
import { Network } from "./views/Network.js";
import { Plots } from "./views/Plots.js";
import { Readings } from "./views/Readings.js";
import { Results } from "./views/Results.js";
import { Share } from "./views/Share.js";
import { Sliders } from "./views/Sliders.js";
import { calm, scheme, setScheme } from "./views/scheme.js";
import { Transport } from "./views/Transport.js";
import { Trouble } from "./views/Trouble.js";
import { Client } from "./worker/client.js";

const TABS = ["Scenario", "Results", "Share and save"] as const;

/** How many seconds plots show at a speed: as many as pass in twenty seconds, rounded. */
function suitable(speed: number): number {
  const wanted = Math.min(60, Math.max(0.5, 20 * speed));
  return [0.5, 1, 2, 5, 10, 20, 60].find((seconds) => seconds >= wanted * 0.99) ?? 60;
}

interface Props {
  link: Link;
  /** What is wrong with the address, if anything. */
  problem?: string | undefined;
  onStart?: (lab: Lab) => void;
  /** Gets the fragment of an address that opens the page as it is now. */
  onChange?: (fragment: string) => void;
}

/** The whole page, or the compact view of it that another page embeds. */
export function App(props: Props) {
  const lab = createLab(props.link.setup, new Client());
  onCleanup(lab.close);
  const [chosen, setChosen] = createSignal<number | null>(null);
  const shown = createMemo(() => chosen() ?? suitable(lab.speed()));
  const [tab, setTab] = createSignal<(typeof TABS)[number] | null>(null);
  /** The tabs that have been opened: what is in them remains. */
  const [visited, setVisited] = createSignal<readonly string[]>([]);
  const [lesson, setLesson] = createSignal(lessons.find(({ id }) => id === props.link.lesson));
  const lanes = createMemo(() => lab.lanes().map((_, i) => i), [], {
    equals: (a, b) => a.length === b.length,
  });
  const [root, setRoot] = createSignal<HTMLDivElement>();

  props.onStart?.(lab);
  void lab.begin(calm).then(() => {
    if (props.problem) lab.setTrouble({ message: props.problem, problems: [], lane: 0 });
  });

  // An address that is not as it should be remains until the reader changes something.
  let isWrong = props.problem !== undefined;
  createEffect(() => {
    const [setup, current] = [lab.accepted(), lesson()?.id];
    if (lab.lanes().length === 0) return;
    if (isWrong) {
      isWrong = false;
      return;
    }
    void fragment({ setup, embed: props.link.embed, ...(current !== undefined && { lesson: current }) }).then(
      props.onChange,
    );
  });

  const title = () => (lab.lanes()[0]?.checked.scenario.title as string | undefined) ?? "";

  function open(name: (typeof TABS)[number]) {
    setTab((before) => (before === name ? null : name));
    setVisited((all) => [...new Set([...all, name])]);
  }
  const panel = (name: (typeof TABS)[number], content: () => JSX.Element) => (
    <Show when={visited().includes(name)}>
      <div hidden={tab() !== name}>{content()}</div>
    </Show>
  );

  return (
    <div class="playground" data-scheme={scheme()} classList={{ embedded: props.link.embed }} ref={setRoot}>
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
                <option value="" selected>
                  {lab.setup.name}
                </option>
              </Show>
              <For each={listed}>
                {({ name, problem }) => (
                  <option
                    value={name}
                    selected={lab.setup.text === undefined && name === lab.setup.name}
                    disabled={problem !== null}
                    title={problem ?? ""}
                  >
                    {name}
                    {problem === null ? "" : " (has a recording)"}
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
      <Show when={!props.link.embed && root()}>
        {(place) => <Files lab={lab} place={place()} onOpen={() => setLesson(undefined)} />}
      </Show>
      <Trouble lab={lab} />
      <Show
        when={lab.lanes().length > 0}
        fallback={
          <Show when={!lab.trouble() && !lab.failure()}>
            <p class="loading">The engine is loading …</p>
          </Show>
        }
      >
        <div class="columns">
          <main class="scene">
            <Show when={lesson()} keyed>
              {(one) => <LessonPanel lab={lab} lesson={one} onClose={() => setLesson(undefined)} />}
            </Show>
            <p class="title">{title()}</p>
            <For each={lanes()}>{(lane) => <Network lab={lab} lane={lane} />}</For>
            <Transport
              lab={lab}
              window={chosen()}
              setWindow={setChosen}
              keys={(props.link.embed && root()) || document}
            />
            <Readings lab={lab} window={shown()} />
          </main>
          <aside class="controls" aria-label="Controls">
            <Disciplines lab={lab} />
            <Sliders lab={lab} first={lesson()?.sliders ?? []} />
          </aside>
          <Plots lab={lab} window={shown()} />
        </div>
        <Show when={!props.link.embed}>
          <nav class="tabs" aria-label="More">
            <For each={TABS}>
              {(name) => (
                <button type="button" aria-expanded={tab() === name} onClick={() => open(name)}>
                  {name}
                </button>
              )}
            </For>
          </nav>
          {panel("Scenario", () => (
            <Editor lab={lab} onRun={() => setLesson(undefined)} />
          ))}
          {panel("Results", () => (
            <Results lab={lab} />
          ))}
          {panel("Share and save", () => (
            <Share lab={lab} window={shown()} />
          ))}
          <p class="note">
            Keys: space plays and pauses, . goes one sample further, n to the next drop, + and - change the
            speed.
          </p>
        </Show>
      </Show>
    </div>
  );
}
