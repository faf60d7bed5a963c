import type { Columns, LaneFrame } from "../worker/protocol.js";

/** The most values that are kept: half a minute of a thousand flows, and many minutes of ten. */
const ROOM = 600_000;

/** The most flows that are drawn. */
export const DRAWN = 16;

/** The flows of TCP and of UDP have numbers of their own: a flow is known by those of its class and of itself. */
const FLOWS = 2 ** 32;

/** The number of a flow in its protocol. */
export const numberOf = (flow: number) => flow % FLOWS;

/** The class of a flow. */
export const classOf = (flow: number) => Math.floor(flow / FLOWS);

/** The senders at one time: flows in rising order, and a value for each. */
interface Look {
  at: number;
  flows: Float64Array;
  windows: Float64Array;
  delivered: Float64Array;
}

function look(at: number, table: Columns): Look {
  const column = (name: string) => table[name] ?? new Float64Array();
  const [numbers, classes, windows, delivered] = ["flow", "class", "window", "delivered"].map(column) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  const flows = numbers.map((number, i) => (classes[i] as number) * FLOWS + number);
  if (flows.every((flow, i) => i === 0 || (flows[i - 1] as number) < flow))
    return { at, flows, windows, delivered };
  const order = Array.from(flows, (_, i) => i).sort((a, b) => (flows[a] as number) - (flows[b] as number));
  const ordered = (values: Float64Array) => Float64Array.from(order, (i) => values[i] as number);
  return { at, flows: ordered(flows), windows: ordered(windows), delivered: ordered(delivered) };
}

/** The position of a flow; -1 if it was not there. */
function position({ flows }: Look, flow: number): number {
  let low = 0;
  let high = flows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((flows[middle] as number) < flow) low = middle + 1;
    else high = middle;
  }
  return flows[low] === flow ? low : -1;
}

/** The senders of one lane over time. */
export class Flows {
  #looks: Look[] = [];
  #values = 0;
  /** The bytes that each flow had delivered when it was last seen before it came (again), by the time of its coming. */
  readonly #came = new Map<number, { at: number; delivered: number }>();
  readonly #seen = new Map<number, number>();

  take({ flows }: LaneFrame): void {
    for (const { at, table } of flows) {
      const next = look(at, table);
      const last = this.#looks.at(-1);
      next.flows.forEach((flow, i) => {
        // A slot of a transient flow begins with nothing delivered.
        const before = Math.min(this.#seen.get(flow) ?? 0, next.delivered[i] as number);
        if (!last || position(last, flow) < 0 || before < (this.#seen.get(flow) ?? 0))
          this.#came.set(flow, { at, delivered: before });
        this.#seen.set(flow, next.delivered[i] as number);
      });
      this.#looks.push(next);
      this.#values += next.flows.length + 1;
    }
    if (this.#values <= ROOM) return;
    this.#looks = this.#looks.slice(this.#looks.length >> 1);
    this.#values = this.#looks.reduce((sum, { flows }) => sum + flows.length + 1, 0);
  }

  #since(since: number): Look[] {
    const first = this.#looks.findIndex(({ at }) => at >= since);
    return first < 0 ? [] : this.#looks.slice(first);
  }

  /** The flows that are there now: the first ones of each class in turn, at most `DRAWN`. */
  drawn(): number[] {
    const now = this.#looks.at(-1)?.flows ?? [];
    const ranks = new Map<number, number>();
    const ranked = Array.from(now, (flow) => {
      const rank = ranks.get(classOf(flow)) ?? 0;
      ranks.set(classOf(flow), rank + 1);
      return { flow, rank };
    });
    ranked.sort((a, b) => a.rank - b.rank || a.flow - b.flow);
    return ranked
      .slice(0, DRAWN)
      .map(({ flow }) => flow)
      .sort((a, b) => a - b);
  }

  /** The times, in s, and the windows, in segments, of some flows from a time on. */
  windows(flows: readonly number[], since: number): Float64Array[] {
    const looks = this.#since(since);
    const window = (flow: number) => (one: Look) => one.windows[position(one, flow)] ?? Number.NaN;
    return [times(looks), ...flows.map((flow) => Float64Array.from(looks, window(flow)))];
  }

  /** The times, in s, and the rates of delivery, in bit/s, of some flows from a time on, each over the `width` s before. */
  rates(flows: readonly number[], since: number, width: number): Float64Array[] {
    const looks = this.#since(since - width);
    const first = looks.findIndex(({ at }) => at >= since);
    const drawn = first < 0 ? [] : looks.slice(first);
    let k = 0;
    const before = drawn.map(({ at }) => {
      while ((looks[k + 1]?.at ?? Number.POSITIVE_INFINITY) <= at - width + 1e-9) k++;
      return looks[k] as Look;
    });
    const rate = (flow: number) => (one: Look, i: number) => {
      const then = before[i] as Look;
      if (position(one, flow) < 0 || one.at === then.at) return Number.NaN;
      const came = this.#came.get(flow);
      const isNew = came !== undefined && then.at < came.at && came.at <= one.at;
      const had = isNew ? came.delivered : (then.delivered[position(then, flow)] ?? Number.NaN);
      return (8 * ((one.delivered[position(one, flow)] as number) - had)) / (one.at - then.at);
    };
    return [times(drawn), ...flows.map((flow) => Float64Array.from(drawn, rate(flow)))];
  }

  /** Jain's index of the rates at which the flows of now have delivered since a time, or since they came; NaN without any. */
  fairness(since: number): number {
    const looks = this.#since(since);
    const [first, last] = [looks[0], looks.at(-1)];
    if (!first || !last || first === last) return Number.NaN;
    const rates = Array.from(last.flows, (flow, i) => {
      const came = this.#came.get(flow);
      const isNew = came !== undefined && came.at > first.at;
      const before = isNew ? came.delivered : (first.delivered[position(first, flow)] ?? 0);
      return ((last.delivered[i] as number) - before) / (last.at - (isNew ? came.at : first.at));
    }).filter(Number.isFinite);
    const sum = rates.reduce((a, b) => a + b, 0);
    const squares = rates.reduce((a, b) => a + b * b, 0);
    return sum ** 2 / (rates.length * squares);
  }
}

const times = (looks: readonly Look[]) => Float64Array.from(looks, ({ at }) => at);
