import { createSignal, For, Show } from "solid-js";
import type { Lesson } from "../lessons/lesson.js";
import type { Lab } from "../model/lab.js";
import { Text } from "./Term.js";

/** What a lesson has set up at one of its steps. */
function setupAt(lesson: Lesson, step: number) {
  const until = lesson.steps.slice(0, step + 1);
  const set = Object.fromEntries(
    until.flatMap((one) => Object.entries(one.set ?? {})).map(([k, v]) => [k, String(v)]),
  );
  const aqms = until.reduce((before, one) => one.aqms ?? before, lesson.aqms);
  return { name: `${lesson.id}.toml`, text: lesson.scenario, set, aqms: [...aqms] };
}

/** A guided experiment: three steps and a question. */
export function LessonPanel(props: { lab: Lab; lesson: Lesson; onClose: () => void }) {
  const { lab } = props;
  const [step, setStep] = createSignal(0);
  const [answer, setAnswer] = createSignal("");
  const [verdict, setVerdict] = createSignal<"right" | "wrong" | null>(null);
  const isQuestion = () => step() === props.lesson.steps.length;

  async function go(to: number) {
    setStep(to);
    const next = props.lesson.steps[to];
    if (next === undefined) return;
    const setup = setupAt(props.lesson, to);
    const disciplines = next.aqms !== undefined && next.aqms.join() !== lab.setup.aqms.join();
    if (to === 0 || next.restart || disciplines) {
      if (await lab.load(setup)) lab.setPlaying(true);
    } else {
      for (const [path, value] of Object.entries(setup.set)) lab.change(path, value);
    }
  }
  void go(0);

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
