/** Where nodes stand: switches in the direction of the data, hosts beside the switch that they hang on; or by level, as in a fat tree. */

import type { Description } from "../run/types.ts";

export interface Point {
  x: number;
  y: number;
}

/** Places in the unit square, by node. */
export function layOut(description: Description): Point[] {
  const { nodes, links, flows } = description;
  const levels = levelsOf(description);
  if (levels) return byLevel(description, levels);
  const layers = layersOf(description);
  const depth = Math.max(1, ...layers);
  const places: Point[] = nodes.map(() => ({ x: 0.5, y: 0.5 }));
  const sends = new Set(flows.map((flow) => flow.from));
  const columns = new Map<number, number[]>();
  nodes.forEach((node, index) => {
    if (!node.host) columns.set(layers[index], [...(columns.get(layers[index]) ?? []), index]);
  });
  const width = depth + 1;
  columns.forEach((switches, layer) => {
    switches.forEach((index, place) => {
      const [top, height] = [place / switches.length, 1 / switches.length];
      places[index] = { x: layer / width, y: top + height / 2 };
      placeHosts(index, layer, top, height);
    });
  });
  // A network without switches.
  if (columns.size === 0) nodes.forEach((_, index) => (places[index] = { x: sends.has(index) ? 0 : 1, y: 0.5 }));
  return places;

  function placeHosts(at: number, layer: number, top: number, height: number): void {
    const hosts = [...new Set(links.filter((link) => link.to === at && nodes[link.from].host).map((link) => link.from))];
    const uses = hosts.filter((host) => flows.some((flow) => flow.from === host || flow.to === host));
    const [senders, receivers] = [uses.filter((host) => sends.has(host)), uses.filter((host) => !sends.has(host))];
    const leads = (there: boolean) =>
      flows.some((flow) =>
        flow.route.some((link) => (there ? links[link].from === at && !nodes[links[link].to].host : links[link].to === at && !nodes[links[link].from].host)),
      );
    spread(senders, leads(false) ? layer - 0.5 : layer - 1, leads(false) ? [top, top + height * 0.3] : [top, top + height]);
    spread(receivers, leads(true) ? layer + 0.5 : layer + 1, leads(true) ? [top + height * 0.7, top + height] : [top, top + height]);
  }

  function spread(hosts: number[], layer: number, [top, bottom]: [number, number]): void {
    hosts.forEach((host, place) => {
      places[host] = { x: layer / width, y: top + ((place + 0.5) / hosts.length) * (bottom - top) };
    });
  }
}

/** By how many links each node is away from a host, if every link leads from one level to the next and data go up and down between
 * them: a fabric, in which there is no one direction. Undefined for other networks. */
function levelsOf({ nodes, links, flows }: Description): number[] | undefined {
  const levels = nodes.map((node) => (node.host ? 0 : Number.POSITIVE_INFINITY));
  for (let moved = true; moved; ) {
    moved = false;
    for (const { from, to } of links) if (levels[to] > levels[from] + 1) [levels[to], moved] = [levels[from] + 1, true];
  }
  const top = Math.max(...levels);
  const steps = links.every(({ from, to }) => Math.abs(levels[from] - levels[to]) === 1);
  const ways = new Set(flows.flatMap((flow) => flow.route.map((link) => `${links[link].from} ${links[link].to}`)));
  const folded = links.some(({ from, to }) => levels[from] > 0 && levels[to] > 0 && ways.has(`${from} ${to}`) && ways.has(`${to} ${from}`));
  return steps && folded && Number.isFinite(top) && top > 1 ? levels : undefined;
}

/** Hosts in a row at the bottom, and each level of switches above the one before, in the order of what hangs on it. */
function byLevel({ nodes, links }: Description, levels: number[]): Point[] {
  const top = Math.max(...levels);
  const places: Point[] = nodes.map(() => ({ x: 0.5, y: 0.5 }));
  const order = (level: number) => nodes.map((_, index) => index).filter((index) => levels[index] === level);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  // Hosts stand in the order of their switches, which is that of their names.
  const hangsOn = (host: number) => links.find(({ from }) => from === host)?.to ?? 0;
  for (let level = 0; level <= top; level++) {
    const below = (index: number) => mean(links.filter(({ from, to }) => to === index && levels[from] === level - 1).map(({ from }) => places[from].x));
    const key = new Map(order(level).map((index) => [index, level === 0 ? hangsOn(index) : below(index)]));
    const row = [...key.keys()].sort((a, b) => key.get(a)! - key.get(b)! || a - b);
    row.forEach((index, place) => (places[index] = { x: (place + 0.5) / row.length, y: 1 - level / top }));
  }
  return places;
}

/** Switches from 1 on: each behind those from which data come, as far as there are no loops. */
function layersOf({ nodes, links, flows }: Description): number[] {
  const layers: number[] = nodes.map((node) => (node.host ? 0 : 1));
  const steps = new Set(flows.flatMap((flow) => flow.route).filter((link) => !nodes[links[link].from].host && !nodes[links[link].to].host));
  // Two ways of one cable count once, in the direction seen first.
  const seen = new Set<string>();
  const ordered = [...steps].filter((link) => {
    const { from, to } = links[link];
    if (seen.has(`${to} ${from}`)) return false;
    seen.add(`${from} ${to}`);
    return true;
  });
  const most = nodes.filter((node) => !node.host).length;
  for (let round = 0; round < most; round++) {
    let moved = false;
    for (const link of ordered) {
      const { from, to } = links[link];
      if (layers[to] < layers[from] + 1 && layers[from] < most) [layers[to], moved] = [layers[from] + 1, true];
    }
    if (!moved) break;
  }
  return layers;
}
