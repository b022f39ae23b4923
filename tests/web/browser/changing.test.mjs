/** What is changed in a scenario, and runs beside each other. In a real browser, from a file. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load, resolved } from "../support.mjs";
import { inBrowser } from "./harness.mjs";

inBrowser("changes", ({ open, until, now, finished, fingerprint, drop }) => {
  test("a change that is under way does not reach the scenario that is chosen next, and none of two keys is lost", async () => {
    const page = await open("#scenario=fifteen-connections");
    await page.evaluate("lab.playback.seek(900e9), lab.changes.set('seed', '7'), lab.changes.set('switch.buffer', '300 cells'), void 0");
    await until(page, "lab.set.length === 2");
    await until(page, "lab.run.now === 900e9");
    await page.evaluate("lab.changes.set('seed', '9'), lab.playback.seek(400e9), void 0");
    await until(page, "lab.run.description.seed === '9' && lab.run.now === 400e9");
    await page.evaluate("lab.changes.set('seed', '8'), lab.openScenario({ ...lab.scenario, id: 'two-sources', toml: lab.scenario.toml.replace('fifteen', 'some') }), void 0");
    await until(page, "lab.scenario.id === 'two-sources'");
    await until(page, "lab.changes.under === undefined");
    assert.deepEqual(await page.evaluate("lab.set"), []);
    // A run that ended in the middle of a jump does not hold up the next one.
    await page.evaluate("lab.playback.seek(30e9)");
    assert.equal(await now(page), 30e9);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("of settings that come together only the one that is wrong is refused", async () => {
    const page = await open("#scenario=fifteen-connections");
    // The first is under way when the others come.
    const refused = await page.evaluate(`Promise.all([
      lab.changes.set("seed", "2"), lab.changes.set("switch.discard.epd.threshold", "1500 cells"),
      lab.changes.set("switch.buffer", "many"), lab.changes.set("tcp.recovery", "sack"),
    ])`);
    assert.match(refused[2], /^switch\.buffer: expected a buffer size/);
    assert.deepEqual([refused[0], refused[1], refused[3]].map((one) => one ?? null), [null, null, null]);
    assert.deepEqual(await page.evaluate("lab.set"), [["seed", "2"], ["switch.discard.epd.threshold", "1500 cells"], ["tcp.recovery", "sack"]]);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a threshold that is dragged is another scenario, at the same moment", async () => {
    const page = await open("#scenario=lost-cell");
    await page.selectOption("#policy", "epd");
    await until(page, "lab.run.description.links[lab.port].policy === 'epd'");
    await page.evaluate("lab.playback.seek(140e9)");
    const before = await fingerprint(page);
    const box = await page.locator(".closeup").boundingBox();
    const height = (units) => box.y + box.height - 30 - (units / 40) * (box.height - 30 - 58);
    await page.mouse.move(box.x + box.width / 2, height(28));
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2, height(20), { steps: 4 });
    await page.mouse.move(box.x + box.width / 2, height(12), { steps: 4 });
    await page.mouse.up();
    await until(page, "lab.run.description.links[lab.port].levels[0].units === 12");
    assert.equal(await now(page), 140e9);
    assert.notEqual(await fingerprint(page), before);
    assert.match(await page.textContent(".chips"), /switch\.discard\.epd\.threshold = 12 cells/);
    // The same by keyboard.
    await page.focus("#level-threshold");
    await page.keyboard.press("ArrowRight");
    await until(page, "lab.run.description.links[lab.port].levels[0].units === 13");
    assert.equal(await page.evaluate("document.activeElement.id"), "level-threshold");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a threshold's slider follows the pointer and the keys, however many runs are made on the way", async () => {
    const page = await open("#scenario=near-and-far");
    const units = "lab.run.description.links[lab.port].levels[0].units";
    const box = await page.locator("#level-threshold").boundingBox();
    const at = (share) => [box.x + share * box.width, box.y + box.height / 2];
    await page.mouse.move(...at(0.8));
    await page.mouse.down();
    for (const share of [0.7, 0.5, 0.3]) {
      await page.mouse.move(...at(share));
      await until(page, `Math.abs(${units} - 300 * ${share}) < 20`);
    }
    await page.mouse.up();
    assert.equal(await page.inputValue("#level-threshold"), String(await page.evaluate(units)));
    // Keys that are pressed before the run of the first one is there.
    const before = await page.evaluate(units);
    for (let key = 0; key < 5; key++) await page.press("#level-threshold", "ArrowRight");
    await until(page, `${units} === ${before + 5}`);
    assert.equal(await page.textContent("#level-threshold + output"), `${before + 5} cells`);
    // Another finger that is lifted does not take the slider away.
    const isSame = await page.evaluate(`(() => {
      const slider = document.getElementById("level-threshold");
      slider.dispatchEvent(new PointerEvent("pointerdown", { pointerId: 7, bubbles: true }));
      dispatchEvent(new PointerEvent("pointerup", { pointerId: 8 }));
      const during = slider.isConnected;
      dispatchEvent(new PointerEvent("pointerup", { pointerId: 7 }));
      return [during, slider.isConnected];
    })()`);
    assert.deepEqual(isSame, [true, false]);
    // The same file opened again, before the run of what was dragged is there: that was not meant for it.
    await page.evaluate(`(() => {
      const { scenario } = lab;
      lab.start = async (...all) => {
        delete lab.start;
        const run = await lab.start(...all);
        while (lab.scenario === scenario) await new Promise((resolve) => setTimeout(resolve, 5));
        return run;
      };
      const slider = document.getElementById("level-threshold");
      slider.value = "40";
      slider.dispatchEvent(new Event("input"));
      lab.openScenario({ ...lab.scenario });
    })()`);
    await until(page, `lab.set.length === 0 && lab.changes.under === undefined`);
    assert.equal(await page.inputValue("#level-threshold"), String(await page.evaluate(units)));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("the other button of the mouse drags no threshold, and leaves the time line where it is", async () => {
    const page = await open("#scenario=fifteen-connections");
    await finished(page);
    const { x, y } = await page.locator(".closeup").boundingBox();
    // The handle of the threshold is beside the glass: where the page itself finds it.
    const [left, top] = await page.evaluate(`(() => {
      const [pane] = lab.stage.panes;
      const { width } = pane.closeup.surface;
      const left = width / 2 + Math.max(64, Math.min(120, width * 0.12)) / 2 + 16;
      for (let top = 0; top < 300; top++) if (pane.closeup.levelAt(pane.scene, left, top, 1)) return [left, top];
    })()`);
    await page.mouse.move(x + left, y + top);
    await page.mouse.down({ button: "right" });
    assert.equal(await page.evaluate("lab.stage.panes[0].closeup.drag === undefined"), true);
    await page.mouse.up({ button: "right" });
    await page.mouse.down();
    assert.equal(await page.evaluate("lab.stage.panes[0].closeup.drag.level.key"), "threshold");
    await page.mouse.up();
    const strip = await page.locator("#strip").boundingBox();
    await page.mouse.click(strip.x + 400, strip.y + 40, { button: "right" });
    assert.equal(await page.evaluate("lab.playback.aim"), 0);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a finger drags a threshold, and the page does not scroll", async () => {
    const page = await open("#scenario=lost-cell", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await page.selectOption("#policy", "epd");
    await until(page, "lab.run.description.links[lab.port].policy === 'epd'");
    await page.locator(".closeup").scrollIntoViewIfNeeded();
    const box = await page.locator(".closeup").boundingBox();
    const height = (units) => box.y + box.height - 30 - (units / 40) * (box.height - 30 - 58);
    const scrolled = await page.evaluate("scrollY");
    const touch = await page.context().newCDPSession(page);
    const point = (units) => [{ x: box.x + box.width / 2, y: height(units) }];
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: point(28) });
    for (const units of [24, 20, 16]) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: point(units) });
    await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await until(page, "lab.run.description.links[lab.port].levels[0].units === 16");
    assert.equal(await page.evaluate("scrollY"), scrolled);
    await page.context().close();
  });

  test("a threshold that is dragged where it may not stand says why under the finger", async () => {
    const page = await open("#scenario=lost-cell", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    await page.selectOption("#policy", "espd");
    await until(page, "lab.run.description.links[lab.port].policy === 'espd'");
    await page.evaluate("lab.changes.set('switch.discard.espd.low', '20 cells')");
    await until(page, "lab.run.description.links[lab.port].levels.some(({ units }) => units === 20)");
    await page.locator(".closeup").scrollIntoViewIfNeeded();
    const box = await page.locator(".closeup").boundingBox();
    const height = (units) => box.y + box.height - 30 - (units / 40) * (box.height - 30 - 58);
    const touch = await page.context().newCDPSession(page);
    const drag = async (...heights) => {
      const points = heights.map((units) => [{ x: box.x + box.width / 2, y: height(units) }]);
      await touch.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points[0] });
      for (const touchPoints of points.slice(1)) await touch.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints });
      await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    };
    const refusal = page.locator(".port .tip");
    const low = () => page.evaluate("lab.run.description.links[lab.port].levels.find(({ key }) => key === 'low').units");
    await drag(20, 30, 39);
    await until(page, "!document.querySelector('.port .tip').hidden");
    assert.match(await refusal.innerText(), /^low = 39 cells is refused\nswitch\.discard\.espd\.low: the low threshold \(39 cells\) is above the high threshold/);
    const { x, y, width, height: tall } = await refusal.boundingBox();
    assert.ok(x >= 0 && x + width <= 390 && y > box.y && y + tall < 844, "it is seen where the finger was");
    // Those who hear the page are told once, by the settings.
    assert.equal(await page.locator("[role=alert]:visible", { hasText: "low threshold" }).count(), 1);
    assert.equal(await page.getAttribute("#level-low", "aria-describedby"), "level-low-error");
    const stood = await low();
    assert.ok(stood < 39);
    await drag(stood, 14, 12);
    await until(page, "lab.run.description.links[lab.port].levels.find(({ key }) => key === 'low').units === 12");
    await until(page, "document.querySelector('.port .tip').hidden");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a setting that is refused stays in its field, with the reason below it", async () => {
    const page = await open("#scenario=two-sources");
    await page.fill("#buffer", "no number");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#buffer-error");
    assert.match(await page.textContent("#buffer-error"), /^switch\.buffer: expected a buffer size such as "2000 cells"/);
    assert.equal(await page.inputValue("#buffer"), "no number");
    await page.fill("#setting", "tcp.recovery = sakc");
    await page.keyboard.press("Enter");
    await page.waitForSelector("#setting-error");
    assert.match(await page.textContent("#setting-error"), /^tcp\.recovery: unknown name "sakc"; did you mean "sack"\?/);
    assert.equal(await page.inputValue("#setting"), "tcp.recovery = sakc");
    assert.equal(await page.evaluate("document.activeElement.id"), "setting");
    // What is being written outlives a change elsewhere.
    await page.selectOption("#policy", "epd");
    await until(page, "lab.run.description.links[lab.port].policy === 'epd'");
    assert.equal(await page.inputValue("#setting"), "tcp.recovery = sakc");
    await page.fill("#setting", "tcp.recovery");
    await page.press("#setting", "Enter");
    assert.match(await page.textContent("#setting-error"), /^Write a key and a value/);
    await page.fill("#setting", "tcp.recovery = sack");
    await page.press("#setting", "Enter");
    await until(page, "lab.set.some(([key]) => key === 'tcp.recovery')");
    await until(page, "!document.querySelector('#setting-error')");
    assert.equal(await page.inputValue("#setting"), "");
    await page.fill("#buffer", "300 cells");
    await page.press("#buffer", "Enter");
    await until(page, "lab.run.description.links[lab.port].capacity === 300");
    await until(page, "!document.querySelector('#buffer-error')");
    // Two keys that fit only together: the first cannot be taken back alone.
    for (const text of ["duration = 6 s", "warm-up = 5500 ms"]) {
      await page.fill("#setting", text);
      await page.press("#setting", "Enter");
      await until(page, `lab.set.some((pair) => pair.join(" = ") === "${text}")`);
    }
    await page.click(".chips button:has-text('duration')");
    await page.waitForSelector("#chips-error");
    assert.match(await page.textContent("#chips-error"), /^warm-up: the warm-up \(5.5 s\) must be shorter than the duration/);
    assert.ok(await page.isHidden("#toast"), "nothing covers the page");
    assert.equal(await page.locator(".wrong", { hasText: "--set" }).count(), 0, "the page has no options");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a change that makes another network keeps the port and the flow that were chosen, or shows what there is", async () => {
    const page = await open("#scenario=two-sources");
    const name = () => page.evaluate("lab.run.description.links[lab.port].name");
    const set = async (text, holds) => {
      await page.fill("#setting", text);
      await page.press("#setting", "Enter");
      await until(page, holds);
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    };
    await set("topology.sources = 7", "lab.run.description.flows.length === 7");
    await page.selectOption("#port", { label: "switch2 > dest2" });
    await page.click("#flow-1");
    await page.click("#pin");
    await until(page, "lab.beside !== undefined");
    await set("topology.sources = 3", "lab.run.description.flows.length === 3");
    assert.equal(await name(), "switch2 > dest2");
    assert.equal(await page.evaluate("lab.focus"), 1);
    // The other run shows the same port, and a port that is chosen there is chosen here.
    await until(page, "[...document.querySelectorAll('.caption')].every((caption) => caption.textContent.startsWith('Port switch2 > dest2'))");
    await page.evaluate("lab.stage.panes[1].events.choosePort(lab.beside, lab.beside.description.links.findIndex(({ name }) => name === 'switch2 > dest3'))");
    assert.equal(await name(), "switch2 > dest3");
    // Neither the port nor the flow is there any more.
    await page.click("#flow-2");
    await set("topology.sources = 1", "lab.run.description.flows.length === 1");
    assert.equal(await name(), "switch1 > switch2");
    assert.equal(await page.evaluate("lab.focus"), -1);
    assert.equal(await page.inputValue("#port"), String(await page.evaluate("lab.port")));
    await finished(page);
    await until(page, "lab.beside.outcome !== undefined && !document.querySelector('#measures').textContent.includes('not reached')");
    assert.ok(!(await page.textContent("#measures")).includes("The runs part"), "other networks have other samples");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a run that is made longer is seen whole, with the one before in its own time", async () => {
    const page = await open("#scenario=two-sources");
    await finished(page);
    for (const [text, duration] of [["duration = 8 s", 8e12], ["duration = 2 s", 2e12]]) {
      await page.fill("#setting", text);
      await page.press("#setting", "Enter");
      await until(page, `lab.run.description.duration === ${duration}`);
      assert.deepEqual(await page.evaluate("[lab.stage.strip.from, lab.stage.strip.to]"), [0, duration]);
      await finished(page);
    }
    // The run before ends beyond the right edge, as far into it as it is longer.
    const { panels } = await load("stage/strip/panels");
    const times = [1e12, 2e12];
    const description = { duration: 2e12, links: [{ name: "a > b", capacity: 10, unit: "cells", levels: [] }], flows: [] };
    const run = { description, samples: { ports: [0], occupancy: [[1, 2]], cwnd: [], delivered: [], delay: [], times }, discards: [], timeouts: [], completions: [], pauses: [{ at: 1e12, link: 0, until: 2e12 }], sampleCount: 600 };
    const ghost = { ...run, samples: { ...run.samples, occupancy: [[3, 9]], times: [4e12, 8e12] } };
    const [queue] = panels({ scene: { run, theme: {}, port: 0, focus: -1 }, ghost, window: { from: 0, to: 2e12 } });
    assert.deepEqual(queue.curves.map(({ times }) => times), [[4e12, 8e12], undefined]);
    assert.deepEqual([queue.hatched, queue.stretches.map(({ at, until }) => [at, until])], ["paused", [[1e12, 2e12]]]);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("several flows between the same hosts are told apart by their names, and a run of nothing has no odd axis", async () => {
    const page = await open();
    const two = '[[flow]]\nname = "mine"\nfrom = "src1"\nto = "dest1"\n';
    await drop(page, "same.toml", `${resolved("two-sources").replace(/^start = .*$/m, 'start = "10 s"')}\n${two}`);
    await until(page, "lab.scenario.title === 'same.toml'");
    assert.deepEqual(await page.locator(".flows button").allTextContents(), ["src1 → dest1: 1", "src2 → dest2", "src1 → dest1: mine"]);
    await finished(page);
    await page.evaluate(`(() => {
      lab.texts = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...others) {
        lab.texts.push(text);
        fillText.call(this, text, ...others);
      };
      lab.choosePort(lab.port === 0 ? 1 : lab.port);
      lab.stage.strip.show(0, 1e12, lab.run.description.duration);
      lab.stage.redraw();
    })()`);
    await until(page, "lab.texts.includes('Round trip')");
    assert.equal(await page.evaluate("lab.texts[lab.texts.indexOf('Round trip') + 1]"), "1 ms");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a network without a switch shows the port of a host, for which nothing is set", async () => {
    const page = await open();
    const node = '[{ name = "a", kind = "host" }, { name = "b", kind = "host" }]';
    await drop(page, "two.toml", `schema = 1\nname = "two"\nduration = "10 ms"\ntopology = { kind = "graph", node = ${node}, link = [{ from = "a", to = "b" }] }
[[flow]]\nname = "1"\nfrom = "b"\nto = "a"\ntraffic.kind = "greedy"`);
    await until(page, "lab.scenario.title === 'two.toml'");
    await finished(page);
    assert.equal(await page.evaluate("document.querySelector('#port').selectedOptions[0].text"), "b > a");
    assert.equal(await page.locator("#policy, #buffer").count(), 0);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a buffer in bytes is drawn with the packets that it holds, and a memory that ports share can be set", async () => {
    const page = await open("#scenario=two-paths");
    const glass = "lab.stage.panes[0].closeup.frame(lab.stage.panes[0].scene)";
    for (const [key, value] of [["switch.buffer", "150 kB"], ["switch.discard.policy", "epd"]]) await page.evaluate(`lab.changes.set("${key}", "${value}")`);
    await until(page, "lab.run.description.links[lab.port].levels.length === 1");
    await page.evaluate("lab.playback.seek(900e9)");
    await until(page, "lab.stage.panes[0].scene.run.now === 900e9");
    assert.equal(await page.evaluate(`${glass}.capacity`), 100);
    assert.equal(await page.inputValue("#level-threshold"), "120000");
    assert.equal(await page.textContent("#level-threshold + output"), "120000 bytes");
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 860 });
      assert.ok(await page.evaluate("document.querySelector('#panel section').scrollWidth <= document.querySelector('#panel section').clientWidth"), `its value has room at ${width} pixels`);
    }
    assert.equal(await page.locator("#memory").count(), 0);
    await drop(page, "memory.toml", resolved("two-paths").replace('buffer = "100 packets"', 'buffer = "unlimited"\nmemory.size = "80 packets"'));
    await until(page, "lab.scenario.title === 'memory.toml'");
    assert.equal(await page.inputValue("#memory"), "80 packets");
    await page.fill("#memory", "40 packets");
    await page.keyboard.press("Enter");
    await until(page, "lab.run.description.scenario.switch.memory.size === '40 packets'");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("all measures of a run can be seen, with another beside it or without", async () => {
    const page = await open("#scenario=slow-answers");
    await finished(page);
    const names = async () => (await page.locator("#measures td:first-child").allTextContents()).filter((name) => name !== "");
    await until(page, "document.querySelector('#all-measures') !== null");
    assert.equal((await names()).length, 12);
    await page.focus("#all-measures");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate("document.activeElement.id"), "all-measures");
    const all = await page.evaluate("lab.run.outcome.summary.filter(({ value }) => value !== null).map(({ title }) => title)");
    assert.deepEqual(await names(), all);
    // As the command and reports call them.
    assert.ok(all.includes("95th percentile of the response time") && all.includes("utilisation of the bottleneck"));
    await page.evaluate("lab.changes.set('replications', '2')");
    await finished(page);
    await until(page, "document.querySelectorAll('#measures th').length === 3");
    assert.deepEqual(await names(), all);
    await page.click("#all-measures");
    assert.equal((await names()).length, 12);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("two runs stand side by side at the same moment, and say where they part", async () => {
    const page = await open("#scenario=lost-cell");
    await finished(page);
    await page.click("#pin");
    await page.selectOption("#policy", "ppd");
    await until(page, "lab.run.description.links[lab.port].policy === 'ppd' && lab.beside");
    await page.evaluate("lab.playback.seek(165e9)");
    assert.equal(await page.locator(".view").count(), 2);
    assert.equal(await page.evaluate("lab.beside.now"), 165e9);
    await until(page, "document.querySelector('#measures').textContent.includes('The runs part at 158')");
    await page.context().close();
  });

  test("a policy is written on the page; a wrong one is explained, and stays to be mended", async () => {
    const page = await open("#scenario=lost-cell");
    await page.selectOption("#policy", "epd");
    await until(page, "lab.run.description.links[lab.port].policy === 'epd'");
    await page.evaluate("lab.changes.set('switch.discard.epd.threshold', '80 %')");
    await until(page, "lab.run.description.links[lab.port].levels[0].units === 32");
    const epd = await fingerprint(page);
    await page.selectOption("#policy", "script");
    await until(page, "lab.run.description.links[lab.port].policy === 'script'");
    assert.equal(await page.inputValue("#rule"), "occupancy < high");
    assert.equal(await fingerprint(page), epd);
    await page.fill("#rule", "occupancy < hihg");
    await page.click("#run-rule");
    await until(page, "document.querySelector('#rule-error').textContent.startsWith('line 1, column 13: there is no `hihg`')");
    assert.equal(await page.inputValue("#rule"), "occupancy < hihg");
    assert.equal(await fingerprint(page), epd);
    await page.fill("#rule", "// half of it\noccupancy < low");
    await page.press("#rule", "Control+Enter");
    await until(page, "lab.run.description.links[lab.port].rule.endsWith('occupancy < low')");
    assert.equal(await page.textContent("#rule-error"), "");
    assert.ok(await page.isHidden("#toast"), "it is said once, beside the rule");
    assert.notEqual(await fingerprint(page), epd);
    const link = await page.evaluate("lab.address.link()");
    const other = await open(new URL(link).hash);
    assert.equal(await fingerprint(other), await fingerprint(page));
    assert.deepEqual(page.errors, []);
    for (const one of [page, other]) await one.context().close();
  });
});
