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
    const name = await focused();
    await page.evaluate("lab.playback.setSpeed(20e9), lab.playback.play()");
    await until(page, "lab.run.now > 170e9 && document.querySelector('.network .tip').innerText.includes('39 of 40')");
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
    // Another network has other places.
    await page.selectOption("#scenarios", "fat-tree");
    await until(page, "lab.scenario.id === 'fat-tree'");
    await until(page, "document.querySelector('.spot')?.ariaLabel.startsWith('Link aggregation1 to core1')");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
});
