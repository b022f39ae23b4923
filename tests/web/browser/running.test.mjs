/** Time: it runs, pauses, goes anywhere, and survives the loss of a worker. In a real browser, from a file. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { load, resolved } from "../support.mjs";
import { inBrowser } from "./harness.mjs";

const { decode } = await load("text/share");

inBrowser("time", ({ open, until, now, idle, finished, drop }) => {
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

  test("who seeks what is far away sees it come nearer, and may go elsewhere before it is reached", async () => {
    const page = await open("#scenario=fifteen-connections");
    await page.evaluate("lab.changes.set('duration', '9000 s')");
    await page.evaluate("lab.playback.seek(8000e12), void 0");
    await until(page, "lab.run.now > 0");
    const link = await page.evaluate("lab.address.link()");
    assert.equal((await decode(new URL(link).hash.replace("#run=", ""))).at, 8000e12);
    await page.keyboard.press("Home");
    await until(page, "lab.run.now === 0 && lab.playback.wantedTime === undefined");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("steps go on from the moment that is sought, and so does the run", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate("lab.playback.seek(150e9)");
    await page.evaluate("lab.playback.seek(0), lab.playback.stepCell(), lab.playback.stepCell(), void 0");
    await until(page, "lab.run.now === 212e6");
    await page.evaluate(`(() => {
      lab.playback.seek(1e12);
      for (let press = 0; press < 2; press++) document.getElementById("strip").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowLeft" }));
    })()`);
    await until(page, "lab.run.now === 990e9");
    await finished(page);
    const [, second] = await page.evaluate("[...new Set(lab.run.discards.map(({ at }) => at))]");
    await page.evaluate("lab.playback.seek(0), lab.playback.stepDiscard(), lab.playback.stepDiscard(), void 0");
    await until(page, `lab.run.now === ${second} + 1`);
    await page.evaluate("lab.playback.seek(lab.run.description.duration)");
    await page.evaluate("lab.playback.setSpeed(1e9), lab.playback.seek(1e12), lab.playback.play(), void 0");
    // It stands at its end until the moment that is sought is reached.
    await until(page, "lab.run.now > 1e12 && lab.run.now < lab.run.description.duration");
    assert.ok(await page.evaluate("lab.playback.playing"));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("the next loss is another one, also where times are too late to be whole picoseconds", async () => {
    const page = await open();
    const toml = resolved("two-sources").replace(/^\[traffic\][^[]*/m, '[traffic]\nkind = "cbr"\nrate = "1 kbit/s"\n').replace('duration = "5 s"', 'duration = "9030 s"').replace("[link]", "[link]\nloss = 0.3");
    await drop(page, "long.toml", toml);
    await until(page, "lab.run.description.duration === 9030e12");
    await finished(page);
    await page.evaluate("lab.playback.seek(2 ** 53)");
    const times = await page.evaluate("[...new Set(lab.run.discards.map(({ at }) => at))].filter((at) => at > 2 ** 53)");
    assert.ok(times.length > 10);
    for (const at of times) {
      await page.keyboard.press("d");
      await until(page, `lab.run.now === ${at} + 2`);
    }
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a run beside a longer one stands at its end, and stands where the other one is sought", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate("lab.playback.seek(150e9), lab.changes.pin([]), void 0");
    await until(page, "lab.beside !== undefined && lab.playback.wantedTime === undefined");
    assert.deepEqual(await page.evaluate("[lab.run.now, lab.beside.now]"), [150e9, 150e9]);
    await page.evaluate("lab.changes.set('duration', '4 s')");
    await page.evaluate("lab.playback.seek(3e12), void 0");
    await until(page, "lab.run.now === 3e12 && lab.playback.wantedTime === undefined");
    assert.equal(await page.evaluate("lab.beside.now"), 2e12);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("what travels has its name on the buttons: cells or packets", async () => {
    const page = await open("#scenario=two-sources");
    assert.equal(await page.textContent("#step-cell"), "+ cell");
    await page.evaluate("lab.address.open('#scenario=two-paths')");
    await until(page, "lab.scenario.id === 'two-paths'");
    assert.equal(await page.textContent("#step-cell"), "+ packet");
    await finished(page);
    await page.evaluate("lab.playback.seek(lab.run.description.duration)");
    await page.click("#step-discard");
    assert.equal(await page.textContent("#toast"), "There is no loss from here on.");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a link that changes is as it is at the moment that is shown", async () => {
    const page = await open("#scenario=two-sources");
    const changes = `[["link.rate-changes", '[{ at = "10 ms", rate = "20 Mbit/s" }]'], ["link.delay-changes", '[{ at = "20 ms", delay = "3 ms" }]']]`;
    await page.evaluate(`lab.load(lab.scenario, ${changes}, 15e9)`);
    const link = () => page.evaluate("[lab.run.description.links[lab.port].rate, lab.run.description.links[lab.port].delay]");
    const [rate, delay] = await link();
    assert.equal(rate, 20e6);
    await page.evaluate("lab.playback.seek(25e9)");
    assert.deepEqual(await link(), [rate, 3e9]);
    await page.evaluate("lab.playback.seek(5e9)");
    const before = await link();
    assert.ok(before[0] > rate && before[1] === delay, String(before));
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("what a dark link loses is seen where it is lost, with the reason", async () => {
    const page = await open();
    await drop(page, "dark.toml", resolved("bufferbloat").replace(/^delay = "5 ms"$/m, 'delay = "5 ms"\ntrunk.dark = { from = "1 s", length = "1 s" }').replace('buffer = "400 packets"', 'buffer = "unlimited"'));
    await until(page, "lab.scenario.title === 'dark.toml'");
    await finished(page);
    await page.evaluate(`(() => {
      lab.texts = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        if (this.canvas.className === "closeup") lab.texts.push(text);
        fillText.call(this, text, x, y);
      };
    })()`);
    await page.click("#step-discard");
    await until(page, "lab.texts.some((text) => /^\\d+ packets?: lost in the dark$/.test(text))");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("a paused link is seen, told of and heard, and the strip shows for how long its port is paused", async () => {
    const page = await open("", { viewport: { width: 390, height: 844 } });
    await drop(page, "paused.toml", `
      schema = 1
      name = "a slow exit"
      duration = "4 ms"
      traffic = { kind = "cbr", rate = "42.4 Mbit/s", start = "0 s" }
      topology = { kind = "n-source", sources = 1 }
      link = { rate = "42.4 Mbit/s", delay = "35 us", exit = { rate = "21.2 Mbit/s" } }
      switch = { buffer = "unlimited", memory = { size = "60 cells", pause = { xoff = "12 cells", xon = "8 cells" } } }`);
    await until(page, "lab.scenario.title === 'paused.toml'");
    await finished(page);
    await page.evaluate(`(() => {
      lab.texts = [];
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        lab.texts.push((this.canvas.className || this.canvas.id) + ": " + text);
        fillText.call(this, text, x, y);
      };
      lab.choosePort(lab.portIn(lab.run, "switch1 > switch2"));
    })()`);
    const pause = await page.evaluate("lab.run.pauses.find(({ link }) => link === lab.port)");
    const drawn = async (at) => {
      await page.evaluate(`lab.playback.seek(${at})`);
      await until(page, `lab.run.now === ${at} && !lab.run.isBusy`);
      await page.evaluate("lab.texts = [], lab.stage.strip.drawn = [], lab.stage.redraw()");
      await until(page, "lab.texts.some((text) => text.startsWith('strip: '))");
      return page.evaluate("[...new Set(lab.texts.filter((text) => text.endsWith(': paused')))].sort()");
    };
    // What happens at a moment is seen just after it.
    assert.deepEqual(await drawn(pause.at), ["strip: paused"]);
    assert.deepEqual(await drawn(pause.at + 1), ["closeup: paused", "strip: paused"]);
    assert.deepEqual(await drawn(pause.until), ["closeup: paused", "strip: paused"]);
    assert.match(await page.textContent("#status"), /port switch1 > switch2 holds \d+ cells and is paused\.$/);
    await page.evaluate("document.querySelector('.spot').focus()");
    const name = await page.evaluate("document.activeElement.getAttribute('aria-label')");
    assert.match(name, /^Link switch1 to switch2, .*, paused by switch2 since 0\.\d{3} ms, 1 pause, /);
    assert.match(await page.textContent(".tip.told"), /paused by switch2 since/);
    assert.deepEqual(await drawn(pause.until + 1), ["strip: paused"]);
    assert.deepEqual(page.errors, []);
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

  test("an engine that stops while a moment is sought is named, and the next moment can be sought", async () => {
    const page = await open("#scenario=lost-cell");
    await page.evaluate("lab.playback.seek(150e9)");
    // The worker answers what is asked next as if its engine had stopped.
    await page.evaluate(`(() => {
      const { live } = lab.run;
      live.ask = () => new Promise((_, reject) => live.lose("unreachable", { reject }, true));
    })()`);
    await page.click("#step-cell");
    await until(page, "document.querySelector('#toast').textContent.startsWith('The engine has stopped, and was started again')");
    assert.equal(await now(page), 150e9);
    await page.click("#step-cell");
    await until(page, "lab.run.now === 150106000000");
    await page.click("#restart");
    await until(page, "lab.run.now === 0");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("an engine that stops while it runs ahead is named where the measures would stand", async () => {
    const page = await open("#scenario=fifteen-connections");
    // What it answers first is that its engine has stopped.
    await page.evaluate(`lab.changes.set('seed', '2').then(() => {
      const { run } = lab;
      run.note = () => run.ahead.lose("out of memory", undefined, true);
    })`);
    await until(page, "document.querySelector('#measures').textContent.includes('Please report this: out of memory')");
    await until(page, "/the run ahead has stopped at \\d+ %/.test(document.querySelector('.caption').textContent)");
    await page.evaluate("lab.playback.seek(50e9)");
    assert.equal(await now(page), 50e9, "what is watched goes on");
    await page.evaluate("lab.run.discards.length = 0");
    await page.click("#step-discard");
    assert.equal(await page.textContent("#toast"), "The run ahead has stopped before it found a loss.");
    await page.context().close();
  });

  test("a worker that is lost while it runs ahead is replaced, and the strip is whole", async () => {
    const page = await open("#scenario=fifteen-connections");
    // It is killed by what it says of itself, not at some time: it might have ended by then.
    await page.evaluate(`lab.changes.set('seed', '2').then(() => {
      const { run } = lab;
      run.note = (view) => {
        delete run.note;
        run.note(view);
        run.kill('ahead');
      };
    })`);
    await until(page, "!Object.hasOwn(lab.run, 'note')");
    await finished(page);
    const [samples, last, duration] = await page.evaluate("[lab.run.samples.times.length, lab.run.samples.times.at(-1), lab.run.description.duration]");
    assert.equal(samples, 6000);
    assert.equal(last, duration);
    assert.deepEqual(page.errors, []);
    await page.context().close();
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

  test("two runs of many links stand side by side on a phone, where there is no room for the network", async () => {
    const page = await open("", { viewport: { width: 390, height: 844 } });
    await drop(page, "many.toml", resolved("two-sources").replace("sources = 2", "sources = 300").replace('duration = "5 s"', 'duration = "1200 ms"'));
    await until(page, "lab.run.description.flows.length === 300");
    await page.click("#pin");
    await until(page, "lab.beside !== undefined");
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    await page.click("#step-cell");
    await until(page, "lab.run.now > 0 && lab.beside.now === lab.run.now");
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });

  test("of three thousand sources the pictures take as many strokes as there are cells under way, and the strip no more than can be told apart", async () => {
    const page = await open();
    await drop(page, "many.toml", resolved("two-sources").replace("sources = 2", "sources = 3000").replace('duration = "5 s"', 'duration = "20 ms"').replace(/warm-up = .*/, 'warm-up = "0 s"').replace(/^start = .*$/m, 'start = "0 ms .. 5 ms"'));
    await until(page, "lab.run.description.flows.length === 3000");
    await finished(page);
    await page.evaluate(`(() => {
      [lab.strokes, lab.pictures] = [0, 0];
      const { strip } = lab.stage;
      const { draw } = strip;
      strip.draw = (...all) => {
        lab.pictures++;
        draw.apply(strip, all);
      };
      for (const name of ["fillRect", "fill", "stroke", "strokeRect", "lineTo", "fillText", "strokeText"]) {
        const draw = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...all) {
          lab.strokes++;
          return draw.apply(this, all);
        };
      }
    })()`);
    const drawn = (change) => page.evaluate(`(async () => {
      const picture = () => new Promise((resolve) => requestAnimationFrame(resolve));
      await ${change};
      await picture();
      await picture();
      [lab.strokes, lab.pictures] = [0, 0];
      lab.stage.redraw();
      await picture();
      await picture();
      return [lab.strokes / lab.pictures, lab.run.view.rows.length];
    })()`);
    for (const at of [2e9, 12e9]) {
      const [strokes, rows] = await drawn(`lab.playback.seek(${at})`);
      // The links and hosts alone would take 18 000, and the lanes of the port 3000.
      assert.ok(rows > 0 && strokes < 2 * rows + 500, `${strokes} strokes for ${rows} rows`);
    }
    // Trains that come are as many as the links on which they do.
    await page.evaluate("lab.playback.setSpeed(1e7)");
    const [coming, trains] = await drawn("lab.playback.seek(2.5e9)");
    assert.ok(trains > 2000 && coming < 2 * trains + 500, `${coming} strokes for ${trains} rows`);
    // On lanes that lie on each other the cells of a flow that is chosen are seen all the same.
    const seen = await page.evaluate(`(async () => {
      const { view: { rows }, description: { flows } } = lab.run;
      const all = Array.from({ length: rows.length }, (_, row) => [rows.get(row, 0), rows.get(row, 1), rows.get(row, 2) / 2, rows.get(row, 7)]);
      // So close to the port that they are in the picture.
      const under = all.filter(([link, place, flow, after]) => place === 2 && flow < 60 && flows[flow]?.route[0] === link && after < 40e6).map(([, , flow]) => flow);
      const counts = [];
      for (const flow of new Set(under)) {
        lab.chooseFlow(flow);
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        const canvas = document.querySelector(".closeup");
        const { data } = canvas.getContext("2d").getImageData(0, 0, Math.floor(0.4 * canvas.width), canvas.height);
        const colour = getComputedStyle(document.querySelector("#flow-" + flow + " i")).backgroundColor.match(/\\d+/g).map(Number);
        let count = 0;
        for (let at = 0; at < data.length; at += 4) count += Number(colour.every((value, part) => Math.abs(data[at + part] - value) < 3));
        counts.push(count);
        lab.chooseFlow(flow);
      }
      return counts;
    })()`);
    assert.ok(seen.length > 0 && seen.every((count) => count > 0), `${seen}`);
    // The strip, which a flow that is chosen draws anew: the hosts, and no stroke for the others' curves. The menu of ports stays where it is.
    await page.evaluate(`(() => {
      lab.moved = 0;
      new MutationObserver((records) => (lab.moved += records.flatMap(({ addedNodes }) => [...addedNodes]).filter((node) => node.contains(document.getElementById("port"))).length))
        .observe(document.getElementById("panel"), { childList: true, subtree: true });
    })()`);
    for (const chosen of [0, -1]) {
      await page.evaluate("[lab.strokes, lab.pictures] = [0, 0], lab.chooseFlow(0)");
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))");
      assert.equal(await page.evaluate("lab.focus"), chosen);
      const strokes = await page.evaluate("lab.strokes / lab.pictures");
      assert.ok(strokes > 0 && strokes < 30_000, `${strokes} strokes a picture`);
    }
    assert.equal(await page.evaluate("lab.moved"), 0);
    assert.equal(await page.evaluate("document.querySelectorAll('#port option').length"), 6002);
    assert.deepEqual(page.errors, []);
    await page.context().close();
  });
});
