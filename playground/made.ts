import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Engine } from "aqmlab";
import type { Plugin } from "vite";
import { type Catalogue, positionsOfP } from "./src/model/catalogue.js";
import { entries } from "./src/model/glossary.js";

export const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Modules whose text is made when the page is built. */
function made(modules: Record<string, () => unknown>): Plugin {
  return {
    name: "made",
    resolveId: (id) => (id in modules ? `\0${id}` : undefined),
    load: (id) =>
      id[0] === "\0" && id.slice(1) in modules
        ? `export default ${JSON.stringify(modules[id.slice(1)]?.())}`
        : undefined,
  };
}

// What the engine says of itself is asked while the page is built, not while a reader waits.
const engine = await Engine.load();
const { aqms, variants, metrics } = engine.describe() as unknown as Catalogue;
const catalogue: Catalogue = { aqms, variants, metrics };

/** Why a shipped scenario cannot run in a page, which has no files; null if it can. */
function problem(name: string): string | null {
  try {
    engine.check({ name });
    return null;
  } catch (error) {
    const { message } = error as Error;
    if (!message.includes("cannot be read")) throw error;
    return message;
  }
}

/** The parts of the page that come from the engine and from the documentation. */
export const shipped = made({
  "virtual:engine": () =>
    gzipSync(readFileSync(beside("../js/dist/aqmlab.wasm")), { level: 9 }).toString("base64"),
  "virtual:scenarios": () => JSON.parse(readFileSync(beside("../js/dist/scenarios.json"), "utf8")),
  "virtual:catalogue": () => catalogue,
  "virtual:positions-of-p": () => positionsOfP(catalogue),
  "virtual:listed": () => engine.scenarios.map((name) => ({ name, problem: problem(name) })),
  "virtual:glossary": () => entries(readFileSync(beside("../docs/glossary.md"), "utf8")),
});
