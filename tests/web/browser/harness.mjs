/** The page in a real browser, from a file: what somebody does who uses it. Skipped, with a word, where there is no Chromium. */

import { createRequire } from "node:module";
import path from "node:path";
import { after, before, describe } from "node:test";
import { chromium as findChromium, pageUrl, root } from "../support.mjs";

export const executablePath = findChromium();
export const require = createRequire(path.join(root, "web/package.json"));

/** Tests that share a browser; `tests` is given what they do in it. */
export function inBrowser(title, tests) {
  describe(title, { skip: executablePath ? false : "no Chromium is installed (CHROMIUM names one)" }, () => {
    let browser;
    before(async () => {
      const { chromium } = require("playwright-core");
      browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    });
    after(() => browser?.close());
    tests({ open: (fragment = "", options = {}) => open(options.in ?? browser, fragment, options), until, now, idle, finished, fingerprint, drop });
  });
}

/** Milliseconds that each message to a worker waits (LAG), and each act of a test (PAUSE): both show which test passes by luck. */
const [lag, rest] = [Number(process.env.LAG ?? 0), Number(process.env.PAUSE ?? 0)];
const pause = (duration) => new Promise((resolve) => setTimeout(resolve, duration));

/** Makes the workers of a page answer late. */
function answerLate(lag) {
  globalThis.Worker = class extends Worker {
    postMessage(...message) {
      setTimeout(() => super.postMessage(...message), lag);
    }
  };
}

/** Makes each act in a page come late. */
function actLate(page) {
  for (const [acting, acts] of [[page, ["evaluate", "click", "textContent", "fill"]], [page.keyboard, ["press", "type"]], [page.mouse, ["click", "move", "down", "up"]]]) {
    for (const act of acts) {
      const original = acting[act].bind(acting);
      acting[act] = (...how) => pause(rest).then(() => original(...how));
    }
  }
}

/** Opens the lab; `errors` collects what goes wrong in it, `requests` what it asks for. A `script` runs before those of the page. Waits
 * until something is shown, or until `first` holds. */
async function open(browser, fragment, { in: _, script, first, ...options }) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options });
  const page = await context.newPage();
  page.errors = [];
  page.requests = [];
  page.on("pageerror", (error) => page.errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  page.on("request", (request) => page.requests.push(request.url()));
  if (script) await page.addInitScript(script);
  if (lag) await page.addInitScript(answerLate, lag);
  if (rest) actLate(page);
  await page.goto(pageUrl + fragment);
  if (first) await until(page, first);
  else await page.waitForSelector("html[data-ready]");
  return page;
}

/** Waits until an expression holds. The page's own policy forbids `eval`, which the library's way of waiting needs. */
async function until(page, expression) {
  for (let round = 0; round < 4000; round++) {
    if (await page.evaluate(expression)) return;
    await pause(25);
  }
  throw new Error(`${expression} never holds; now: ${await page.evaluate("lab.run.now")}, ${await page.textContent("#toast")}`);
}

const now = (page) => page.evaluate("lab.run.now");
const idle = (page) => until(page, "!lab.run.isBusy");
const finished = (page) => until(page, "lab.run.outcome !== undefined");

async function fingerprint(page) {
  await finished(page);
  return page.evaluate("lab.run.outcome.fingerprint");
}

/** Drops a file on the page. */
function drop(page, name, text) {
  return page.evaluate(([name, text]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], name));
    dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
  }, [name, text]);
}
