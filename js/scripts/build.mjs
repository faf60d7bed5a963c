// Build the package: the compiled engine, the shipped scenarios and the compiled TypeScript, in dist.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = fileURLToPath(new URL("..", import.meta.url));
const wasm = join(here, "../target/wasm/aqmlab.wasm");
const libraries = ["../python/aqmlab/library", "../papers/aqmlab_papers"].map((path) => join(here, path));

if (!existsSync(wasm)) {
  console.error("target/wasm/aqmlab.wasm is missing: `make javascript` builds it");
  process.exit(1);
}

const dist = join(here, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
copyFileSync(wasm, join(dist, "aqmlab.wasm"));
copyFileSync(join(here, "../LICENSE"), join(here, "LICENSE"));

const texts = libraries
  .flatMap((library) =>
    readdirSync(library, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".toml"))
      .map((file) => [
        // A name has "-" where the folder of a Python package has "_".
        file
          .replaceAll("\\", "/")
          .slice(0, -".toml".length)
          .replace(/^[^/]+/, (folder) => folder.replaceAll("_", "-")),
        readFileSync(join(library, file), "utf8"),
      ]),
  )
  .sort(([one], [other]) => (one < other ? -1 : 1));
writeFileSync(join(dist, "scenarios.json"), JSON.stringify(Object.fromEntries(texts)));

execFileSync("npx", ["tsc", "--project", "tsconfig.build.json"], { cwd: here, stdio: "inherit" });
