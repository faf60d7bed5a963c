import type { Columns, LaneFrame, Sampled } from "../worker/protocol.js";
import { SAMPLED } from "../worker/protocol.js";

/** The most samples that are kept: five minutes of one every 10 ms. */
const ROOM = 30_000;

/** Columns that grow at their end, and lose their older half when they are full. */
export class Growing<Name extends string> {
  readonly columns: Record<Name, Float64Array>;
  readonly #room: number;
  length = 0;

  constructor(names: readonly Name[], room = ROOM) {
    this.#room = room;
    this.columns = Object.fromEntries(names.map((name) => [name, new Float64Array(room)])) as Record<
      Name,
      Float64Array
    >;
  }

  /** Appends a row, whose values come from a function of the column's name. */
  push(value: (name: Name) => number): void {
    if (this.length === this.#room) this.#forget();
    for (const name in this.columns) this.columns[name][this.length] = value(name);
    this.length += 1;
  }

  /** A column as far as it is filled: a view. */
  column(name: Name): Float64Array {
    return this.columns[name].subarray(0, this.length);
  }

  /** The position of the first row of which column `name`, which rises, is at least `value`. */
  position(name: Name, value: number): number {
    const column = this.columns[name];
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((column[middle] as number) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #forget(): void {
    const half = this.#room >> 1;
    for (const name in this.columns) this.columns[name].copyWithin(0, half, this.length);
    this.length -= half;
  }
}

export type Row = Sampled | "rate";

/** The means of one lane over an interval, and what follows from them. */
export interface Means {
  throughput: number;
  utilisation: number;
  delay: number;
  queue: number;
  deviation: number;
  drops: number;
  marks: number;
}

/** The samples of one lane so far: the counters of the engine, and the rate of its link in bit/s. */
export class Samples extends Growing<Row> {
  constructor() {
    super([...SAMPLED, "rate"]);
  }

  take({ samples }: LaneFrame, rate: number): void {
    const { t } = samples as Columns & { t: Float64Array };
    for (let row = 0; row < t.length; row++) {
      this.push((name) => (name === "rate" ? rate : ((samples[name] as Float64Array)[row] as number)));
    }
  }

  /** The difference of a counter between two rows. */
  #between(name: Row, from: number, to: number): number {
    const column = this.columns[name];
    return (column[to] as number) - (from < 0 ? 0 : (column[from] as number));
  }

  /** The means from one time to the last sample; null if there are no two samples. */
  means(since: number): Means | null {
    const to = this.length - 1;
    const from = this.position("t", since);
    if (to <= from) return null;
    const { t, rate, queue } = this.columns;
    let capacity = 0;
    let squares = 0;
    const mean = this.#between("queue_area", from, to) / this.#between("t", from, to);
    for (let row = from + 1; row <= to; row++) {
      capacity += (rate[row] as number) * ((t[row] as number) - (t[row - 1] as number));
      squares += ((queue[row] as number) - mean) ** 2;
    }
    const bits = 8 * this.#between("departed_bytes", from, to);
    const arrivals = this.#between("arrivals", from, to);
    return {
      throughput: bits / this.#between("t", from, to),
      // A packet counts when its transmission begins: an interval may have one more than it carries.
      utilisation: Math.min(1, bits / capacity),
      delay: this.#between("waited", from, to) / this.#between("departures", from, to),
      queue: mean,
      deviation: Math.sqrt(squares / (to - from)),
      drops: this.#between("drops", from, to) / arrivals,
      marks: this.#between("marks", from, to) / arrivals,
    };
  }

  /** What a plot shows of each sample from one time on: values over the `width` s before it. */
  series(quantity: Quantity, since: number, width: number): Float64Array {
    const first = this.position("t", since);
    const { t } = this.columns;
    const values = new Float64Array(this.length - first);
    let from = this.position("t", since - width);
    for (let row = first; row < this.length; row++) {
      while (from < row - 1 && (t[from + 1] as number) <= (t[row] as number) - width + 1e-9) from++;
      values[row - first] = this.#value(quantity, Math.min(from, row - 1), row);
    }
    return values;
  }

  #value(quantity: Quantity, from: number, to: number): number {
    switch (quantity) {
      case "queue":
      case "p":
        return this.columns[quantity][to] as number;
      case "delay":
        return this.#between("waited", from, to) / this.#between("departures", from, to);
      case "throughput":
        return (8 * this.#between("departed_bytes", from, to)) / this.#between("t", from, to);
      case "losses":
        return this.#between("drops", from, to) / this.#between("arrivals", from, to);
      case "marked":
        return this.#between("marks", from, to) / this.#between("arrivals", from, to);
    }
  }
}

/** What the plots of a link show. */
export type Quantity = "queue" | "delay" | "throughput" | "losses" | "marked" | "p";
