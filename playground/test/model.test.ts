import { Engine, type Opening, type Table } from "aqmlab";
import { expect, test } from "vitest";
import { l4s } from "../src/lessons/l4s.js";
import { aqm, type Catalogue, discipline, field, positionsOfP, words } from "../src/model/catalogue.js";
import { classOf, DRAWN, Flows } from "../src/model/flows.js";
import { entries } from "../src/model/glossary.js";
import { Growing, Samples } from "../src/model/history.js";
import { amount, parsed, text } from "../src/model/quantity.js";
import { disciplineOf } from "../src/model/scenario.js";
import { command, fragment, type Link, link, startOf } from "../src/model/setup.js";
import { position, sliders } from "../src/model/sliders.js";
import { flowShade } from "../src/views/colours.js";
import { geometry, place } from "../src/views/geometry.js";
import { Lane } from "../src/worker/lane.js";
import { type LaneFrame, SAMPLED } from "../src/worker/protocol.js";

const engine = await Engine.load();
const catalogue = engine.describe() as unknown as Catalogue;

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
    { setup: { ...startOf(l4s), set: { "dumbbell.rate": "5 Mbit/s" } }, lesson: "l4s", embed: false },
    {
      setup: { name: "mine.toml", text: 'title = "Größe"\n'.repeat(99), set: {}, aqms: ["red"] },
      embed: false,
    },
  ];
  for (const one of links) {
    expect(await link(await fragment(one))).toEqual(one);
  }
});

test("an address that is not as it should be says so", async () => {
  for (const [address, message] of [
    ["toml=AAAA%%", "damaged"],
    ["lesson=nope", "lesson=nope: no such lesson; known: bufferbloat"],
    ["seed=abc", "seed=abc: must be a whole number"],
    ["set=foo", "set=foo: must be set=path=value"],
    ["aqm=a&aqm=b&aqm=c&aqm=d", "at most 3"],
    ["scenarios=x", "scenarios: no such part"],
  ] as const) {
    await expect(link(address)).rejects.toThrow(message);
  }
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
  expect(command({ name: "quickstart", set: {}, aqms: ["", "pie"] })).toBe(
    "aqmlab run quickstart && aqmlab run quickstart --aqm pie",
  );
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
    for (const slider of found) {
      const { path, most, unit } = slider;
      expect(position(slider), `${name} ${path}`).toBeGreaterThanOrEqual(0);
      expect(position(slider), `${name} ${path}`).toBeLessThanOrEqual(1);
      const written =
        unit === "flows" ? String(most) : unit === "share" ? most.toFixed(4) : text(most, unit, 2);
      engine.check({ name, set: { [path]: written } });
    }
  }
});

test("sliders have what their values come to", () => {
  const also = (set: Opening["set"] = {}) => {
    const { scenario } = engine.check({ name: "playground", set });
    return Object.fromEntries(sliders(scenario).map(({ path, also }) => [path, also]));
  };
  expect(also({ "traffic.udp.count": 4 })).toMatchObject({
    "dumbbell.delay": "round trip 50 ms",
    "traffic.udp.rate": "40 % of the link",
  });
  // What has another rate or another way has no such words.
  expect(also({ "dumbbell.changes": '["5 s: 1 Mbit/s"]' })["traffic.udp.rate"]).toBeUndefined();
  const none = ["survey/core", "lred/exp4", "raqm/bottlenecks", "redtail/mixed", "redtail/table1"];
  for (const name of none) {
    const { scenario } = engine.check({ name });
    for (const { path, also } of sliders(scenario))
      if (path.endsWith(".rate") || name.startsWith("redtail"))
        expect(also, `${name} ${path}`).toBeUndefined();
  }
  expect(also({ "dumbbell.receiver_delay": '["1 ms", "9 ms"]' })["dumbbell.delay"]).toBeUndefined();
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
  // Steps of 10 ms, and for a while of 1 ms.
  for (let t = 0.01; t < 12.0005; t += t > 3 && t < 5 ? 0.001 : 0.01) {
    simulation.advance(t);
    const glance = simulation.glance();
    if (glance === null) continue;
    const row = { ...glance, p: 0, capacity: simulation.capacity(0, glance.t) };
    rows.push(SAMPLED.map((name) => row[name]));
  }
  const samples = new Samples();
  const columns = Object.fromEntries(
    SAMPLED.map((name, i) => [name, Float64Array.from(rows, (row) => row[i] as number)]),
  );
  samples.take({ samples: columns } as unknown as LaneFrame);
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
});

/** Samples and flows of a live run, which `change` changes at some times, until `end`. */
function watched(opening: Opening, end: number, change: (t: number) => Opening | null = () => null) {
  const lane = new Lane(engine, positionsOfP(catalogue), opening);
  const [samples, flows] = [new Samples(), new Flows()];
  for (let t = 1; t <= end; t++) {
    lane.advance(t, 0.01);
    const frame = lane.frame();
    samples.take(frame);
    flows.take(frame);
    const next = change(t);
    if (next) lane.follow(next);
  }
  lane.close();
  return { samples, flows };
}

