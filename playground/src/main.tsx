import "uplot/dist/uPlot.min.css";
import "./page.css";
import type { Opening } from "aqmlab";
import { render } from "solid-js/web";
import { App } from "./App.js";
import type { Lab } from "./model/lab.js";
import { type Link, link, START } from "./model/setup.js";

const place = document.getElementById("playground") as HTMLElement;
let problem: string | undefined;
const found: Link = await link(location.hash).catch((error: Error) => {
  problem = error.message;
  return { setup: START, embed: false };
});

/** For scripts that drive the page, and its tests. */
const onStart = (lab: Lab) => {
  const run = (opening: Opening) => lab.client.ask({ ask: "run", opening });
  Object.assign(globalThis, { aqmlab: { run } });
};
const onChange = (fragment: string) => history.replaceState(null, "", `#${fragment}`);

render(() => <App link={found} problem={problem} onStart={onStart} onChange={onChange} />, place);

// An address that is changed by hand, or by another page, opens what it says.
addEventListener("hashchange", () => location.reload());
