import { defineConfig } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import solid from "vite-plugin-solid";
import { beside, shipped } from "./made.js";

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
