import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Engine } from "aqmlab";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import solid from "vite-plugin-solid";
import { type Catalogue, positionsOfP } from "./src/model/catalogue.js";
import { entries } from "./src/model/glossary.js";

const beside = (path: string) => fileURLToPath(new URL(path, import.meta.url));

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

/** Why a shipped scenario cannot run in a page; null if it can. */
function problem(name: string): string | null {
  try {
    engine.check({ name });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const shipped = made({
  "virtual:engine": () =>
    gzipSync(readFileSync(beside("../js/dist/aqmlab.wasm")), { level: 9 }).toString("base64"),
  "virtual:scenarios": () => JSON.parse(readFileSync(beside("../js/dist/scenarios.json"), "utf8")),
  "virtual:catalogue": () => catalogue,
  "virtual:positions-of-p": () => positionsOfP(catalogue),
  "virtual:listed": () => engine.scenarios.map((name) => ({ name, problem: problem(name) })),
  "virtual:glossary": () => entries(readFileSync(beside("../docs/glossary.md"), "utf8")),
});

// A page in a file may load nothing beside it: the engine and the worker are inside.
export default defineConfig(({ mode }) => ({
  plugins: [
    solid(),
    shipped,
    ...(mode === "widget" ? [] : [viteSingleFile({ removeViteModuleLoader: true })]),
  ],
  worker: { format: "iife" as const, plugins: () => [shipped] },
  build: {
    target: "es2022",
    outDir: beside("../out/playground"),
    emptyOutDir: mode !== "widget",
    chunkSizeWarningLimit: 4096,
    ...(mode === "widget" && {
      lib: { entry: beside("src/widget.tsx"), formats: ["es" as const], fileName: () => "widget.js" },
    }),
  },
}));
