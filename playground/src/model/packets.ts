import type { Columns, LaneFrame } from "../worker/protocol.js";

/** One packet on its way past the observed link. */
export interface Packet {
  flow: number;
  /** The position of its traffic entry. */
  class: number;
  kind: number;
  seq: number;
  size: number;
  marked: boolean;
  /** When it came to the queue, in s. */
  arrived: number;
  /** When it left the queue or was lost, in s; infinite while it waits. */
  at: number;
  lost: Fate | null;
}

export type Fate = "at random" | "early" | "for lack of room" | "for its ECN" | "by collisions";

const FATES: readonly (Fate | null)[] = [
  null,
  "at random",
  "early",
  "for lack of room",
  "for its ECN",
  "by collisions",
];

/** For how long a lost packet is seen, in s on the reader's clock. */
export const FALL = 0.5;

/** The kinds of packets in the direction of the data: data and datagrams. */
const FORWARD = new Set([0, 2]);

/** A table of packets that left: the time of the last one, and the rows of those that were lost. */
interface Passed {
  table: Columns;
  last: number;
  lost: number[];
}

/** The packets at one lane's observed link, and on their way after it: as the engine's tables have them. */
export class Packets {
  readonly #link: number;
  #passed: Passed[] = [];
  #since = 0;
  #waiting: Columns = {};
  #followed: Packet | null = null;

  /** Of the link with this number. */
  constructor(link: number) {
    this.#link = link;
  }

  /** The packet that the reader follows, as it is now. */
  get followed(): Packet | null {
    return this.#followed;
  }

  follow(packet: Packet | null): void {
    this.#followed = packet;
  }

  /** Takes those of a frame. Forgets those that left before `since`, and those that were lost before `sinceLost`, in s. */
  take(frame: LaneFrame, since: number, sinceLost: number): void {
    for (const table of frame.packets) {
      const { at, fate } = table as Record<string, Float64Array>;
      const lost = Array.from(fate ?? [], (_, i) => i).filter((i) => (fate?.[i] ?? 0) > 0);
      this.#passed.push({ table, last: at?.at(-1) ?? 0, lost });
    }
    this.#waiting = frame.waiting;
    const own = this.#followed;
    if (own && own.at === Number.POSITIVE_INFINITY) {
      this.#since = 0;
      this.each((table, i, arrived) => {
        if (isSame(own, table, i, arrived)) this.#followed = packet(table, i);
      });
    }
    this.#since = since;
    this.#passed = this.#passed.filter(
      ({ last, lost }) => last >= (lost.length > 0 ? Math.min(since, sinceLost) : since),
    );
  }

  /** Calls `act` for each packet in the direction of the data; those that wait, in the order in which they leave. */
  each(act: (table: Columns, i: number, arrived: number, at: number) => void): void {
    for (const { table, last, lost } of this.#passed) {
      const { at, link, kind, waited } = table as Record<string, Float64Array>;
      const one = (i: number) => {
        const time = at?.[i] as number;
        if (link?.[i] === this.#link && FORWARD.has(kind?.[i] ?? -1))
          act(table, i, time - (waited?.[i] ?? 0), time);
      };
      if (last < this.#since) lost.forEach(one);
      else for (let i = 0; i < (at?.length ?? 0); i++) one(i);
    }
    const { arrived, kind } = this.#waiting as Record<string, Float64Array>;
    arrived?.forEach((came, i) => {
      if (FORWARD.has(kind?.[i] ?? -1)) act(this.#waiting, i, came, Number.POSITIVE_INFINITY);
    });
  }
}

const value = (table: Columns, name: string, i: number) => table[name]?.[i] ?? 0;

/** A packet of a table. */
export function packet(table: Columns, i: number): Packet {
  const at = table.at?.[i] ?? Number.POSITIVE_INFINITY;
  return {
    flow: value(table, "flow", i),
    class: value(table, "class", i),
    kind: value(table, "kind", i),
    seq: value(table, "seq", i),
    size: value(table, "size", i),
    marked: value(table, "marked", i) === 1,
    arrived: table.arrived?.[i] ?? at - value(table, "waited", i),
    at,
    lost: FATES[value(table, "fate", i)] ?? null,
  };
}

/** Whether a row of a table is the same packet, waiting or gone. */
export const isSame = (one: Packet, table: Columns, i: number, arrived: number) =>
  Math.abs(one.arrived - arrived) < 1e-9 &&
  one.seq === value(table, "seq", i) &&
  one.flow === value(table, "flow", i) &&
  one.class === value(table, "class", i);
