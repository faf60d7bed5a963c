import { render as draw } from "solid-js/web";
import styles from "uplot/dist/uPlot.min.css?inline";
import { App } from "./App.js";
import { link, START } from "./model/setup.js";
import own from "./page.css?inline";

type Event = "change:link" | "change:height";

/** What anywidget hands over: see aqmlab's `play`. */
interface Context {
  model: {
    get: (name: "link" | "height") => string | number;
    set: (name: "link", value: string) => void;
    save_changes: () => void;
    on: (event: Event, act: () => void) => void;
    off: (event: Event, act: () => void) => void;
  };
  el: HTMLElement;
}

/** How long the link must be the same before a new page shows it, in ms: another view of the model may be moving a slider. */
const STILL = 300;

/** The playground in a cell of a notebook, which shows what the link of its model says. */
async function render({ model, el }: Context): Promise<() => void> {
  const style = document.createElement("style");
  style.textContent = styles + own;
  const place = document.createElement("div");
  place.style.overflow = "auto";
  el.append(style, place);
  let remove = () => {};
  let shown = "";
  /** Counts what the model has asked for: what is not the last has nothing to say. */
  let turn = 0;
  let waiting: ReturnType<typeof setTimeout> | undefined;

  async function show() {
    const own = turn;
    shown = String(model.get("link"));
    let problem: string | undefined;
    const found = await link(shown).catch((error: Error) => {
      problem = error.message;
      return { setup: START };
    });
    if (own !== turn) return;
    remove();
    const onChange = (fragment: string) => {
      if (own !== turn) return;
      shown = fragment;
      model.set("link", fragment);
      model.save_changes();
    };
    remove = draw(
      () => <App link={{ ...found, embed: true }} problem={problem} onChange={onChange} />,
      place,
    );
  }
  const follow = () => {
    // The page itself may have changed it.
    if (model.get("link") === shown) return;
    turn += 1;
    shown = "";
    clearTimeout(waiting);
    waiting = setTimeout(() => void show(), STILL);
  };
  const resize = () => {
    place.style.maxHeight = `${model.get("height")}px`;
  };

  model.on("change:height", resize);
  model.on("change:link", follow);
  resize();
  await show();
  return () => {
    turn += 1;
    clearTimeout(waiting);
    model.off("change:height", resize);
    model.off("change:link", follow);
    remove();
  };
}

export default { render };
