/** Where nodes and their names stand, for networks of all kinds and pictures of two sizes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { PICTURES, module, network, textOf } from "./networks.mjs";
import { load } from "./support.mjs";

const { Engine } = await load("run/engine");
const { labelsWithCaptions, placeCaptions } = await load("stage/layout/captions");
const { SIDES, firstThatFits, fitted, placeLabels, shortened, sidesAway } = await load("stage/layout/labels");
const { inputsOf, usedLinks } = await load("run/network");
const { View } = await load("run/view");
const { mainPort } = await load("run/steps");
const { isHigh, layOut } = await load("stage/layout/layout");
const { awayFrom, idleIn, lanesOf } = await load("stage/layout/lanes");

/** The links on which there is something at some moment of a run. */
function carryingLinks(topology, set) {
  const engine = new Engine(module);
  const { duration } = engine.load({ name: "network", toml: textOf(topology), set });
  const links = new Set();
  for (let time = 0; time < duration; time += duration / 200) {
    engine.advance(time, duration);
    const { rows } = new View(engine.look());
    for (let row = 0; row < rows.length; row++) links.add(rows.get(row, 0));
  }
  return links;
}

test("nodes stand in the picture, and none on another", () => {
  for (const { title, description, size, places, sizes } of PICTURES) {
    places.forEach((a, one) => {
      const [x, y] = [sizes[one], size[0] - sizes[one]];
      assert.ok(a.x >= x && a.x <= y && a.y >= sizes[one] && a.y <= size[1] - sizes[one], `${title}: ${description.nodes[one].name} is cut`);
      for (let other = one + 1; other < places.length; other++) {
        const b = places[other];
        const apart = Math.hypot(a.x - b.x, a.y - b.y);
        assert.ok(apart >= sizes[one] + sizes[other], `${title}: ${description.nodes[one].name} and ${description.nodes[other].name}, ${apart}`);
      }
    });
  }
});

test("hosts do not touch, however many there are", () => {
  for (const { title, description, places, sizes } of PICTURES.filter(({ title }) => /random|torus/.test(title))) {
    const hosts = description.nodes.flatMap(({ host }, node) => (host ? [node] : []));
    const gaps = hosts.flatMap((a, one) => hosts.slice(one + 1).map((b) => Math.hypot(places[a].x - places[b].x, places[a].y - places[b].y) - sizes[a] - sizes[b]));
    // A pixel of a phone's screen.
    assert.ok(Math.min(...gaps) > 0.5, `${title}: ${Math.min(...gaps)}`);
  }
});

/** How far a place is from the straight part of a link. */
const awayFromSegment = (segment, place) => awayFrom({ segments: [{ ...segment, start: 0 }], length: segment.length }, 1, place);

test("no switch stands on a link of others, so that each link can be followed to its ends", () => {
  for (const { title, description, size, ...layout } of PICTURES.filter(({ title }) => /random|torus/.test(title))) {
    const { nodes } = description;
    const { places, half } = layout;
    // As if none carried anything: each cable once, in the middle.
    const segments = idleIn(description, layout, []);
    const on = segments.flatMap((segment) => nodes.flatMap(({ host, name }, node) => {
      const ends = [segment.from, segment.to].some(({ x, y }) => Math.hypot(places[node].x - x, places[node].y - y) < 1.1 * half);
      return host || ends || awayFromSegment(segment, places[node]) > 0.85 * half ? [] : [name];
    }));
    // A hundred links in a flat picture leave no way around everything.
    assert.ok(on.length <= (segments.length < 100 || title.startsWith("torus") ? 0 : 0.2 * segments.length), `${title}: ${on.join(", ")}`);
    for (const { from, to } of segments) for (const { x, y } of [from, to]) assert.ok(x >= 0 && x <= size[0] && y >= 0 && y <= size[1], `${title}: a link is cut`);
  }
});

