import { compiled, texts } from "./assets.js";
import { address, type Exports, guarded, text } from "./guard.js";
import { Table } from "./table.js";

/** A scenario, with the changes that the command line can make to it. */
export interface Opening {
  /** The text of a scenario file, or else */
  text?: string;
  /** the name of a shipped scenario, `lred/exp1`; with a text, the name that messages use for it. */
  name?: string;
  /** A queue discipline in place of that of the file, `codel:target=10ms`: the option `--aqm`. */
  aqm?: string;
  /** Dotted paths and their values: the option `--set`. */
  set?: Record<string, string | number | boolean>;
  /** The seed, if not that of the file. */
  seed?: number;
  /** Whether to list the packets that links send and lose, until `Simulation.packets` takes them. */
  packets?: boolean;
  /**
   * Whether the run can follow a scenario that changes. Such a run records no series. Packets of several hosts that come to a
   * link at the same nanosecond may come in another order than in other runs.
   */
  live?: boolean;
}

/** One problem of a scenario. */
export interface Problem {
  /** What it is about: `file`, `path`, `value` or `unlisted`. */
  kind: string;
  /** The dotted path of the value; empty for the whole file. */
  path: string;
  /** The file that has the value, and the line; `null` if a change of the command line has it. */
  file: string | null;
  line: number | null;
  /** The path, the value, the reason and the allowed values. */
  text: string;
}

/** A scenario that is valid. */
export interface Checked {
  /** The scenario with every default filled in, as `aqmlab run --json` prints it. */
  scenario: Record<string, unknown>;
  /** The scenario file, with the changes. */
  toml: string;
  /** An estimate of the packets that a run simulates. */
  packets: number;
  /** The bytes of memory that a run is known to take, for the flows at its start and for series. */
  memory: number;
  seed: number;
  /** The end of a run and of its warm-up, in s. */
  duration: number;
  warmup: number;
  /** The number of the observed link among those of `Simulation.packets`. */
  observed: number;
}

/** The observed link so far, warm-up included. The differences of two glances yield rates and means. */
export interface Glance {
  /** The simulated time in s. */
  t: number;
  /** Packets that wait. */
  queue: number;
  /** Their number integrated over the time so far, in packet seconds. */
  queue_area: number;
  /** Packets that arrived, were dropped, and were marked with CE. */
  arrivals: number;
  drops: number;
  marks: number;
  /** Packets whose transmission has begun, their bytes on the link, and the sum of the times that they waited, in s. */
  departures: number;
  departed_bytes: number;
  waited: number;
  /** Payload bytes that all flows have delivered. */
  delivered: number;
  /** The signals of the discipline now, in the order of its entry in `Engine.describe`. */
  signals: number[];
}

/** Metrics by their names; `null` where one is not defined. `aqmlab list metrics` prints what each means. */
export type Metrics = Record<string, number | null>;

/** The results of a run, as `aqmlab run --json` prints them for each seed. */
export interface Results {
  seed: number;
  metrics: Metrics;
  classes: Record<string, Metrics>;
  links: Record<string, Metrics>;
  lanes: Record<string, Metrics>;
  distributions: Record<string, unknown>;
  /** Packets that the observed link sent, and events. `cpu_seconds` is 0: WebAssembly does not know it. */
  engine: { packets: number; events: number; cpu_seconds: number };
  [other: string]: unknown;
}

/** A scenario is not valid: `message` is the text that the command line prints. */
export class ScenarioError extends Error {
  override readonly name = "ScenarioError";
  readonly problems: readonly Problem[];

  constructor(message: string, problems: readonly Problem[]) {
    super(message);
    this.problems = problems;
  }
}

const HERE = new URL("./", import.meta.url);

/** One instance of the compiled engine, which runs simulations on the thread that calls it. */
export class Engine {
  static #default: Promise<Engine> | undefined;
  readonly #exports: Exports;
  /** The names of the shipped scenarios. */
  readonly scenarios: readonly string[];

  private constructor(exports: Exports, library: Record<string, string>) {
    this.#exports = exports;
    this.#ask("ship", library);
    // A name that begins with _ is part of others.
    this.scenarios = Object.keys(library).filter((name) => !/(^|\/)_/.test(name));
  }

  /** An engine of its own, from the files in the folder of the package, or in another. */
  static load(folder: URL = HERE): Promise<Engine> {
    return Engine.#load(folder, () => {});
  }

  /**
   * An engine of its own, from the compiled `aqmlab.wasm` and the texts of `scenarios.json`, for a page that carries both.
   * `onFailure` is called if the engine fails.
   */
  static async from(
    module: WebAssembly.Module,
    library: Record<string, string>,
    onFailure: () => void = () => {},
  ): Promise<Engine> {
    const { exports } = await WebAssembly.instantiate(module, {});
    return new Engine(guarded(exports as unknown as Exports, onFailure), library);
  }

