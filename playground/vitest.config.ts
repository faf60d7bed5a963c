import { defineConfig } from "vitest/config";
import { shipped } from "./made.js";

export default defineConfig({
  plugins: [shipped],
  // The reactive Solid, not the one that renders on a server.
  resolve: { conditions: ["browser"] },
  ssr: { resolve: { conditions: ["browser"] } },
  test: {
    server: { deps: { inline: ["solid-js"] } },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    // A busy machine draws few frames a second: what a test waits for comes late there.
    expect: { poll: { timeout: 30_000 } },
  },
});
