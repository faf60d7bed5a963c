import { Engine, type Table } from "aqmlab";
import { beforeAll, expect, test } from "vitest";
import { aqm, type Catalogue, discipline, field, words } from "../src/model/catalogue.js";
import { classOf, DRAWN, Flows } from "../src/model/flows.js";
import { entries } from "../src/model/glossary.js";
import { Growing, Samples } from "../src/model/history.js";
import { amount, parsed, text } from "../src/model/quantity.js";
import { command, fragment, type Link, link, START } from "../src/model/setup.js";
import { sliders } from "../src/model/sliders.js";
import { type LaneFrame, SAMPLED } from "../src/worker/protocol.js";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.load();
});

test("an address opens what it was made from", async () => {
  const links: Link[] = [
    { setup: { name: "lred/exp1", set: {}, aqms: [""] }, embed: false },
    {
      setup: {
        name: "links/home",
        set: { "dumbbell.rate": "5 Mbit/s", x: "a=b&c" },
        aqms: ["codel:target=10ms", "pie"],
        seed: 7,
      },
      embed: true,
    },
    { setup: START, lesson: "l4s", embed: false },
    {
      setup: { name: "mine.toml", text: 'title = "Größe"\n'.repeat(99), set: {}, aqms: ["red"] },
      embed: false,
    },
  ];
  for (const one of links) {
    expect(await link(await fragment(one))).toEqual({
      lesson: undefined,
      ...one,
      setup: { text: undefined, seed: undefined, ...one.setup },
    });
  }
});

test("a damaged address says so", async () => {
  await expect(link("toml=AAAA%%")).rejects.toThrow("damaged");
});

test("the command is one that a shell can read", () => {
  const setup = {
    name: "quickstart",
    set: { "dumbbell.rate": "5 Mbit/s" },
    aqms: ["codel:target=10ms", "pie"],
    seed: 3,
  };
  expect(command(setup)).toBe(
    "aqmlab compare quickstart --aqm codel:target=10ms --aqm pie --set 'dumbbell.rate=5 Mbit/s' --seed 3",
  );
  expect(command({ name: "quickstart", set: {}, aqms: [""] })).toBe("aqmlab run quickstart");
});

test("quantities are read and written as in a scenario", () => {
  expect(parsed("2.5 ms")).toEqual({ value: 0.0025, unit: "s" });
  expect(parsed("uniform(0 s, 1 s)")).toBeNull();
  expect(amount("10 Mbit/s", "bit/s")).toBe(1e7);
  expect(amount("10 Mbit/s", "s")).toBeNull();
  for (const [value, unit, written] of [
    [0.0025, "s", "2.5 ms"],
    [1e7, "bit/s", "10 Mbit/s"],
    [999.96e3, "bit/s", "1 Mbit/s"],
    [200, "packets", "200 packets"],
    [0, "s", "0 us"],
  ] as const) {
    expect(text(value, unit)).toBe(written);
  }
});

test("the words of a discipline are taken apart and put together again", () => {
  expect(words("red:min_th=5,max_th=15")).toEqual({ name: "red", values: { min_th: "5", max_th: "15" } });
  for (const one of ["droptail", "codel:target=10ms", "pie:target=5 ms,ecn=true"])
    expect(aqm(words(one))).toBe(one);
});

test("every discipline and parameter of the catalogue can be entered", () => {
  const catalogue = engine.describe() as unknown as Catalogue;
  const names = [...catalogue.aqms, ...catalogue.variants].map(({ name }) => name);
  expect(names.length).toBeGreaterThan(30);
  for (const name of names) {
    const found = discipline(catalogue, name);
    for (const parameter of found?.parameters ?? []) {
      const kind = field(parameter);
      if (kind.kind !== "choice") continue;
      for (const value of kind.of)
        engine.check({ name: "quickstart", set: {}, aqm: `${name}:${parameter.name}=${value}` });
    }
  }
});

/** A scenario with every default; null for one with a recording, which WebAssembly cannot read. */
function checked(name: string): Record<string, unknown> | null {
  try {
    return engine.check({ name }).scenario;
  } catch (error) {
    expect((error as Error).message).toContain("cannot be read: operation not supported");
    return null;
  }
}