test("a cable that carries nothing is seen whichever its direction is, and once", () => {
  const names = ["one", "two", "three"];
  const nodes = [...names.map((name) => ({ name, kind: "switch" })), { name: "from", kind: "host" }, { name: "to", kind: "host" }];
  const own = [{ from: "from", to: "one" }, { from: "one", to: "two" }, { from: "two", to: "to" }];
  for (const [idle, cables] of [
    [[{ from: "two", to: "three", simplex: true }], 1], [[{ from: "three", to: "two", simplex: true }], 1], [[{ from: "three", to: "two" }], 1],
    [[{ from: "three", to: "two" }, { from: "one", to: "three" }], 2],
  ]) {
    const link = [...own, ...idle];
    const toml = `${textOf({ kind: "graph" })}
node = [${nodes.map(({ name, kind }) => `{ name = "${name}", kind = "${kind}" }`)}]
link = [${link.map((one) => `{ ${Object.entries(one).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)} }`)}]
[[flow]]
name = "1"
from = "from"
to = "to"
`;
    const description = new Engine(module).load({ name: "network", toml, set: [] });
    const layout = layOut(description, [870, 230]);
    assert.equal(idleIn(description, layout, lanesOf(description, layout)).length, cables, JSON.stringify(idle));
  }
});

test("a ring is a ring: its links do not cross", () => {
  const sign = (a, b, c) => Math.sign((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x));
  const cross = (a, b, c, d) => sign(a, b, c) !== sign(a, b, d) && sign(c, d, a) !== sign(c, d, b);
  for (const { title, description, places } of PICTURES.filter(({ title }) => /torus (6|12) 1/.test(title))) {
    const trunks = description.links.filter(({ from, to }) => !description.nodes[from].host && !description.nodes[to].host && from < to);
    assert.ok(trunks.length >= 6);
    trunks.forEach((one, place) => {
      for (const other of trunks.slice(place + 1)) {
        if (new Set([one.from, one.to, other.from, other.to]).size < 4) continue;
        assert.ok(!cross(places[one.from], places[one.to], places[other.from], places[other.to]), `${title}: ${one.name} crosses ${other.name}`);
      }
    });
  }
});

test("a torus is a grid, and what goes around it leaves the picture at one edge and comes back at the other", () => {
  const tori = PICTURES.filter(({ description: { scenario } }) => scenario.topology.kind === "torus" && scenario.topology.columns > 1);
  assert.ok(tori.length >= 6);
  for (const { title, description, ...layout } of tori) {
    const { nodes, links, scenario } = description;
    const { rows, columns } = scenario.topology;
    const { places } = layout;
    const switches = nodes.flatMap(({ host }, node) => (host ? [] : [node]));
    const distinct = (axis) => new Set(switches.map((node) => places[node][axis].toFixed(3))).size;
    assert.deepEqual([distinct("x"), distinct("y")], [Math.max(rows, columns), Math.min(rows, columns)], title);
    let around = 0;
    lanesOf(description, layout).forEach((lane, link) => {
      const { from, to, name } = links[link];
      if (!lane || nodes[from].host || nodes[to].host) return;
      const straight = Math.min(Math.abs(places[from].x - places[to].x), Math.abs(places[from].y - places[to].y)) < 1e-6;
      assert.ok(straight, `${title}: ${name}`);
      around += Number(lane.segments.length === 2);
    });
    assert.ok(around > 0, title);
  }
});

test("the same network always looks the same", () => {
  for (const { description, size, places } of PICTURES) assert.deepEqual(layOut(description, size).places, places);
});

test("a network far too large to be legible has places all the same", () => {
  for (const topology of [{ kind: "torus", rows: 20, columns: 20, hosts: 1 }, { kind: "n-source", sources: 5000 }]) {
    const description = network(topology);
    const { places } = layOut(description, [870, 230]);
    assert.equal(description.links[mainPort({ description })].name.startsWith("switch"), true);
    assert.ok(places.every(({ x, y }) => Number.isFinite(x) && Number.isFinite(y)));
  }
});

