/**
 * What the reader changes: dotted paths of the scenario and their values, `{ "dumbbell.rate": "5 Mbit/s" }`. A parameter of
 * the discipline, `aqm.max_p`, changes in those of the disciplines that have it.
 */
export type Changes = Readonly<Record<string, string | number | boolean>>;

/** Means of one discipline over the last seconds that a lesson looks at. */
export interface Reading {
  /** Bits that the observed link sent each second, over its rate. */
  utilisation: number;
  /** Mean time that a packet waited, in s. */
  delay: number;
  /** Standard deviation of the queue, in packets. */
  deviation: number;
  /** Mean queue in packets. */
  queue: number;
  /** Share of the arrivals that were dropped, and that were marked. */
  drops: number;
  marks: number;
}

/** One step of a lesson. */
export interface Step {
  /** Two or three sentences: what to look at, and why it happens. Words of the glossary become links of themselves. */
  text: string;
  /** What the step changes when the reader comes to it, beside what the steps before it have changed. */
  set?: Changes;
  /** The disciplines that run beside each other from this step on. */
  aqms?: readonly string[];
  /** Whether the run starts anew; otherwise it goes on with the changes. */
  restart?: boolean;
}

/** A question whose answer the reader finds with the sliders. */
export interface Question {
  text: string;
  /** What to do to find it. */
  hint: string;
  /** The unit of the number that the reader types. */
  unit: string;
  /** The answers that count as right. */
  least: number;
  most: number;
  /** Why: shown with the right answer. */
  because: string;
}

/** A figure that a lesson draws again. */
export interface Figure {
  /** The paper, by the name that `aqmlab reproduce` has for it: docs/papers/NAME.md. */
  name: string;
  /** The figure, as the paper counts: `Fig. 6`. */
  figure: string;
}

/** A guided experiment. */
export interface Lesson {
  /** The name in a permalink. */
  id: string;
  title: string;
  /** What the reader will know afterwards, in one sentence. */
  summary: string;
  /** The text of a scenario file. */
  scenario: string;
  /** The disciplines at the start: one to three, as `--aqm` has them. */
  aqms: readonly string[];
  /** The dotted paths of the sliders that the lesson needs, shown first. */
  sliders: readonly string[];
  /** The first one is the scenario as it is. */
  steps: readonly [Step, Step, Step];
  question: Question;
  /** The figure of a paper that this is. */
  paper?: Figure;
}
