import { type Answer, Refusal, type Request } from "./protocol.js";
import EngineWorker from "./worker.ts?worker&inline";

type Asked = Request extends infer R ? (R extends Request ? Omit<R, "id"> : never) : never;

interface Pending {
  resolve: (value: unknown) => void;
  reject: (reason: Error) => void;
  onProgress: (done: number) => void;
}

/** The worker that runs the engine. */
export class Client {
  readonly #worker = new EngineWorker();
  readonly #pending = new Map<number, Pending>();
  #last = 0;
  #failed: Error | undefined;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<Answer>) => this.#receive(data);
    this.#worker.onerror = (event) => {
      this.#failed = new Error(event.message || "the worker failed");
      for (const { reject } of this.#pending.values()) reject(this.#failed);
      this.#pending.clear();
    };
  }

  ask<T>(request: Asked, onProgress = (_: number) => {}): Promise<T> {
    if (this.#failed) return Promise.reject(this.#failed);
    const id = ++this.#last;
    this.#worker.postMessage({ id, ...request });
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject, onProgress });
    });
  }

  close(): void {
    this.#worker.terminate();
  }

  #receive(answer: Answer): void {
    const pending = this.#pending.get(answer.id);
    if (answer.kind === "progress") {
      pending?.onProgress(answer.done);
      return;
    }
    this.#pending.delete(answer.id);
    if (answer.kind === "done") pending?.resolve(answer.value);
    else if (answer.kind === "failed") pending?.reject(new Error(answer.message));
    else pending?.reject(new Refusal(answer.message, answer.problems, answer.lane));
  }
}
