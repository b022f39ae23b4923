/** A run as the page has it, with workers that say what a test wants. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { load } from "./support.mjs";

const { Run } = await load("run/run");

/** A worker that never answers, as one that was ended, and what it was asked. */
function silent() {
  const asked = [];
  return { asked, ask: ({ do: what }) => new Promise(() => asked.push(what)), end: () => {} };
}

test("what waits for a run that has ended leaves no timer behind", async (context) => {
  // A timer that is set never fires: one that sets itself again would keep the test from its end.
  let timers = 0;
  context.mock.method(globalThis, "setTimeout", () => ++timers);
  const worker = silent();
  const run = new Run(() => worker, { name: "mine", toml: "", set: [] }, () => {});
  run.description = { duration: 100 };
  const asked = [run.advance(50, 10), run.seek(70, () => true), run.scenario()];
  run.end();
  for (let turn = 0; turn < 3; turn++) await setImmediate();
  assert.deepEqual(worker.asked, ["advance"], "one thing at a time");
  assert.equal(asked.length, 3);
  assert.ok(run.isBusy);
  assert.equal(timers, 0);
});

test("what is asked of a run is done in its order, also after something that failed", async () => {
  const done = [];
  const worker = silent();
  worker.ask = async (ask) => {
    done.push(ask.do);
    if (done.length === 1) throw new Error("refused");
    return "the text";
  };
  const run = new Run(() => worker, { name: "mine", toml: "", set: [] }, () => {});
  run.description = { duration: 100 };
  const [first, second] = await Promise.allSettled([run.advance(50, 10), run.scenario()]);
  assert.deepEqual([first.reason.message, second.value], ["refused", "the text"]);
  assert.deepEqual(done, ["advance", "scenario"]);
  assert.equal(run.isBusy, false);
});

test("a network that is too large to be shown is refused with a sentence, before it is looked at", async () => {
  const asked = [];
  const worker = (links) => ({ end: () => {}, ask: async (ask) => {
    asked.push(ask.do);
    return ask.do === "load" ? { links: Array.from({ length: links }), duration: 100 } : Promise.reject(new Error("looked at"));
  } });
  const load = (links) => new Run(() => worker(links), { name: "mine", toml: "", set: [] }, () => {}).load(0);
  await assert.rejects(load(100_001), /^Error: The network has 100,001 links, and the page shows 100,000 at most\. celltrain run takes them all\.$/);
  assert.deepEqual(asked, ["load"]);
  await assert.rejects(load(100_000), /looked at/);
});
