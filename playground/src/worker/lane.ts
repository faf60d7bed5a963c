import type { Engine, Opening, Simulation, Table } from "aqmlab";
import { disciplineOf } from "../model/scenario.js";
import { type Columns, type LaneFrame, SAMPLED } from "./protocol.js";

/** The time between two looks at the senders, in s. */
const FLOWS_EVERY = 0.05;

/** A live run may last an hour; the scenario's own duration is for its results. */
const LIVE = { duration: "3600 s", warmup: "0 s" };

/** One live run, and what it did since the last frame. */
export class Lane {
  readonly #simulation: Simulation;
  readonly #positions: Readonly<Record<string, number>>;
  #p = -1;
  #sampled = 0;
  #looked = 0;
  /** The bits that the observed link could have sent until a time. */
  #capacity = 0;
  #counted = 0;
  #rows: number[] = [];
  #flows: LaneFrame["flows"] = [];
  #packets: Columns[] = [];

  constructor(engine: Engine, positionsOfP: Readonly<Record<string, number>>, opening: Opening) {
    this.#positions = positionsOfP;
    this.#simulation = engine.open(live(opening));
    this.#note(this.#simulation.checked.scenario);
  }

  get checked() {
    return this.#simulation.checked;
  }

  get finished() {
    return this.#simulation.finished;
  }

  follow(opening: Opening) {
    const checked = this.#simulation.follow(live(opening));
    this.#note(checked.scenario);
    return checked;
  }

  /** Advances to `until`, with a sample every `step`, both in s. */
  advance(until: number, step: number): void {
    for (;;) {
      const next = this.#sampled + step;
      if (next > until + 1e-9) break;
      this.#simulation.advance(next);
      this.#sampled = next;
      this.#sample();
      if (next >= this.#looked + FLOWS_EVERY - 1e-9) this.#look(next);
    }
    this.#simulation.advance(until);
  }

  /** Whether the observed link has lost a packet since the last time that packets were taken. */
  hasLost(): boolean {
    const packets = this.#take();
    const link = packets.column("link");
    return packets.column("fate").some((fate, i) => fate > 0 && link[i] === this.checked.observed);
  }

  frame(): LaneFrame {
    this.#take();
    const frame = {
      samples: columns(this.#rows),
      flows: this.#flows,
      packets: this.#packets,
      waiting: numbers(this.#simulation.waiting()),
    };
    this.#rows = [];
    this.#flows = [];
    this.#packets = [];
    return frame;
  }

  close(): void {
    this.#simulation.close();
  }

  #take(): Table {
    const packets = this.#simulation.packets();
    if (packets.length > 0) this.#packets.push(numbers(packets));
    return packets;
  }

  #note(scenario: Record<string, unknown>): void {
    const name = String(disciplineOf(scenario).name);
    this.#p = this.#positions[name] ?? -1;
  }

  #sample(): void {
    const glance = this.#simulation.glance();
    if (glance === null) return;
    const p = this.#p < 0 ? Number.NaN : (glance.signals[this.#p] ?? Number.NaN);
    this.#capacity += this.#simulation.capacity(this.#counted, glance.t);
    this.#counted = glance.t;
    const row = { ...glance, p, capacity: this.#capacity };
    for (const name of SAMPLED) this.#rows.push(row[name]);
  }

  #look(at: number): void {
    this.#looked = at;
    this.#flows.push({
      at,
      table: numbers(this.#simulation.senders()),
    });
  }
}

const live = (opening: Opening): Opening => ({
  ...opening,
  set: { ...opening.set, ...LIVE },
  packets: true,
  live: true,
});

/** The columns of rows that follow each other. */
function columns(rows: readonly number[]): Columns {
  const width = SAMPLED.length;
  const length = rows.length / width;
  return Object.fromEntries(
    SAMPLED.map((name, i) => [
      name,
      Float64Array.from({ length }, (_, row) => rows[row * width + i] as number),
    ]),
  );
}

const numbers = (table: Table): Columns =>
  Object.fromEntries(table.names.map((name) => [name, table.column(name)]));
