/** The worker that holds an engine: it answers one message after the other and never waits for anything. */

import { Crash, Engine } from "./engine.ts";
import { type Description, MS, type Outcome, type ScenarioRequest } from "./types.ts";

export type Ask =
  | { do: "load"; request: ScenarioRequest }
  /** Runs towards `until` for at most `budget` milliseconds, then looks. */
  | { do: "advance"; until: number; period: number; budget: number }
  /** Runs to `until`, or for at most `budget` milliseconds towards it, then looks; starts again if it has passed. */
  | { do: "seek"; until: number; period: number; budget?: number }
  | { do: "scan"; period: number; chunk: number }
  | { do: "scenario" };

export interface Answers {
  load: Description;
  advance: { happened: Float64Array[]; look: Float64Array };
  seek: { look: Float64Array };
  scan: Outcome;
  scenario: string;
}

export type Answer =
  | { id: number; result: unknown }
  | { id: number; progress: Float64Array }
  | { id: number; error: string; refused: boolean };

/** What a worker answers that was given the packed engine. */
export type Unpacked = { module: WebAssembly.Module } | { failed: string };

let engine: Engine | undefined;
let loaded: ScenarioRequest | undefined;
let now = 0;

function advance(until: number, period: number): Float64Array {
  const happened = engine!.advance(until, period);
  now = happened[0];
  return happened;
}

function load(request: ScenarioRequest): Description {
  const description = engine!.load(request);
  [loaded, now] = [request, 0];
  return description;
}

/** The longest first piece, in picoseconds: how many milliseconds it takes is not known before. */
const FIRST_PIECE = 1 * MS;

/** Goes on in pieces that take a few milliseconds each, until the time or the budget is used up. */
function advanceWithin(until: number, period: number, budget: number): Float64Array[] {
  const begin = performance.now();
  const happened: Float64Array[] = [];
  let piece = Math.min((until - now) / 16, FIRST_PIECE);
  while (now < until) {
    const before = now;
    const started = performance.now();
    const next = Math.floor(now + Math.max(piece, 1));
    // Late in a very long run numbers are further apart than times.
    happened.push(advance(next > now ? Math.min(until, next) : until, period));
    // The run has ended: a link may name any time.
    if (now === before) break;
    const took = performance.now() - started;
    if (performance.now() - begin > budget) break;
    piece *= took < budget / 4 ? 2 : 1;
  }
  return happened;
}

function scan(id: number, period: number, chunk: number, end: number): Outcome {
  for (let until = chunk; now < end; until += chunk) {
    const happened = advance(Math.min(until, end), period);
    postMessage({ id, progress: happened } satisfies Answer, { transfer: [happened.buffer as ArrayBuffer] });
  }
  const outcome = engine!.finish();
  loaded = undefined;
  return outcome;
}

let duration = 0;

function answer(id: number, ask: Ask): [unknown, Transferable[]] {
  switch (ask.do) {
    case "load": {
      const description = load(ask.request);
      duration = description.duration;
      return [description, []];
    }
    case "advance": {
      const happened = advanceWithin(ask.until, ask.period, ask.budget);
      const look = engine!.look();
      return [{ happened, look }, [look.buffer, ...happened.map((table) => table.buffer)] as Transferable[]];
    }
    case "seek": {
      if (ask.until < now && loaded) load(loaded);
      if (ask.until > now) advanceWithin(ask.until, ask.period, ask.budget ?? Number.POSITIVE_INFINITY);
      const look = engine!.look();
      return [{ look }, [look.buffer as ArrayBuffer]];
    }
    case "scan":
      return [scan(id, ask.period, ask.chunk, duration), []];
    case "scenario":
      return [engine!.scenario(), []];
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  // Browsers have had this since 2024 and 2025.
  const native = (Uint8Array as any).fromBase64;
  if (native) return native.call(Uint8Array, text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = characters.charCodeAt(index);
  return bytes;
}

async function compile(packed: string): Promise<WebAssembly.Module> {
  const bytes = new Blob([fromBase64(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compileStreaming(new Response(bytes, { headers: { "Content-Type": "application/wasm" } }));
}

/** Takes the engine, packed as the page has it, and hands it back compiled. */
function unpack(packed: string): void {
  compile(packed).then(
    (module) => {
      engine = new Engine(module);
      postMessage({ module } satisfies Unpacked);
    },
    (error) => postMessage({ failed: String(error.message ?? error) } satisfies Unpacked),
  );
}

onmessage = (event: MessageEvent) => {
  if (event.data.packed) return unpack(event.data.packed);
  if (event.data.module) {
    engine = new Engine(event.data.module);
    return;
  }
  const { id, ...ask } = event.data as { id: number } & Ask;
  try {
    const [result, transfer] = answer(id, ask as Ask);
    postMessage({ id, result } satisfies Answer, { transfer });
  } catch (error) {
    const refused = !(error instanceof Crash);
    postMessage({ id, error: String((error as Error).message ?? error), refused } satisfies Answer);
  }
};
