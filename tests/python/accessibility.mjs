// Opens pages in Chromium, narrow and wide, light and dark, and prints as JSON what axe-core finds serious, what does not fit
// into the width, and the size of the smallest text of a chart. Arguments: node_modules, Chromium, pages.
import fs from "node:fs";
import { createRequire } from "node:module";

const [modules, executablePath, ...files] = process.argv.slice(2);
const require = createRequire(`${modules}/`);
const { chromium } = require("playwright-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const look = () => {
  const sizes = [...document.querySelectorAll("figure.chart svg")]
    .filter((svg) => svg.clientWidth)
    .map((svg) => (parseFloat(getComputedStyle(svg).fontSize) * svg.clientWidth) / svg.viewBox.baseVal.width);
  return { text: Math.min(...sizes, Infinity), beyond: document.documentElement.scrollWidth - innerWidth };
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const found = [];
for (const file of files) {
  for (const [width, colorScheme] of [[390, "light"], [390, "dark"], [1280, "light"]]) {
    // The page's own policy would refuse the checker's script.
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
    await page.goto(`file://${file}`);
    await page.evaluate(() => document.querySelectorAll("details").forEach((part) => { part.open = true; }));
    await page.waitForTimeout(100); // charts that were folded are drawn anew
    const { text, beyond } = await page.evaluate(look);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
    const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
    found.push({ file, width, colorScheme, text, beyond, serious: serious.map((one) => `${one.id}: ${one.nodes[0].html}`) });
    await page.close();
  }
}
await browser.close();
console.log(JSON.stringify(found));
