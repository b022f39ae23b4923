/** The page in a real browser, from a file: what somebody does who uses it. Skipped, with a word, where there is no Chromium. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium as findChromium, goldenFingerprints, load, pageUrl, resolved, root } from "./support.mjs";

const executablePath = findChromium();
const require = createRequire(path.join(root, "web/package.json"));

describe("the page", { skip: executablePath ? false : "no Chromium is installed (CHROMIUM names one)" }, () => {
  let browser;

  before(async () => {
    const { chromium } = require("playwright-core");
    browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  });
  after(() => browser?.close());

  /** Opens the lab; `errors` collects what goes wrong in it, `requests` what it asks for. */
  async function open(fragment = "", { in: where = browser, ...options } = {}) {
    const context = await where.newContext({ viewport: { width: 1280, height: 860 }, ...options });
    const page = await context.newPage();
    page.errors = [];
    page.requests = [];
    page.on("pageerror", (error) => page.errors.push(error.message));
    page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
    page.on("request", (request) => page.requests.push(request.url()));
    await page.goto(pageUrl + fragment);
    await page.waitForSelector("html[data-ready]");
    return page;
  }

  /** Waits until an expression holds. The page's own policy forbids `eval`, which the library's way of waiting needs. */
  async function until(page, expression) {
    for (let round = 0; round < 4000; round++) {
      if (await page.evaluate(expression)) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`${expression} never holds; now: ${await page.evaluate("lab.run.now")}, ${await page.textContent("#toast")}`);
  }

  const now = (page) => page.evaluate("lab.run.now");
  const idle = (page) => until(page, "!lab.run.isBusy");
  const finished = (page) => until(page, "lab.run.outcome !== undefined");
  const fingerprint = async (page) => {
    await finished(page);
    return page.evaluate("lab.run.outcome.fingerprint");
  };

  const drop = (page, name, text) =>
    page.evaluate(([name, text]) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], name));
      dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
    }, [name, text]);

  test("nothing leaves the page, and the first visit stands before the first loss with one thing to do", async () => {
    const page = await open();
    await finished(page);
    assert.deepEqual(page.requests.filter((url) => !/^(blob|data):/.test(url)), [pageUrl]);
    assert.equal(await page.textContent("#story h2"), "One lost cell wastes a train");
    assert.equal(await page.locator("#story button.primary").count(), 1);
    assert.equal(await page.evaluate("lab.playback.playing"), false);
    const first = await page.evaluate("lab.run.discards[0].at");
    assert.ok((await now(page)) < first && first < 167e9);
    await page.click("#story button.primary");
    await until(page, "lab.run.now >= 167e9");
    await until(page, "document.querySelector('#story .text').textContent.includes('One blue cell')");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("scenarios have the fingerprint of a native run", async () => {
    const page = await open();
    const golden = goldenFingerprints();
    const ids = await page.evaluate("[...document.querySelectorAll('#scenarios option')].map((option) => option.value).filter((id) => /^[a-z-]+$/.test(id))");
    assert.ok(ids.length >= 4);
    for (const id of ids) {
      await page.selectOption("#scenarios", id);
      await until(page, `lab.scenario.id === "${id}"`);
      assert.equal(await fingerprint(page), golden.get(id), id);
    }
    await page.context().close();
  });

  test("every other shipped scenario has it too, when its file is dropped", async () => {
    const page = await open();
    const ids = await page.evaluate("[...document.querySelectorAll('#scenarios option')].map((option) => option.value)");
    const others = [...goldenFingerprints()].filter(([name]) => !ids.includes(name));
    let seen = 0;
    for (const [name, golden] of others) {
      const toml = resolved(name);
      if (toml === undefined) continue;
      await drop(page, `${name}.toml`, toml);
      await until(page, `lab.scenario.title === "${name}.toml"`);
      assert.equal(await fingerprint(page), golden, name);
      seen++;
    }
    assert.ok(seen > 5);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("of scenarios and stories that are chosen one after the other the last one is shown", async () => {
    const page = await open("#scenario=lost-cell");
    // The first ones take longer to load than those that follow.
    await page.evaluate(`(() => {
      const choose = (menu, value) => {
        document.getElementById(menu).value = value;
        document.getElementById(menu).dispatchEvent(new Event("change"));
      };
      choose("stories", "windows-and-espd");
      for (const id of ["fat-tree", "fifteen-connections", "one-connection"]) choose("scenarios", id);
    })()`);
    await until(page, "lab.scenario.id !== 'lost-cell'");
    await page.waitForTimeout(1500);
    assert.equal(await page.evaluate("lab.scenario.id"), "one-connection");
    assert.equal(await page.inputValue("#scenarios"), "one-connection");
    assert.equal(await page.inputValue("#stories"), "");
    assert.ok(await page.isHidden("#story"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a change that is under way does not reach the scenario that is chosen next, and none of two keys is lost", async () => {
    const page = await open("#scenario=fifteen-connections");
    await page.evaluate("lab.playback.seek(900e9), lab.changes.set('seed', '7'), lab.changes.set('switch.buffer', '300 cells'), void 0");
    await until(page, "lab.set.length === 2");
    await until(page, "lab.run.now === 900e9");
    await page.evaluate("lab.changes.set('seed', '9'), lab.playback.seek(400e9), void 0");
    await until(page, "lab.run.description.seed === '9' && lab.run.now === 400e9");
    await page.evaluate("lab.changes.set('seed', '8'), lab.openScenario({ ...lab.scenario, id: 'two-sources', toml: lab.scenario.toml.replace('fifteen', 'some') }), void 0");
    await until(page, "lab.scenario.id === 'two-sources'");
    await page.waitForTimeout(1000);
    assert.deepEqual(await page.evaluate("lab.set"), []);
    // A run that ended in the middle of a jump does not hold up the next one.
    await page.evaluate("lab.playback.seek(30e9)");
    assert.equal(await now(page), 30e9);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("the address names what is shown, so that a reload shows it again", async () => {
    const page = await open("#scenario=two-sources");
    const reload = async () => {
      await page.reload();
      await page.waitForSelector("html[data-ready]");
    };
    await page.selectOption("#scenarios", "lost-cell");
    await until(page, "location.hash === '#scenario=lost-cell'");
    await reload();
    assert.equal(await page.evaluate("lab.scenario.id"), "lost-cell");
    await page.selectOption("#policy", "epd");
    await until(page, "location.hash.startsWith('#run=')");
    await reload();
    assert.deepEqual(await page.evaluate("[lab.scenario.id, lab.set]"), ["lost-cell", [["switch.discard.policy", "epd"]]]);
    await drop(page, "mine.toml", resolved("two-sources"));
    await until(page, "lab.scenario.title === 'mine.toml'");
    const before = await page.evaluate("location.hash");
    await until(page, `location.hash !== "${before}"`);
    await reload();
    assert.equal(await page.evaluate("lab.scenario.title"), "mine.toml");
    await page.selectOption("#stories", "bufferbloat");
    await until(page, "location.hash === '#story=bufferbloat'");
    await page.selectOption("#stories", "");
    await until(page, "!location.hash.startsWith('#story')");
    await page.context().close();
  });

  test("the address of a story names its step, and what was changed in it", async () => {
    const page = await open("#story=lost-cell");
    const kicker = () => page.textContent("#story .kicker");
    const reload = async () => {
      await page.reload();
      await page.waitForSelector("html[data-ready]");
    };
    await page.click("#story button:has-text('Next')");
    await until(page, "location.hash === '#story=lost-cell&step=2'");
    await reload();
    assert.equal(await kicker(), "Story, 2 of 5");
    assert.ok(await page.isVisible("#story button:has-text('Watch the next trains')"));
    await page.fill("#buffer", "30 cells");
    await page.press("#buffer", "Enter");
    await until(page, "location.hash.startsWith('#run=')");
    const set = await page.evaluate("lab.set");
    assert.ok(set.some(([key]) => key === "switch.buffer"));
    await reload();
    assert.equal(await kicker(), "Story, 2 of 5");
    assert.deepEqual(await page.evaluate("lab.set"), set);
    assert.equal(await page.evaluate("lab.run.description.links[lab.port].capacity"), 30);
    // What one shares is at its own moment, with what is told of it there.
    await page.click("#story button.primary");
    await until(page, "!lab.playback.playing && document.querySelector('#story button').textContent === 'Again'");
    const told = await page.textContent("#story .text");
    const other = await open(new URL(await page.evaluate("lab.address.link()")).hash);
    assert.equal(await other.textContent("#story .text"), told);
    assert.equal(await now(other), await now(page));
    // Without the change it is the step of the story again.
    await page.click(".chips button:has-text('switch.buffer')");
    await until(page, "location.hash === '#story=lost-cell&step=2'");
    await page.click("#story button:has-text('Back')");
    await until(page, "location.hash === '#story=lost-cell'");
    // A step that there is not is the nearest.
    await page.evaluate("location.hash = '#story=lost-cell&step=99'");
    await until(page, "document.querySelector('#story .kicker').textContent === 'Story, 5 of 5'");
    assert.deepEqual(page.errors, []);
    for (const one of [page, other]) await one.context().close();
  });

  test("an address that names nothing is met with the nearest name", async () => {
    for (const [fragment, message] of [
      ["#scenario=two-surces", /^unknown scenario "two-surces": did you mean "two-sources"\? known: /],
      ["#story=lost-sell", /^unknown story "lost-sell": did you mean "lost-cell"\?/],
      ["#two-sources", /^unknown fragment "#two-sources": known: #scenario=NAME, /],
    ]) {
      const page = await open(fragment);
      assert.match(await page.textContent("#toast"), message);
      assert.equal(await page.textContent("#story h2"), "One lost cell wastes a train");
      await page.context().close();
    }
    // What is shown stays if the address is changed to nothing that there is.
    const page = await open("#scenario=two-sources");
    // The page writes its own address just then: that does not count, as nobody asked for it.
    await page.evaluate("location.hash = '#scenario=nothing'; history.replaceState(null, '', '#scenario=two-sources')");
    await until(page, "document.querySelector('#toast').textContent.startsWith('unknown scenario')");
    assert.equal(await page.evaluate("lab.scenario.id"), "two-sources");
    // The sentence takes the width that there is, and goes with a tap, with Escape, or when something else is opened.
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok((await page.locator("#toast").boundingBox()).width > 340);
    let times = 0;
    const again = async () => {
      await page.evaluate(`location.hash = "#scenario=nothing${++times}"`);
      await until(page, "!document.querySelector('#toast').hidden");
    };
    await page.click("#toast");
    assert.ok(await page.isHidden("#toast"));
    await again();
    await page.keyboard.press("Escape");
    assert.ok(await page.isHidden("#toast"));
    await again();
    await page.selectOption("#scenarios", "lost-cell");
    await until(page, "lab.scenario.id === 'lost-cell'");
    assert.ok(await page.isHidden("#toast"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("numbers in an address that no slider gives are those of its ends", async () => {
    const page = await open("#scenario=lost-cell");
    const { encode } = await load("text/share");
    for (const [state, speed, port, at] of [[{ speed: -3, port: 1e9, at: 1e30 }, 1e7, 0, 2e12], [{ speed: 1e40, port: -1, at: -5 }, 1e12, 0, 0], [{ speed: 1e9, port: 1.5, at: 1.5 }, 1e9, 0, 1]]) {
      const other = await open(`#run=${await encode({ scenario: "lost-cell", set: [], ...state })}`);
      assert.deepEqual(await other.evaluate("[lab.playback.speed, lab.port, lab.run.now]"), [speed, await page.evaluate("lab.port") + port, at]);
      assert.deepEqual(other.errors, []);
      await other.context().close();
    }
    await page.context().close();
  });

  test("it runs, pauses, and goes by cell, frame and loss", async () => {
    const page = await open("#scenario=lost-cell");
    await page.click("#play");
    await until(page, "lab.run.now > 0");
    await page.click("#play");
    await idle(page);
    assert.equal(await page.textContent("#play"), "Play");
    const paused = await now(page);
    await page.evaluate("lab.playback.seek(150e9)");
    await page.click("#step-cell");
    await until(page, "lab.run.now === 150106000000");
    await page.keyboard.press("f");
    await until(page, "lab.run.now > 150106000000");
    await finished(page);
    await page.keyboard.press("d");
    await until(page, "lab.run.now === lab.run.discards[0].at + 1");
    assert.ok(paused < 150e9);
    // The page shows the keys as capitals.
    await page.evaluate("lab.playback.seek(150e9)");
    await page.keyboard.press("Shift+F");
    await until(page, "lab.run.now > 150e9");
    await page.evaluate("lab.playback.seek(150e9)");
    await page.keyboard.press("Shift+D");
    await until(page, "lab.run.now === lab.run.discards[0].at + 1");
    await page.click("#restart");
    await until(page, "lab.run.now === 0");
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

  test("a story can be followed with the keyboard alone", async () => {
    const page = await open();
    const focused = () => page.evaluate("document.activeElement.textContent");
    for (let presses = 0; (await focused()) !== "Let it happen"; presses++) {
      assert.ok(presses < 30, "the button of the story is among the first things that are reached");
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await until(page, "document.activeElement.textContent === 'Next'");
    await page.keyboard.press("Enter");
    await until(page, "document.activeElement.textContent === 'Watch the next trains'");
    assert.equal(await now(page), 167e9);
    await page.focus("#strip");
    await page.keyboard.press("ArrowRight");
    await until(page, "lab.run.now > 167e9");
    await page.keyboard.press("Space");
    assert.equal(await page.evaluate("lab.playback.playing"), true);
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

  test("who uses the keyboard, or has scrolled, stays where they were when something is changed", async () => {
    const page = await open("#scenario=fat-tree");
    const focused = () => page.evaluate("document.activeElement.id || document.activeElement.tagName");
    const scrolled = () => page.evaluate("document.querySelector('.flows').scrollTop");
    await page.focus("#flow-14");
    const before = await scrolled();
    assert.ok(before > 0);
    await page.keyboard.press("Enter");
    await until(page, "lab.focus === 14");
    assert.equal(await focused(), "flow-14");
    assert.equal(await scrolled(), before);
    for (const text of ["seed = 9", "tcp.recovery = sack"]) {
      await page.fill("#setting", text);
      await page.press("#setting", "Enter");
      await until(page, `lab.set.some((pair) => pair.join(" = ") === "${text}")`);
    }
    assert.equal(await scrolled(), before);
    await page.focus(".chips button:has-text('seed')");
    await page.keyboard.press("Enter");
    await until(page, "lab.set.length === 1");
    await until(page, "document.activeElement.textContent.startsWith('tcp.recovery')");
    await page.keyboard.press("Enter");
    await until(page, "document.activeElement.id === 'setting'");
    await page.selectOption("#policy", "script");
    await until(page, "document.querySelector('.rule details')");
    await page.click(".rule summary");
    await page.focus(".rule .chips button:has-text('Fair share')");
    await page.keyboard.press("Enter");
    await until(page, "lab.set.some(([key]) => key.endsWith('.rule'))");
    assert.match(await page.evaluate("document.activeElement.textContent"), /^Fair share/);
    assert.ok(await page.evaluate("document.querySelector('.rule details').open"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("the time line has the keys of a slider", async () => {
    const page = await open("#scenario=lost-cell");
    await page.focus("#strip");
    for (const [key, moment] of [["End", 2e12], ["ArrowDown", 1.995e12], ["PageDown", 1.795e12], ["PageUp", 1.995e12], ["ArrowUp", 2e12], ["Home", 0]]) {
      await page.keyboard.press(key);
      await until(page, `Math.abs(lab.run.now - ${moment}) < 1e9`);
    }
    assert.equal(await page.evaluate("scrollY"), 0);
    await page.context().close();
  });

  test("the time line goes forwards and back", async () => {
    const page = await open("#scenario=two-sources");
    const box = await page.locator("#strip").boundingBox();
    for (const share of [0.8, 0.3]) {
      await page.mouse.click(box.x + 78 + share * (box.width - 86), box.y + 40);
      await until(page, `Math.abs(lab.run.now - ${share * 5e12}) < 30e9`);
    }
    await page.focus("#strip");
    const before = await now(page);
    await page.keyboard.press("ArrowLeft");
    await until(page, `lab.run.now < ${before}`);
    await page.context().close();
  });

  test("a link opens the same moment of the same run", async () => {
    const page = await open("#scenario=two-sources");
    await page.fill("#setting", "switch.discard.policy = espd");
    await page.keyboard.press("Enter");
    await until(page, "lab.run.description.links[lab.port].policy === 'espd'");
    await page.evaluate("lab.playback.seek(1234567890123)");
    const link = await page.evaluate("lab.address.link()");
    const other = await open(new URL(link).hash);
    assert.equal(await now(other), 1234567890123);
    assert.deepEqual(await other.evaluate("lab.set"), [["switch.discard.policy", "espd"]]);
    assert.equal(await fingerprint(other), await fingerprint(page));
    const damaged = await open(`${new URL(link).hash.slice(0, -9)}`);
    assert.match(await damaged.textContent("#toast"), /This link is damaged/);
    assert.equal(await damaged.textContent("#story h2"), "One lost cell wastes a train");
    for (const one of [page, other, damaged]) await one.context().close();
  });

  test("a file that is dropped runs; a broken one is refused, and the old run goes on", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate("lab.playback.seek(50e9)");
    await drop(page, "broken.toml", resolved("two-sources").replace(/^buffer = .*$/m, 'buffer = "many cells"'));
    await page.waitForSelector("#toast:not([hidden])");
    assert.match(await page.textContent("#toast"), /^broken\.toml:\d+: switch\.buffer: expected a buffer size/);
    assert.equal(await now(page), 50e9);
    assert.equal(await page.evaluate("lab.scenario.id"), "lost-cell");
    await drop(page, "mine.toml", resolved("two-sources"));
    await until(page, "lab.scenario.title === 'mine.toml'");
    assert.equal(await fingerprint(page), goldenFingerprints().get("two-sources"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("the menu opens files, one after the other, and names what is shown", async () => {
    const page = await open("#scenario=lost-cell");
    const shown = () => page.evaluate("document.querySelector('#scenarios').selectedOptions[0].text");
    const pick = async (...files) => {
      const chooser = page.waitForEvent("filechooser");
      await page.selectOption("#scenarios", { label: "Open a file…" });
      await (await chooser).setFiles(files);
    };
    const file = (name, text) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) });
    // Somebody who closes the dialogue without a file can open it again.
    await pick();
    assert.equal(await shown(), "one lost cell");
    const mine = file("mine.toml", resolved("two-sources"));
    await pick(mine);
    await until(page, "lab.scenario.title === 'mine.toml'");
    assert.equal(await shown(), "mine.toml");
    await pick(file("broken.toml", "schema = 2"));
    await page.waitForSelector("#toast:not([hidden])");
    assert.equal(await shown(), "mine.toml");
    await page.evaluate("lab.first = lab.run, void 0");
    await pick(mine);
    await until(page, "lab.run !== lab.first");
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

  test("a worker that is lost is replaced, and the run goes on where it was", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate("lab.playback.seek(120e9)");
    await page.evaluate("lab.run.kill()");
    await page.click("#play");
    await until(page, "lab.run.now > 120e9");
    await page.click("#play");
    await idle(page);
    assert.ok((await now(page)) < 200e9);
    await page.context().close();
  });

  test("what is asked of a worker that is lost is done by the next one", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate("lab.playback.seek(150e9)");
    await page.evaluate("lab.run.kill()");
    await page.click("#step-cell");
    await until(page, "lab.run.now === 150106000000");
    await page.evaluate("lab.run.kill()");
    assert.match(await page.evaluate("lab.run.scenario()"), /^name = "one lost cell"$/m);
    await page.evaluate("lab.run.kill()");
    await page.evaluate("lab.playback.seek(20e9)");
    assert.equal(await now(page), 20e9);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a worker that is lost while it runs ahead is replaced, and the strip is whole", async () => {
    const page = await open("#scenario=fifteen-connections");
    await page.evaluate("lab.changes.set('seed', '2')");
    await until(page, "lab.run.scanned > 0");
    assert.equal(await page.evaluate("lab.run.kill('ahead'), lab.run.outcome"), undefined);
    await finished(page);
    const [samples, last, duration] = await page.evaluate("[lab.run.samples.times.length, lab.run.samples.times.at(-1), lab.run.description.duration]");
    assert.equal(samples, 6000);
    assert.equal(last, duration);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("what the command line passes on is opened", async (context) => {
    const command = path.join(root, ".venv/bin/celltrain");
    if (!existsSync(command)) return context.skip(".venv/bin/celltrain is not built");
    const file = path.join(root, "scenarios/regression/espd.toml");
    const address = execFileSync(command, ["lab", file, "--set", "seed=3", "--link"], { encoding: "utf8" }).trim();
    const page = await open(new URL(address).hash);
    assert.equal(await page.evaluate("lab.scenario.title"), "espd.toml");
    assert.equal(await page.evaluate("lab.run.description.seed"), "3");
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

  test("the measures of two runs have room beside the stage", async () => {
    const page = await open("#story=told-their-rate");
    for (let step = 2; step <= 3; step++) {
      await page.click("#story button:has-text('Next')");
      await until(page, `document.querySelector('#story .kicker').textContent === 'Story, ${step} of 3'`);
    }
    await until(page, "lab.run.outcome && lab.beside?.outcome && document.querySelectorAll('#measures tr').length > 12");
    // 320 pixels are what a laptop's screen has when it is magnified four times.
    for (const width of [1280, 1000, 640, 390, 320]) {
      await page.setViewportSize({ width, height: 860 });
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `nothing sticks out at ${width} pixels`);
      const height = await page.evaluate("document.querySelector('.bar h1').clientHeight");
      assert.ok(height < 30, `the name of the page has one line at ${width} pixels`);
    }
    assert.deepEqual(page.errors, []);
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

  test("the strip shows delays, and short flows where they end", async () => {
    const page = await open("#scenario=two-sources");
    const height = () => page.evaluate("document.querySelector('#strip').clientHeight");
    const usual = await height();
    await drop(page, "short.toml", resolved("two-sources").replace(/^\[traffic\][^[]*/m, '[traffic]\nkind = "short-flows"\nload = 0.3\nsize = { kind = "fixed", bytes = "20 kB" }\n'));
    await until(page, "lab.run.description.flows.every(({ pool }) => pool)");
    await finished(page);
    // A panel of completion times instead of those of windows and round trips.
    assert.equal(await height(), usual - 78);
    assert.ok(await page.evaluate("lab.run.completions.length > 20"));
    await drop(page, "cells.toml", resolved("two-sources").replace(/^\[traffic\][^[]*/m, '[traffic]\nkind = "cbr"\nrate = "10 Mbit/s"\n'));
    await until(page, "lab.run.description.flows.every(({ tcp }) => !tcp)");
    await finished(page);
    // The same, with the delays of bare cells.
    assert.equal(await height(), usual - 78);
    assert.ok(await page.evaluate("lab.run.samples.delay.every((values) => values.filter((value) => value > 0).length > 1000)"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a node that has no room for its name shows it to the pointer", async () => {
    const page = await open("#scenario=fat-tree", { viewport: { width: 390, height: 844 } });
    const canvas = page.locator(".overview");
    const { width, height } = await canvas.boundingBox();
    // The sixth of the eight aggregation switches, on the third of four levels.
    await canvas.hover({ position: { x: 46 + (5.5 / 8) * (width - 92), y: 20 + (height - 48) / 3 } });
    assert.equal(await canvas.getAttribute("title"), "aggregation6");
    await canvas.hover({ position: { x: 5, y: 5 } });
    assert.equal(await canvas.getAttribute("title"), "");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a tap on a node or a link tells its name and state, until it is closed", async () => {
    const page = await open("#scenario=fat-tree", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    const { x, y, width, height } = await page.locator(".overview").boundingBox();
    const tap = (column, row) => page.touchscreen.tap(x + 46 + column * (width - 92), y + 20 + row * (height - 48));
    const tip = page.locator(".network .tip");
    const hidden = () => until(page, "document.querySelector('.network .tip').hidden");
    await tap(5.5 / 8, 1 / 3);
    assert.match(await tip.innerText(), /^aggregation6\n\d+ ports: 0 packets wait/);
    assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out");
    // What is told is of the moment that is shown.
    await tap(0.5 / 16, 1);
    await until(page, "document.querySelector('.network .tip').innerText.startsWith('host1\\nto host9: 0 B delivered')");
    await page.evaluate("lab.playback.seek(50e9)");
    await until(page, "/to host9: [\\d.]+ [kM]B delivered, window/.test(document.querySelector('.network .tip').innerText)");
    await page.tap(".network .tip button");
    await hidden();
    // A link between a host and its switch.
    await tap(0.48 / 16, 1 - 1 / 10);
    assert.match(await tip.innerText(), /^(host1 > edge1|edge1 > host1)\n1 Gbit\/s, 2 µs/);
    await tap(0.5, -0.08);
    await hidden();
    await tap(0.5 / 8, 2 / 3);
    await page.keyboard.press("Escape");
    await hidden();
    // Another scenario has other nodes.
    await tap(0.5 / 8, 2 / 3);
    await page.evaluate("lab.changes.set('tcp.recovery', 'sack')");
    await until(page, "lab.set.length === 1");
    assert.ok(await tip.isVisible());
    await page.selectOption("#scenarios", "lost-cell");
    await until(page, "lab.scenario.id === 'lost-cell'");
    await hidden();
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("long names do not widen the page", async () => {
    const page = await open("", { viewport: { width: 390, height: 844 } });
    const name = "x-very-long-name-without-any-space-in-it-at-all";
    await drop(page, "long.toml", resolved("cubic-and-bbr").replace(/name = "(cubic|bbr|short)"/g, `name = "$1-${name}"`));
    await until(page, "lab.scenario.title === 'long.toml'");
    assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("two hundred flows are drawn", async () => {
    const page = await open();
    await drop(page, "many.toml", resolved("two-sources").replace("sources = 2", "sources = 200").replace('duration = "5 s"', 'duration = "1200 ms"'));
    await until(page, "lab.run.description.flows.length === 200");
    await page.evaluate("lab.playback.seek(300e9)");
    await page.click("#play");
    await until(page, "lab.run.now > 300e9");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("who has chosen text of twice the size has everything of twice the size", async (context) => {
    const { chromium } = require("playwright-core");
    const large = await chromium.launch({ executablePath, args: ["--no-sandbox", "--blink-settings=defaultFontSize=32"] });
    context.after(() => large.close());
    for (const width of [1280, 390]) {
      const page = await open("#scenario=lost-cell", { in: large, viewport: { width, height: 860 } });
      await finished(page);
      assert.equal(await page.evaluate("getComputedStyle(document.documentElement).fontSize"), "30px");
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), `nothing sticks out at ${width} pixels`);
      // A pixel of the pictures is two of the page, for the pointer as well.
      await page.locator("#strip").scrollIntoViewIfNeeded();
      const strip = await page.locator("#strip").boundingBox();
      const [left, right] = [2 * 78, 2 * 8];
      const x = strip.x + left + 0.75 * (strip.width - left - right);
      await page.mouse.click(x, strip.y + 40);
      await until(page, "Math.abs(lab.run.now - 1.5e12) < 20e9");
      // The next picture moves the cursor there.
      await until(page, `Math.abs(document.querySelector('.cursor').getBoundingClientRect().x - ${x}) < 5`);
      assert.deepEqual(page.errors, []);
      await page.context().close();
    }
  });

  for (const [width, colorScheme] of [[390, "light"], [390, "dark"], [1280, "light"], [1280, "dark"]]) {
    test(`it can be used at ${width} pixels, ${colorScheme}, by everybody`, async () => {
      const page = await open("", { viewport: { width, height: 844 }, colorScheme, reducedMotion: "reduce" });
      await finished(page);
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out");
      assert.equal(await page.evaluate("getComputedStyle(document.querySelector('#play')).transitionProperty"), "none", "no motion is added");
      await page.addScriptTag({ content: readFileSync(require.resolve("axe-core/axe.min.js"), "utf8") });
      const violated = async () => {
        const { violations } = await page.evaluate("axe.run()");
        return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
      };
      assert.deepEqual(await violated(), []);
      // Two runs side by side, one of them with a rule that can be edited.
      await page.click("#pin");
      await page.selectOption("#policy", "script");
      await until(page, "lab.beside && lab.run.description.links[lab.port].policy === 'script'");
      await finished(page);
      assert.ok(await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out");
      assert.deepEqual(await violated(), []);
      await page.context().close();
    });
  }
});
