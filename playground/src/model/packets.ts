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

export type Fate = "at random" | "early" | "for lack of room";

const FATES: readonly (Fate | null)[] = [null, "at random", "early", "for lack of room"];

/** The kinds of packets in the direction of the data: data and datagrams. */
const FORWARD = new Set([0, 2]);

/** The packets at one lane's observed link, and on their way after it: as the engine's tables have them. */
export class Packets {
  readonly #link: number;
  #passed: Columns[] = [];
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

  /** Takes those of a frame, and forgets tables of which all left before `since`, in s. */
  take(frame: LaneFrame, since: number): void {
    this.#passed.push(...frame.packets);
    this.#waiting = frame.waiting;
    const own = this.#followed;
    if (own && own.at === Number.POSITIVE_INFINITY) {
      this.each((table, i, arrived) => {
        if (isSame(own, table, i, arrived)) this.#followed = packet(table, i);
      });
    }
    this.#passed = this.#passed.filter(({ at }) => (at?.at(-1) ?? 0) >= since);
  }

  /** Calls `act` for each packet in the direction of the data; those that wait, in the order in which they leave. */
  each(act: (table: Columns, i: number, arrived: number, at: number) => void): void {
    for (const table of this.#passed) {
      const { at, link, kind, waited } = table as Record<string, Float64Array>;
      at?.forEach((time, i) => {
        if (link?.[i] === this.#link && FORWARD.has(kind?.[i] ?? -1))
          act(table, i, time - (waited?.[i] ?? 0), time);
      });
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