test("data go from left to right where there is such a direction", () => {
  let seen = 0;
  for (const { title, description, places } of PICTURES) {
    if (isHigh(description)) continue;
    seen++;
    for (const flow of description.flows) {
      for (const link of flow.route) assert.ok(places[description.links[link].from].x < places[description.links[link].to].x, `${title}: ${description.links[link].name}`);
    }
  }
  assert.ok(seen > 20);
});

test("where packets are sprayed, the links of all their routes are used, and a port knows each link on which they come", () => {
  const set = [["routing.multipath", "packet"]];
  const [one, sprayed] = [[], set].map((set) => network({ kind: "fat-tree", k: 4, pattern: "incast" }, set));
  const trunks = one.links.flatMap(({ from, to }, link) => (one.nodes[from].host || one.nodes[to].host ? [] : [link]));
  assert.ok(usedLinks(one).size < usedLinks(sprayed).size);
  // Data go up at the senders and down at the receiver, on any of the links there; ACKs go back.
  const carrying = carryingLinks({ kind: "fat-tree", k: 4, pattern: "incast" }, set);
  assert.ok(trunks.filter((link) => carrying.has(link)).length > 40);
  for (const link of carrying) assert.ok(usedLinks(sprayed).has(link), sprayed.links[link].name);
  const { links, nodes, flows } = sprayed;
  const last = flows[0].route.at(-1);
  assert.equal(nodes[links[last].to].name, nodes[flows[0].to].name);
  const far = flows.findIndex(({ route, to }) => route.length === 6 && route.at(-1) === last && to === flows[0].to);
  const names = [...inputsOf(sprayed, last).get(2 * far)].map((link) => nodes[links[link].from].name);
  assert.equal(names.length, 2);
  assert.ok(names.every((name) => name.startsWith("aggregation")));
  assert.equal(inputsOf(one, one.flows[far].route.at(-1)).get(2 * far).size, 1);
});

test("a fat tree stands level by level, and each switch above what hangs on it", () => {
  for (const { description, places } of PICTURES.filter(({ title }) => title.startsWith("fat-tree"))) {
    const level = (name) => description.nodes.flatMap((node, index) => (node.name.replace(/\d+/, "") === name ? [places[index].y] : []));
    for (const [upper, lower] of [["core", "aggregation"], ["aggregation", "edge"], ["edge", "host"]]) assert.ok(Math.max(...level(upper)) + 30 < Math.min(...level(lower)));
    if (description.nodes.filter(({ host }) => host).length > 16) continue;
    const x = (name) => places[description.nodes.findIndex((node) => node.name === name)].x;
    assert.ok(x("host1") < x("edge1") && x("edge1") < x("host2") && x("host2") < x("host3"));
    assert.ok(x("aggregation2") < x("edge3") && x("edge8") > x("aggregation7"));
  }
});

/** Like the page's font: about six pixels for a character. */
const widthOf = (text) => 6 * [...text].length;

function labelled({ description: { nodes, links }, size, places, sizes }) {
  const marks = nodes.map((node, index) => {
    const at = node.host ? links.find(({ from }) => from === index)?.to : undefined;
    return { ...node, ...places[index], radius: sizes[index], sides: at === undefined ? SIDES : sidesAway(places[at], places[index]) };
  });
  return { marks, ...labelsWithCaptions(marks, size, widthOf) };
}

