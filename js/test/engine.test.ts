import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { guarded } from "../dist/guard.js";
import { Engine, ScenarioError, Simulation } from "../dist/index.js";

let engine: Engine;
beforeAll(async () => {
  engine = await Engine.load();
});

const SHORT = { name: "quickstart", set: { duration: "6 s", warmup: "2 s" } };

test("a run has results that repeat, and depend on the seed", () => {
  const run = (seed: number) => {
    using simulation = engine.open({ ...SHORT, aqm: "pie", seed });
    return simulation.run();
  };
  expect(run(1)).toEqual(run(1));
  expect(run(1).metrics).not.toEqual(run(2).metrics);
  expect(run(2).seed).toBe(2);
});

test("pieces yield the results of the whole", () => {
  using whole = engine.open(SHORT);
  using pieces = engine.open(SHORT);
  for (let t = 0.1; !pieces.advance(t); t += 0.1) expect(pieces.now).toBeLessThanOrEqual(t + 1e-9);
  expect(pieces.results()).toEqual(whole.run());
});

test("runs beside each other do not disturb each other", () => {
  using one = engine.open(SHORT);
  using other = engine.open({ ...SHORT, aqm: "codel" });
  for (let t = 1; t <= 6; t++) {
    one.advance(t);
    other.advance(t);
  }
  using alone = engine.open(SHORT);
  expect(one.results()).toEqual(alone.run());
  expect(other.results().metrics).not.toEqual(one.results().metrics);
});

test("a scenario that is not valid says where and why", () => {
  const text = 'extends = "quickstart"\n[aqm]\nname = "codell"\n';
  const open = () => engine.open({ text, name: "mine.toml" });
  expect(open).toThrow('mine.toml:3: aqm.name = "codell": no such algorithm; did you mean "codel"?');
  try {
    open();
  } catch (error) {
    expect((error as ScenarioError).problems[0]).toMatchObject({ path: "aqm.name", line: 3, kind: "value" });
  }
  expect(() => engine.check({ name: "quickstrat" })).toThrow('did you mean "quickstart"?');
  expect(() => engine.check({ ...SHORT, aqm: "codel:target=-1 s" })).toThrow(ScenarioError);
});

test("the checked scenario is one whose text yields the same run", () => {
  const checked = engine.check({ ...SHORT, aqm: "pie" });
  using said = engine.open({ ...SHORT, aqm: "pie" });
  using written = engine.open({ text: checked.toml });
  expect(written.run()).toEqual(said.run());
});

test("series, packets and glances agree with the results", () => {
  using simulation = engine.open({ ...SHORT, set: { ...SHORT.set, warmup: "0 s" }, packets: true });
  expect(simulation.glance()).toBeNull();
  let sent = 0;
  let dropped = 0;
  for (let t = 1; t <= 6; t++) {
    simulation.advance(t);
    const packets = simulation.packets();
    const at = packets.column("at");
    expect(at.every((time, i) => time <= t && (i === 0 || time >= Number(at[i - 1])))).toBe(true);
    const fates = packets.column("fate");
    sent += fates.filter((fate) => fate === 0).length;
    dropped += fates.filter((fate) => fate > 1).length;
  }
  const { metrics, engine: counts } = simulation.results();
  expect(sent).toBe(counts.packets);
  expect(dropped).toBe(Number(metrics.drops_early) + Number(metrics.drops_overflow));
  expect(simulation.glance()?.drops).toBe(dropped);
  const series = simulation.series();
  expect(series.length).toBeGreaterThan(10);
  expect(series.column("t")[0]).toBe(0);
  expect(() => series.column("nothing")).toThrow("no column nothing");
});

test("a table outlives the next call", () => {
  using simulation = engine.open(SHORT);
  simulation.run();
  const kept = simulation.series();
  const before = [...kept.column("t")];
  using other = engine.open({ ...SHORT, packets: true });
  other.advance(3);
  other.packets();
  expect([...kept.column("t")]).toEqual(before);
  expect(before.length).toBeGreaterThan(10);
});

test("a live run follows its scenario from the moment of a change", () => {
  const live = { ...SHORT, set: { duration: "30 s", warmup: "0 s" }, live: true, packets: true };
  using simulation = engine.open(live);
  const sent = (from: number, to: number) => {
    simulation.advance(from);
    const before = Number(simulation.glance()?.departed_bytes);
    simulation.advance(to);
    return (8 * (Number(simulation.glance()?.departed_bytes) - before)) / (to - from);
  };
  expect(sent(5, 10)).toBeGreaterThan(1.5e6);
  const slower = { ...live, set: { ...live.set, "dumbbell.rate": "1 Mbit/s" }, aqm: "pie" };
  expect(simulation.follow(slower).scenario).toMatchObject({ aqm: { name: "pie" } });
  const rate = sent(12, 20);
  expect(rate).toBeGreaterThan(0.95e6);
  expect(rate).toBeLessThan(1.01e6);
  expect(simulation.glance()?.signals[0]).toBeGreaterThan(0);
  expect(simulation.packets().length).toBeGreaterThan(100);
  const other = { ...slower, set: { ...slower.set, duration: "40 s" } };
  expect(() => simulation.follow(other)).toThrow("needs a new run");
  expect(() => simulation.follow({ ...slower, seed: 9 })).toThrow("another seed");
  expect(() => simulation.follow({ ...slower, aqm: "pye" })).toThrow('did you mean "pie"?');
  using still = engine.open(SHORT);
  still.advance(1);
  expect(() => still.follow(SHORT)).toThrow("live");
});

