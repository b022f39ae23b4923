/** Parts of the page that need no browser. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { scenarios, stories } from "../../web/build.mjs";
import { engineBytes, load, page, resolved, root } from "./support.mjs";

const { Engine } = await load("run/engine");
const { decode, encode } = await load("text/share");
const { commandOf } = await load("text/command");
const { amount, bytes, change, growing, metric, metrics, moment, rate, readTime, reasonText, setting, significant, span } = await load("text/format");
const { wordedForPage } = await load("text/messages");
const { unknown } = await load("text/names");
const { hopsOf } = await load("run/network");
const { colourOf } = await load("theme");
const { Flow, View } = await load("run/view");
const module = new WebAssembly.Module(engineBytes());

test("one of a unit is no plural", () => {
  assert.deepEqual([setting(1, "cells"), setting("2000", "cells"), setting(0, "packets"), setting("1", "packets")], ["1 cell", "2000 cells", "0 packets", "1 packet"]);
  assert.deepEqual([amount(1, "cells"), amount(2000, "cells"), amount(0, "packets")], ["1 cell", "2,000 cells", "0 packets"]);
  assert.deepEqual([metric(1, "cells"), metric(0.5, "cells"), metric(1, "frames"), metric(1, "bit/s"), metric(1, "s"), metric(1, "")], ["1 cell", "0.5000 cells", "1 frame", "1 bit/s", "1 s", "1"]);
});

test("the effort of a run is counted in what its links carry", () => {
  const network = (...carried) => ({
    links: carried.map((packets) => ({ packets })),
    flows: [{ route: carried.map((_, link) => link), back: [], sprayed: [[], []] }],
  });
  assert.deepEqual([[false, false], [true, true], [true, false]].map((carried) => hopsOf(network(...carried))), ["cell-hops", "packet-hops", "cell-hops and packet-hops"]);
});

test("each reason that the engine has for a loss is told in words", () => {
  const engine = new Engine(module);
  const { reasons } = engine.load({ name: "two-sources.toml", toml: resolved("two-sources"), set: [] });
  assert.ok(reasons.length >= 11);
  for (const reason of reasons) assert.notEqual(reasonText(reason), reason.replaceAll("_", " "));
  assert.equal(reasonText("discarded_at_head"), "dropped at the head");
});

test("a link gives back the state that it was made of", async () => {
  const states = [
    { scenario: "two-sources", set: [], at: 0, port: 3, speed: 1e9 },
    { scenario: "eigene Datei ü.toml", toml: 'schema = 1\nname = "ü"\n', set: [["seed", "7"], ["tcp.recovery", "sack"]], at: 39_442_328_356, port: 0, speed: 1e6, pinned: [] },
  ];
  for (const state of states) {
    const text = await encode(state);
    assert.match(text, /^[A-Za-z0-9_-]+$/);
    assert.deepEqual(await decode(text), state);
  }
});

test("a damaged link is refused with a sentence", async () => {
  for (const text of ["", "abc", "%%%", (await encode({ scenario: "x", set: [], at: 0 })).slice(0, -4), await encode({ set: [["a"]] }), await encode(null)]) {
    await assert.rejects(decode(text), /This link is damaged/);
  }
  for (const wrong of [{ port: "length" }, { speed: "fast" }, { toml: 7 }, { story: 1 }, { step: "two" }, { pinned: [["seed"]] }, { at: "soon" }]) {
    await assert.rejects(decode(await encode({ scenario: "x", set: [], at: 0, ...wrong })), /This link is damaged/, JSON.stringify(wrong));
  }
});

test("times are read and written", () => {
  assert.equal(readTime("39.4 ms"), 39_400_000_000);
  assert.equal(readTime("250us"), 250_000_000);
  assert.throws(() => readTime("3 weeks"), /expected a time such as/);
  assert.equal(moment(39_442_328_356), "39.442 ms");
  assert.equal(moment(1.5e12), "1.500 000 s");
  assert.equal(moment(770_328, 1e6), "0.770 µs");
  assert.equal(moment(0, 1e6), "0.000 µs");
  assert.equal(moment(770_328_000, 1e9), "0.770 ms");
  assert.equal(span(2_726_337), "2.73 µs");
  assert.equal(span(0), "0 s");
  assert.equal(span(20e9), "20 ms");
});

test("numbers have significant digits, however small they are", () => {
  const written = [
    [0.00026, "", "0.0002600"], [0.837, "", "0.8370"], [575.992, "cells", "576.0 cells"], [58_453.4, "cells", "58,453 cells"], [1, "", "1"],
    [3.2e-9, "", "3.20e-9"], [0.0102612, "s", "10.26 ms"], [0, "s", "0 s"], [149_812_345, "bit/s", "149.8 Mbit/s"], [0, "bit/s", "0 bit/s"], [null, "s", "–"],
  ];
  for (const [value, unit, text] of written) assert.equal(metric(value, unit), text);
  assert.equal(significant(-0.00123456, 3), "-0.00123");
  assert.equal(bytes(693_600), "693.6 kB");
  // What grows does not change its length from moment to moment.
  assert.deepEqual([0, 536, 1000, 1_230_000, 1_234_000, 12_300_000, 120_000_000].map(growing), ["0 B", "536 B", "1.000 kB", "1.230 MB", "1.234 MB", "12.30 MB", "120.0 MB"]);
  assert.equal(rate(968_750_000), "968.8 Mbit/s");
  assert.equal(rate(500), "500 bit/s");
});

test("two values that differ look different, and equal ones look the same", () => {
  assert.deepEqual(metrics(0.0100003, 0.0100001, "s"), ["10.0003 ms", "10.0001 ms"]);
  assert.deepEqual(metrics(0.01, 0.01026, "s"), ["10 ms", "10.26 ms"]);
  assert.deepEqual(metrics(0.1 + 0.2, 0.3, ""), ["0.3000", "0.3000"]);
  for (const [before, now, text] of [[0.01, 0.01026, "+2.6 %"], [0.3, 0.1 + 0.2, "="], [1, 1.000004, "+0.00040 %"], [2, 1, "−50 %"], [1, 124, "+12,300 %"], [0, 3, "new"], [null, 3, ""],
    // What is left of a value is not rounded away.
    [1000, 5, "−99.5 %"], [1e6, 4, "−99.9996 %"], [1000, 6, "−99 %"], [1, 0, "−100 %"], [1000, 1995, "+100 %"]]) {
    assert.equal(change(before, now), text);
  }
});

test("the command that the page names prints the page's fingerprint", async (context) => {
  const folder = path.join(root, ".venv/bin");
  if (!existsSync(path.join(folder, "celltrain"))) return context.skip(".venv/bin/celltrain is not built");
  const scenario = (await scenarios()).find(({ id }) => id === "two-sources");
  const set = [["duration", "1500 ms"], ["switch.discard.policy", "script"], ["switch.discard.script.rule", JSON.stringify("// it's a rule\noccupancy < low")], ["seed", "5"]];
  const engine = new Engine(module);
  engine.load({ name: "two-sources.toml", toml: scenario.toml, set });
  const command = commandOf(scenario, set);
  const output = execFileSync("sh", ["-c", command], { cwd: root, encoding: "utf8", env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
  assert.equal(JSON.parse(output).fingerprints[0], engine.finish().fingerprint);
  // What is set stands in the copy of another scenario already.
  assert.equal(commandOf({ id: "" }, [["seed", "5"]]), "celltrain run copied.toml --replications 1 --json");
});

test("an unknown name is met with the nearest, as on the command line", () => {
  const known = ["two-sources", "two-paths", "lost-cell"];
  const near = (name) => /did you mean "(.*?)"/.exec(unknown("scenario", name, known))?.[1];
  assert.equal(unknown("scenario", "two-surces", known), 'unknown scenario "two-surces": did you mean "two-sources"? known: two-sources, two-paths, lost-cell');
  assert.equal(near("Two-Sources"), "two-sources");
  assert.equal(near("lots-cell"), "lost-cell");
  assert.equal(near("fat-tree"), undefined);
  assert.equal(near(""), undefined);
  assert.equal(near("two-sources".repeat(1000)), undefined);
  assert.ok(unknown("scenario", "two-sources".repeat(1000), known).length < 150);
});

test("what the engine says is worded for the page", () => {
  const refusal = (toml, set = []) => {
    try {
      new Engine(module).load({ name: "mine.toml", toml, set });
    } catch (error) {
      return wordedForPage(error.message, set);
    }
  };
  const toml = 'schema = 1\nname = "mine"\nextends = "base.toml"\n';
  assert.equal(refusal(toml), 'mine.toml:3: extends: "base.toml" is another file, which the page does not see: `celltrain check --resolved mine.toml` writes one file of both');
  const lost = readFileSync(path.join(root, "scenarios/teaching/lost-cell.toml"), "utf8");
  assert.match(refusal(lost, [["switch.buffer", "many"]]), /^switch\.buffer: expected a buffer size/);
});

test("every story names what its scenario has, and ends within the run", async () => {
  const library = new Map((await scenarios()).map((scenario) => [scenario.id, scenario]));
  const all = await stories();
  assert.equal(all[0].title, "One lost cell wastes a train");
  for (const story of all) {
    const { toml } = library.get(story.scenario);
    for (const [place, step] of story.steps.entries()) {
      const where = `${story.id}, step ${place + 1}`;
      const engine = new Engine(module);
      for (const set of [step.set ?? [], step.beside ?? []]) {
        const { duration, links, flows } = engine.load({ name: `${story.scenario}.toml`, toml, set });
        for (const time of [step.at, step.play?.to, ...(step.zoom ?? [])]) {
          if (time !== undefined) assert.ok(readTime(time) <= duration, `${where}: ${time}`);
        }
        if (step.play) assert.ok(readTime(step.play.to) > readTime(step.at ?? "0 ms") && readTime(step.play.speed) > 0, where);
        if (step.port) assert.ok(links.some(({ name }) => name === step.port), `${where}: ${step.port}`);
        if (step.focus) assert.ok(flows.some(({ name }) => name === step.focus), `${where}: ${step.focus}`);
      }
      assert.ok(step.text.length < 520 && (step.then ?? "").length < 520, `${where}: too long to be read on the way`);
    }
  }
});

/** The measures of a run, and for each flow the bits per second that it delivers in the part that is measured, as "goodput NAME". */
function measure({ id, toml }, set) {
  const engine = new Engine(module);
  const { flows, duration, warm_up } = engine.load({ name: `${id}.toml`, toml, set });
  const delivered = (time) => {
    engine.advance(time, duration);
    const { flows: table } = new View(engine.look());
    return flows.map((_, flow) => table.get(flow, Flow.delivered));
  };
  const [before, after] = [delivered(warm_up), delivered(duration)];
  const goodputs = flows.map(({ name }, flow) => [`goodput ${name}`, ((after[flow] - before[flow]) * 8e12) / (duration - warm_up)]);
  return new Map([...engine.finish().summary.map(({ name, value }) => [name, value]), ...goodputs]);
}

