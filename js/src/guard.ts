/** The functions that crates/wasm exports. */
export interface Exports {
  memory: WebAssembly.Memory;
  failure(): number;
  failure_length(): number;
  request(length: number): number;
  reply(): number;
  reply_length(): number;
  numbers(): number;
  numbers_length(): number;
  describe(): void;
  ship(): void;
  check(): void;
  open(): void;
  follow(run: number): void;
  advance(run: number, until: number): number;
  now(run: number): number;
  glance(run: number): void;
  capacity(run: number, from: number, to: number): number;
  results(run: number): void;
  series(run: number): void;
  flows(run: number): void;
  cwnd(run: number): void;
  packets(run: number): void;
  senders(run: number): void;
  waiting(run: number): void;
  close(run: number): void;
}

type Call = (...numbers: number[]) => number;

/** What is needed to know why an engine failed. */
type Failing = Pick<Exports, "memory" | "failure" | "failure_length">;

/** The functions with an error that says why, if the engine itself fails; after that, it cannot be called any more. */
export function guarded<E extends Failing>(exports: E, onFailure: () => void): E {
  let failed: Error | undefined;
  const guard =
    (call: Call) =>
    (...numbers: number[]) => {
      if (failed) throw failed;
      try {
        return call(...numbers);
      } catch (error) {
        // There is no reason if memory has run out.
        const why = text(exports, exports.failure(), exports.failure_length()) || "out of memory?";
        onFailure();
        failed = new Error(`the engine failed, and has to be loaded again: ${why}`, { cause: error });
        throw failed;
      }
    };
  const functions = Object.entries(exports).filter(([, value]) => typeof value === "function");
  const guards = Object.fromEntries(functions.map(([name, call]) => [name, guard(call as Call)]));
  return { ...guards, memory: exports.memory } as unknown as E;
}

/** A text in memory. */
export function text(exports: { memory: WebAssembly.Memory }, at: number, length: number): string {
  return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, address(at), length));
}

/** An address in memory, which WebAssembly returns as a signed number. */
export const address = (number: number) => number >>> 0;
