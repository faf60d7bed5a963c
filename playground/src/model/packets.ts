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

/** The number of the packets of a data flow in the observed direction: data and datagrams. */
const FORWARD = new Set([0, 2]);

/** The packets at one lane's observed link, and on their way after it. */
export class Packets {
  readonly #link: number;
  #passed: Packet[] = [];
  #waiting: Packet[] = [];

  /** Of the link with this number. */
  constructor(link: number) {
    this.#link = link;
  }

  /** Takes those of a frame, and forgets those that left before `since`, in s. */
  take(frame: LaneFrame, since: number): void {
    this.#passed = this.#passed.filter(({ at }) => at >= since);
    for (const table of frame.packets) {
      const { at, link } = table as Record<string, Float64Array>;
      at?.forEach((time, i) => {
        if (time >= since && link?.[i] === this.#link) this.#passed.push(packet(table, i, time));
      });
    }
    const { flow } = frame.waiting as Record<string, Float64Array>;
    this.#waiting = Array.from(flow ?? [], (_, i) => packet(frame.waiting, i, Number.POSITIVE_INFINITY));
  }

  /** All that are known; those that wait in the order in which they leave, as far as it is known. */
  *all(): Iterable<Packet> {
    yield* this.#passed;
    yield* this.#waiting;
  }

  /** The same packet as it is now. */
  find({ flow, seq, kind, arrived }: Packet): Packet | undefined {
    for (const other of this.all()) {
      const same = other.flow === flow && other.seq === seq && other.kind === kind;
      if (same && Math.abs(other.arrived - arrived) < 1e-9) return other;
    }
    return undefined;
  }
}

function packet(table: Columns, i: number, at: number): Packet {
  const value = (name: string) => table[name]?.[i] ?? 0;
  return {
    flow: value("flow"),
    class: value("class"),
    kind: value("kind"),
    seq: value("seq"),
    size: value("size"),
    marked: value("marked") === 1,
    arrived: table.arrived?.[i] ?? at - value("waited"),
    at,
    lost: FATES[value("fate")] ?? null,
  };
}

/** Whether a packet goes in the direction of the data. */
export const isForward = ({ kind }: Packet) => FORWARD.has(kind);