  static async #load(folder: URL, onFailure: () => void): Promise<Engine> {
    const [module, library] = await Promise.all([
      compiled(new URL("aqmlab.wasm", folder)),
      texts(new URL("scenarios.json", folder)),
    ]);
    return Engine.from(module, library, onFailure);
  }

  /** The engine that `Simulation.open` uses: loaded once, and again if it has failed. */
  static default(): Promise<Engine> {
    if (Engine.#default === undefined) {
      const forget = () => {
        Engine.#default = undefined;
      };
      Engine.#default = Engine.#load(HERE, forget);
      Engine.#default.catch(forget);
    }
    return Engine.#default;
  }

  /** Every algorithm, TCP, kind of traffic, table of a scenario, and metric, with units, defaults and sentences. */
  describe(): Record<string, unknown> {
    return this.#ask("describe") as Record<string, unknown>;
  }

  /** Checks a scenario. Throws ScenarioError if it is not valid. */
  check(opening: Opening): Checked {
    return this.#scenario("check", opening) as Checked;
  }

  /** Opens a run of a scenario. Throws ScenarioError if it is not valid. */
  open(opening: Opening): Simulation {
    const opened = this.#scenario("open", opening) as Checked & { run: number };
    return new Simulation(this.#exports, opened);
  }

  #scenario(call: "check" | "open", opening: Opening): Checked {
    request(this.#exports, wanted(opening));
    this.#exports[call]();
    return answer(this.#exports);
  }

  #ask(call: "ship" | "describe", content?: unknown): unknown {
    if (content !== undefined) request(this.#exports, content);
    this.#exports[call]();
    return reply(this.#exports);
  }
}

/** The calls whose result is a table. */
type Tabulated = "series" | "flows" | "cwnd" | "packets" | "senders" | "waiting";

/** One run of a scenario with one seed. */
export class Simulation {
  readonly #exports: Exports;
  readonly #run: number;
  #open = true;
  #finished = false;
  /** What was opened. */
  readonly checked: Checked;

  /** For `Engine.open`. */
  constructor(exports: Exports, { run, ...checked }: Checked & { run: number }) {
    this.#exports = exports;
    this.#run = run;
    this.checked = checked;
  }

  /** Opens a run in the default engine: of a shipped scenario by its name, or of an opening. */
  static async open(
    scenario: string | Opening,
    opening: Omit<Opening, "text" | "name"> = {},
  ): Promise<Simulation> {
    const engine = await Engine.default();
    return engine.open({ ...(typeof scenario === "string" ? { name: scenario } : scenario), ...opening });
  }

  /** The simulated time of the last event, in s. */
  get now(): number {
    return this.#whileOpen().now(this.#run);
  }

  /** Whether it is over. */
  get finished(): boolean {
    return this.#finished;
  }

  /**
   * Follows a changed scenario from now on, if the run was opened with `live`: the rates, delays, buffers, random losses and
   * queue disciplines of its links, and of each traffic entry `count` and the rate.
   *
   * A packet in transmission keeps its rate; those on the way go on as much faster or slower as the delay is shorter or
   * longer.
   *
   * A discipline with other parameters or another buffer keeps its state, as with `tc qdisc change`, and the packets that wait
   * stay where they are; those that no longer fit the buffer are dropped. A parameter that only sets an initial value has no
   * effect. Another discipline, or one whose state has no meaning with the new parameters, starts in its initial state, and
   * the packets that wait come to it at once. A rate or a delay alone a discipline does not learn.
   *
   * With a higher `count`, flows, clients or arrival processes with the next numbers start: each at its `start`, drawn for it
   * now and counted from now. With a lower one, those with the highest numbers stop: a flow of TCP as at its `stop`, with
   * what is outstanding still delivered, a source of datagrams at once, a client after its page or its chunk. What has
   * stopped comes first when the count rises again, and goes on with its connection. At another `rate`, `frame_rate`,
   * `interval` or `arrival_rate`, the packet or the arrival that is waited for comes as much sooner or later.
   *
   * The results count what happened, and each flow that there was as one flow; what they compare with an idle network or with
   * a target is of the first scenario.
   *
   * Throws ScenarioError if the scenario is not valid, or if the change needs a new run; then nothing changes.
   */
  follow(opening: Opening): Checked {
    const exports = this.#whileOpen();
    request(exports, wanted(opening));
    exports.follow(this.#run);
    return answer(exports);
  }

  /**
   * Advances up to and including `until`, in s, at most to the end; returns whether the run is over. Throws RangeError if
   * `until` is not a time.
   */
  advance(until: number): boolean {
    if (!(until >= 0)) throw new RangeError(`until = ${until}: must be a time in s, at least 0`);
    this.#finished = this.#whileOpen().advance(this.#run, until) !== 0;
    return this.#finished;
  }

  /** Runs to the end, and returns the results. */
  run(): Results {
    this.advance(this.checked.duration);
    return this.results();
  }

  /** The observed link so far; `null` before the first advance. */
  glance(): Glance | null {
    return this.#reply("glance") as Glance | null;
  }

  /** The bits that the observed link could send in an interval of the time so far, with ends in s: 100 % utilisation. */
  capacity(from: number, to: number): number {
    return this.#whileOpen().capacity(this.#run, from, to);
  }

  /** The results of a run that is over. Throws Error before. */
  results(): Results {
    const results = this.#reply("results") as Results | null;
    if (results === null) throw new Error("the run is not over: advance it to its end");
    return results;
  }

  /** The recorded series of a run, once: column `t` in s, and each quantity by its name. */
  series(): Table {
    return this.#table("series");
  }

  /** The flows of a run that is over, if the scenario records them (`record.flows`). */
  flows(): Table {
    return this.#table("flows");
  }

  /** The sampled congestion windows, if the scenario records them (`record.cwnd`). */
  cwnd(): Table {
    return this.#table("cwnd");
  }

  /**
   * The packets that links sent and lost since the last call, if the run was opened with `packets`: `at` and `waited` in
   * s, `link`, `class` and `flow` by their numbers, `size` in bytes, `fate` (0 sent, 1 lost at random, 2 dropped early, 3
   * for lack of room, 4 for its ECN, 5 by collisions, 6 after the last retry), `kind` (0 data, 1 ACK, 2 datagram, 3 the
   * answer to one, 4 a report of TFRC), `marked` (0 or 1), `seq`, and the numbers of the nodes `from` and `to`.
   */
  packets(): Table {
    return this.#table("packets");
  }

  /**
   * The flows that have begun and are not over, those of TCP first: `flow` by its number among the flows of its protocol,
   * `class` by the number of its traffic entry, `window`, the congestion window in segments, `srtt`, the smoothed round-trip
   * time in s, `delivered`, the payload bytes delivered so far, and `retransmits`, the segments sent again. NaN where a
   * sender has none: `window`, `srtt` and `retransmits` of UDP, `srtt` before the first measurement. A connection of a web
   * client is two flows. No rows before the first advance.
   */
  senders(): Table {
    return this.#table("senders");
  }

  /**
   * The packets that wait at the observed link, in the order of their queue: `flow`, `class`, `kind`, `seq`, `size` and `marked`
   * as `packets` has them, `arrived`, when each came to the queue, in s, and `queue`, the number of its queue. If the
   * discipline has several, one queue follows the other. No rows before the first advance.
   */
  waiting(): Table {
    return this.#table("waiting");
  }

  /** Ends the run and frees its memory. */
  close(): void {
    if (this.#open) this.#exports.close(this.#run);
    this.#open = false;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #whileOpen(): Exports {
    if (!this.#open) throw new Error("the simulation is closed");
    return this.#exports;
  }

  #reply(call: "glance" | "results" | Tabulated): unknown {
    const exports = this.#whileOpen();
    exports[call](this.#run);
    return reply(exports);
  }

  #table(call: Tabulated): Table {
    const names = this.#reply(call) as string[];
    const { memory, numbers, numbers_length } = this.#exports;
    // Copied as a whole: the memory is that of the next call.
    return new Table(names, new Float64Array(memory.buffer, address(numbers()), numbers_length()).slice());
  }
}

/** An opening as crates/wasm reads it. */
function wanted({
  text,
  name = "scenario",
  aqm,
  set,
  seed,
  packets = false,
  live = false,
}: Opening): unknown {
  const changes = Object.entries(set ?? {}).map(([path, value]) => [path, String(value)]);
  return { text, name, aqm, set: changes, seed, packets, live };
}

/** Puts the request of the next call. */
function request(exports: Exports, content: unknown): void {
  const bytes = new TextEncoder().encode(JSON.stringify(content));
  const at = address(exports.request(bytes.length));
  new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
}

/** The reply about a scenario. Throws ScenarioError if it has problems. */
function answer(exports: Exports): Checked {
  const found = reply(exports) as Checked | { message: string; problems: Problem[] };
  if ("problems" in found) throw new ScenarioError(found.message, found.problems);
  return found;
}

/** The reply of the last call. */
function reply(exports: Exports): unknown {
  return JSON.parse(text(exports, exports.reply(), exports.reply_length()));
}