test("every slider of every scenario has a value that the scenario accepts", () => {
  for (const name of engine.scenarios) {
    const scenario = checked(name);
    if (scenario === null) continue;
    const found = sliders(scenario);
    expect(found.length, name).toBeGreaterThan(1);
    for (const { path, least, most, value, unit } of found) {
      expect(value, `${name} ${path}`).toBeGreaterThanOrEqual(least);
      expect(value, `${name} ${path}`).toBeLessThanOrEqual(most);
      const written =
        unit === "flows" ? String(most) : unit === "share" ? most.toFixed(4) : text(most, unit, 2);
      engine.check({ name, set: { [path]: written } });
    }
  }
});

test("a glossary is plain text", () => {
  const found = entries(
    "# Glossary\n\n## Drop\n\nA `packet` that [a queue](x.md)\nrefuses. See [y](y.md).\n",
  );
  expect(found).toEqual({ Drop: "A packet that a queue refuses." });
});

test("columns forget their older half when they are full", () => {
  const growing = new Growing(["t", "x"], 8);
  for (let t = 0; t < 11; t++) growing.push((name) => (name === "t" ? t : t * t));
  expect([...growing.column("t")]).toEqual([4, 5, 6, 7, 8, 9, 10]);
  expect([...growing.column("x")].at(-1)).toBe(100);
  expect([growing.position("t", 6.5), growing.position("t", 0), growing.position("t", 99)]).toEqual([
    3, 0, 7,
  ]);
});

test("the means of a whole run are the metrics of the engine", () => {
  const opening = { name: "quickstart", aqm: "pie:ecn=true", set: { duration: "12 s", warmup: "0 s" } };
  using simulation = engine.open(opening);
  const rows: number[][] = [];
  for (let step = 1; step <= 1200; step++) {
    simulation.advance(step / 100);
    const glance = simulation.glance();
    if (glance) rows.push(SAMPLED.map((name) => (name === "p" ? 0 : glance[name])));
  }
  const samples = new Samples();
  const columns = Object.fromEntries(
    SAMPLED.map((name, i) => [name, Float64Array.from(rows, (row) => row[i] as number)]),
  );
  samples.take({ samples: columns } as unknown as LaneFrame, 1e7);
  const means = samples.means(0);
  const { metrics } = simulation.results();
  // The first sample is at 10 ms.
  expect(means?.queue).toBeCloseTo(metrics.queue_mean as number, 0);
  expect(means?.utilisation).toBeCloseTo(metrics.utilisation as number, 2);
  expect(means?.delay).toBeCloseTo(metrics.queue_delay_mean as number, 3);
  expect(means?.deviation).toBeCloseTo(metrics.queue_std as number, 0);
  expect(means?.drops).toBeCloseTo(metrics.loss_ratio as number, 3);
});

test("the flows of a run have the windows, rates and fairness of the engine", () => {
  const scenario = {
    name: "playground",
    set: { "traffic.udp.count": 1, "traffic.web.count": 2, "traffic.reno.count": 30 },
  };
  using simulation = engine.open({ ...scenario, live: true });
  const flows = new Flows();
  const table = (t: Table) => Object.fromEntries(t.names.map((name) => [name, t.column(name)]));
  for (let step = 1; step <= 100; step++) {
    simulation.advance(step / 20);
    flows.take({ flows: [{ at: step / 20, table: table(simulation.senders()) }] } as unknown as LaneFrame);
  }
  const drawn = flows.drawn();
  expect(drawn).toHaveLength(DRAWN);
  for (const of of [0, 1, 5]) expect(drawn.map(classOf)).toContain(of);
  const [times = [], ...windows] = flows.windows(drawn, 4);
  expect([times[0], times.length]).toEqual([4, 21]);
  expect(windows[0]?.every((window) => window >= 1)).toBe(true);
  const [, ...rates] = flows.rates(drawn, 4, 0.5);
  const udp = rates[drawn.findIndex((flow) => classOf(flow) === 5)] as Float64Array;
  expect(udp.at(-1)).toBeLessThan(1.5e6);
  expect(udp.at(-1)).toBeGreaterThan(0.5e6);
  const total = simulation
    .senders()
    .column("delivered")
    .reduce((a, b) => a + b, 0);
  expect(total).toBeLessThanOrEqual(simulation.glance()?.delivered as number);
  expect(flows.fairness(0)).toBeGreaterThan(0.1);
  expect(flows.fairness(0)).toBeLessThan(0.9);
});
