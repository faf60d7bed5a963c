import { createSignal } from "solid-js";
import type { Scheme } from "./colours.js";

const preferred = matchMedia("(prefers-color-scheme: dark)");

/** Whether motion is to be avoided. */
export const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;

const [scheme, setScheme] = createSignal<Scheme>(preferred.matches ? "dark" : "light");
preferred.addEventListener("change", () => setScheme(preferred.matches ? "dark" : "light"));

export { scheme, setScheme };
