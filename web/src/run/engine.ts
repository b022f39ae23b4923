/** The engine: the wasm module's few functions, with texts and tables instead of bytes. Runs in a worker, and in Node for tests. */

import type { Description, Outcome, ScenarioRequest } from "./types.ts";

interface Exports {
  memory: WebAssembly.Memory;
  input(length: number): number;
  output(): number;
  output_length(): number;
  load(): number;
  advance(until: number, period: number): number;
  look(): number;
  finish(): number;
  scenario(): number;
}

/** The scenario, or what was asked of it, is at fault; the message says how. */
export class Refusal extends Error {}

/** The engine has a defect, or ran out of memory: this one cannot be used any more. */
export class Crash extends Error {}

/** An address as JavaScript takes it: in the upper half of a large memory wasm's numbers are negative here. */
const unsigned = (address: number) => address >>> 0;

export class Engine {
  private readonly exports: Exports;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  }

  /** Loads a scenario at time 0. A run that was loaded before goes on if this one is refused. */
  load(request: ScenarioRequest): Description {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    // The view is made after the call: growth of the memory detaches older ones.
    const at = unsigned(this.exports.input(bytes.length));
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return JSON.parse(this.text(() => this.exports.load()));
  }

  /** Runs until a time in picoseconds, sampling every `period`; returns what happened on the way. */
  advance(until: number, period: number): Float64Array {
    return this.numbers(() => this.exports.advance(until, period));
  }

  /** Where everything is now. */
  look(): Float64Array {
    return this.numbers(() => this.exports.look());
  }

  /** Runs to the end; the run is gone then. */
  finish(): Outcome {
    return JSON.parse(this.text(() => this.exports.finish()));
  }

  /** The scenario with all that was set, as TOML. */
  scenario(): string {
    return this.text(() => this.exports.scenario());
  }

  private bytes(): Uint8Array {
    const { memory, output, output_length } = this.exports;
    return new Uint8Array(memory.buffer, unsigned(output()), unsigned(output_length()));
  }

  private text(call: () => number): string {
    this.call(call);
    return new TextDecoder().decode(this.bytes());
  }

  private numbers(call: () => number): Float64Array {
    this.call(call);
    return new Float64Array(this.bytes().slice().buffer);
  }

  private call(call: () => number): void {
    let status;
    try {
      status = call();
    } catch (error) {
      // After a trap the memory still holds what the engine said last.
      throw new Crash(error instanceof WebAssembly.RuntimeError ? new TextDecoder().decode(this.bytes()) || error.message : String(error));
    }
    if (status !== 0) throw new Refusal(new TextDecoder().decode(this.bytes()));
  }
}
