/** What the picture of the network tells. In a real browser, from a file. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inBrowser } from "./harness.mjs";

inBrowser("the network", ({ open, until }) => {
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
    // Fingers do not always hit what is small: the note goes on to what is next, and its buttons stay under the finger.
    const place = async (name) => (await page.locator(`.network .tip button[aria-label='${name}']`).boundingBox()).x;
    await tap(0.5 / 8, 1 / 3);
    const next = await place("The next");
    for (let taps = 0; !(await tip.innerText()).startsWith("host1\n"); taps++) {
      assert.ok(taps < 20);
      await page.tap(".network .tip button[aria-label='The next']");
      assert.ok(Math.abs((await place("The next")) - next) < 1);
    }
    // What is told is of the moment that is shown.
    await tap(0.5 / 16, 1);
    await until(page, "document.querySelector('.network .tip').innerText.startsWith('host1\\nto host9: 0 B delivered')");
    await page.evaluate("lab.playback.seek(50e9)");
    await until(page, "/to host9: [\\d.]+ [kM]B delivered, window/.test(document.querySelector('.network .tip').innerText)");
    const before = await place("The one before");
    await page.tap(".network .tip button[aria-label='The next']");
    assert.match(await tip.innerText(), /^host2\n/);
    await page.tap(".network .tip button[aria-label='The one before']");
    await page.tap(".network .tip button[aria-label='The one before']");
    assert.match(await tip.innerText(), /^core4\n/);
    assert.ok(Math.abs((await place("The one before")) - before) < 1);
    assert.ok(await page.locator(".spot.shown").boundingBox(), "the picture shows which one it is");
    await page.tap(".network .tip button[aria-label='Close the note']");
    await hidden();
    assert.equal(await page.locator(".spot.shown").count(), 0);
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
});
