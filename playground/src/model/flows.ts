import type { LaneFrame } from "../worker/protocol.js";

/** The most looks at the senders that are kept, and the most flows of each that are drawn. */
const ROOM = 4000;
export const DRAWN = 16;

/** The flows of TCP and of UDP have numbers of their own: a flow is known by those of its class and of itself. */
const FLOWS = 2 ** 32;
const key = (of: number, flow: number) => of * FLOWS + flow;

/** The class of a flow. */
export const classOf = (flow: number) => Math.floor(flow / FLOWS);

interface Look {
  at: number;
  /** The values of each flow. */
  windows: Map<number, number>;
  delivered: Map<number, number>;
}

/** The senders of one lane over time. */
export class Flows {
  #looks: Look[] = [];

  take({ flows }: LaneFrame): void {
    for (const { at, table } of flows) {
      const { flow, window, delivered, class: of } = table as Record<string, Float64Array>;
      const look: Look = { at, windows: new Map(), delivered: new Map() };
      flow?.forEach((number, i) => {
        const known = key(of?.[i] as number, number);
        look.windows.set(known, window?.[i] as number);
        look.delivered.set(known, delivered?.[i] as number);
      });
      this.#looks.push(look);
    }
    if (this.#looks.length > ROOM) this.#looks = this.#looks.slice(-ROOM / 2);
  }

  #since(since: number): Look[] {
    const first = this.#looks.findIndex(({ at }) => at >= since);
    return first < 0 ? [] : this.#looks.slice(first);
  }

  /** The flows that are there now: the first ones of each class in turn, at most `DRAWN`. */
  drawn(): number[] {
    const now = [...(this.#looks.at(-1)?.delivered.keys() ?? [])].sort((a, b) => a - b);
    if (now.length <= DRAWN) return now;
    const ranks = new Map<number, number>();
    const ranked = now.map((flow) => {
      const of = classOf(flow);
      const rank = ranks.get(of) ?? 0;
      ranks.set(of, rank + 1);
      return { flow, rank };
    });
    ranked.sort((a, b) => a.rank - b.rank || a.flow - b.flow);
    return ranked
      .slice(0, DRAWN)
      .map(({ flow }) => flow)
      .sort((a, b) => a - b);
  }

  /** The times, in s, and the windows, in segments, of some flows from a time on. */
  windows(flows: readonly number[], since: number): [Float64Array, ...Float64Array[]] {
    const looks = this.#since(since);
    return [
      Float64Array.from(looks, ({ at }) => at),
      ...flows.map((flow) => Float64Array.from(looks, ({ windows }) => windows.get(flow) ?? Number.NaN)),
    ];
  }

  /** The times, in s, and the rates of delivery, in bit/s, of some flows from a time on, each over the `width` s before. */
  rates(flows: readonly number[], since: number, width: number): [Float64Array, ...Float64Array[]] {
    const looks = this.#since(since - width);
    const first = looks.findIndex(({ at }) => at >= since);
    const drawn = first < 0 ? [] : looks.slice(first);
    const before = drawn.map((look, i) => {
      let k = first + i;
      while (k > 0 && (looks[k] as Look).at > look.at - width + 1e-9) k--;
      return looks[k] as Look;
    });
    const rate = (flow: number) => (look: Look, i: number) => {
      const then = before[i] as Look;
      const [now, was] = [look.delivered.get(flow), then.delivered.get(flow) ?? 0];
      return now === undefined || look.at === then.at ? Number.NaN : (8 * (now - was)) / (look.at - then.at);
    };
    return [
      Float64Array.from(drawn, ({ at }) => at),
      ...flows.map((flow) => Float64Array.from(drawn, rate(flow))),
    ];
  }

  /** Jain's index of the bytes that the flows of now delivered since a time; NaN without any. */
  fairness(since: number): number {
    const looks = this.#since(since);
    const [first, last] = [looks[0], looks.at(-1)];
    if (!first || !last || first === last) return Number.NaN;
    const shares = [...last.delivered].map(([flow, bytes]) => bytes - (first.delivered.get(flow) ?? 0));
    const sum = shares.reduce((a, b) => a + b, 0);
    const squares = shares.reduce((a, b) => a + b * b, 0);
    return sum ** 2 / (shares.length * squares);
  }
}
