/** The page in a tab that is really hidden. The library of the other tests keeps every tab visible, so this one speaks to Chromium
 * itself: messages of the DevTools protocol over a pipe. Skipped, with a word, where there is no Chromium. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { chromium, pageUrl } from "./support.mjs";

const executable = chromium();

/** A Chromium with tabs that hide each other. */
class Browser {
  #waiting = new Map();
  #rest = "";
  #next = 1;

  constructor() {
    this.profile = mkdtempSync(path.join(tmpdir(), "lab-"));
    const options = ["--headless", "--no-sandbox", "--remote-debugging-pipe", `--user-data-dir=${this.profile}`, "about:blank"];
    this.process = spawn(executable, options, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
    this.process.stdio[4].on("data", (data) => this.#receive(data));
  }

  #receive(data) {
    const messages = (this.#rest + data).split("\0");
    this.#rest = messages.pop();
    for (const { id, result, error } of messages.map((text) => JSON.parse(text))) {
      if (id === undefined) continue;
      const { resolve, reject } = this.#waiting.get(id);
      error ? reject(new Error(error.message)) : resolve(result);
    }
  }

  send(method, params = {}, sessionId = undefined) {
    const id = this.#next++;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Opens a tab, in front of the others unless `options` say otherwise; `script` runs in it before those of the page. */
  async open(url, options = {}, script = "") {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank", ...options });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    await this.send("Page.enable", {}, sessionId);
    await this.send("Page.addScriptToEvaluateOnNewDocument", { source: script }, sessionId);
    await this.send("Page.navigate", { url }, sessionId);
    const evaluate = async (expression) => {
      const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true }, sessionId);
      assert.equal(exceptionDetails, undefined);
      return result.value;
    };
    const until = async (expression) => {
      while (!(await evaluate(expression))) await new Promise((resolve) => setTimeout(resolve, 25));
    };
    return { evaluate, until, show: () => this.send("Target.activateTarget", { targetId }) };
  }

  async close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    await this.send("Browser.close");
    await ended;
    rmSync(this.profile, { recursive: true, maxRetries: 5 });
  }
}

/** Lets `elapse` do at once whatever waits for a time: what a page does on its own while nobody draws it, it does then. */
const TIMERS = `(() => {
  const waiting = new Map();
  for (const [set, clear, again] of [["setTimeout", "clearTimeout", false], ["setInterval", "clearInterval", true]]) {
    const [start, stop] = [window[set], window[clear]];
    window[set] = (work, ...others) => {
      const id = start(() => {
        if (!again) waiting.delete(id);
        work();
      }, ...others);
      waiting.set(id, () => {
        if (!again) window[clear](id);
        work();
      });
      return id;
    };
    window[clear] = (id) => {
      waiting.delete(id);
      stop(id);
    };
  }
  window.elapse = () => [...waiting.values()].forEach((work) => work());
})()`;

describe("a tab in the background", { skip: executable ? false : "no Chromium is installed (CHROMIUM names one)" }, () => {
  let browser;
  before(() => (browser = new Browser()));
  after(() => browser?.close());

  test("stands still, and goes on where it was", async () => {
    const page = await browser.open(`${pageUrl}#scenario=lost-cell`, {}, TIMERS);
    await page.until("document.documentElement?.dataset.ready === '1'");
    await page.evaluate("lab.playback.setSpeed(1e9); lab.playback.play()");
    await page.until("lab.run.now > 0");
    const other = await browser.open("about:blank");
    await other.show();
    await page.until("document.hidden && !lab.run.isBusy");
    const before = await page.evaluate("lab.run.now");
    // Many pictures would be drawn in this time. What the worker is asked for by then is done before it answers.
    await page.evaluate("(async () => { for (let round = 0; round < 50; round++) { elapse(); await lab.run.scenario(); } })()");
    assert.equal(await page.evaluate("lab.run.now"), before);
    assert.ok(await page.evaluate("lab.playback.playing"));
    const next = "new Promise((resolve) => { const look = () => (lab.run.now > before ? resolve(lab.run.now) : requestAnimationFrame(look)); requestAnimationFrame(look); })";
    await page.evaluate(`var before = lab.run.now, moved = ${next}; 0`);
    await page.show();
    // The first picture makes up for no more than a tenth of a second, at a millisecond per second.
    const step = (await page.evaluate("moved")) - before;
    assert.ok(step > 0 && step <= 0.1e9 + 1, `${step} ps`);
    await page.evaluate("lab.playback.pause()");
  });

  test("runs ahead to the end, though nobody has seen it", async () => {
    const front = await browser.open("about:blank");
    const page = await browser.open(`${pageUrl}#scenario=lost-cell`, { background: true });
    await front.show();
    await page.until("document.documentElement?.dataset.ready === '1'");
    assert.ok(await page.evaluate("document.hidden"));
    await page.until("lab.run.outcome !== undefined");
  });
});
