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

export class Engine {
  private readonly exports: Exports;

  constructor(module: WebAssembly.Module) {
    this.exports = new WebAssembly.Instance(module, {}).exports as unknown as Exports;
  }

  /** Loads a scenario at time 0. A run that was loaded before goes on if this one is refused. */
  load(request: ScenarioRequest): Description {
    const bytes = new TextEncoder().encode(JSON.stringify(request));
    // The view is made after the call: growth of the memory detaches older ones.
    const at = this.exports.input(bytes.length);
    new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
    return JSON.parse(this.text(this.exports.load()));
  }

  /** Runs until a time in picoseconds, sampling every `period`; returns what happened on the way. */
  advance(until: number, period: number): Float64Array {
    return this.numbers(this.exports.advance(until, period));
  }

  /** Where everything is now. */
  look(): Float64Array {
    return this.numbers(this.exports.look());
  }

  /** Runs to the end; the run is gone then. */
  finish(): Outcome {
    return JSON.parse(this.text(this.exports.finish()));
  }

  /** The scenario with all that was set, as TOML. */
  scenario(): string {
    return this.text(this.exports.scenario());
  }

  private bytes(): Uint8Array {
    const { memory, output, output_length } = this.exports;
    return new Uint8Array(memory.buffer, output(), output_length());
  }

  private text(status: number): string {
    const text = new TextDecoder().decode(this.bytes());
    if (status !== 0) throw new Refusal(text);
    return text;
  }

  private numbers(status: number): Float64Array {
    if (status !== 0) throw new Refusal(new TextDecoder().decode(this.bytes()));
    return new Float64Array(this.bytes().slice().buffer);
  }
}
