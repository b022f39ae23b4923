/** The page's end of a worker: questions and their answers as promises. */

import type { Answer, Answers, Ask } from "./worker.ts";

interface Waiting {
  resolve(value: any): void;
  reject(error: Error): void;
  progress?: (numbers: Float64Array) => void;
}

/** The worker is gone, or its engine has stopped: another has to be started. */
export class Lost extends Error {
  constructor(
    message: string,
    /** Whether the engine stopped by itself: it would do so again. */
    readonly crashed = false,
  ) {
    super(message);
  }
}

export class Client {
  private readonly waiting = new Map<number, Waiting>();
  private next = 1;
  private gone = false;

  /** `worker` has been given the engine, or is given it before the first request. */
  constructor(private readonly worker: Worker) {
    this.worker.onmessage = (event) => this.receive(event.data as Answer);
    this.worker.onerror = (event) => this.lose(event.message || "the worker has stopped");
  }

  ask<Kind extends Ask["do"]>(ask: Extract<Ask, { do: Kind }>, progress?: (numbers: Float64Array) => void): Promise<Answers[Kind]> {
    if (this.gone) return Promise.reject(new Lost("the worker has stopped"));
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject, progress });
      this.worker.postMessage({ id, ...ask });
    });
  }

  /** Ends the worker; what was asked is not answered any more. */
  end(): void {
    this.gone = true;
    this.worker.terminate();
    this.waiting.clear();
  }

  /** For tests: the worker dies as if the browser had ended it. */
  kill(): void {
    this.worker.terminate();
    this.lose("the worker was ended");
  }

  private receive(answer: Answer): void {
    const waiting = this.waiting.get(answer.id);
    if (!waiting) return;
    if ("progress" in answer) return waiting.progress?.(answer.progress);
    this.waiting.delete(answer.id);
    if ("error" in answer) {
      if (answer.refused) waiting.reject(new Error(answer.error));
      else this.lose(answer.error, waiting, true);
    } else waiting.resolve(answer.result);
  }

  private lose(message: string, first?: Waiting, crashed = false): void {
    this.gone = true;
    this.worker.terminate();
    const waiting = [...(first ? [first] : []), ...this.waiting.values()];
    this.waiting.clear();
    waiting.forEach((one) => one.reject(new Lost(message, crashed)));
  }
}
