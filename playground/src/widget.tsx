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

/** The playground in a cell of a notebook, which shows what the link of its model says. */
async function render({ model, el }: Context): Promise<() => void> {
  const style = document.createElement("style");
  style.textContent = styles + own;
  const place = document.createElement("div");
  place.style.overflow = "auto";
  el.append(style, place);
  let remove = () => {};
  let shown = "";

  async function show() {
    const wanted = String(model.get("link"));
    // The page itself may have changed it.
    if (wanted === shown) return;
    shown = wanted;
    let problem: string | undefined;
    const found = await link(wanted).catch((error: Error) => {
      problem = error.message;
      return { setup: START };
    });
    if (wanted !== shown) return; // It has changed again meanwhile.
    remove();
    const onChange = (fragment: string) => {
      shown = fragment;
      model.set("link", fragment);
      model.save_changes();
    };
    remove = draw(
      () => <App link={{ ...found, embed: true }} problem={problem} onChange={onChange} />,
      place,
    );
  }
  const resize = () => {
    place.style.maxHeight = `${model.get("height")}px`;
  };
  const follow = () => void show();

  resize();
  await show();
  model.on("change:height", resize);
  model.on("change:link", follow);
  return () => {
    model.off("change:height", resize);
    model.off("change:link", follow);
    remove();
  };
}

export default { render };
