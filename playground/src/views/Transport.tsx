import { createSignal, For, onCleanup, onMount, Show } from "solid-js";
import { AS_FAST_AS_IT_GOES, type Lab } from "../model/lab.js";
import { short } from "../model/quantity.js";

const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, AS_FAST_AS_IT_GOES];

const named = (speed: number) => (speed === AS_FAST_AS_IT_GOES ? "as fast as it goes" : `${speed} ×`);

/** Play, pause, speed and steps; also with the keys Space, `.` and `n` where no field has the focus. */
export function Transport(props: {
  lab: Lab;
  window: number | null;
  setWindow: (seconds: number | null) => void;
  /** Where keys count. */
  keys: EventTarget;
}) {
  const { lab } = props;
  const [seeking, setSeeking] = createSignal(false);

  async function toLoss() {
    setSeeking(true);
    try {
      await lab.toLoss();
    } finally {
      setSeeking(false);
    }
  }

  const slower = (by: number) => {
    const at = SPEEDS.indexOf(lab.speed()) + by;
    lab.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, at))] as number);
  };

  function key(event: KeyboardEvent) {
    const target = event.target as HTMLElement;
    const typing = target.closest("input:not([type=range]), select, textarea, [contenteditable]");
    const pressing = event.key === " " && target.closest("button, a, summary, input");
    if (typing || pressing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " ") lab.setPlaying(!lab.playing() && !lab.finished());
    else if (event.key === ".") void lab.stepOnce();
    else if (event.key === "n") void toLoss();
    else if (event.key === "-") slower(-1);
    else if (event.key === "+") slower(1);
    else return;
    event.preventDefault();
  }
  onMount(() => props.keys.addEventListener("keydown", key as EventListener));
  onCleanup(() => props.keys.removeEventListener("keydown", key as EventListener));

  return (
    <div class="transport" role="toolbar" aria-label="Time">
      <button
        type="button"
        class="main"
        disabled={lab.finished()}
        onClick={() => lab.setPlaying(!lab.playing())}
        title="Space"
      >
        {lab.playing() ? "Pause" : "Play"}
      </button>
      <button
        type="button"
        disabled={lab.finished()}
        onClick={() => void lab.stepOnce()}
        title="One sample further: ."
        aria-label="One sample further"
      >
        Step
      </button>
      <button type="button" disabled={lab.finished() || seeking()} onClick={() => void toLoss()} title="n">
        To the next drop
      </button>
      <button type="button" onClick={() => void lab.restart()}>
        Restart
      </button>
      <label>
        Speed{" "}
        <select
          value={String(lab.speed())}
          onChange={(event) => lab.setSpeed(Number(event.currentTarget.value))}
        >
          <For each={SPEEDS}>{(speed) => <option value={String(speed)}>{named(speed)}</option>}</For>
        </select>
      </label>
      <label>
        Plots show{" "}
        <select
          value={String(props.window ?? "")}
          onChange={(event) => props.setWindow(Number(event.currentTarget.value) || null)}
        >
          <option value="">as much as suits</option>
          <For each={[1, 5, 20, 60, 300]}>
            {(seconds) => <option value={String(seconds)}>{seconds} s</option>}
          </For>
        </select>
      </label>
      <span class="time">
        {lab.now().toFixed(lab.playing() && lab.speed() >= 0.3 ? 2 : 3)} s
        <Show when={lab.playing() && lab.pace() > 0}>
          <span class="note"> {short(lab.pace(), 2)} × real time</span>
        </Show>
        <span class="note" role="status">
          {lab.notice()}
        </span>
        <Show when={lab.finished()}>
          <span class="note"> the hour of this run is over</span>
        </Show>
      </span>
    </div>
  );
}
