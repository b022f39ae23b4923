/** What part of a run the strip shows, and what of its samples. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const { largest, samplesIn, windowOf } = await load("stage/strip/window");
const { ratesOf } = await load("stage/strip/rates");
const { keep } = await load("run/run");
const { justAfter } = await load("run/steps");
const { merged } = await load("stage/strip/drawing");
const { Crowds, placesOf } = await load("stage/strip/crowd");

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

test("of more events than are kept one by one, the strip knows where there are any to the end of the run", () => {
  const events = (from, to) => Array.from({ length: to - from }, (_, place) => ({ at: from + place, link: place % 2 }));
  const [few, many] = [[], []];
  keep(few, events(0, 50), ({ link }) => link, 10, 100);
  assert.deepEqual(few, events(0, 50));
  for (let from = 0; from < 1000; from += 100) keep(many, events(from, from + 100), ({ link }) => link, 10, 100);
  assert.deepEqual(many.slice(0, 100), events(0, 100));
  for (const link of [0, 1]) {
    const times = many.slice(100).filter((event) => event.link === link).map(({ at }) => at);
    assert.deepEqual(times, Array.from({ length: 90 }, (_, place) => 100 + 10 * place + link));
  }
  // However long after the one before: each sample that has any shows it.
  const sparse = [];
  keep(sparse, [108, 112, 113, 121, 139, 140].map((at) => ({ at })), () => 0, 10, 0);
  assert.deepEqual(sparse.map(({ at }) => at), [108, 112, 121, 139, 140]);
});

test("the moment after a time is another one, however late", () => {
  assert.deepEqual([0, 1, 999, 2 ** 53 - 1].map(justAfter), [1, 2, 1000, 2 ** 53]);
  for (let power = 53; power < 64; power++) {
    for (const time of [2 ** power, 2 ** power + 2 ** (power - 52), 2 ** (power + 1) - 2 ** (power - 52)]) {
      assert.equal(justAfter(time), time + 2 ** (power - 52), `${time}`);
    }
  }
});

test("pauses are hatched from their beginning to their end, and however short they are seen", () => {
  const sheet = { window: { from: 100, to: 200 }, x: (time) => 78 + (time - 100) * 2 };
  const stretch = (at, until) => ({ at, until });
  assert.deepEqual(merged([stretch(10, 20), stretch(110, 120), stretch(150, Infinity), stretch(210, 220)], sheet), [[98, 118], [178, 278]]);
  assert.deepEqual(merged([stretch(90, 105), stretch(120, 120.1), stretch(120.3, 120.4), stretch(130, 130)], sheet), [[78, 88], [118, 119.6], [138, 139]]);
});

test("a crowd of curves has each of them, the last on top, and no gap where one rises", () => {
  const times = [0, 50, 99];
  const sheet = { width: 100, height: 100, x: (time) => time, y: (value) => 99 - value };
  const curves = [{ values: [10, 10, 10] }, { values: [0, 90, 0] }, { values: [0, 20, 20], known: (value) => value > 0 }];
  const pixels = placesOf(curves, times, { from: 0, to: 99 }, sheet);
  const at = (x, value) => pixels[(99 - value) * 100 + x];
  assert.deepEqual([at(0, 10), at(99, 10)], [1, 1]);
  assert.deepEqual([at(50, 90), at(0, 0), at(99, 0)], [2, 2, 2]);
  // What is not known is not drawn, and nothing is drawn beside the curves.
  assert.deepEqual([at(25, 20), at(60, 20), at(50, 95), at(0, 50)], [0, 3, 0, 0]);
  for (let value = 0; value <= 90; value++) {
    const row = Array.from({ length: 51 }, (_, x) => at(x, value));
    assert.ok(row.some((colour) => colour === 2), `the curve is cut at ${value}`);
  }
});

test("a crowd whose colours alone are others is not drawn again", () => {
  const crowds = new Crowds();
  const [values, others] = [[1], [2]];
  let drawn = 0;
  const draw = (name, from, ...colours) => [...crowds.draw(name, from, () => (drawn++, Uint32Array.of(0, 1, 2, 1)), Uint32Array.of(0, ...colours))];
  assert.deepEqual(draw("Windows", [values, 10], 7, 8), [0, 7, 8, 7]);
  assert.deepEqual(draw("Windows", [values, 10], 9, 6), [0, 9, 6, 9]);
  assert.equal(drawn, 1);
  for (const [name, from] of [["Goodput", [values, 10]], ["Windows", [others, 10]], ["Windows", [others, 20]]]) draw(name, from, 7, 8);
  assert.equal(drawn, 4);
});
