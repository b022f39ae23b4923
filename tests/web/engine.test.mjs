/** The engine as the page holds it, without a browser. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { engineBytes, goldenFingerprints, load, nativeFingerprint, resolved } from "./support.mjs";

const { Engine, Refusal } = await load("run/engine");
const { View } = await load("run/view");
const { afterFrame } = await load("run/steps");
const { pausesOf } = await load("run/run");
const { pausedLinks, sentenceOf } = await load("stage/facts");
const module = new WebAssembly.Module(engineBytes());
const request = (name, set = []) => ({ name: `${name}.toml`, toml: resolved(name), set });

/** All rows of a table. */
const rows = (table) => Array.from({ length: table.length }, (_, row) => Array.from({ length: table.columns }, (_, column) => table.get(row, column)));

test("every shipped scenario has the fingerprint of a native run, however it is stepped", async (context) => {
  const golden = goldenFingerprints();
  assert.ok(golden.size > 30);
  for (const [name, fingerprint] of golden) {
    await context.test(name, (one) => {
      const toml = resolved(name);
      if (toml === undefined) return one.skip("it extends another file, and .venv/bin/celltrain is not built");
      const engine = new Engine(module);
      const { duration } = engine.load({ name: `${name}.toml`, toml, set: [] });
      for (let stop = 1; stop <= 37; stop++) {
        engine.advance(Math.floor((duration * stop) / 41), duration / 100);
        engine.look();
      }
      assert.equal(engine.finish().fingerprint, fingerprint);
    });
  }
});

test("a view is of the moment that was asked for, and cells in buffers are those that ports count", () => {
  const engine = new Engine(module);
  engine.load(request("two-sources"));
  engine.advance(48.7e9, 1e9);
  const view = new View(engine.look());
  assert.equal(view.now, 48.7e9);
  const held = new Map();
  for (const [link, place, , , , , count] of rows(view.rows)) {
    if (place <= 1) held.set(link, (held.get(link) ?? 0) + count);
  }
  const occupied = rows(view.ports).filter(([, , occupancy]) => occupancy > 0);
  assert.ok(occupied.length > 0);
  for (const [link, , occupancy] of occupied) assert.equal(held.get(link), occupancy);
});

test("a view has the rate and the delay of links that change, as they are at its moment", () => {
  const engine = new Engine(module);
  const changes = [["link.rate-changes", '[{ at = "10 ms", rate = "20 Mbit/s" }, { at = "30 ms", rate = "80 Mbit/s" }]'], ["link.delay-changes", '[{ at = "20 ms", delay = "3 ms" }]']];
  const { links } = engine.load(request("two-sources", [...changes, ["switch.delay", "1 us"]]));
  const trunk = links.findIndex(({ name }) => name === "switch1 > switch2");
  const { rate, delay } = links[trunk];
  const at = (ms) => (engine.advance(ms * 1e9, 1e9), rows(new View(engine.look()).links).find(([link]) => link === trunk).slice(1));
  assert.deepEqual([0, 9, 10, 20, 30].map(at), [[rate, delay], [rate, delay], [20e6, delay], [20e6, 3e9 + 1e6], [80e6, 3e9 + 1e6]]);
  const still = new Engine(module);
  still.load(request("two-sources"));
  assert.equal(new View(still.look()).links.length, 0);
});

/** Cells every 10 us over a link of 35 us, which the next one takes every 20 us. */
const PAUSED = `
  schema = 1
  name = "a fast source"
  duration = "2 ms"
  traffic = { kind = "cbr", rate = "42.4 Mbit/s", start = "0 s" }
  topology = { kind = "n-source", sources = 1 }
  link = { rate = "42.4 Mbit/s", delay = "35 us", trunk = { rate = "21.2 Mbit/s" } }
  switch = { buffer = "unlimited", memory = { size = "60 cells", pause = { xoff = "12 cells", xon = "8 cells" } } }`;

