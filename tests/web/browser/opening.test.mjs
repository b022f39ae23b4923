/** What the page opens: scenarios, stories, files, and what the command line passes on. In a real browser, from a file. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { goldenFingerprints, pageUrl, resolved, root } from "../support.mjs";
import { inBrowser } from "./harness.mjs";

inBrowser("what is opened", ({ open, until, now, finished, fingerprint, drop }) => {
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

  test("what is pressed before anything is shown does nothing, and what was asked for is shown as ever", async () => {
    // The engine hears of no scenario before `release` is called.
    const script = `
      const { postMessage } = Worker.prototype;
      window.held = [];
      Worker.prototype.postMessage = function (message, ...others) {
        const send = () => postMessage.call(this, message, ...others);
        if (window.held && message.do === "load") window.held.push(send);
        else send();
      };
      window.release = () => {
        const all = window.held;
        window.held = undefined;
        all.forEach((send) => send());
      };`;
    const page = await open("", { script, first: "window.lab !== undefined && held.length > 0" });
    for (const button of await page.locator(".bar button:not(#open), #transport button").all()) await button.click();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.locator("#speed").press("ArrowRight");
    await page.focus("#play");
    for (const key of ["f", "d", ".", "[", "]", "Home", "Escape", "Space"]) await page.keyboard.press(key);
    const strip = page.locator("#strip");
    await strip.dblclick();
    await page.mouse.wheel(0, 100);
    for (const key of ["ArrowLeft", "PageUp", "End", "+", "-", "Space", "f"]) await strip.press(key);
    const chooser = page.waitForEvent("filechooser");
    await page.selectOption("#scenarios", { label: "Open a file…" });
    await (await chooser).setFiles([]);
    assert.deepEqual(page.errors, []);
    await page.evaluate("release()");
    await page.waitForSelector("html[data-ready]");
    assert.equal(await page.textContent("#story h2"), "One lost cell wastes a train");
    assert.equal(await page.evaluate("lab.playback.playing"), false);
    assert.equal(await page.textContent("#play"), "Play");
    await until(page, "!document.querySelector('#clock').textContent.startsWith('0.000 000')");
    await page.click("#story button.primary");
    await until(page, "lab.run.now >= 167e9");
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

  test("every other shipped scenario has it too, when its file is dropped", async (context) => {
    if (!existsSync(path.join(root, ".venv/bin/celltrain"))) return context.skip("most extend another file, and .venv/bin/celltrain is not built");
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
      const { load } = lab;
      lab.loads = [];
      lab.load = (...all) => {
        lab.loads.push(load.apply(lab, all));
        return lab.loads.at(-1);
      };
      const choose = (menu, value) => {
        document.getElementById(menu).value = value;
        document.getElementById(menu).dispatchEvent(new Event("change"));
      };
      choose("stories", "windows-and-espd");
      for (const id of ["fat-tree", "fifteen-connections", "one-connection"]) choose("scenarios", id);
    })()`);
    assert.deepEqual(await page.evaluate("Promise.all(lab.loads)"), [false, false, false, true]);
    assert.equal(await page.evaluate("lab.scenario.id"), "one-connection");
    assert.equal(await page.inputValue("#scenarios"), "one-connection");
    assert.equal(await page.inputValue("#stories"), "");
    assert.ok(await page.isHidden("#story"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
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

  test("a file that is no text is refused, and a text that is dragged is left to the field it is dropped on", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate(`(() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff)], "picture.png"));
      dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
    })()`);
    await page.waitForSelector("#toast:not([hidden])");
    assert.equal(await page.textContent("#toast"), "picture.png is no text in UTF-8: a scenario is a TOML file.");
    const prevented = await page.evaluate(`["dragover", "drop"].map((kind) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData("text/plain", "seed = 3");
      const event = new DragEvent(kind, { dataTransfer, cancelable: true, bubbles: true });
      document.getElementById("setting").dispatchEvent(event);
      return event.defaultPrevented;
    })`);
    assert.deepEqual(prevented, [false, false]);
    assert.ok(await page.isHidden("#drop"));
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
});
