/** Networks of all kinds, and their pictures of two sizes. */

import { scenarios } from "../../web/build.mjs";
import { engineBytes, load } from "./support.mjs";

const { Engine } = await load("run/engine");
const { isHigh, layOut } = await load("stage/layout/layout");
export const module = new WebAssembly.Module(engineBytes());

const describe = (name, toml, set = []) => new Engine(module).load({ name, toml, set });
const library = (await scenarios()).map(({ id, toml }) => [id, describe(id, toml)]);

/** A network of hosts that send to each other, without a scenario of the library. */
export const network = (topology, set = []) => describe("network", textOf(topology), set);

export const textOf = (topology) => `schema = 1
name = "network"
duration = "20 ms"
warm-up = "5 ms"
link = { framing = "packets", rate = "1 Gbit/s", delay = "2 us" }
switch = { buffer = "100 packets" }
tcp = { stack = "linux" }
traffic = { kind = "greedy" }
[topology]
${Object.entries(topology).map(([key, value]) => `${key} = ${JSON.stringify(value)}`).join("\n")}`;

const NETWORKS = [
  { kind: "random", switches: 20, degree: 4, hosts: 2 },
  { kind: "random", switches: 10, degree: 3, hosts: 1 },
  { kind: "random", switches: 40, degree: 5, hosts: 5 },
  { kind: "random", switches: 40, degree: 4, hosts: 10 },
  { kind: "torus", rows: 12, columns: 1, hosts: 2 },
  { kind: "torus", rows: 6, columns: 1, hosts: 1 },
  { kind: "torus", rows: 4, columns: 5, hosts: 1 },
  { kind: "torus", rows: 3, columns: 3, hosts: 2 },
  { kind: "torus", rows: 6, columns: 2, hosts: 2 },
  { kind: "torus", rows: 8, columns: 8, hosts: 1 },
  { kind: "fat-tree", k: 4 },
  { kind: "fat-tree", k: 6 },
  { kind: "fat-tree", k: 8 },
  { kind: "fat-tree", k: 4, pattern: "incast" },
  { kind: "leaf-spine", leaves: 4, spines: 4, hosts: 4 },
  { kind: "leaf-spine", leaves: 10, spines: 4, hosts: 20 },
  { kind: "parking-lot", switches: 6, sources: 5 },
  { kind: "n-source", sources: 200 },
  { kind: "chain", trunks: 5, long: 2, cross: 2 },
].map((topology) => [Object.values(topology).join(" "), network(topology)]);

/** The sizes of the picture on a laptop and on a phone, as the style sheet gives them. */
const sizesOf = (description) => (isHigh(description) ? [[870, 230], [362, 230]] : [[870, 160], [362, 122]]);

export const PICTURES = [...library, ...NETWORKS].flatMap(([name, description]) => {
  return sizesOf(description).map((size) => ({ title: `${name} at ${size[0]}`, description, size, ...layOut(description, size) }));
});