test("the numbers that a story tells are those that the page measures", async () => {
  const library = new Map((await scenarios()).map((scenario) => [scenario.id, scenario]));
  for (const story of await stories()) {
    for (const [place, { measured = {}, set = [], beside = [] }] of story.steps.entries()) {
      for (const [run, expected] of Object.entries(measured)) {
        const measures = measure(library.get(story.scenario), { now: set, beside }[run]);
        for (const [name, value] of Object.entries(expected)) {
          const found = measures.get(name);
          // They are told with two or three digits.
          assert.ok(Math.abs(found - value) <= 0.01 * value, `${story.id}, step ${place + 1}, ${run}: ${name} is ${found}, not ${value}`);
        }
      }
    }
  }
});

test("the page, compressed as a server sends it, is below two megabytes", () => {
  assert.ok(gzipSync(readFileSync(page), { level: 9 }).length < 2e6);
});

test("links of the documentation open what the lab has", async () => {
  const known = new Set([...(await stories()).map(({ id }) => `story=${id}`), ...(await scenarios()).map(({ id }) => `scenario=${id}`)]);
  const docs = path.join(root, "docs");
  const pages = readdirSync(docs, { recursive: true }).filter((name) => name.endsWith(".md"));
  const links = pages.flatMap((name) => [...readFileSync(path.join(docs, name), "utf8").matchAll(/\]\(lab:([^)]*)\)/g)].map(([, target]) => [name, target]));
  assert.ok(links.length >= 8);
  for (const [name, target] of links) {
    assert.ok(known.has(target), `${name}: ${target}`);
    // The address of the lab is relative to a folder of the documentation.
    assert.equal(name.split(path.sep).length, 2, name);
  }
});

