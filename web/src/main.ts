/** Starts the lab: unpacks the engine, then shows what the address asks for. */

import workerSource from "virtual:worker";
import { App } from "./app.ts";
import { Client } from "./client.ts";
import { byId } from "./dom.ts";

async function compile(): Promise<WebAssembly.Module> {
  const text = atob(byId("engine").textContent!.trim());
  const packed = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) packed[index] = text.charCodeAt(index);
  const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  return WebAssembly.compile(bytes);
}

async function start(): Promise<void> {
  const module = await compile();
  const url = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
  const app = new App(() => new Client(url, module));
  // For tests, which drive the page from outside.
  (window as any).lab = app;
  await app.open(location.hash);
  document.documentElement.dataset.ready = "1";
}

start().catch((error) => {
  const toast = byId("toast");
  toast.hidden = false;
  toast.textContent = `The lab could not start: ${error.message ?? error}. It needs a browser of 2023 or later.`;
});
