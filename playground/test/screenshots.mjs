/** Takes screenshots of the page in six states: node test/screenshots.mjs [FOLDER], by default out/playground-screens. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch, open } from "./browser.mjs";

const folder = process.argv[2] ?? fileURLToPath(new URL("../../out/playground-screens", import.meta.url));

const fast = (/** @type {import("playwright-core").Page} */ page) =>
  page.getByLabel("Speed").selectOption({ label: "10 ×" });

/** @type {Record<string, { fragment: string, seconds: number, options?: object, act?: typeof fast }>} */
const STATES = {
  start: { fragment: "", seconds: 10 },
  overload: {
    fragment: "scenario=playground&aqm=red&set=traffic.cubic.count=40&set=traffic.udp.count=8",
    seconds: 8,
  },
  three: { fragment: "scenario=playground&aqm=droptail&aqm=pie&aqm=fq_codel", seconds: 6, act: fast },
  lesson: { fragment: "lesson=bufferbloat", seconds: 4, act: fast },
  phone: {
    fragment: "scenario=playground&aqm=codel",
    seconds: 6,
    options: { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 },
  },
  dark: { fragment: "scenario=l4s", seconds: 6, options: { colorScheme: "dark" } },
};

mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const [name, { fragment, options, seconds, act }] of Object.entries(STATES)) {
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 }, ...options });
  const page = await open(context, fragment);
  await page.waitForSelector(".plots canvas");
  await act?.(page);
  await page.waitForTimeout(1000 * seconds);
  const path = join(folder, `${name}.png`);
  await page.screenshot({ path, fullPage: true });
  console.log(path);
  await context.close();
}
await browser.close();
