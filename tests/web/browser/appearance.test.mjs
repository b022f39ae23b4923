/** How it looks: sizes, long names, colours, and what a checker of accessibility says. In a real browser, from a file. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { resolved } from "../support.mjs";
import { executablePath, inBrowser, require } from "./harness.mjs";

inBrowser("its looks", ({ open, until, finished, drop }) => {
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
      assert.ok(await page.evaluate("document.querySelector('#measures').scrollWidth <= document.querySelector('#measures').clientWidth"), `nor out of the panel at ${width} pixels`);
      const height = await page.evaluate("document.querySelector('.bar h1').clientHeight");
      assert.ok(height < 30, `the name of the page has one line at ${width} pixels`);
    }
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("names of the lanes at a port do not lie on each other", async () => {
    const page = await open();
    for (const [sources, least] of [[4, 4], [8, 4], [10, 5]]) {
      await drop(page, `${sources}.toml`, resolved("two-sources").replace("sources = 2", `sources = ${sources}`));
      await until(page, `lab.scenario.title === "${sources}.toml"`);
      await page.evaluate(`(() => {
        lab.names = [];
        const { fillText } = CanvasRenderingContext2D.prototype;
        CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
          if (this.canvas.className === "closeup" && /^src\\d+$/.test(text)) lab.names.push([text, y]);
          fillText.call(this, text, x, y);
        };
        lab.stage.redraw();
      })()`);
      await until(page, "lab.names.length > 0");
      const heights = new Map(await page.evaluate("lab.names"));
      assert.ok(heights.size >= least, `${[...heights.keys()]} of ${sources}`);
      const all = [...heights.values()];
      assert.ok(all.slice(1).every((y, place) => y - all[place] >= 12), `${all}`);
    }
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

  test("pictures have the pixels of the screen, also of another one that the page comes to", async () => {
    // So wide that the pictures keep their size on the page.
    const page = await open("#scenario=lost-cell", { viewport: { width: 1800, height: 1000 } });
    const session = await page.context().newCDPSession(page);
    for (const deviceScaleFactor of [2, 1, 1.5]) {
      await session.send("Emulation.setDeviceMetricsOverride", { width: 1800, height: 1000, deviceScaleFactor, mobile: false });
      await until(page, `[...document.querySelectorAll("canvas")].every((canvas) => canvas.width === Math.round(canvas.clientWidth * ${deviceScaleFactor}))`);
    }
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("who reads in colours of their own sees which flow is which, and the moment on the time line", async () => {
    const page = await open("#scenario=two-sources", { forcedColors: "active" });
    const colours = await page.evaluate(`[".flows i", ".flows tr + tr i", ".cursor"].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor)`);
    assert.deepEqual(colours, ["rgb(0, 114, 178)", "rgb(230, 159, 0)", "rgb(181, 71, 8)"]);
    await page.context().close();
  });

  test("a number and its unit stand in one line, however narrow the page is", async () => {
    const page = await open("#scenario=fat-tree");
    for (const width of [1280, 700, 640, 390, 320]) {
      await page.setViewportSize({ width, height: 860 });
      assert.equal(await page.evaluate("document.querySelector('#speed-text').getClientRects().length"), 1, `${width} pixels`);
    }
    await page.context().close();
  });

  test("what a finger presses is large enough on a phone", async () => {
    const page = await open("#scenario=fifteen-connections", { viewport: { width: 390, height: 844 } });
    await finished(page);
    const small = await page.evaluate(`[...document.querySelectorAll("button, select, input:not([hidden])")].flatMap((element) => {
      const { width, height } = element.getBoundingClientRect();
      const isCovered = getComputedStyle(element).pointerEvents === "none";
      return width === 0 || isCovered || Math.min(width, height) >= 24 ? [] : [element.id + " " + width + " x " + height];
    })`);
    assert.deepEqual(small, []);
    await page.context().close();
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
