import { Show } from "solid-js";
import type { Lab } from "../model/lab.js";
import { START } from "../model/setup.js";

/** Why a change was refused, and what can be done. */
export function Trouble(props: { lab: Lab }) {
  const { lab } = props;
  return (
    <>
      <Show when={lab.trouble()}>
        {(trouble) => (
          <div class="trouble" role="alert">
            <pre>{trouble().message}</pre>
            <Show when={trouble().restart}>
              {(setup) => (
                <button type="button" onClick={() => void lab.load(setup())}>
                  Restart with this
                </button>
              )}
            </Show>
            <Show
              when={lab.lanes().length > 0}
              fallback={
                <button type="button" onClick={() => void lab.load(START)}>
                  Begin with the playground's own scenario
                </button>
              }
            >
              <button type="button" class="quiet" onClick={() => lab.setTrouble(null)}>
                Dismiss
              </button>
            </Show>
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