test("a link with a schedule has the utilisation of the engine", () => {
  const opening = {
    name: "rfc7928/varying-capacity",
    set: { duration: "60 s", warmup: "20 s" },
    aqm: "droptail",
  };
  const { samples } = watched(opening, 60);
  using simulation = engine.open(opening);
  expect(samples.means(20)?.utilisation).toBeCloseTo(simulation.run().metrics.utilisation as number, 2);
});

test("flows that come back have the rates of their presence, and those that stay the engine's fairness", () => {
  const opening = (count: number) => ({
    name: "quickstart",
    aqm: "fq_codel",
    set: { "traffic.flows.count": count },
  });
  const { flows } = watched(opening(10), 30, (t) => (t === 10 ? opening(2) : t === 20 ? opening(10) : null));
  const rates = flows.rates(flows.drawn(), 20.5, 0.5).slice(1);
  expect(rates).toHaveLength(10);
  for (const rate of rates) expect(Math.max(...rate.filter(Number.isFinite))).toBeLessThan(1.1e7);
  expect(flows.fairness(15)).toBeGreaterThan(0.5); // Eight of ten have come back meanwhile.
  expect(flows.fairness(25)).toBeGreaterThan(0.9);

  const steady = { name: "quickstart", aqm: "droptail", set: { duration: "20 s", warmup: "10 s" } };
  using simulation = engine.open(steady);
  const jain = simulation.run().metrics.jain as number;
  expect(watched(steady, 20).flows.fairness(10)).toBeCloseTo(jain, 1);
});

test("every scenario without a recording runs as a lane, with its discipline and its probability", () => {
  for (const name of engine.scenarios) {
    const scenario = checked(name);
    if (scenario === null) continue;
    const lane = new Lane(engine, positionsOfP(catalogue), { name });
    lane.advance(0.05, 0.01);
    expect(lane.frame().samples.t?.length, name).toBe(5);
    expect(disciplineOf(scenario).name, name).toMatch(/^\w+$/);
    lane.close();
  }
  const p = (aqm: string) => watched({ name: "quickstart", aqm }, 3).samples.columns.p[200];
  expect(p("gred")).toBeGreaterThan(0);
  expect(p("fq_pie")).toBeGreaterThanOrEqual(0);
  expect(p("droptail")).toBeNaN();
});

test("a packet is on its way, in the queue, on the link and beyond it when it is there", () => {
  const shape = geometry(1000);
  const ways = { before: 0.01, delay: 0.02, after: 0.01 };
  const packet = { arrived: 1, at: 1.1, fate: 0, flow: 1, size: 1500 };
  const at = (t: number, fate = 0, arrived = packet.arrived) =>
    place({ ...packet, fate, arrived }, { t, ways, rate: 1.2e6, speed: 1, calm: false }, shape, 0);
  expect(at(0.98)).toBeNull();
  expect(at(0.995)?.x).toBeCloseTo((shape.senders + shape.queue.left) / 2);
  expect(at(1.05)?.kind).toBe("queue");
  expect(at(1.115)?.x).toBeCloseTo((shape.router + shape.far) / 2); // 10 ms of transmission and 20 ms of delay.
  expect(at(1.135)?.x).toBeCloseTo((shape.far + shape.receivers) / 2);
  expect(at(1.15)).toBeNull();
  expect(at(1.15, 2)?.kind).toBe("lost");
  const middle = (shape.queue.left + shape.queue.right) / 2;
  expect(at(1.15, 2)?.x).toBeGreaterThan(middle); // At dequeue, and
  expect(at(1.15, 2, 1.1)?.x).toBeLessThan(middle); // at enqueue.
  expect(at(1.7, 2)).toBeNull();
});

test("colours have contrast on their background", () => {
  const light = (channel: number) =>
    channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  const luminance = (rgb: readonly number[]) => {
    const [r = 0, g = 0, b = 0] = rgb.map(light);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const rgb = (hue: number, saturation: number, lightness: number) => {
    const [s, l] = [saturation / 100, lightness / 100];
    const channel = (n: number) => {
      const k = (n + hue / 30) % 12;
      return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
    };
    return [channel(0), channel(8), channel(4)];
  };
  const surface = { light: luminance([1, 1, 1]), dark: luminance([0x14 / 255, 0x17 / 255, 0x1c / 255]) };
  for (const scheme of ["light", "dark"] as const) {
    for (let of = 0; of < 6; of++) {
      for (let flow = 0; flow < 5; flow++) {
        const own = luminance(rgb(...flowShade(scheme, of, flow)));
        const [high, low] = [Math.max(own, surface[scheme]), Math.min(own, surface[scheme])];
        expect((high + 0.05) / (low + 0.05), `${scheme} ${of} ${flow}`).toBeGreaterThan(3);
      }
    }
  }
});