test("flows of a live run come and go, and its senders and waiting packets are there to see", () => {
  const live = { ...SHORT, set: { duration: "30 s", warmup: "0 s" }, live: true };
  using simulation = engine.open(live);
  const count = (flows: number) => ({ ...live, set: { ...live.set, "traffic.flows.count": flows } });
  expect(simulation.senders().length).toBe(0);
  for (const flows of [10, 25, 3]) {
    simulation.follow(count(flows));
    simulation.advance(simulation.now + 4);
    const senders = simulation.senders();
    expect(senders.names).toEqual(["flow", "class", "window", "srtt", "delivered", "retransmits"]);
    expect(senders.length).toBe(flows);
    expect(Math.min(...senders.column("window"))).toBeGreaterThan(0);
    const waiting = simulation.waiting();
    expect(waiting.names).toEqual(["flow", "class", "kind", "seq", "size", "arrived", "marked", "queue"]);
    expect(waiting.length).toBe(simulation.glance()?.queue);
    const arrived = [...waiting.column("arrived")];
    expect(arrived).toEqual(arrived.toSorted((a, b) => a - b));
  }
  expect(simulation.capacity(1, 3)).toBe(2e7);
  const other = { ...live, set: { ...live.set, "traffic.flows.tcp": "newreno" } };
  expect(() => simulation.follow(other)).toThrow("traffic.flows.tcp: that needs a new run");
  expect(() => simulation.follow(count(10_000_000))).toThrow();
  expect(simulation.run().classes.flows?.flows).toBe(25);
});

test("a live run that nobody changes has the results of any other", () => {
  using live = engine.open({ ...SHORT, live: true });
  using other = engine.open(SHORT);
  const { engine: _live, ...left } = live.run();
  const { engine: _other, ...right } = other.run();
  expect(left).toEqual(right);
});

test("a run without room in memory is refused, and a time that is none", () => {
  const many = { ...SHORT, set: { ...SHORT.set, "traffic.flows.count": 1_000_000, "record.cwnd": "1 ms" } };
  expect(() => engine.open(many)).toThrow("WebAssembly has room for 3");
  using simulation = engine.open(SHORT);
  expect(() => simulation.advance(Number.NaN)).toThrow("until = NaN: must be a time");
  expect(() => simulation.advance(-1)).toThrow(RangeError);
});

test("an engine that has failed says why at every call", () => {
  const memory = new WebAssembly.Memory({ initial: 1 });
  new TextEncoder().encodeInto("a queue of -1 packets", new Uint8Array(memory.buffer));
  let [calls, forgotten] = [0, 0];
  const advance = (..._numbers: number[]): number => {
    calls += 1;
    throw new WebAssembly.RuntimeError("unreachable");
  };
  const exports = { memory, advance, now: (_run: number) => 5, failure: () => 0, failure_length: () => 21 };
  const engine = guarded(exports, () => {
    forgotten += 1;
  });
  expect(engine.now(0)).toBe(5);
  expect(() => engine.advance(0, 1)).toThrow(
    "the engine failed, and has to be loaded again: a queue of -1 packets",
  );
  expect(() => engine.now(0)).toThrow("a queue of -1 packets");
  expect([calls, forgotten]).toEqual([1, 1]);
});

test("a simulation that is closed, or not over, has no results", () => {
  const simulation = engine.open(SHORT);
  simulation.advance(1);
  expect(() => simulation.results()).toThrow("the run is not over");
  simulation.close();
  simulation.close();
  expect(() => simulation.now).toThrow("closed");
});

test("the default engine runs a shipped scenario by its name", async () => {
  using other = await Simulation.open({ name: "quickstart" }, { seed: 5 });
  expect(other.checked).toMatchObject({ seed: 5, duration: 20, warmup: 5 });
  using simulation = await Simulation.open("lred/exp1", { set: SHORT.set, aqm: "lred" });
  expect(simulation.run().metrics.utilisation).toBeGreaterThan(0.5);
});

test("the description has every discipline with its parameters", () => {
  const { aqms, metrics, version } = engine.describe() as {
    aqms: { name: string; parameters: { name: string; doc: string }[] }[];
    metrics: { name: string }[];
    version: string;
  };
  expect(aqms.find(({ name }) => name === "codel")?.parameters.map(({ name }) => name)).toContain("target");
  expect(metrics.map(({ name }) => name)).toContain("goodput");
  expect(version).toBe(JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version);
});
