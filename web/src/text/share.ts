/** A state of the lab as the fragment of an address, and back. Nothing is sent anywhere: a fragment stays in the browser. */

import type { Settings } from "../run/types.ts";

export interface Shared {
  /** A scenario of the library by its id, or the text of one. */
  scenario: string;
  toml?: string;
  set: Settings;
  /** Picoseconds. */
  at: number;
  port?: number;
  speed?: number;
  /** What was set in the run that stands beside this one, if any does. */
  pinned?: Settings;
  /** The story that is followed, by its id, and its step, from 1 on. */
  story?: string;
  step?: number;
}

async function through(bytes: Uint8Array, stream: ReadableWritablePair): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(piped).arrayBuffer());
}

export async function encode(shared: Shared): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(shared)), new CompressionStream("deflate-raw"));
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Fails with a sentence if the text is no state of the lab. */
export async function decode(text: string): Promise<Shared> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const shared = JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw"))));
    const pairs = (value: unknown) =>
      Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === "string"));
    if (typeof shared.scenario !== "string" || !pairs(shared.set) || !Number.isFinite(shared.at)) throw new Error();
    if (shared.pinned !== undefined && !pairs(shared.pinned)) throw new Error();
    const absentOr = (type: string, ...values: unknown[]) => values.every((value) => value === undefined || typeof value === type);
    if (!absentOr("string", shared.toml, shared.story) || !absentOr("number", shared.port, shared.speed, shared.step)) throw new Error();
    return shared;
  } catch {
    throw new Error("This link is damaged: it does not hold a state of the lab.");
  }
}
