/**
 * Builds the lab: one page that holds its scripts, its styles, its scenarios and the engine, so that it runs from a file as well as
 * from a server, and asks nobody for anything.
 *
 *   node build.mjs ENGINE.wasm [FOLDER]
 */

import { build } from "esbuild";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = path.dirname(fileURLToPath(import.meta.url));
const [wasm, folder = path.join(here, "dist")] = process.argv.slice(2);

async function filesOf(directory, extension) {
  const names = (await readdir(directory)).filter((name) => name.endsWith(extension)).sort();
  return Promise.all(names.map(async (name) => [path.basename(name, extension), await readFile(path.join(directory, name), "utf8")]));
}

export async function scenarios() {
  const directory = path.join(here, "../scenarios/teaching");
  return (await filesOf(directory, ".toml")).map(([id, toml]) => {
    if (/^extends\b/m.test(toml)) throw new Error(`${id}.toml extends another file: the lab has no other files`);
    return { id, title: /^name *= *"(.*)"/m.exec(toml)?.[1] ?? id, toml };
  });
}

export async function stories() {
  const known = new Set((await scenarios()).map(({ id }) => id));
  const all = (await filesOf(path.join(here, "stories"), ".json")).map(([id, text]) => ({ id, ...JSON.parse(text) }));
  for (const story of all) {
    if (!known.has(story.scenario)) throw new Error(`stories/${story.id}.json: there is no scenario "${story.scenario}"`);
  }
  return all.sort((a, b) => a.order - b.order);
}

/** Modules whose contents are made here. */
function virtual(contents) {
  return {
    name: "virtual",
    setup(builder) {
      builder.onResolve({ filter: /^virtual:/ }, ({ path }) => ({ path, namespace: "virtual" }));
      builder.onLoad({ filter: /.*/, namespace: "virtual" }, async ({ path }) => ({
        contents: JSON.stringify(await contents[path.slice("virtual:".length)]()), loader: "json",
      }));
    },
  };
}

async function bundle(entry, plugins = []) {
  const options = { bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "utf8", legalComments: "none" };
  const { outputFiles } = await build({ ...options, entryPoints: [path.join(here, entry)], plugins });
  // The text stands inside an element of its own, which this would end.
  return outputFiles[0].text.replaceAll("</script", "<\\/script");
}

async function page() {
  const worker = await bundle("src/run/worker.ts");
  const script = await bundle("src/main.ts", [virtual({ scenarios, stories, worker: async () => worker })]);
  const style = (await build({ entryPoints: [path.join(here, "src/style.css")], minify: true, write: false })).outputFiles[0].text;
  const engine = gzipSync(await readFile(wasm), { level: 9 }).toString("base64");
  const parts = { style, script, engine };
  const template = await readFile(path.join(here, "src/index.html"), "utf8");
  return template.replace(/<!-- (style|script|engine) -->/g, (_, name) => parts[name]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!wasm) throw new Error("usage: node build.mjs ENGINE.wasm [FOLDER]");
  await mkdir(folder, { recursive: true });
  const html = await page();
  await writeFile(path.join(folder, "index.html"), html);
  console.log(`${path.join(folder, "index.html")}: ${(html.length / 1e6).toFixed(2)} MB`);
}