test("a view has the pauses of ports, exact to the instant, and what happened since the last one when they began and ended", () => {
  const engine = new Engine(module);
  const run = { description: engine.load({ name: "paused.toml", toml: PAUSED, set: [] }) };
  const { links } = run.description;
  const source = links.findIndex(({ name }) => name.startsWith("src"));
  const at = (time) => {
    const happened = rows(new View(engine.advance(time, 1e9)).pauses);
    run.view = new View(engine.look());
    return [happened, rows(run.view.paused).filter(([link]) => link === source)];
  };
  // With its 24th cell, at 275 us, the switch holds 13; with the 23rd that leaves, at 505 us, 8 of 31. Both come within a picosecond.
  const [begin, end] = [310e6, 540e6];
  assert.deepEqual(at(begin), [[], []]);
  assert.equal(sentenceOf(run, { kind: "link", index: source }).includes("pause"), false);
  assert.deepEqual(at(begin + 1), [[[begin, source, 1]], [[source, begin, 1, 0]]]);
  assert.deepEqual(pausedLinks(run), [source]);
  assert.match(sentenceOf(run, { kind: "link", index: source }), /, paused by switch1 since 0\.310 ms, 1 pause, /);
  const nodes = run.description.nodes.map((_, index) => sentenceOf(run, { kind: "node", index }));
  assert.deepEqual(nodes.filter((text) => /pause/.test(text)).map((text) => text.replace(/^(\w+ \w+).*, /, "$1: ")).sort(), ["Host src1: its interface is paused", "Switch switch1: pauses 1 link"]);
  assert.deepEqual(at(end), [[], [[source, begin, 1, end - begin - 1]]]);
  assert.deepEqual(at(end + 1), [[[end, source, 0]], [[source, -1, 1, end - begin]]]);
  assert.deepEqual(pausedLinks(run), []);
  assert.match(sentenceOf(run, { kind: "link", index: source }), /, 1 pause, 230 µs in all$/);
  const still = new Engine(module);
  still.load(request("two-sources"));
  assert.equal(new View(still.advance(10e9, 1e9)).pauses.length, 0);
  assert.equal(new View(still.look()).paused.length, 0);
});

test("the page knows each pause from its arrival to that of its end", () => {
  const engine = new Engine(module);
  const { links } = engine.load({ name: "paused.toml", toml: PAUSED, set: [] });
  const source = links.findIndex(({ name }) => name.startsWith("src"));
  const [open, pauses] = [new Map(), []];
  for (const until of [300e6, 400e6, 2e9]) pauses.push(...pausesOf(new View(engine.advance(until, 1e9)), open));
  const { count, time } = new View(engine.look()).paused.length === 1 ? { count: new View(engine.look()).paused.get(0, 2), time: new View(engine.look()).paused.get(0, 3) } : {};
  assert.equal(pauses.length, count);
  assert.deepEqual(pauses[0], { at: 310e6, link: source, until: 540e6 });
  assert.ok(count > 2 && pauses.slice(1).every(({ at }, place) => at > pauses[place].until));
  assert.equal(pauses.reduce((sum, { at, until }) => sum + Math.min(until, 2e9) - at, 0), time);
});

test("samples come at every multiple of the period, once", () => {
  const engine = new Engine(module);
  engine.load(request("two-sources"));
  const times = [];
  for (const until of [0.4e9, 0.9e9, 1e9, 1e9, 3.7e9, 12e9]) times.push(...rows(new View(engine.advance(until, 1e9)).samples).map(([time]) => time));
  assert.deepEqual(times, Array.from({ length: 12 }, (_, index) => (index + 1) * 1e9));
});

test("a change of a threshold is another scenario, and its text gives the same fingerprint", () => {
  const set = [["switch.discard.policy", "epd"], ["switch.discard.epd.threshold", "200 cells"], ["duration", "1500 ms"]];
  const engine = new Engine(module);
  const description = engine.load(request("two-sources", set));
  const level = description.links.find(({ name }) => name === "switch1 > switch2").levels[0];
  assert.deepEqual([level.key, level.units], ["threshold", 200]);
  const toml = engine.scenario();
  const { fingerprint } = engine.finish();
  engine.load({ name: "copy.toml", toml, set: [] });
  assert.equal(engine.finish().fingerprint, fingerprint);
  engine.load(request("two-sources", [["duration", "1500 ms"]]));
  assert.notEqual(engine.finish().fingerprint, fingerprint);
});