test("names of nodes lie neither on each other nor on nodes", () => {
  const crowd = Array.from({ length: 12 }, (_, place) => ({ name: `a-source-with-a-very-long-name-${place}`, x: 46 + place * 22, y: 100, radius: 7, host: true, sides: ["below", "above"] }));
  const pictures = [{ title: "long names", size: [390, 122], marks: crowd, labels: placeLabels(crowd, [390, 122], widthOf), captions: [] }, ...PICTURES.map((picture) => ({ ...picture, ...labelled(picture) }))];
  for (const { title, size, marks, labels, captions } of pictures) {
    const boxes = [...labels, ...captions].flatMap((label) => {
      if (!label) return [];
      const left = label.x - { left: 0, right: 1, center: 0.5 }[label.align] * widthOf(label.text);
      return [{ left, right: left + widthOf(label.text), top: label.y - 6, bottom: label.y + 6 }];
    });
    const squares = marks.map(({ x, y, radius }) => ({ left: x - radius, right: x + radius, top: y - radius, bottom: y + radius }));
    assert.ok(boxes.length > 0, title);
    boxes.forEach((box, place) => {
      assert.ok(box.left >= 0 && box.right <= size[0] && box.top >= 0 && box.bottom <= size[1], title);
      for (const other of [...boxes.slice(place + 1), ...squares]) {
        assert.ok(box.left >= other.right || other.left >= box.right || box.top >= other.bottom || other.top >= box.bottom, title);
      }
    });
  }
});

test("where there is space for names they are there", () => {
  const share = (picture, host) => {
    const { marks, labels } = labelled(picture);
    const those = labels.filter((_, node) => marks[node].host === host);
    return those.filter(Boolean).length / those.length;
  };
  const picture = (title) => PICTURES.find((one) => one.title === title);
  for (const title of ["random 20 4 2 at 870", "random 10 3 1 at 870", "torus 12 1 2 at 870", "fat-tree 4 at 870", "leaf-spine 4 4 4 at 870", "fat-tree 4 at 362", "torus 12 1 2 at 362"]) {
    assert.ok(share(picture(title), false) > 0.9, `switches of ${title}`);
  }
  assert.ok(share(picture("random 20 4 2 at 870"), true) > 0.6);
  assert.ok(share(picture("fat-tree 4 at 362"), true) > 0.4);
});

test("a row in which few nodes have space for their names has a caption", () => {
  const captions = (title) => labelled(PICTURES.find((one) => one.title === title)).captions.map(({ text }) => text);
  assert.deepEqual(captions("fat-tree 8 at 362"), ["h…1–128"]);
  assert.deepEqual(captions("fat-tree 8 at 870"), ["h…1–128"]);
  const row = Array.from({ length: 40 }, (_, place) => ({ name: `edge${place + 1}`, host: false, radius: 3, x: 80 + 7 * place, y: 50, sides: SIDES }));
  assert.deepEqual(placeCaptions(row, row.map(() => undefined), [390, 122], widthOf).map(({ text }) => text), ["edge1–40"]);
  // Where nearly all names have space, or nodes stand in no order, there is none.
  for (const title of ["fat-tree 4 at 362", "torus 4 5 1 at 362", "random 40 5 5 at 362", "parking-lot 6 5 at 870", "lost-cell at 362"]) assert.deepEqual(captions(title), [], title);
});

test("no name stands in the picture beside a caption that has it", () => {
  const captioned = PICTURES.map((picture) => ({ ...picture, ...labelled(picture) })).filter(({ captions }) => captions.length > 0);
  assert.ok(["fat-tree 6 at 870", "fat-tree 6 at 362"].every((title) => captioned.some((one) => one.title.startsWith(title))));
  for (const { title, labels, captions } of captioned) {
    for (const { nodes } of captions) assert.deepEqual(nodes.filter((node) => labels[node]), [], title);
  }
});

test("a name that is shortened keeps its number", () => {
  assert.equal(shortened("aggregation12", 7), "aggr…12");
  assert.equal(shortened("edge1", 7), "edge1");
  assert.equal(shortened("2001000200030004", 5), "2…004");
  assert.equal(fitted("switch-in-the-cellar", 60, widthOf), "switch-i…r");
  assert.equal(fitted("x".repeat(50), 1, widthOf), "x…x");
});

test("of a text that has no room a shorter one is shown", () => {
  const texts = ["threshold 800 (80 %)", "threshold 800", "800"];
  for (const [width, text] of [[200, texts[0]], [100, texts[1]], [50, texts[2]], [1, texts[2]]]) assert.equal(firstThatFits(texts, width, widthOf), text);
});
