import { Engine, type Glance, type Opening, type Results, type Simulation, type Table } from "aqmlab";
import type { Changes, Lesson, Reading } from "../src/lessons/lesson";
import { type Catalogue, discipline, words } from "../src/model/catalogue";
import { changed, openings, setupOf, startsRun } from "../src/model/setup";

/** The engine of all runs. */
export const engine = await Engine.load();

const catalogue = engine.describe() as unknown as Catalogue;

/** A reading, and the signals of the discipline at its end. */
export interface Measured extends Reading {
  /** Bits that the link sent each second. */
  sent: number;
  signals: Readonly<Record<string, number>>;
}

/** What the page has set up in a step, with changes of the reader's. */
export const setupAt = (lesson: Lesson, step: number, more: Changes = {}) =>
  changed(setupOf(lesson, step, catalogue), more, catalogue);

/** The opening of one discipline, by its name, in a step. */
export function opening(
  lesson: Lesson,
  name: string,
  step: number,
  more: Changes = {},
): Opening & { aqm: string } {
  const found = openings(setupAt(lesson, step, more)).find(({ aqm = "" }) => words(aqm).name === name);
  if (found?.aqm === undefined) throw new Error(`${lesson.id} has no ${name} in step ${step}`);
  return { ...found, aqm: found.aqm };
}

/** The value at a dotted path of a resolved scenario; entries of traffic and links are called by their names. */
export function at(scenario: unknown, path: string): unknown {
  return path.split(".").reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value.find((entry) => entry.name === key);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  }, scenario);
}

/** Bits per second of a rate as the lessons write them, `10 Mbit/s`. */
function bitrate(rate: unknown): number {
  const number = /^([\d.]+) Mbit\/s$/.exec(String(rate))?.[1];
  if (number === undefined) throw new Error(`${rate} is not in Mbit/s`);
  return 1e6 * Number(number);
}

/** A reader's run of a lesson with one discipline: it goes from step to step as the page does, and reads means. */
export class Play {
  readonly #lesson: Lesson;
  readonly #aqm: string;
  readonly #seed: number;
  #run: Simulation;
  #scenario: unknown;

  /** Starts at a step; `more` are changes of the reader's. */
  constructor(lesson: Lesson, aqm: string, seed: number, step = 0, more: Changes = {}) {
    this.#lesson = lesson;
    this.#aqm = aqm;
    this.#seed = seed;
    this.#run = this.#open(step, more);
    this.#scenario = this.#run.checked.scenario;
  }

  #open(step: number, more: Changes): Simulation {
    return engine.open({ ...opening(this.#lesson, this.#aqm, step, more), seed: this.#seed, live: true });
  }

  /** Comes to a step. */
  to(step: number, more: Changes = {}): this {
    if (startsRun(this.#lesson, step)) {
      this.#run.close();
      this.#run = this.#open(step, more);
      this.#scenario = this.#run.checked.scenario;
    } else {
      this.#scenario = this.#run.follow(opening(this.#lesson, this.#aqm, step, more)).scenario;
    }
    return this;
  }

  /** Lets the run go on, without a reading. */
  skip(seconds: number): this {
    this.#run.advance(this.#time + seconds);
    return this;
  }

  /** Means over the next seconds. */
  read(seconds: number): Measured {
    const from = this.#time;
    if (from + seconds > this.#run.checked.duration) throw new Error("the run ends before");
    if (from === 0) this.#run.advance(0);
    const first = this.#glance;
    const queues: number[] = [];
    for (let tick = 1; tick <= 10 * seconds; tick += 1) {
      this.#run.advance(from + tick / 10);
      queues.push(this.#glance.queue);
    }
    const last = this.#glance;
    const since = (key: Exclude<keyof Glance, "signals">) => last[key] - first[key];
    const queue = since("queue_area") / since("t");
    const sent = (8 * since("departed_bytes")) / since("t");
    return {
      sent,
      utilisation: sent / bitrate(at(this.#scenario, "dumbbell.rate")),
      delay: since("waited") / since("departures"),
      queue,
      deviation: Math.sqrt(queues.reduce((sum, q) => sum + (q - queue) ** 2, 0) / queues.length),
      drops: since("drops") / since("arrivals"),
      marks: since("marks") / since("arrivals"),
      signals: this.#signals(last),
    };
  }

  /** The signals of the discipline by their names. */
  #signals({ signals }: Glance): Record<string, number> {
    const described = discipline(catalogue, String(at(this.#scenario, "aqm.name")))?.signals ?? [];
    return Object.fromEntries(described.map((signal, i) => [signal.name, signals[i] ?? Number.NaN]));
  }

  get #time(): number {
    return this.#run.glance()?.t ?? 0;
  }

  get #glance(): Glance {
    const glance = this.#run.glance();
    if (glance === null) throw new Error("the run has not begun");
    return glance;
  }
}

/** A whole run of its own, for what a glance does not tell: its traffic entries and flows. */
export function whole(
  lesson: Lesson,
  aqm: string,
  seed: number,
  step: number,
  span: [number, number],
  more: Changes = {},
): Results & { flows: Table } {
  const opened = opening(lesson, aqm, step, more);
  const set = {
    ...opened.set,
    warmup: `${span[0]} s`,
    duration: `${span[1]} s`,
    "record.series": false,
    "record.flows": true,
  };
  const simulation = engine.open({ ...opened, set, seed });
  const results = simulation.run();
  const flows = simulation.flows();
  simulation.close();
  return { ...results, flows };
}
