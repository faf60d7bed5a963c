import { Show } from "solid-js";
import type { Lab } from "../model/lab.js";

/** Why a change was refused, and what can be done. */
export function Trouble(props: { lab: Lab }) {
  const { lab } = props;
  return (
    <>
      <Show when={lab.trouble()}>
        {(trouble) => (
          <div class="trouble" role="alert">
            <pre>{trouble().message}</pre>
            <Show when={trouble().needsRestart}>
              <button type="button" onClick={() => void lab.restart()}>
                Restart with this
              </button>
            </Show>
            <button type="button" class="quiet" onClick={() => lab.setTrouble(null)}>
              Dismiss
            </button>
          </div>
        )}
      </Show>
      <Show when={lab.failure()}>
        {(failure) => (
          <div class="trouble" role="alert">
            <pre>{failure()}</pre>
            <button type="button" onClick={() => location.reload()}>
              Load the page again
            </button>
          </div>
        )}
      </Show>
    </>
  );
}
