import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { toml } from "@codemirror/legacy-modes/mode/toml";
import { type Diagnostic, linter, lintGutter } from "@codemirror/lint";
import { tags } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";
import { createSignal, onCleanup, onMount, Show } from "solid-js";
import type { Lab } from "../model/lab.js";
import { type Checked, Refusal } from "../worker/protocol.js";

/** The name of a scenario that has no file. */
export const UNNAMED = "scenario.toml";

/** The colours of the page's scheme. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
  { tag: tags.string, color: "var(--string)" },
  { tag: [tags.number, tags.atom, tags.bool], color: "var(--number)" },
  { tag: tags.comment, color: "var(--muted)" },
  { tag: tags.heading, color: "var(--text)", fontWeight: "bold" },
]);

/** Whether a text says which discipline there is. */
const HAS_AQM = /^\s*(\[\s*)?aqm\b/m;

/** The scenario's text, with the checker's errors on their lines. */
export function Editor(props: { lab: Lab; onRun: () => void }) {
  const { lab } = props;
  let place!: HTMLDivElement;
  let view: EditorView | undefined;
  const [message, setMessage] = createSignal<string | null>(null);

  async function check(text: string): Promise<Diagnostic[]> {
    if (!view) return [];
    try {
      await lab.client.ask<Checked>({ ask: "check", opening: { text, name: UNNAMED } });
      setMessage(null);
      return [];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      setMessage(error.message);
      const { doc } = view.state;
      return error.problems.map((problem) => {
        const line = doc.line(Math.min(doc.lines, Math.max(1, problem.line ?? 1)));
        return { from: line.from, to: line.to, severity: "error", message: problem.text };
      });
    }
  }

  /** Shows the scenario that runs, its changes included. */
  async function show() {
    try {
      const insert = await lab.file();
      view?.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } });
    } catch (error) {
      setMessage((error as Error).message);
    }
  }

  async function run() {
    const text = view?.state.doc.toString() ?? "";
    const { name, aqms } = lab.setup;
    const loaded = await lab.load({
      name: lab.setup.text === undefined ? UNNAMED : name,
      text,
      set: {},
      // The first discipline is that of the text, if it names one.
      aqms: aqms.map((aqm, lane) => (lane === 0 && (aqms.length === 1 || HAS_AQM.test(text)) ? "" : aqm)),
      ...(lab.setup.seed !== undefined && { seed: lab.setup.seed }),
    });
    if (loaded) props.onRun();
  }

  onMount(() => {
    view = new EditorView({
      parent: place,
      extensions: [
        basicSetup,
        StreamLanguage.define(toml),
        syntaxHighlighting(COLOURS),
        lintGutter(),
        linter((editor) => check(editor.state.doc.toString()), { delay: 250 }),
        EditorView.contentAttributes.of({ "aria-label": "Scenario" }),
      ],
    });
    void show();
    onCleanup(() => view?.destroy());
  });

  return (
    <section class="editor">
      <p class="note">
        A scenario file, as <code>aqmlab run</code> reads it. Errors appear on their lines.
      </p>
      <div
        ref={(element) => {
          place = element;
        }}
      />
      <Show when={message()}>
        <pre class="problem" role="status">
          {message()}
        </pre>
      </Show>
      <div class="row">
        <button type="button" class="main" disabled={message() !== null} onClick={() => void run()}>
          Run this text
        </button>
        <button type="button" onClick={() => void show()}>
          Show what runs now
        </button>
      </div>
    </section>
  );
}
