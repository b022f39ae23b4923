/**
 * What the engine takes in WebAssembly, as a multiple of what it takes natively: processor time of the workloads of `celltrain bench`,
 * native and WebAssembly by turns, the least of each.
 *
 *   node rate.mjs ENGINE.wasm PYTHON [ROUNDS]
 *
 * PYTHON is the interpreter of the virtual environment. Both engines have to be built from the same sources, with optimisation.
 */

import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { load } from "../tests/web/support.mjs";

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), "../benches");
const [wasm, python, rounds = "5"] = process.argv.slice(2);
const { Engine } = await load("run/engine");
const module = new WebAssembly.Module(readFileSync(wasm));

/** Runs a scenario twice, so that the second run is compiled, and prints processor seconds and fingerprint of the second. */
const NATIVE = `
import resource, sys
from celltrain import _core
scenario = _core.Scenario.from_toml(open(sys.argv[1]).read(), sys.argv[1], [])
for _ in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    result = _core.run(scenario, scenario.seed, 0)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_utime
print(after - before, result.fingerprint)
`;

function native(file) {
  const [seconds, fingerprint] = execFileSync(python, ["-c", NATIVE, file], { encoding: "utf8" }).trim().split(" ");
  return [Number(seconds), fingerprint];
}

function inWasm(engine, file) {
  engine.load({ name: path.basename(file), toml: readFileSync(file, "utf8"), set: [] });
  const before = process.cpuUsage();
  const { fingerprint } = engine.finish();
  return [process.cpuUsage(before).user / 1e6, fingerprint];
}

for (const name of readdirSync(folder).filter((name) => name.endsWith(".toml")).sort()) {
  const file = path.join(folder, name);
  const engine = new Engine(module);
  inWasm(engine, file);
  const least = [Infinity, Infinity];
  for (let round = 0; round < Number(rounds); round++) {
    const both = [native(file), inWasm(engine, file)];
    if (both[0][1] !== both[1][1]) throw new Error(`${name}: fingerprints ${both[0][1]} and ${both[1][1]}`);
    both.forEach(([seconds], place) => (least[place] = Math.min(least[place], seconds)));
  }
  console.log(`${path.basename(name, ".toml")}: ${(least[1] / least[0]).toFixed(2)} (${least.map((seconds) => seconds.toFixed(3)).join(" s, ")} s)`);
}
