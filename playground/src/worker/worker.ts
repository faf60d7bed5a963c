import code from "virtual:engine";
import positionsOfP from "virtual:positions-of-p";
import library from "virtual:scenarios";
import { Engine, type Opening, ScenarioError } from "aqmlab";
import { Lane } from "./lane.js";
import type { Answer, Found, Frame, Request } from "./protocol.js";

const started = start();
let engine: Engine;
let lanes: Lane[] = [];
let now = 0;
/** Numbers the runs to an end: one that is not the last has been stopped. */
let running = 0;

const answer = (message: Answer, transferred: Transferable[] = []) =>
  postMessage(message, { transfer: transferred });

self.onmessage = async ({ data }: MessageEvent<Request>) => {
  try {
    const value = await handle(data);
    answer(
      { id: data.id, kind: "done", value },
      data.ask === "advance" || data.ask === "toLoss" ? buffers(value) : [],
    );
  } catch (error) {
    if (error instanceof Refused) {
      const { message, problems } = error.cause;
      answer({ id: data.id, kind: "problems", message, problems, lane: error.lane });
    } else {
      answer({
        id: data.id,
        kind: "failed",
        message: error instanceof Error ? error.message : String(error),
      });
    }
  }
};

/** The engine, whose gzip is here as base64. */
async function start(): Promise<Engine> {
  const bytes = Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const type = { headers: { "content-type": "application/wasm" } };
  return Engine.from(await WebAssembly.compileStreaming(new Response(stream, type)), library);
}

/** A scenario that is not valid, or that a live run cannot follow. */
class Refused extends Error {
  override readonly cause: ScenarioError;
  readonly lane: number;

  constructor(cause: ScenarioError, lane: number) {
    super(cause.message);
    this.cause = cause;
    this.lane = lane;
  }
}

/** Does something for each opening; a refusal names the lane. */
function each<T>(openings: readonly Opening[], act: (opening: Opening, lane: number) => T): T[] {
  return openings.map((opening, lane) => {
    try {
      return act(opening, lane);
    } catch (error) {
      throw error instanceof ScenarioError ? new Refused(error, lane) : error;
    }
  });
}

async function handle(request: Request): Promise<unknown> {
  engine = await started;
  switch (request.ask) {
    case "open": {
      const opened: Lane[] = [];
      try {
        each(request.openings, (opening) => opened.push(new Lane(engine, positionsOfP, opening)));
      } catch (error) {
        for (const lane of opened) lane.close();
        throw error;
      }
      for (const lane of lanes) lane.close();
      lanes = opened;
      now = 0;
      return lanes.map((lane) => lane.checked);
    }
    case "follow":
      // All are valid, or none follows; what needs a new run, it needs in all.
      each(request.openings, (opening) => engine.check(opening));
      return each(request.openings, (opening, i) => (lanes[i] as Lane).follow(opening));
    case "advance":
      return advance(request.until, request.budget, request.step, false);
    case "toLoss":
      return advance(request.until, request.budget, request.step, true);
    case "check":
      return each([request.opening], (opening) => engine.check(opening))[0];
    case "run":
      return run(request.id, request.opening);
    case "stop":
      running = 0;
      return undefined;
  }
}

function advance(until: number, budget: number, step: number, toLoss: boolean): Found {
  const deadline = performance.now() + budget;
  let found = false;
  // In lockstep, so that all lanes reach the same time when the budget is over.
  while (now < until && !found) {
    now = Math.min(until, now + step);
    for (const lane of lanes) lane.advance(now, step);
    found = toLoss && lanes.map((lane) => lane.hasLost()).some(Boolean);
    if (performance.now() > deadline) break;
  }
  return { ...frame(), found };
}

const frame = (): Frame => ({
  now,
  finished: lanes.some((lane) => lane.finished),
  lanes: lanes.map((lane) => lane.frame()),
});

async function run(id: number, opening: Opening): Promise<unknown> {
  running = id;
  const simulation = each([opening], (one) => engine.open(one))[0] as ReturnType<Engine["open"]>;
  try {
    const { duration } = simulation.checked;
    let pace = duration / 100;
    let t = 0;
    for (;;) {
      const before = performance.now();
      t += pace;
      if (simulation.advance(Math.min(t, duration))) return simulation.results();
      const took = performance.now() - before;
      pace *= Math.min(4, Math.max(0.25, 50 / Math.max(took, 1)));
      answer({ id, kind: "progress", done: t / duration });
      await new Promise((later) => setTimeout(later));
      if (running !== id) throw new Error("stopped");
    }
  } finally {
    simulation.close();
  }
}

/** The memory of the tables of a frame, which is handed over. */
function buffers(value: unknown): Transferable[] {
  const tables = (value as Frame).lanes.flatMap((lane) => [
    lane.samples,
    ...lane.packets,
    lane.waiting,
    ...lane.flows.map(({ table }) => table),
  ]);
  return [
    ...new Set(tables.flatMap((table) => Object.values(table).map((column) => column.buffer as ArrayBuffer))),
  ];
}
