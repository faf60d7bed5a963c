import "uplot/dist/uPlot.min.css";
import "./page.css";
import { render } from "solid-js/web";
import { App } from "./App.js";
import { type Link, link, START } from "./model/setup.js";

const place = document.getElementById("playground") as HTMLElement;
const found: Link = await link(location.hash).catch((error: Error) => {
  place.textContent = error.message;
  return { setup: START, embed: false };
});

render(
  () => <App link={found} onChange={(fragment) => history.replaceState(null, "", `#${fragment}`)} />,
  place,
);

// An address that is changed by hand, or by another page, opens what it says.
addEventListener("hashchange", () => location.reload());
