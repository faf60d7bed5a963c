import { render as draw } from "solid-js/web";
import styles from "uplot/dist/uPlot.min.css?inline";
import { App } from "./App.js";
import { link, START } from "./model/setup.js";
import own from "./page.css?inline";

/** What anywidget hands over: see aqmlab's `play`. */
interface Context {
  model: {
    get: (name: "link" | "height") => string | number;
    set: (name: "link", value: string) => void;
    save_changes: () => void;
  };
  el: HTMLElement;
}

/** The playground in a cell of a notebook. */
async function render({ model, el }: Context): Promise<() => void> {
  const style = document.createElement("style");
  style.textContent = styles + own;
  const place = document.createElement("div");
  place.style.maxHeight = `${model.get("height")}px`;
  place.style.overflow = "auto";
  el.append(style, place);
  let problem: string | undefined;
  const found = await link(String(model.get("link"))).catch((error: Error) => {
    problem = error.message;
    return { setup: START };
  });
  return draw(
    () => (
      <App
        link={{ ...found, embed: true }}
        problem={problem}
        onChange={(fragment) => {
          model.set("link", fragment);
          model.save_changes();
        }}
      />
    ),
    place,
  );
}

export default { render };
