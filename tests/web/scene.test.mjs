/** What the pictures of the stage share. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./support.mjs";

const { Densities } = await load("stage/scene");
const { Place } = await load("run/types");
const { Row } = await load("run/view");

test("shares of what goes to a port are not those of the port that was shown before", () => {
  // One packet of 1500 bytes on link 0, which takes 12 us of its delay of 24 us, and comes to the port of link 1 or of link 2.
  const packet = { [Row.link]: 0, [Row.place]: Place.Link, [Row.vc]: 4, [Row.count]: 1, [Row.octets]: 1500 };
  const scene = (port, next) => ({
    port,
    run: {
      description: { links: [{ from: 0, to: 1, rate: 1e9, delay: 24e6 }, { from: 1, to: 2 }, { from: 1, to: 3 }] },
      view: { rows: { length: 1, get: (_, column) => ({ ...packet, [Row.next]: next })[column] } },
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
