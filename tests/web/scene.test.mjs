/** What the pictures of the stage share. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const { Densities, Sparks, pausesIn } = await load("stage/scene");
const { linesOf } = await load("stage/closeup/glass");
const { portsOf } = await load("run/network");
const { mainPort } = await load("run/steps");
const { Place } = await load("run/types");
const { Row } = await load("run/view");

test("shares of what goes to a port are not those of the port that was shown before", () => {
  // One packet of 1500 bytes on link 0, which takes 12 us of its delay of 24 us, and comes to the port of link 1 or of link 2.
  const packet = { [Row.link]: 0, [Row.place]: Place.Link, [Row.vc]: 4, [Row.count]: 1, [Row.octets]: 1500 };
  const scene = (port, next) => ({
    port,
    run: {
      description: { links: [{ from: 0, to: 1, rate: 1e9, delay: 24e6 }, { from: 1, to: 2 }, { from: 1, to: 3 }] },
      view: { now: 0, paused: { length: 0 }, rows: { length: 1, get: (_, column) => ({ ...packet, [Row.next]: next })[column] } },
    },
  });
  const densities = new Densities();
  const share = () => densities.towards.get(0)?.get(4) ?? 0;
  densities.update(scene(1, 1), 1);
  assert.equal(share(), 0.5);
  densities.update(scene(1, 2), 0.2);
  assert.ok(Math.abs(share() - 0.4) < 1e-9, "they fade");
  densities.update(scene(2, 1), 0.2);
  assert.equal(share(), 0);
  densities.update(scene(2, 2), 0.2);
  assert.equal(share(), 0.1);
});

test("a link is paused or not where trains are seen, and for a share of the time where they are too fast", () => {
  const scene = (now, since, time) => ({
    port: 0, speed: 1e12,
    run: { description: { links: [] }, view: { now, rows: { length: 0 }, paused: { length: 1, get: (_, column) => [7, since, 1, time][column] } } },
  });
  assert.deepEqual([...pausesIn(scene(20, 10, 10))], [[7, 1]]);
  assert.deepEqual([...pausesIn(scene(30, -1, 15))], []);
  const densities = new Densities();
  const share = (now, since, time, weight = 1) => {
    densities.update(scene(now, since, time), weight);
    return pausesIn(scene(now, since, time), densities).get(7) ?? 0;
  };
  assert.equal(share(100, 90, 10), 1, "nothing is known before");
  assert.equal(share(200, 190, 40), 0.3);
  assert.equal(share(200, 190, 40), 0.3, "the same answer says nothing new");
  assert.equal(share(300, -1, 140, 0.5), 0.65);
  for (let now = 400; now < 1200; now += 100) share(now, -1, 140, 0.5);
  assert.equal(share(1200, -1, 140), 0, "it fades");
  densities.clear();
  assert.equal(share(100, -1, 10), 0);
});

test("what a link loses is lost under way, and what a port discards is not", () => {
  const sparks = new Sparks();
  const discard = { link: 0, vc: 0, frame: 0, count: 1 };
  const reasons = ["discarded_buffer_full", "discarded_at_head", "lost_random", "lost_burst", "lost_dark"];
  sparks.add(reasons.map((_, reason) => ({ ...discard, reason })), reasons, 0);
  assert.deepEqual(sparks.all.map(({ underway }) => underway), [false, false, true, true, true]);
});

test("a buffer is as full in its picture as it is, however many units are in a line of pixels", () => {
  const held = (count) => Array.from({ length: count }, (_, from) => ({ vc: from % 2, flags: 0, from: from - 0.4, units: 1, count: 1, step: 0 }));
  for (const [count, capacity, height] of [[68_095, 81_800, 120], [1932, 40_000, 249], [106, 400, 120], [21, 800, 160], [40, 40, 240]]) {
    const lines = linesOf(held(count), capacity, height);
    assert.equal(lines.length, height);
    const filled = lines.filter(Boolean).length;
    assert.ok(Math.abs(filled - (count / capacity) * height) < 1.5 + height / capacity, `${filled} lines for ${count} of ${capacity}`);
    assert.ok(lines.slice(0, filled).every(Boolean), "from the bottom up, without a gap");
  }
  // Trains of two VCs whose cells take turns.
  const trains = [0, 1].map((vc) => ({ vc, flags: 0, from: vc, units: 1, count: 20, step: 2 }));
  assert.deepEqual(linesOf(trains, 40, 40).map(({ vc }) => vc), Array.from({ length: 40 }, (_, line) => line % 2));
  assert.equal(linesOf(held(1), 40_000, 120).filter(Boolean).length, 1, "a single unit is seen");
  assert.deepEqual(linesOf(held(3), 40_000, 0), [], "also before the picture has a size");
  assert.equal(linesOf([], 400, 120).filter(Boolean).length, 0);
});

test("a network of hosts alone has ports to show, first the one over which data go", () => {
  const flow = { from: 1, to: 0, route: [1], back: [0], sprayed: [[], []] };
  const link = { capacity: null, rate: 155_520_000 };
  const description = { nodes: [{ host: true }, { host: true }], links: [{ ...link, from: 0, to: 1 }, { ...link, from: 1, to: 0 }], flows: [flow] };
  assert.deepEqual(portsOf(description), [0, 1]);
  assert.equal(mainPort({ description }), 1);
});
