/** What the keyboard reaches in a picture of a network, and in which order. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { PICTURES } from "./networks.mjs";
import { load } from "./support.mjs";

const { lanesOf } = await load("stage/layout/lanes");
const { following, isSame, nearest, stopsOf } = await load("stage/layout/walk");

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const walked = PICTURES.map(({ title, description, ...layout }) => {
  const lanes = lanesOf(description, layout);
  return { title, description, lanes, stops: stopsOf(description, layout.places, lanes) };
});

/** A stop by the name of its node or link. */
function named({ description: { nodes, links }, stops }, name) {
  return stops.find(({ kind, index }) => (kind === "node" ? nodes : links)[index].name === name);
}
const nameOf = ({ description: { nodes, links } }, { kind, index }) => (kind === "node" ? nodes : links)[index].name;

test("every node and every link that carries something is reached once by going to the next, and back by going to the one before", () => {
  for (const { title, description, lanes, stops } of walked) {
    assert.equal(stops.length, description.nodes.length + lanes.filter(Boolean).length, title);
    let stop = stops[0];
    const seen = new Set();
    for (const _ of stops) {
      seen.add(`${stop.kind} ${stop.index}`);
      const next = following(stops, stop, 1);
      assert.ok(isSame(following(stops, next, -1), stop), title);
      stop = next;
    }
    assert.equal(seen.size, stops.length, title);
    assert.ok(isSame(stop, stops[0]), `${title}: the last is followed by the first`);
  }
});

test("an arrow leads in its direction, and all of them lead nearly everywhere", () => {
  for (const { title, stops } of walked.filter(({ stops }) => stops.length < 1000)) {
    const reached = new Set([stops[0]]);
    for (const stop of reached) {
      for (const [key, [x, y]] of Object.entries(DIRECTIONS)) {
        const next = nearest(stops, stop, key);
        if (!next) continue;
        assert.ok((next.x - stop.x) * x + (next.y - stop.y) * y > 0, `${title}: ${key}`);
        reached.add(next);
      }
    }
    // What lies between two others in no direction is reached by going to the next.
    assert.ok(reached.size >= 0.85 * stops.length, `${title}: ${reached.size} of ${stops.length}`);
  }
});

test("arrows follow the data: from a node over its link to the next node, and between the two directions of a link", () => {
  const picture = walked.find(({ title }) => title === "lost-cell at 870");
  const go = (name, key) => nameOf(picture, nearest(picture.stops, named(picture, name), key));
  assert.equal(go("switch1", "ArrowRight"), "switch1 > switch2");
  assert.equal(go("switch1 > switch2", "ArrowRight"), "switch2");
  assert.equal(go("switch2", "ArrowLeft"), "switch2 > switch1");
  assert.equal(go("switch2 > switch1", "ArrowLeft"), "switch1");
  // Data go to the right, on the right of the line: below what goes to the left.
  assert.equal(go("switch1 > switch2", "ArrowUp"), "switch2 > switch1");
  assert.equal(go("switch2 > switch1", "ArrowDown"), "switch1 > switch2");
  assert.equal(go("src1", "ArrowDown"), "src2");
  assert.equal(nearest(picture.stops, named(picture, "src1"), "ArrowLeft"), undefined);
});

test("from one thing to the next of its kind", () => {
  const picture = walked.find(({ title }) => title === "lost-cell at 870");
  const next = (name, by) => nameOf(picture, following(picture.stops, named(picture, name), by, true));
  assert.equal(next("switch1", 1), "switch2");
  assert.equal(next("switch1 > switch2", -1).includes(" > "), true);
});
