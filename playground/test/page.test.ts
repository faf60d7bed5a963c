import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { lessons } from "../src/lessons/index.js";
import { fragment, link } from "../src/model/setup.js";
import { launch, open, program, WIDGET } from "./browser.mjs";

/** A page that shows the widget as anywidget does. */
const NOTEBOOK = `<div id=cell></div><script type=module>
  import widget from "/widget.js";
  globalThis.traits = { link: location.hash.slice(1), height: 500 };
  globalThis.heard = { "change:link": new Set(), "change:height": new Set() };
  const model = {
    get: (name) => traits[name],
    set: (name, value) => { traits[name] = value; for (const act of heard["change:" + name]) act(); },
    save_changes: () => {},
    on: (event, act) => heard[event].add(act),
    off: (event, act) => heard[event].delete(act),
  };
  globalThis.model = model;
  globalThis.end = await widget.render({ model, el: document.getElementById("cell") });
</script>`;

describe.skipIf(program === undefined)("in Chromium (set CHROMIUM=/path/to/it if it is not found)", () => {
  let browser: Browser;
  const failures: string[] = [];
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());
  afterEach(async () => {
    expect(failures).toEqual([]);
    for (const context of browser.contexts()) await context.close();
  });

  async function started(fragment = "", options = {}): Promise<Page> {
    const page = await open(await browser.newContext(options), fragment, failures);
    await page.waitForSelector(".plots canvas");
    return page;
  }

  const time = async (page: Page) => Number.parseFloat((await page.textContent(".time")) ?? "");
  const cell = async (page: Page, row: number, column: number) =>
    Number.parseFloat(
      (await page.locator(".readings tbody tr").nth(row).locator("td").nth(column).textContent()) ?? "",
    );
  const slide = (page: Page, label: string, to: number) =>
    page.getByRole("slider", { name: label, exact: true }).first().fill(String(to));
  /** Advances by about so many seconds, fast. */
  async function pass(page: Page, seconds: number) {
    const until = (await time(page)) + seconds;
    await page.getByLabel("Speed").selectOption({ label: "30 ×" });
    if (await page.getByRole("button", { name: "Play" }).isVisible())
      await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(() => time(page), { timeout: 60_000 }).toBeGreaterThan(until);
  }

  test("opens from a file, plays, pauses and steps", async () => {
    const page = await started();
    await expect.poll(() => time(page)).toBeGreaterThan(0.5);
    await page.getByRole("button", { name: "Pause" }).click();
    // A frame that was under way still comes; then time stands still.
    const stands = async () => {
      const before = await time(page);
      await page.waitForTimeout(200);
      return (await time(page)) - before;
    };
    await expect.poll(stands).toBe(0);
    expect(await stands()).toBe(0);
    for (const [speed, step] of [
      ["1 ×", 0.01],
      ["0.01 ×", 0.001],
    ] as const) {
      await page.getByLabel("Speed").selectOption({ label: speed });
      const before = await time(page);
      await page.getByRole("button", { name: "One sample further" }).click();
      await expect.poll(() => time(page)).toBeCloseTo(before + step, 3);
      await expect.poll(() => time(page)).toBeGreaterThan(before);
    }
    await page.evaluate(() => (document.activeElement as HTMLElement).blur());
    await page.keyboard.press("Space");
    await expect.poll(() => page.getByRole("button", { name: "Pause" }).isVisible()).toBe(true);
  });

  test("opens a scenario, and says who reads other files", async () => {
    const page = await started();
    const toml = 'title = "Mine"\n[dumbbell]\nrate = "3 Mbit/s"\n[[traffic]]\nname = "flows"\n';
    const file = (name: string, text: string) => ({
      name,
      mimeType: "text/plain",
      buffer: Buffer.from(text),
    });
    await page.setInputFiles("input[type=file]", file("mine.toml", toml));
    await expect.poll(() => page.textContent(".title")).toBe("Mine");
    await expect.poll(() => page.url()).toContain("name=mine.toml");
    await page.setInputFiles("input[type=file]", file("tc.txt", "qdisc noqueue 0: dev lo root"));
    await expect
      .poll(() => page.textContent(".trouble pre"))
      .toContain("start the page with `aqmlab playground`");
    await page.setInputFiles("input[type=file]", file("bad.toml", "x = 1"));
    await expect.poll(() => page.textContent(".trouble pre")).toContain("x");
    expect(await page.textContent(".title")).toBe("Mine");
  });

  test("a slider acts on the running simulation", async () => {
    const page = await started("scenario=quickstart&aqm=droptail");
    await pass(page, 10);
    await slide(page, "Rate", 75); // 1 Mbit/s
    await pass(page, 70);
    // 200 packets of 1500 B take 2.4 s at 1 Mbit/s, 0.24 s before.
    const delay = await page.locator(".readings td").nth(1).textContent();
    expect(delay).toMatch(/^[12](\.\d+)? s$/);
    expect(page.url()).toContain("dumbbell.rate");
  });

  test("steps to the next drop, which the picture shows, and stops there", async () => {
    const page = await started('scenario=quickstart&aqm=droptail&set=dumbbell.sender_delay=["20 ms"]');
    await page.getByRole("button", { name: "Pause" }).click();
    const before = await time(page);
    await page.getByRole("button", { name: "To the next drop" }).click();
    await expect.poll(() => time(page)).toBeGreaterThan(before);
    await expect.poll(() => page.getByRole("button", { name: "To the next drop" }).isEnabled()).toBe(true);
    const red = await page.locator(".network canvas").evaluate((canvas) => {
      const { width, height } = canvas as HTMLCanvasElement;
      const pixels =
        (canvas as HTMLCanvasElement).getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
      return Array.from({ length: pixels.length / 4 }, (_, i) =>
        pixels.slice(4 * i, 4 * i + 3).join(),
      ).includes("208,0,0");
    });
    expect(red).toBe(true);
    expect(await page.getByRole("button", { name: "Play" }).isVisible()).toBe(true);
  });

  test("says that there is no drop, and can be stopped meanwhile", async () => {
    const page = await started(
      "scenario=quickstart&aqm=droptail&set=traffic.flows.tcp=linux:max_window=5&set=dumbbell.rate=1 Gbit/s" +
        "&set=traffic.flows.count=100&set=dumbbell.buffer=1000 packets",
    );
    await page.getByLabel("Speed").selectOption({ label: "1 ×" });
    await page.getByRole("button", { name: "To the next drop" }).click();
    await page.getByRole("button", { name: "Play" }).click();
    await expect.poll(() => page.getByRole("button", { name: "To the next drop" }).isEnabled()).toBe(true);
    expect(await time(page)).toBeLessThan(50);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "To the next drop" }).click();
    await expect
      .poll(() => page.locator(".transport [role=status]").textContent(), { timeout: 60_000 })
      .toContain("No packet");
  });

  test("a setup that is refused changes nothing, and what needs a new run offers one", async () => {
    const page = await started("scenario=quickstart&aqm=codel&seed=2");
    const address = page.url();
    await page
      .getByLabel("Scenario")
      .first()
      .evaluate((select) => {
        const option = new Option("lred/trace", "lred/trace");
        (select as HTMLSelectElement).add(option);
        option.selected = true;
        select.dispatchEvent(new Event("change", { bubbles: true }));
      });
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("conference.pcap");
    expect(page.url()).toBe(address);
    await slide(page, "Rate", 100);
    await expect.poll(() => page.getByRole("alert").count()).toBe(0);
    expect(page.url()).not.toBe(address);
    await page.getByLabel("Discipline 1").selectOption("pie");
    await expect.poll(() => page.url()).toContain("aqm=pie");
  });

  test("an address that is not as it should be says so, and runs what is known", async () => {
    const page = await started("scenario=quickstart&lesson=nope");
    expect(await page.getByRole("alert").textContent()).toContain("lesson=nope: no such lesson");
    expect(page.url()).toContain("lesson=nope");
    const unknown = await open(await browser.newContext(), "scenario=quickstrat", failures);
    await expect.poll(() => unknown.getByRole("alert").textContent()).toContain("quickstart");
    await unknown.getByRole("button", { name: "Begin with" }).click();
    await unknown.waitForSelector(".plots canvas");
  });

  test("scenarios whose links have disciplines run, and fields keep the keys of the keyboard", async () => {
    const page = await started("scenario=parking-lot");
    expect(await page.locator(".network strong").textContent()).toBe("pi");
    await page.getByRole("button", { name: "Pause" }).click();
    const before = await time(page);
    await page.keyboard.press("."); // The button has the focus.
    await expect.poll(() => time(page)).toBeGreaterThan(before);
    const flows = page.getByRole("slider", { name: /: number/ }).first();
    const count = Number(await flows.inputValue());
    await flows.press("ArrowRight");
    await expect.poll(() => flows.inputValue()).toBe(String(count + 1));
  });

  test("compares disciplines on the same seed, with differences", async () => {
    const page = await started("scenario=quickstart&aqm=droptail&aqm=codel");
    await pass(page, 20);
    expect(await cell(page, 0, 1)).toBeGreaterThan(100);
    expect(await cell(page, 1, 1)).toBeLessThan(50);
    expect(await page.locator(".readings small").nth(1).textContent()).toMatch(/^−\d+ ms$/);
    await page.getByRole("button", { name: "Compare with another discipline" }).click();
    await expect.poll(() => page.locator(".network").count()).toBe(3);
    expect(page.url().match(/aqm=/g)).toHaveLength(3);
    await page.getByRole("button", { name: "Take droptail away" }).click();
    await expect.poll(() => page.locator(".network").count()).toBe(2);
  });

  test("a parameter is set, and a wrong one is named", async () => {
    const page = await started("scenario=quickstart&aqm=codel");
    await page.getByText("Parameters", { exact: true }).click();
    await page.getByLabel("target", { exact: true }).fill("50 ms");
    await page.getByLabel("target", { exact: true }).press("Enter");
    await expect.poll(() => page.url()).toContain("target%3D50");
    await pass(page, 30);
    expect(await cell(page, 0, 1)).toBeGreaterThan(30);
    await page.getByLabel("target", { exact: true }).fill("-5 ms");
    await page.getByLabel("target", { exact: true }).press("Enter");
    expect(await page.getByRole("alert").textContent()).toContain('aqm.target = "-5 ms": must be a quantity');
    expect(await page.locator(".entry .problem").textContent()).toContain("must be a quantity");
  });

  test("the editor shows errors on their lines, and runs what is right", async () => {
    const page = await started("scenario=quickstart");
    await page.getByRole("button", { name: "Scenario" }).click();
    const editor = page.getByLabel("Scenario", { exact: true }).last();
    await expect.poll(() => editor.textContent()).toContain("Quick start");
    await editor.fill('title = "Mine"\n\n[dumbbell]\nrate = "fast"\n\n[[traffic]]\nname = "x"\ncount = 3\n');
    await expect
      .poll(() => page.locator(".editor .problem").textContent())
      .toContain("scenario.toml:4: dumbbell.rate");
    expect(await page.locator(".cm-lint-marker-error").count()).toBe(1);
    expect(await page.getByRole("button", { name: "Run this text" }).isDisabled()).toBe(true);
    await editor.fill(
      'title = "Mine"\n\n[dumbbell]\nrate = "5 Mbit/s"\n\n[[traffic]]\nname = "x"\ncount = 3\n',
    );
    await page.getByRole("button", { name: "Run this text" }).click({ timeout: 10_000 });
    await expect.poll(() => page.locator(".title").textContent()).toBe("Mine");
    await expect.poll(() => page.url()).toContain("toml=");
    const address = page.url();
    const again = await started(address.slice(address.indexOf("#") + 1));
    expect(await again.locator(".title").textContent()).toBe("Mine");
  });

  test("what is saved can be read", async () => {
    const page = await started("scenario=quickstart&aqm=pie&set=dumbbell.rate=5 Mbit/s");
    await expect.poll(() => time(page)).toBeGreaterThan(0.5);
    await page.getByRole("button", { name: "Share and save" }).click();
    const saved = async (name: string) => {
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name }).click(),
      ]);
      return readFile((await download.path()) ?? "", "utf8");
    };
    const toml = await saved("Save TOML");
    expect(toml).toContain('name = "pie"');
    expect(toml).toContain('rate = "5 Mbit/s"');
    expect((await saved("Save CSV")).split("\n")[0]).toContain("t_s,aqm,queue_packets,p,");
    expect(await saved("Save SVG")).toMatch(/^<svg [\s\S]*Queueing delay[\s\S]*<\/svg>\n$/);
    expect(await page.getByLabel("Open in aqmlab").inputValue()).toBe(
      "aqmlab run quickstart --aqm pie --set 'dumbbell.rate=5 Mbit/s'",
    );
  });

  test("follows a packet", async () => {
    const page = await started("scenario=quickstart");
    await expect.poll(() => time(page)).toBeGreaterThan(1);
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByRole("button", { name: "Follow a packet" }).click();
    await expect
      .poll(() => page.locator(".account").textContent())
      .toMatch(/^Packet \d+ of flow \d+ \(flows, 1500 B\) came at/);
  });

  test("is a widget of a notebook", async () => {
    const page = await (await browser.newContext()).newPage();
    page.on("pageerror", (error) => failures.push(error.message));
    await page.route("http://notebook/*", (route) =>
      route.request().url().endsWith(".js")
        ? route.fulfill({ path: WIDGET, contentType: "text/javascript" })
        : route.fulfill({ body: NOTEBOOK, contentType: "text/html" }),
    );
    const text = 'title = "Mine"\n\n[dumbbell]\nrate = "5 Mbit/s"\n\n[[traffic]]\nname = "x"\ncount = 3\n';
    const asked = { name: "mine.toml", text, set: {}, aqms: ["pie", "codel"] };
    await page.goto(`http://notebook/#${await fragment({ setup: asked, embed: true })}`);
    await page.waitForSelector(".plots canvas");
    expect(await page.locator(".network").count()).toBe(2);
    expect((await page.locator(".playground").boundingBox())?.width).toBeGreaterThan(300);
    await page.getByRole("button", { name: "Take pie away" }).click();
    const shown = () =>
      page.evaluate(() => (globalThis as unknown as { traits: { link: string } }).traits.link);
    await expect.poll(async () => (await link(await shown())).setup.aqms).toEqual(["codel"]);
    // Its own change does not start it anew.
    await expect.poll(() => time(page)).toBeGreaterThan(1);
    // The notebook changes what it shows, twice.
    const set = (name: string, to: unknown) =>
      page.evaluate(
        ([name, to]) => {
          const { model } = globalThis as unknown as { model: { set: (name: unknown, to: unknown) => void } };
          model.set(name, to);
        },
        [name, to],
      );
    await set("height", 400);
    await set("link", await fragment({ setup: { ...asked, aqms: ["droptail"] }, embed: true }));
    await set("link", await fragment({ setup: { ...asked, aqms: ["red", "ared", "blue"] }, embed: true }));
    await expect.poll(() => page.locator(".network").count()).toBe(3);
    expect((await page.locator("#cell > div").boundingBox())?.height).toBeLessThanOrEqual(400);
    expect((await link(await shown())).setup.aqms).toEqual(["red", "ared", "blue"]);
    await page.evaluate(() => (globalThis as unknown as { end: () => void }).end());
    expect(await page.locator(".playground").count()).toBe(0);
    const listening = () =>
      page.evaluate(() => {
        const { heard } = globalThis as unknown as { heard: Record<string, Set<unknown>> };
        return Object.values(heard).map(({ size }) => size);
      });
    expect(await listening()).toEqual([0, 0]);
  });

  test("explains the words of the field, with the keyboard too", async () => {
    const page = await started();
    const word = page.locator(".readings .term button").first();
    await word.focus();
    const meaning = page.locator(`#${await word.getAttribute("aria-describedby")}`);
    expect(await meaning.isVisible()).toBe(true);
    expect((await meaning.textContent())?.length).toBeGreaterThan(20);
  });

  test("every control has a name, and nothing sticks out of a narrow window", async () => {
    for (const width of [360, 1280, 3840]) {
      const page = await started("aqm=red:min_th=20,max_th=80,max_p=0.1,w_q=0.002&aqm=codel", {
        viewport: { width, height: 800 },
      });
      const unnamed = await page.locator("button, select, input").evaluateAll((all) =>
        all
          .filter((one) => {
            const { labels } = one as HTMLInputElement;
            return !(
              (one.tagName === "BUTTON" && one.textContent?.trim()) ||
              one.getAttribute("aria-label") ||
              labels?.length
            );
          })
          .map((one) => one.outerHTML),
      );
      expect(unnamed).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  });

  test.each(lessons.map((lesson) => [lesson.id, lesson] as const))(
    "the lesson %s can be gone through",
    async (id, lesson) => {
      const page = await started(`lesson=${id}`);
      for (let step = 0; step < 3; step++) {
        await expect.poll(() => page.locator(".lesson li:visible").count()).toBe(step + 1);
        await page.waitForTimeout(300);
        await page.locator(".lesson button.main").click();
      }
      expect(await page.getByRole("alert").count()).toBe(0);
      const { question } = lesson;
      const answer = page.getByLabel(`Your answer in ${question.unit}`);
      await answer.fill(String(question.most * 2 + 1));
      await page.getByRole("button", { name: "Check" }).click();
      expect(await page.locator(".lesson [role=status]").textContent()).toContain("Not yet");
      await answer.fill(String((question.least + question.most) / 2));
      await page.getByRole("button", { name: "Check" }).click();
      expect(await page.locator(".lesson [role=status]").textContent()).toContain("Right.");
    },
  );
});
