/** The address: what it asks for is shown, and what is shown it names. In a real browser, from a file. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load, resolved } from "../support.mjs";
import { inBrowser } from "./harness.mjs";

inBrowser("the address", ({ open, until, now, fingerprint, drop }) => {
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
    const before = await page.evaluate("location.hash");
    await drop(page, "mine.toml", resolved("two-sources"));
    await until(page, `lab.scenario.title === 'mine.toml' && location.hash !== "${before}"`);
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

  test("what is refused leaves the story where it was, and the address with it", async () => {
    const page = await open("#story=lost-cell&step=2");
    const { encode } = await load("text/share");
    await until(page, "history.state !== null");
    const broken = `#run=${await encode({ scenario: "broken.toml", toml: "schema = 1\nduration = ", set: [], at: 0 })}`;
    const refused = { "a link": () => page.evaluate(`location.hash = "${broken}"`), "a file": () => drop(page, "broken.toml", "schema = 2") };
    for (const [what, show] of Object.entries(refused)) {
      await page.evaluate("document.querySelector('#toast').hidden = true, void 0");
      await show();
      await until(page, "!document.querySelector('#toast').hidden");
      assert.match(await page.textContent("#toast"), /^broken\.toml:/, what);
      assert.ok(await page.isVisible("#story"), what);
      assert.equal(await page.textContent("#story .kicker"), "Story, 2 of 5", what);
      assert.equal(await page.inputValue("#stories"), "lost-cell", what);
      await until(page, "location.hash === '#story=lost-cell&step=2'");
    }
    await page.click("#story button:text-is('Next')");
    await until(page, "document.querySelector('#story .kicker').textContent === 'Story, 3 of 5'");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  /** Loads of the scenario `lab.slow` wait until `lab.go` is called; `lab.loads` has all loads, `lab.written` the fragments that the page
   * gives its address. */
  const hold = (page) => page.evaluate(`(() => {
    const { start, load } = lab;
    lab.start = async (scenario, ...others) => {
      if (scenario.id === lab.slow) await new Promise((go) => (lab.go = go));
      return start.call(lab, scenario, ...others);
    };
    [lab.loads, lab.written] = [[], []];
    lab.load = (...all) => {
      lab.loads.push(load.apply(lab, all));
      return lab.loads.at(-1);
    };
    for (const name of ["pushState", "replaceState"]) {
      const write = history[name];
      history[name] = (state, title, address) => (lab.written.push(new URL(address, location).hash), write.call(history, state, title, address));
    }
  })()`);

  test("until something that loads slowly is shown, the page and its address are those of what was there before", async () => {
    const page = await open("#story=lost-cell&step=2");
    await until(page, "history.state !== null");
    await hold(page);
    for (const [menu, id, shown] of [["#stories", "bufferbloat", "#story=bufferbloat"], ["#scenarios", "two-sources", "#scenario=two-sources"]]) {
      const before = await page.evaluate("[lab.guide.story?.id, lab.guide.step]");
      await page.evaluate(`[lab.slow, lab.go, lab.written] = ["${id}", undefined, []], void 0`);
      await page.selectOption(menu, id);
      await until(page, "lab.go !== undefined");
      // What is chosen, and what is changed, in what stands there still.
      await page.evaluate("lab.chooseFlow(0)");
      await page.evaluate("lab.changes.set('seed', '7')");
      assert.deepEqual(await page.evaluate("[lab.guide.story?.id, lab.guide.step]"), before);
      await until(page, "lab.address.timer === undefined");
      await page.evaluate("lab.go()");
      await until(page, `location.hash === "${shown}"`);
      assert.deepEqual(await page.evaluate("lab.written"), [shown]);
    }
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("who wants no story any more gets none that is still being loaded", async () => {
    const page = await open("#story=lost-cell&step=2");
    await hold(page);
    await page.evaluate("lab.slow = 'bufferbloat'");
    await page.selectOption("#stories", "bufferbloat");
    await until(page, "lab.go !== undefined");
    await page.selectOption("#stories", "");
    assert.deepEqual(await page.evaluate("lab.go(), Promise.all(lab.loads)"), [false]);
    assert.ok(await page.isHidden("#story"));
    assert.equal(await page.evaluate("lab.scenario.id"), "lost-cell");
    await until(page, "location.hash === '#scenario=lost-cell'");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a state that does not fit together is met with a sentence, or with what there is", async () => {
    const { encode } = await load("text/share");
    const state = { scenario: "lost-cell", set: [], at: 0 };
    const told = await open(`#run=${await encode({ ...state, story: "bufferbloat", step: 2 })}`);
    assert.match(await told.textContent("#toast"), /^This link is damaged: the story "bufferbloat" is told with another scenario\.$/);
    assert.equal(await told.evaluate("lab.guide.story.id"), "lost-cell");
    // The port of a host, which the menu of ports does not have.
    const port = await told.evaluate("lab.run.description.links.findIndex(({ name }) => name === 'src1 > switch1')");
    const page = await open(`#run=${await encode({ ...state, port })}`);
    assert.equal(await page.inputValue("#port"), String(await page.evaluate("lab.port")));
    for (const one of [told, page]) {
      assert.deepEqual(one.errors, []);
      await one.context().close();
    }
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

  test("a page from a server without encryption copies too; where nothing may be copied, the text can be selected", async () => {
    const script = "Object.defineProperty(navigator, 'clipboard', { value: undefined })";
    const page = await open("#scenario=lost-cell", { script });
    await page.evaluate(`addEventListener("copy", () => (window.copied = String(getSelection()) || document.activeElement.value))`);
    await page.click("#share");
    await until(page, "document.querySelector('#toast').textContent.startsWith('The link is copied')");
    assert.match(await page.evaluate("copied"), /#run=[A-Za-z0-9_-]+$/);
    assert.equal(await page.evaluate("document.activeElement.id"), "share");
    await page.evaluate("document.execCommand = () => false, void 0");
    await page.click("#share");
    await until(page, "document.querySelector('#toast').textContent.includes('#run=')");
    const { x, y } = await page.locator("#toast").boundingBox();
    await page.mouse.move(x + 20, y + 20);
    await page.mouse.down();
    await page.mouse.move(x + 200, y + 22);
    await page.mouse.up();
    assert.ok(await page.isVisible("#toast"));
    assert.notEqual(await page.evaluate("String(getSelection())"), "");
    await page.evaluate("getSelection().removeAllRanges()");
    await page.click("#toast");
    assert.ok(await page.isHidden("#toast"));
    assert.deepEqual(page.errors, []);
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

  test("back and forward go from one thing that was opened to the other, with what was changed in it", async () => {
    const page = await open("#scenario=two-sources");
    await until(page, "location.hash === '#scenario=two-sources'");
    const length = await page.evaluate("history.length");
    const shown = (name, more = "true") => until(page, `(lab.guide.story ? lab.guide.story.id + ' ' + lab.guide.step : lab.scenario.id || lab.scenario.title) === '${name}' && (${more})`);
    const go = async (way, name, more) => {
      await page.evaluate(`history.${way}()`);
      await shown(name, more);
      await written();
    };
    // Its own address stands there once it is shown.
    const written = () => until(page, "lab.address.timer === undefined");
    // A change is no page of its own.
    await page.selectOption("#policy", "epd");
    await until(page, "location.hash.startsWith('#run=')");
    await page.selectOption("#scenarios", "lost-cell");
    await until(page, "location.hash === '#scenario=lost-cell'");
    await drop(page, "mine.toml", resolved("two-sources").replace("sources = 2", "sources = 3"));
    await shown("mine.toml", "location.hash.startsWith('#run=')");
    await page.selectOption("#stories", "bufferbloat");
    await until(page, "location.hash === '#story=bufferbloat'");
    await page.click("#story button:has-text('Next')");
    await until(page, "location.hash === '#story=bufferbloat&step=2'");
    assert.equal(await page.evaluate("history.length"), length + 4);
    await go("back", "bufferbloat 1");
    await go("back", "mine.toml", "lab.run.description.flows.length === 3");
    await go("back", "lost-cell", "lab.set.length === 0");
    await go("back", "two-sources", "JSON.stringify(lab.set) === '[[\"switch.discard.policy\",\"epd\"]]'");
    await go("forward", "lost-cell");
    await go("forward", "mine.toml");
    await go("forward", "bufferbloat 1");
    await go("forward", "bufferbloat 2");
    assert.equal(await page.evaluate("history.length"), length + 4);
    // Quicker than anything is shown.
    await page.evaluate(`(() => {
      const back = () => history.back();
      const [second, third] = [() => (removeEventListener("popstate", second), addEventListener("popstate", third), back()), () => (removeEventListener("popstate", third), back())];
      addEventListener("popstate", second);
      back();
    })()`);
    await shown("lost-cell", "location.hash === '#scenario=lost-cell'");
    await written();
    await shown("lost-cell", "location.hash === '#scenario=lost-cell'");
    await go("forward", "mine.toml");
    // What is opened before a page of the history is shown comes after that page, and does not take its place.
    await page.evaluate(`addEventListener("hashchange", () => {
      const menu = document.querySelector("#scenarios");
      menu.value = "fat-tree";
      menu.dispatchEvent(new Event("change"));
    }, { once: true })`);
    await page.evaluate("history.back()");
    await shown("fat-tree", "location.hash === '#scenario=fat-tree'");
    await go("back", "lost-cell");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
});
