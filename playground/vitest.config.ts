import { defineConfig } from "vitest/config";

// A busy machine draws few frames a second: what a test waits for comes late there.
export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    expect: { poll: { timeout: 30_000 } },
  },
});
