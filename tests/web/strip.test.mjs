/** What part of a run the strip shows, and what of its samples. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const { largest, samplesIn, windowOf } = await load("stage/strip/window");
const { ratesOf } = await load("stage/strip/rates");

test("what is seen lies in the run, and is no shorter than can be drawn", () => {
  assert.deepEqual(windowOf(0, 100, 100), { from: 0, to: 100 });
  assert.deepEqual(windowOf(-50, 500, 100), { from: 0, to: 100 });
  assert.deepEqual(windowOf(90, 110, 100), { from: 80, to: 100 });
  assert.deepEqual(windowOf(50, 50, 4000), { from: 50, to: 51 });
});

test("the samples of a part reach to its edges, and the largest value is one of them", () => {
  const times = Array.from({ length: 11 }, (_, index) => 10 * index);
  assert.deepEqual(samplesIn(times, { from: 35, to: 55 }, 11), [3, 6]);
  assert.deepEqual(samplesIn(times, { from: 0, to: 100 }, 11), [0, 10]);
  const values = times.map((time) => (time === 50 ? 7 : time === 70 ? 8 : time === 90 ? 9 : 1));
  assert.equal(largest(times, values, { from: 35, to: 55 }), 7);
  assert.equal(largest(times, values, { from: 0, to: 100 }), 9);
  assert.equal(largest([], [], { from: 0, to: 100 }), 0);
});

test("a flow that delivers as much in each sample has one throughput", () => {
  const times = Array.from({ length: 200 }, (_, index) => (index + 1) * 1e9);
  const run = { sampleCount: 200, samples: { times, delivered: [times.map((_, index) => (index + 1) * 1250), times.map(() => 0)] } };
  // 1250 bytes in a millisecond are 10 Mbit/s.
  const [even, none] = ratesOf(run);
  assert.ok(even.every((rate) => Math.abs(rate - 10e6) < 1));
  assert.ok(none.every((rate) => rate === 0));
});
