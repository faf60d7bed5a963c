import catalogue from "virtual:catalogue";
import { createSignal, For, Show } from "solid-js";
import type { Lesson } from "../lessons/lesson.js";
import type { Lab } from "../model/lab.js";
import { setupOf, startsRun } from "../model/setup.js";
import { Text } from "./Term.js";

/** A guided experiment: three steps and a question. */
export function LessonPanel(props: { lab: Lab; lesson: Lesson; onClose: () => void }) {
  const { lab } = props;
  const [step, setStep] = createSignal(0);
  const [answer, setAnswer] = createSignal("");
  const [verdict, setVerdict] = createSignal<"right" | "wrong" | null>(null);
  const isQuestion = () => step() === props.lesson.steps.length;

  async function go(to: number) {
    setStep(to);
    setAnswer("");
    setVerdict(null);
    const next = props.lesson.steps[to];
    if (next === undefined) return;
    const setup = setupOf(props.lesson, to, catalogue);
    if (startsRun(props.lesson, to) || setup.aqms.length !== lab.setup.aqms.length) {
      if (await lab.load(setup)) lab.setPlaying(true);
    } else {
      for (const [path, value] of Object.entries(next.set ?? {})) lab.change(path, String(value));
    }
  }
  // The address may have begun it already, with the reader's changes.
  if (lab.setup.name !== `${props.lesson.id}.toml`) void go(0);

  function judge(event: SubmitEvent) {
    event.preventDefault();
    const { least, most } = props.lesson.question;
    const given = Number.parseFloat(answer().replace(",", "."));
    setVerdict(given >= least && given <= most ? "right" : "wrong");
  }

  return (
    <section class="lesson" aria-label={`Lesson: ${props.lesson.title}`}>
      <header class="row">
        <h2>{props.lesson.title}</h2>
        <button type="button" class="quiet" onClick={props.onClose}>
          Leave the lesson
        </button>
      </header>
      <p class="note">{props.lesson.summary}</p>
      <Show when={props.lesson.paper}>
        {(paper) => (
          <p class="note">
            {paper().figure} of the paper; <code>aqmlab reproduce {paper().name}</code> draws it as printed,
            with intervals.
          </p>
        )}
      </Show>
      <ol>
        <For each={props.lesson.steps}>
          {(one, i) => (
            <li aria-current={step() === i() ? "step" : undefined} hidden={i() > step()}>
              <Text>{one.text}</Text>
            </li>
          )}
        </For>
      </ol>
      <Show
        when={isQuestion()}
        fallback={
          <button type="button" class="main" onClick={() => void go(step() + 1)}>
            {step() + 1 < props.lesson.steps.length ? "Next step" : "To the question"}
          </button>
        }
      >
        <form onSubmit={judge}>
          <p>
            <strong>
              <Text>{props.lesson.question.text}</Text>
            </strong>
          </p>
          <p class="note">
            <Text>{props.lesson.question.hint}</Text>
          </p>
          <div class="row">
            <input
              type="text"
              inputMode="decimal"
              required
              aria-label={`Your answer in ${props.lesson.question.unit}`}
              value={answer()}
              onInput={(event) => {
                setAnswer(event.currentTarget.value);
                setVerdict(null);
              }}
            />
            {props.lesson.question.unit}
            <button type="submit">Check</button>
          </div>
        </form>
        <p role="status">
          <Show when={verdict() === "wrong"}>Not yet: try another value with the sliders.</Show>
          <Show when={verdict() === "right"}>
            <strong>Right.</strong> <Text>{props.lesson.question.because}</Text>
          </Show>
        </p>
      </Show>
      <Show when={step() > 0}>
        <button type="button" class="quiet" onClick={() => void go(0)}>
          Begin again
        </button>
      </Show>
    </section>
  );
}