test("a scenario that is copied gives the same fingerprint on the command line", (context) => {
  const engine = new Engine(module);
  engine.load(request("lost-cell", [["switch.discard.policy", "epd"], ["switch.discard.epd.threshold", "17 cells"], ["seed", "11"]]));
  const native = nativeFingerprint(engine.scenario());
  if (native === undefined) return context.skip(".venv/bin/celltrain is not built");
  assert.equal(engine.finish().fingerprint, native);
});

test("a scenario that is refused says why, and the run before it goes on", () => {
  const engine = new Engine(module);
  engine.load(request("two-sources"));
  engine.advance(10e9, 1e9);
  const refused = () => engine.load({ name: "mine.toml", toml: resolved("two-sources").replace(/^buffer/m, "bufer"), set: [] });
  assert.throws(refused, (error) => error instanceof Refusal && /mine\.toml:\d+: switch\.[a-z]+: .*did you mean "buffer"/.test(error.message));
  assert.throws(() => engine.load({ name: "mine.toml", toml: 'extends = "base.toml"', set: [] }), /mine\.toml:1: extends: "base\.toml"/);
  assert.equal(new View(engine.look()).now, 10e9);
});

test("EPD written as a rule is EPD, to the last cell", () => {
  const engine = new Engine(module);
  const fingerprint = (...set) => {
    const description = engine.load(request("two-sources", [...set, ["duration", "1500 ms"]]));
    return [description.links.find(({ name }) => name === "switch1 > switch2").rule, engine.finish().fingerprint];
  };
  const [none, epd] = fingerprint(["switch.discard.policy", "epd"], ["switch.discard.epd.threshold", "70 %"]);
  const rule = "// a comment\noccupancy < high";
  const script = [["switch.discard.policy", "script"], ["switch.discard.script.high", "70 %"]];
  assert.equal(none, null);
  assert.deepEqual(fingerprint(...script, ["switch.discard.script.rule", JSON.stringify(rule)]), [rule, epd]);
  assert.notEqual(fingerprint(...script, ["switch.discard.script.rule", JSON.stringify("occupancy < low")])[1], epd);
});

test("a rule that is wrong is refused with its place, and with what is known", () => {
  const engine = new Engine(module);
  const rule = JSON.stringify("occupancy <\n  threshold");
  const refused = () => engine.load(request("two-sources", [["switch.discard.policy", "script"], ["switch.discard.script.rule", rule]]));
  assert.throws(refused, (error) => error instanceof Refusal && /script\.rule.*line 2, column 3: there is no `threshold`; known are `occupancy`, /s.test(error.message));
});

