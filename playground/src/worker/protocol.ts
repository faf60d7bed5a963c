import type { Checked, Opening, Problem, Results } from "aqmlab";

/** What the page asks its worker to do. Every answer carries the number of its request. */
export type Request = { id: number } & (
  | { ask: "check"; opening: Opening }
  /** Replaces the live runs by one for each opening. */
  | { ask: "open"; openings: Opening[] }
  /** Makes each live run follow its opening. */
  | { ask: "follow"; openings: Opening[] }
  /** Advances all live runs to a time, in s, for at most `budget` ms. */
  | { ask: "advance"; until: number; budget: number; step: number }
  /** The same, but only until one of them loses a packet at its observed link. */
  | { ask: "toLoss"; until: number; budget: number; step: number }
  /** Runs an opening to its end: not a live run, but that of the command line. */
  | { ask: "run"; opening: Opening }
  /** Ends the runs of `run`. */
  | { ask: "stop" }
);

/** What the worker answers. */
export type Answer = { id: number } & (
  | { kind: "done"; value: unknown }
  /** Of a run under way: the part that is done. */
  | { kind: "progress"; done: number }
  | { kind: "problems"; message: string; problems: readonly Problem[]; lane: number }
  | { kind: "failed"; message: string }
);

/** A scenario was refused: `lane` is the position of its opening. */
export class Refusal extends Error {
  readonly problems: readonly Problem[];
  readonly lane: number;

  constructor(message: string, problems: readonly Problem[], lane: number) {
    super(message);
    this.problems = problems;
    this.lane = lane;
  }
}

/** Columns of numbers. */
export type Columns = Readonly<Record<string, Float64Array>>;

/** What a live run did since the last frame. */
export interface LaneFrame {
  /** One row for each sample: see `SAMPLED`. */
  samples: Columns;
  /** The senders, one table for each time of `at`. */
  flows: { at: number; table: Columns }[];
  /** Packets that links sent and lost, in one or several tables. */
  packets: Columns[];
  /** Those that wait at the observed link now. */
  waiting: Columns;
}

export interface Frame {
  /** The simulated time that all live runs have reached, in s. */
  now: number;
  finished: boolean;
  lanes: LaneFrame[];
}

/** A frame, and whether a packet was lost in it. */
export interface Found extends Frame {
  found: boolean;
}

/** The columns of a sample: counters so far as in a glance of the engine, `capacity`, the bits that the link
 * could have sent so far, and `queue` and `p` now; `p` is NaN where none is. */
export const SAMPLED = [
  "t",
  "queue",
  "queue_area",
  "arrivals",
  "drops",
  "marks",
  "departures",
  "departed_bytes",
  "waited",
  "delivered",
  "capacity",
  "p",
] as const;

export type Sampled = (typeof SAMPLED)[number];

export type { Checked, Opening, Problem, Results };
