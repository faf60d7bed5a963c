import type { Columns, LaneFrame, Sampled } from "../worker/protocol.js";
import { SAMPLED } from "../worker/protocol.js";

/** The most samples that are kept: ten minutes of one every 10 ms, of which half may be forgotten. */
const ROOM = 60_000;

/** Columns that grow at their end, and lose their older half when they are full. */
export class Growing<Name extends string> {
  readonly columns: Record<Name, Float64Array>;
  readonly #room: number;
  length = 0;
  /** How many rows were forgotten. */
  forgotten = 0;

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
    this.forgotten += half;
  }
}

/** The means of one lane over an interval. */
export interface Means {
  /** The length of the interval in s. */
  span: number;
  throughput: number;
  utilisation: number;
  delay: number;
  queue: number;
  deviation: number;
  drops: number;
  marks: number;
}

/** What the plots of a link show. */
export type Quantity = "queue" | "delay" | "throughput" | "losses" | "marked" | "p";

/** The samples of one lane so far. */
export class Samples extends Growing<Sampled> {
  constructor() {
    super(SAMPLED);
  }

  take({ samples }: LaneFrame): void {
    const columns = samples as Columns & Record<Sampled, Float64Array>;
    for (let row = 0; row < columns.t.length; row++) this.push((name) => columns[name][row] as number);
  }

  /** The difference of a counter between two rows. */
  #between(name: Sampled, from: number, to: number): number {
    const column = this.columns[name];
    return (column[to] as number) - (column[from] as number);
  }

  /** The means from one time to the last sample; null if there are no two samples. */
  means(since: number): Means | null {
    const to = this.length - 1;
    const from = this.position("t", since);
    if (to <= from) return null;
    const { t, queue } = this.columns;
    const span = this.#between("t", from, to);
    const mean = this.#between("queue_area", from, to) / span;
    let squares = 0;
    for (let row = from + 1; row <= to; row++) {
      squares += ((queue[row] as number) - mean) ** 2 * ((t[row] as number) - (t[row - 1] as number));
    }
    const bits = 8 * this.#between("departed_bytes", from, to);
    const arrivals = this.#between("arrivals", from, to);
    return {
      span,
      throughput: bits / span,
      // A packet counts when its transmission begins: an interval may have one more than it carries.
      utilisation: Math.min(1, bits / this.#between("capacity", from, to)),
      delay: this.#between("waited", from, to) / this.#between("departures", from, to),
      queue: mean,
      deviation: Math.sqrt(squares / span),
      drops: this.#between("drops", from, to) / arrivals,
      marks: this.#between("marks", from, to) / arrivals,
    };
  }

  /** The rate of the link at the last sample, in bit/s; NaN before there are two. */
  rate(): number {
    const to = this.length - 1;
    return to < 1 ? Number.NaN : this.#between("capacity", to - 1, to) / this.#between("t", to - 1, to);
  }

  /**
   * The times of the samples from one time on, and what plots of some quantities show there: the values over the `width` s
   * before. If there are more than `most`, every n-th is left, the same ones whenever the interval begins.
   */
  series(quantities: readonly [Quantity, number][], since: number, most: number): Float64Array[] {
    const first = this.position("t", since);
    const every = Math.max(1, Math.ceil((this.length - first) / most));
    const rows: number[] = [];
    for (let row = first; row < this.length; row++) if ((this.forgotten + row) % every === 0) rows.push(row);
    const { t } = this.columns;
    const values = ([quantity, width]: [Quantity, number]) => {
      let from = this.position("t", since - width);
      return Float64Array.from(rows, (row) => {
        while (from < row - 1 && (t[from + 1] as number) <= (t[row] as number) - width + 1e-9) from++;
        return row === 0 ? Number.NaN : this.#value(quantity, Math.min(from, row - 1), row);
      });
    };
    return [Float64Array.from(rows, (row) => t[row] as number), ...quantities.map(values)];
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
