import { createResource, createSignal, Show } from "solid-js";
import { csv, svg } from "../model/export.js";
import type { Lab } from "../model/lab.js";
import { command, fileOf, fragment } from "../model/setup.js";
import { laneColour } from "./colours.js";
import { save } from "./save.js";

/** The address and the command that show the same, and files to save. */
export function Share(props: { lab: Lab; window: number }) {
  const { lab } = props;
  const [address] = createResource(lab.accepted, async (now) => {
    const { origin, pathname, protocol } = location;
    const page = protocol.startsWith("http") ? origin + pathname : location.href.replace(/#.*/, "");
    return `${page}#${await fragment({ setup: now, embed: false })}`;
  });
  const file = () => fileOf(lab.accepted());
  return (
    <section class="share">
      <Copied label="Permalink" text={address() ?? ""} />
      <Copied label="Open in aqmlab" text={command(lab.accepted())} />
      <Show when={lab.accepted().text !== undefined}>
        <p class="note">
          Save the scenario first: the command reads {file()} from the folder in which you call it.
        </p>
      </Show>
      <div class="row">
        <button type="button" onClick={async () => save(file(), "application/toml", await lab.file())}>
          Save TOML
        </button>
        <button type="button" onClick={() => save("samples.csv", "text/csv", csv(lab))}>
          Save CSV
        </button>
        <button
          type="button"
          onClick={() =>
            save(
              "plots.svg",
              "image/svg+xml",
              svg(lab, props.window, (lane) => laneColour("light", lane)),
            )
          }
        >
          Save SVG
        </button>
      </div>
    </section>
  );
}

function Copied(props: { label: string; text: string }) {
  const [copied, setCopied] = createSignal(false);
  async function copy() {
    await navigator.clipboard.writeText(props.text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2000);
  }
  return (
    <label class="copied">
      {props.label}
      <span class="row">
        <input type="text" readOnly value={props.text} onFocus={(event) => event.currentTarget.select()} />
        <button type="button" onClick={() => void copy()}>
          {copied() ? "Copied" : "Copy"}
        </button>
      </span>
    </label>
  );
}
