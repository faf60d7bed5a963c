import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLab } from "../src/model/lab.js";
import type { Setup } from "../src/model/setup.js";
import type { Client } from "../src/worker/client.js";
import { Refusal } from "../src/worker/protocol.js";

const A: Setup = { name: "a", set: {}, aqms: ["droptail"] };

type Asked = Parameters<Client["ask"]>[0];

/** A worker that answers when it should. */
class Worker {
  readonly asked: Asked[] = [];
  /** What it answers: by default, that all was done. */
  answer = (request: Asked): unknown => this.done(request);
  #now = 0;

  done(request: Asked): unknown {
    switch (request.ask) {
      case "open":
        this.#now = 0;
        return request.openings.map(checked);
      case "follow":
        return request.openings.map(checked);
      case "advance":
      case "toLoss":
        this.#now = request.until;
        return { now: this.#now, finished: false, lanes: [], found: false };
      default:
        return undefined;
    }
  }

  ask = async <T>(request: Asked): Promise<T> => {
    this.asked.push(request);
    return this.answer(request) as T;
  };

  close(): void {}

  count = (kind: Asked["ask"]) => this.asked.filter(({ ask }) => ask === kind).length;
}

const checked = ({ name }: { name?: string }) => ({
  scenario: { title: name, dumbbell: { delay: "1 ms" }, traffic: [] },
  observed: 0,
});

let clock = 0;
let drawing: FrameRequestCallback[] = [];
beforeEach(() => {
  clock = performance.now();
  drawing = [];
  vi.stubGlobal("requestAnimationFrame", (act: FrameRequestCallback) => drawing.push(act));
});
afterEach(() => vi.unstubAllGlobals());

/** Lets everything happen that waits for nothing but its turn. */
const settled = () => new Promise((later) => setTimeout(later));

/** Draws frames, 10 ms apart. */
async function frames(count: number, act = () => {}) {
  for (let i = 0; i < count; i++) {
    act();
    clock += 10;
    for (const draw of drawing.splice(0)) draw(clock);
    await settled();
  }
}

async function playing() {
  const worker = new Worker();
  const lab = createLab(A, worker);
  await lab.begin(false);
  await frames(3);
  return { lab, worker };
}

test("time passes at the chosen speed, also while a slider moves", async () => {
  const { lab, worker } = await playing();
  const start = lab.now();
  await frames(100);
  expect(lab.now() - start).toBeCloseTo(1, 1);
  let rate = 0;
  await frames(100, () => lab.change("dumbbell.rate", `${++rate} Mbit/s`));
  expect(lab.now() - start).toBeCloseTo(2, 1);
  expect(lab.pace()).toBeCloseTo(1, 1);
  expect(worker.count("follow")).toBe(100);
});

test("a frame that fails is reported, and a new run works as before", async () => {
  const { lab, worker } = await playing();
  worker.answer = (request) => {
    if (request.ask === "advance") throw new Error("broken");
    return worker.done(request);
  };
  await frames(1);
  // The change meets the frame that is under way.
  lab.change("dumbbell.rate", "1 Mbit/s");
  await settled();
  expect(lab.failure()).toBe("broken");
  worker.answer = (request) => worker.done(request);
  expect(await lab.restart()).toBe(true);
  expect(lab.failure()).toBeNull();
  const before = worker.count("follow");
  lab.change("dumbbell.rate", "2 Mbit/s");
  await settled();
  expect(worker.count("follow")).toBe(before + 1);
  expect(lab.accepted().set).toEqual({ "dumbbell.rate": "2 Mbit/s" });
});

test("a step, and a search for a drop, report what fails", async () => {
  for (const act of ["stepOnce", "toLoss"] as const) {
    const { lab, worker } = await playing();
    lab.setPlaying(false);
    await frames(2);
    worker.answer = () => {
      throw new Error("broken");
    };
    await lab[act]();
    expect(lab.failure()).toBe("broken");
  }
});

test("after a pause comes the frame that is under way, and no other", async () => {
  const { lab, worker } = await playing();
  let release = () => {};
  worker.answer = async (request) => {
    await new Promise<void>((come) => {
      release = come;
    });
    return worker.done(request);
  };
  await frames(2);
  lab.setPlaying(false);
  const asked = worker.asked.length;
  worker.answer = (request) => worker.done(request);
  release();
  await frames(3);
  const stands = lab.now();
  await frames(3);
  expect(lab.now()).toBe(stands);
  expect(worker.asked.length).toBe(asked);
  await lab.stepOnce();
  expect(lab.now()).toBeCloseTo(stands + 0.01, 9);
});

test("a new scenario opens although a change waits for the worker", async () => {
  const { lab, worker } = await playing();
  lab.change("dumbbell.rate", "1 Mbit/s");
  expect(await lab.load({ ...A, name: "b" })).toBe(true);
  expect(worker.count("follow")).toBe(0);
  expect(lab.accepted().name).toBe("b");
  expect(lab.now()).toBeLessThan(0.01);
});

test("a change that is refused alters nothing, and offers a new run where that helps", async () => {
  const { lab, worker } = await playing();
  worker.answer = (request) => {
    if (request.ask === "follow") throw new Refusal("cannot follow", [], 0);
    return worker.done(request);
  };
  lab.change("dumbbell.rate", "1 Mbit/s");
  await settled();
  expect(lab.setup.set).toEqual({});
  expect(lab.trouble()?.restart?.set).toEqual({ "dumbbell.rate": "1 Mbit/s" });
});

test("a search for a drop goes on while a slider moves, and covers what it says", async () => {
  const { lab, worker } = await playing();
  await frames(10);
  let searched = 0;
  const started = lab.now();
  worker.answer = (request) => {
    if (request.ask !== "toLoss") return worker.done(request);
    searched += 1;
    if (searched === 3) lab.change("dumbbell.rate", "1 Mbit/s");
    return { ...(worker.done({ ...request, until: started + 10 * searched }) as object), found: false };
  };
  await lab.toLoss();
  expect(worker.count("follow")).toBe(1);
  expect(lab.now()).toBeGreaterThanOrEqual(started + 60);
  expect(lab.notice()).toContain("No packet was lost in 60 s");
});
