/**
 * Measures the page: node test/measure.mjs [MINUTES], by default 10. Prints its bytes, the time to the first picture, frames a
 * second, the speed at 100 Mbit/s with 20 flows, and the memory after so many minutes.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { launch, open, PAGE } from "./browser.mjs";

/** @typedef {import("playwright-core").Page} Page */

const minutes = Number(process.argv[2] ?? 10);
const BUSY =
  "scenario=quickstart&aqm=pie&set=dumbbell.rate=100 Mbit/s&set=traffic.flows.count=20&set=dumbbell.buffer=1000 packets";

/** Frames a second over some seconds. */
const frames = (/** @type {Page} */ page, /** @type {number} */ seconds) =>
  page.evaluate(
    (ms) =>
      new Promise((done) => {
        let count = 0;
        const start = performance.now();
        const next = () => {
          count += 1;
          const passed = performance.now() - start;
          if (passed < ms) requestAnimationFrame(next);
          else done((1000 * count) / passed);
        };
        requestAnimationFrame(next);
      }),
    1000 * seconds,
  );

const simulated = async (/** @type {Page} */ page) =>
  Number.parseFloat((await page.textContent(".time")) ?? "");

/** Simulated seconds in a second. */
async function speed(/** @type {Page} */ page, /** @type {number} */ seconds) {
  const [from, start] = [await simulated(page), performance.now()];
  await page.waitForTimeout(1000 * seconds);
  return ((await simulated(page)) - from) / ((performance.now() - start) / 1000);
}

async function megabytes(/** @type {Page} */ page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  return usedSize / 1e6;
}

const bytes = readFileSync(PAGE);
console.log(`bytes over the wire: ${bytes.length}, with gzip ${gzipSync(bytes).length}`);

const browser = await launch();
const context = await browser.newContext();
for (const cache of ["cold", "warm"]) {
  const start = performance.now();
  const page = await open(context, "");
  await page.waitForSelector(".plots canvas");
  console.log(`first picture, ${cache}: ${Math.round(performance.now() - start)} ms`);
  await page.close();
}

const page = await open(context, BUSY);
await page.waitForSelector(".plots canvas");
await page.waitForTimeout(5000);
console.log(`100 Mbit/s, 20 flows, 1 ×: ${(await frames(page, 5)).toFixed(1)} frames a second`);
await page.getByLabel("Speed").selectOption({ label: "as fast as it goes" });
await page.waitForTimeout(2000);
console.log(
  `as fast as it goes: ${(await speed(page, 10)).toFixed(1)} × real time, ${(await frames(page, 5)).toFixed(1)} frames a second`,
);
await page.getByLabel("Speed").selectOption({ label: "1 ×" });
console.log(`heap of the page: ${(await megabytes(page)).toFixed(1)} MB`);
for (let minute = 1; minute <= minutes; minute++) {
  await page.waitForTimeout(60_000);
  if (minute === minutes) console.log(`after ${minute} min at 1 ×: ${(await megabytes(page)).toFixed(1)} MB`);
}
await browser.close();