/** What people without one kind of cones see: G. M. Machado, M. M. Oliveira and L. A. F. Fernandes, "A Physiologically-based Model for
 * Simulation of Color Vision Deficiency", 2009, table of matrices for severity 1.0, on linear RGB. */
const VISION = {
  usual: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

/** A colour in CIE L*a*b*, as somebody with such vision sees it. */
function seen(colour, vision) {
  const linear = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16) / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  const through = (matrix, vector) => matrix.map((row) => row.reduce((sum, part, place) => sum + part * vector[place], 0));
  const rgb = through(vision, linear).map((part) => Math.min(1, Math.max(0, part)));
  const xyz = through([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], rgb);
  const [x, y, z] = xyz.map((part, place) => part / [0.95047, 1, 1.08883][place]).map((part) => (part > 0.008856 ? Math.cbrt(part) : 7.787 * part + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

test("colours of flows are apart for any colour vision, as far as those of Okabe and Ito are", () => {
  const least = (colours, vision) => {
    const places = colours.map((colour) => seen(colour, vision));
    const distance = (a, b) => Math.hypot(...a.map((part, place) => part - b[place]));
    return Math.min(...places.flatMap((a, place) => places.slice(place + 1).map((b) => distance(a, b))));
  };
  const known = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#f0e442", "#d55e00"];
  const bound = Math.min(...Object.values(VISION).map((vision) => least(known, vision)));
  for (const dark of [false, true]) {
    const colours = Array.from({ length: 8 }, (_, flow) => colourOf(flow, { dark }));
    for (const [name, vision] of Object.entries(VISION)) {
      // Half a unit is below what anybody notices.
      assert.ok(least(colours, vision) > bound - 0.5, `${name}, ${dark ? "dark" : "light"}: ${least(colours, vision)} of ${bound}`);
    }
  }
});
