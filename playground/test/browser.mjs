import { existsSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

/** The file of the page. */
export const PAGE = fileURLToPath(new URL("../../out/playground/index.html", import.meta.url));

/** That of the widget. */
export const WIDGET = fileURLToPath(new URL("../../out/playground/widget.js", import.meta.url));

const PROGRAMS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** The browser that is installed; undefined if there is none. */
export const program = PROGRAMS.find((path) => path && existsSync(path));

export const launch = () =>
  chromium.launch({ executablePath: program ?? "chromium", args: ["--no-sandbox"] });

/**
 * The page in a file, with a fragment. `failures` gets what the page complains of.
 *
 * @param {import("playwright-core").BrowserContext} context
 * @param {string[]} failures
 */
export async function open(context, fragment = "", failures = []) {
  const page = await context.newPage();
  page.on("pageerror", (error) => failures.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") failures.push(message.text());
  });
  await page.goto(pathToFileURL(PAGE).href + (fragment && `#${fragment}`));
  return page;
}
