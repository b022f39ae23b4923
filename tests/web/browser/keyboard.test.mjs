/** What is done with the keyboard alone. In a real browser, from a file. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inBrowser } from "./harness.mjs";

inBrowser("the keyboard", ({ open, until, now, finished }) => {
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
    // Who has run a rule goes on writing in the middle of it.
    await page.evaluate("document.querySelector('#rule').focus(), document.querySelector('#rule').setSelectionRange(3, 3)");
    await page.keyboard.type("x");
    await page.evaluate("lab.retheme()");
    await page.keyboard.type("y");
    assert.match(await page.inputValue("#rule"), /^\/\/ xyAbove/);
    // What is written while a rule is tried is kept.
    await page.evaluate(`(() => {
      const rule = document.getElementById("rule");
      document.getElementById("run-rule").click();
      rule.value = "occupancy < 7";
      rule.dispatchEvent(new Event("input"));
    })()`);
    await until(page, "lab.changes.under === undefined && lab.run.description.links[lab.port].rule.startsWith('// xyAbove')");
    assert.equal(await page.inputValue("#rule"), "occupancy < 7");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("the space bar unfolds what is folded, and runs nothing then", async () => {
    const page = await open("#scenario=two-sources");
    await page.selectOption("#policy", "script");
    await until(page, "document.querySelector('summary')");
    await page.focus("summary");
    await page.keyboard.press("Space");
    await until(page, "document.querySelector('details').open");
    assert.equal(await page.evaluate("lab.playback.playing"), false);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("sliders say what their numbers mean, and the clock says nothing while it runs", async () => {
    const page = await open("#story=told-their-rate&step=3");
    const spoken = (selector) => page.evaluate(`document.querySelector('${selector}').getAttribute("aria-valuetext")`);
    assert.equal(await spoken("#speed"), "30 ms in one second");
    await page.press("#speed", "ArrowRight");
    assert.match(await spoken("#speed"), /^3\d(\.\d)? ms in one second$/);
    assert.equal(await spoken("#level-threshold"), "800 cells");
    await page.press("#level-threshold", "ArrowLeft");
    assert.equal(await spoken("#level-threshold"), "799 cells");
    assert.match(await page.textContent(".view h2"), /^This run vc\.category/);
    const live = await page.evaluate(`[...document.querySelectorAll("output")].map((output) => [output.id, output.ariaLive ?? "", output.ariaHidden ?? ""].join(" "))`);
    assert.ok(live.includes("clock off "), live.join("; "));
    const before = await spoken("#strip");
    await page.click("#play");
    await until(page, "lab.run.now > 405e9");
    assert.equal(await spoken("#strip"), before);
    await page.click("#play");
    await until(page, `document.querySelector("#strip").getAttribute("aria-valuetext") === document.querySelector("#clock").textContent`);
    assert.notEqual(await spoken("#strip"), before);
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

  test("nodes and links of the network are reached, heard and chosen", async () => {
    const page = await open("#scenario=lost-cell");
    await finished(page);
    const focused = () => page.evaluate("document.activeElement.ariaLabel");
    const press = (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
    const note = page.locator(".network .tip");
    // One stop on the way through the page: the link whose port is shown.
    for (let presses = 0; !(await page.evaluate("document.activeElement.matches('.spot')")); presses++) {
      assert.ok(presses < 30);
      await page.keyboard.press("Tab");
    }
    assert.match(await focused(), /^Link switch1 to switch2, .*tail-drop: 0 of 40 cells wait, none discarded$/);
    assert.equal(await page.getAttribute(".spot", "aria-current"), "true");
    assert.equal(await page.locator(".spot").count(), 1);
    assert.notEqual(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none");
    // Who sees the page has a note too; who hears it is not told twice.
    assert.match(await note.innerText(), /^switch1 > switch2\n/);
    assert.equal(await note.locator("[role=status]").getAttribute("aria-live"), "off");
    await press("ArrowRight");
    assert.match(await focused(), /^Switch switch2, \d ports: /);
    await press("ArrowLeft", "ArrowLeft", "ArrowLeft");
    assert.match(await focused(), /^(Link|Host) (src|switch1 to src)/);
    // It lies where the picture has it.
    await press("ArrowRight", "ArrowRight", "ArrowRight");
    const [spot, network] = [await page.locator(".spot").boundingBox(), await page.locator(".overview").boundingBox()];
    assert.ok(spot.x > network.x && spot.x + spot.width < network.x + network.width && spot.y > network.y && spot.y + spot.height < network.y + network.height);
    // What leads nowhere stays.
    await press("ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp");
    assert.ok(await page.evaluate("document.activeElement.matches('.spot')"));
    const before = await focused();
    await press("PageDown", "PageUp");
    assert.equal(await focused(), before);
    assert.equal(await page.evaluate("scrollY"), 0);
    // The keys of the page go on to work, but that of a button is the button's.
    await page.evaluate("lab.playback.seek(150e9)");
    await press("f");
    await until(page, "lab.run.now > 150e9");
    const chosen = () => page.evaluate("lab.run.description.links[lab.port].name");
    for (let presses = 0; !(await focused()).startsWith("Link switch2 to switch1"); presses++) {
      assert.ok(presses < 40);
      await press("PageDown");
    }
    await press("Space");
    assert.equal(await chosen(), "switch2 > switch1");
    assert.equal(await page.evaluate("lab.playback.playing"), false);
    assert.equal(await note.locator("[role=status]").getAttribute("aria-live"), "polite");
    assert.equal(await page.getAttribute(".spot", "aria-current"), "true");
    // While it runs the place does not change its name; once it stands it tells what is there.
    for (let presses = 0; !(await focused()).startsWith("Link switch1 to switch2"); presses++) {
      assert.ok(presses < 40);
      await press("PageDown");
    }
    await press("Enter");
    const [name, told] = [await focused(), await note.innerText()];
    await page.evaluate("lab.playback.setSpeed(20e9), lab.playback.play()");
    await until(page, `document.querySelector('.network .tip').innerText !== ${JSON.stringify(told)}`);
    assert.equal(await focused(), name);
    await page.evaluate("lab.playback.pause()");
    await until(page, `document.activeElement.ariaLabel !== ${JSON.stringify(name)}`);
    // Escape closes the note, then leaves the network; the next press of Tab goes on behind it.
    await press("Escape");
    assert.ok(await note.isHidden());
    assert.ok(await page.evaluate("document.activeElement.matches('.spot')"));
    await press("Escape");
    assert.equal(await page.evaluate("document.activeElement.tagName"), "BODY");
    await press("Tab");
    assert.equal(await page.evaluate("document.activeElement.id"), "play");
    // The keyboard reaches the buttons of the note, and closing it leads back without another note.
    await press("Shift+Tab", "Tab");
    assert.match(await focused(), /^The one before$/);
    await press("Tab", "Enter");
    assert.match(await note.innerText(), /^switch1 > src1\n/);
    assert.equal(await focused(), "The next");
    for (const keys of [["Tab", "Enter"], ["Tab", "Escape"]]) {
      await press(...keys);
      assert.ok(await note.isHidden());
      assert.match(await focused(), /^Link switch1 to src1/);
      await press("PageDown", "PageUp");
      assert.ok(await note.isVisible());
    }
    // So does the pointer, though the keyboard is in the network.
    await page.click(".network .tip button[aria-label='The one before']");
    assert.match(await note.innerText(), /^switch1 > switch2\n/);
    await page.click(".network .tip button[aria-label='Close the note']");
    await until(page, "document.activeElement === document.body");
    assert.ok(await note.isHidden());
    // Where a port is chosen elsewhere, the way into the network leads to its link.
    for (const port of ["switch2 > switch1", "switch1 > switch2"]) {
      await page.selectOption("#port", { label: port });
      await until(page, `document.querySelector('.spot').ariaLabel.startsWith('Link ${port.replace(">", "to")}')`);
    }
    // Another network has other places.
    await page.selectOption("#scenarios", "fat-tree");
    await until(page, "lab.scenario.id === 'fat-tree'");
    await until(page, "document.querySelector('.spot')?.ariaLabel.startsWith('Link aggregation1 to core1')");
    // A link that carries nothing after a change is no place any more.
    const incast = (value) => page.evaluate(`lab.changes.set("topology.pattern", "${value}")`);
    await incast("incast");
    const left = await page.evaluate("(({ links, flows }) => { const used = new Set(flows.flatMap(({ route, back }) => [...route, ...back])); return links.find((_, link) => !used.has(link)).name; })(lab.run.description)");
    await incast("");
    await page.focus(".spot");
    const gone = `Link ${left.replace(">", "to")},`;
    for (let presses = 0; !(await focused()).startsWith(gone); presses++) {
      assert.ok(presses < 200);
      await press("PageDown");
    }
    await incast("incast");
    await until(page, `document.activeElement.matches('.spot') && !document.activeElement.ariaLabel.startsWith('${gone}')`);
    assert.ok(!(await note.innerText()).startsWith(left));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
});
