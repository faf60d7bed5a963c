import { createSignal, onCleanup, Show } from "solid-js";
import { type Opened, opened } from "../model/files.js";
import type { Lab } from "../model/lab.js";

/** Opens files that the reader chooses, or drops on `place`, and shows what measurements say. */
export function Files(props: { lab: Lab; place: HTMLElement; onOpen: () => void }) {
  const { lab, place } = props;
  const [done, setDone] = createSignal<number | null>(null);
  const [names, setNames] = createSignal("");
  const [said, setSaid] = createSignal<Opened | null>(null);

  async function open(files: readonly File[]) {
    if (files.length === 0 || done() !== null) return;
    lab.setTrouble(null);
    setNames(files.map((file) => file.name).join(", "));
    setDone(0);
    try {
      const found = await opened(files, setDone);
      const loaded = await lab.load({ name: found.name, text: found.toml, set: {}, aqms: [""] });
      if (!loaded) return;
      setSaid(found.words === undefined ? null : found);
      props.onOpen();
    } catch (error) {
      lab.setTrouble({ message: (error as Error).message, problems: [], lane: 0 });
    } finally {
      setDone(null);
    }
  }

  const over = (event: DragEvent) => event.preventDefault();
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void open([...(event.dataTransfer?.files ?? [])]);
  };
  place.addEventListener("dragover", over);
  place.addEventListener("drop", drop);
  onCleanup(() => {
    place.removeEventListener("dragover", over);
    place.removeEventListener("drop", drop);
  });

  return (
    <section class="files">
      <label>
        Open files{" "}
        <input
          type="file"
          multiple
          title="A scenario, what tc shows, a router's configuration, or a measurement by irtt, iperf3, flent, crusader or tcpdump; or drop them on the page. They stay on this machine."
          disabled={done() !== null}
          onChange={(event) => {
            void open([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
      </label>
      <Show when={done() !== null}>
        <progress value={done() ?? 0} aria-label={`Reading ${names()}`} />
        <span>Reading {names()}</span>
      </Show>
      <Show when={said()}>
        {(found) => (
          <figure>
            <pre>{found().words}</pre>
            <img
              src={`data:image/svg+xml,${encodeURIComponent(found().picture ?? "")}`}
              alt="The measurement, and the simulated link that is most like it"
            />
            <button type="button" class="quiet" onClick={() => setSaid(null)}>
              Close
            </button>
          </figure>
        )}
      </Show>
    </section>
  );
}
