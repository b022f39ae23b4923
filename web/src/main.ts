/**
 * Starts the lab: lets a worker unpack the engine, then shows what the address asks for.
 *
 *   app/    what is loaded, set and chosen; time; the address; buttons and keys
 *   run/    runs, and the engine in its workers
 *   stage/  what is drawn: the network, the port close up, the strip
 *   side/   what stands beside it: stories, settings, flows, measures
 *   text/   numbers, names, commands and links as texts
 */

import workerSource from "virtual:worker";
import { App } from "./app/app.ts";
import { byId } from "./dom.ts";
import { Client } from "./run/client.ts";
import type { Unpacked } from "./run/worker.ts";

/** The engine stands at the end of the page: the worker starts while the rest is read. */
function wholePage(): Promise<unknown> {
  if (document.readyState !== "loading") return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

/** The engine of the page, as a worker unpacks and compiles it; all workers share the result. */
function unpack(worker: Worker, packed: string): Promise<WebAssembly.Module> {
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Unpacked>) => ("module" in data ? resolve(data.module) : reject(new Error(data.failed)));
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage({ packed });
  });
}

async function start(): Promise<void> {
  const url = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
  let first: Worker | undefined = new Worker(url);
  await wholePage();
  const module = await unpack(first, byId("engine").textContent!.trim());
  const worker = () => {
    const worker = first ?? new Worker(url);
    if (worker !== first) worker.postMessage({ module });
    first = undefined;
    return worker;
  };
  const app = new App(() => new Client(worker()));
  // For tests, which drive the page from outside.
  (window as any).lab = app;
  await app.address.visit(location.hash);
  document.documentElement.dataset.ready = "1";
}

start().catch((error) => {
  const toast = byId("toast");
  toast.hidden = false;
  toast.textContent = `The lab could not start: ${error.message ?? error}. It needs a browser of 2023 or later.`;
});