test("round trips and completion times are told of as they are measured", () => {
  const engine = new Engine(module);
  const { links, flows } = engine.load(request("two-sources"));
  const { samples } = new View(engine.advance(1e12, 10e9));
  const ports = samples.columns - 1 - 3 * flows.length;
  flows.forEach(({ route, back, pool }, flow) => {
    assert.equal(pool, false);
    const delays = [...route, ...back].reduce((sum, link) => sum + links[link].delay, 0);
    const roundTrip = samples.get(samples.length - 1, 1 + ports + 3 * flow + 2);
    assert.ok(roundTrip >= delays && roundTrip < 4 * delays, `${roundTrip}`);
  });
  const toml = resolved("two-sources").replace(/^\[traffic\][^[]*/m, '[traffic]\nkind = "short-flows"\nload = 0.3\nsize = { kind = "fixed", bytes = "20 kB" }\n');
  const description = engine.load({ name: "short.toml", toml, set: [["duration", "1 s"], ["warm-up", "0 s"]] });
  assert.ok(description.flows.every(({ pool }) => pool));
  const ended = [];
  for (let until = 0; until < 1e12; until += 100e9) ended.push(...rows(new View(engine.advance(until + 100e9, 10e9)).completions));
  const { summary } = engine.finish();
  const value = (name) => summary.find((one) => one.name === name).value;
  assert.ok(ended.length > 20 && ended.every(([, , bytes]) => bytes === 20_000));
  assert.equal(ended.length, value("flows_completed"));
  const mean = ended.reduce((sum, [, , , time]) => sum + time / 1e12, 0) / ended.length;
  assert.ok(Math.abs(mean - value("fct_mean")) < 1e-9);
});

test("samples have the transfer delays of bare cells that arrived since the sample before", () => {
  const toml = `
    schema = 1
    name = "constant cells"
    duration = "100 ms"
    link = { rate = "10 Mbit/s", delay = "1 ms" }
    topology = { kind = "n-source", sources = 1 }
    traffic = { kind = "cbr", rate = "1 Mbit/s", frame = 1 }`;
  const engine = new Engine(module);
  const { flows } = engine.load({ name: "cells.toml", toml, set: [] });
  assert.equal(flows[0].tcp, false);
  const { samples } = new View(engine.advance(100e9, 0.3e9));
  const delays = rows(samples).map((row) => row.at(-1));
  // Nothing waits on the path: three cell times of 42.4 us and three delays. A cell comes every 424 us.
  const [seen, none] = [delays.filter((delay) => delay > 0), delays.filter((delay) => delay === 0)];
  assert.ok(seen.length > 200 && none.length > 50);
  assert.ok(seen.every((delay) => delay === 3 * (42.4e6 + 1e9)), String(seen[0]));
});

test("cells on a link between switches know the port that they come to next", () => {
  const engine = new Engine(module);
  const { links, flows, nodes } = engine.load(request("two-sources"));
  engine.advance(48.7e9, 1e9);
  const seen = rows(new View(engine.look()).rows);
  assert.ok(seen.length > 10);
  for (const [link, , vc, ...rest] of seen) {
    const { route, back } = flows[vc >> 1];
    const way = vc & 1 ? back : route;
    const next = way[way.indexOf(link) + 1] ?? -1;
    assert.equal(rest.at(-1), next, links[link].name);
    assert.equal(next < 0, nodes[links[link].to].host);
  }
});

test("the next frame at a port is one that leaves it or comes to it, not any that comes to its switch", () => {
  const engine = new Engine(module);
  const description = engine.load(request("two-sources"));
  const port = description.links.findIndex(({ name }) => name === "switch2 > switch1");
  let seen = 0;
  for (let time = 40e9; time < 400e9; time += 7.3e9) {
    engine.advance(time, 1e9);
    const view = new View(engine.look());
    const there = rows(view.rows).filter(([link, place, vc]) => (place === 0 && link === port) || (place === 2 && description.links[link].to === description.links[port].from && vc & 1));
    const ends = there.filter(([, , , , position, length, count]) => position + count === length).map(([, , , , , , count, after, step]) => time + after + step * (count - 1) + 1);
    if (ends.length === 0) continue;
    seen++;
    assert.equal(afterFrame({ view, description, now: view.now }, port), Math.min(...ends));
  }
  assert.ok(seen > 10);
});

test("an engine that fills more than half of its memory is read as ever", () => {
  const engine = new Engine(module);
  const at = 2 ** 31 + 64;
  // It is reserved, but for the pages that are written no memory is taken.
  const memory = new WebAssembly.Memory({ initial: 2 ** 15 + 1 });
  // Wasm's numbers of 32 bits have a sign in JavaScript.
  engine.exports = { memory, input: () => at | 0, output: () => at | 0, output_length: () => 2, load: () => 0, scenario: () => 0 };
  assert.deepEqual(engine.load({}), {});
  assert.equal(engine.scenario(), "{}");
});

test("without a scenario there is a sentence, not a crash", () => {
  assert.throws(() => new Engine(module).look(), /no scenario is loaded/);
});
