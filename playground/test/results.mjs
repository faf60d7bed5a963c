// Run the openings on standard input, one JSON document a line, in the page in Chromium, and print the results of each: for
// tests/test_javascript.py.
import { createInterface } from "node:readline";
import { launch, open } from "./browser.mjs";

const browser = await launch();
const page = await open(await browser.newContext());
await page.waitForSelector(".plots canvas");
await page.getByRole("button", { name: "Pause" }).click();
for await (const line of createInterface({ input: process.stdin })) {
  const run = (/** @type {object} */ opening) =>
    /** @type {any} */ (globalThis).aqmlab
      .run(opening)
      .catch((/** @type {Error} */ error) => ({ error: error.message }));
  console.log(JSON.stringify(await page.evaluate(run, JSON.parse(line))));
}
await browser.close();
