/** What the tests of the lab share: the engine in Node, the shipped scenarios, a browser if there is one. */

import { build } from "../../web/node_modules/esbuild/lib/main.js";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

export const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../..");
export const page = path.join(root, "web/dist/index.html");
export const pageUrl = pathToFileURL(page).href;

/** A module of the page, as Node can load it. */
export async function load(name) {
  const entryPoints = [path.join(root, "web/src", `${name}.ts`)];
  const { outputFiles } = await build({ entryPoints, bundle: true, write: false, format: "esm", platform: "node", logLevel: "error" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** The engine that the page holds. */
export function engineBytes() {
  const file = process.env.CELLTRAIN_ENGINE;
  if (!file) throw new Error("CELLTRAIN_ENGINE names no file: run `make test-lab`");
  return readFileSync(file);
}

/** The fingerprint that a native run of each shipped scenario gave, by name. */
export function goldenFingerprints() {
  const folder = path.join(root, "tests/golden");
  const fingerprint = (file) => /^fingerprint ([0-9a-f]{16})$/m.exec(readFileSync(path.join(folder, file), "utf8"))[1];
  return new Map(readdirSync(folder).map((file) => [path.basename(file, ".txt"), fingerprint(file)]));
}

const shipped = ["teaching", "regression"].flatMap((folder) => {
  const files = readdirSync(path.join(root, "scenarios", folder)).filter((file) => file.endsWith(".toml"));
  return files.map((file) => path.join(root, "scenarios", folder, file));
});

/** The texts of shipped scenarios that extend another file, each as one file, by path: all of them at once, as starting Python takes longer. */
const flattened = (() => {
  let texts;
  const script = "import json, sys, celltrain\nprint(json.dumps({file: celltrain.load(file).to_toml() for file in sys.argv[1:]}))";
  return (file) => {
    const files = shipped.filter((one) => /^extends\b/m.test(readFileSync(one, "utf8")));
    texts ??= JSON.parse(execFileSync(path.join(root, ".venv/bin/python"), ["-c", script, ...files], { encoding: "utf8" }));
    return texts[file];
  };
})();

/** The text of a shipped scenario with what it extends; undefined where the command that resolves it is not built. */
export function resolved(name) {
  const file = shipped.find((one) => path.basename(one) === `${name}.toml`);
  const text = readFileSync(file, "utf8");
  if (!/^extends\b/m.test(text)) return text;
  return existsSync(path.join(root, ".venv/bin/celltrain")) ? flattened(file) : undefined;
}

/** The fingerprint that the command gives of a scenario's first replication; undefined where the command is not built. */
export function nativeFingerprint(toml) {
  const command = path.join(root, ".venv/bin/celltrain");
  if (!existsSync(command)) return undefined;
  const folder = mkdtempSync(path.join(tmpdir(), "lab-"));
  try {
    writeFileSync(path.join(folder, "copy.toml"), toml);
    const output = execFileSync(command, ["run", path.join(folder, "copy.toml"), "--replications", "1", "--json"], { encoding: "utf8" });
    return JSON.parse(output).fingerprints[0];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Where Chromium is; undefined where there is none. */
export function chromium() {
  const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
  return places.find((place) => place && existsSync(place));
}
