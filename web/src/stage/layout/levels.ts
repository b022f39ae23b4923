/** A fabric: hosts at the bottom, and each level of switches above the one before. */

import { routesOf } from "../../run/network.ts";
import type { Description } from "../../run/types.ts";
import { type Area, type Point, inside } from "./geometry.ts";

/** The least distance of two hosts that stand in one row, and in several. */
const ROW = 7;
const BLOCK = 4;

/** By how many links each node is away from a host, if every link leads from one level to the next, and data go up and down between
 * them or there are several ways up: a fabric, in which there is no one direction. Undefined for other networks. */
export function levelsOf({ nodes, links, flows }: Description): number[] | undefined {
  const levels = nodes.map((node) => (node.host ? 0 : Number.POSITIVE_INFINITY));
  for (let moved = true; moved; ) {
    moved = false;
    for (const { from, to } of links) if (levels[to] > levels[from] + 1) [levels[to], moved] = [levels[from] + 1, true];
  }
  const top = Math.max(...levels);
  const steps = links.every(({ from, to }) => Math.abs(levels[from] - levels[to]) === 1);
  const ways = new Set(flows.flatMap((flow) => routesOf(flow)[0].flat().map((link) => `${links[link].from} ${links[link].to}`)));
  const folded = links.some(({ from, to }) => levels[from] > 0 && levels[to] > 0 && ways.has(`${from} ${to}`) && ways.has(`${to} ${from}`));
  const switches = nodes.filter(({ host }) => !host).length;
  const trunks = new Set(links.filter(({ from, to }) => levels[from] > 0 && levels[to] > 0).map(({ from, to }) => `${Math.min(from, to)} ${Math.max(from, to)}`));
  const manyWays = trunks.size >= switches;
  return steps && (folded || manyWays) && Number.isFinite(top) && top > 1 ? levels : undefined;
}

/** Each level in the order of what hangs on it. */
export function inLevels({ nodes, links }: Description, levels: number[], area: Area): Point[] {
  const top = Math.max(...levels);
  const order = (level: number) => nodes.map((_, index) => index).filter((index) => levels[index] === level);
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  // Hosts stand in the order of their switches, which is that of their names.
  const hangsOn = new Map<number, number>();
  for (const { from, to } of links) if (nodes[from].host && !hangsOn.has(from)) hangsOn.set(from, to);
  const unit: Point[] = nodes.map(() => ({ x: 0.5, y: 0.5 }));
  for (let level = 0; level <= top; level++) {
    const below = (index: number) => mean(links.filter(({ from, to }) => to === index && levels[from] === level - 1).map(({ from }) => unit[from].x));
    const key = new Map(order(level).map((index) => [index, level === 0 ? (hangsOn.get(index) ?? 0) : below(index)]));
    const row = [...key.keys()].sort((a, b) => key.get(a)! - key.get(b)! || a - b);
    row.forEach((index, place) => (unit[index] = { x: (place + 0.5) / row.length, y: 1 - level / top }));
  }
  const places = unit.map((point) => inside(area, point));
  const hosts = order(0);
  if (area.width / hosts.length < ROW) inBlocks(hosts, hangsOn, places, area);
  return places;
}

/** Hosts in several rows below the switch that they hang on, where one row for all of them is too short. */
function inBlocks(hosts: number[], hangsOn: Map<number, number>, places: Point[], area: Area): void {
  const groups = new Map<number, number[]>();
  for (const host of hosts) groups.set(hangsOn.get(host) ?? host, [...(groups.get(hangsOn.get(host) ?? host) ?? []), host]);
  const columns = Math.max(1, Math.floor((0.85 * area.width) / groups.size / BLOCK));
  for (const [at, group] of groups) {
    const rows = Math.ceil(group.length / columns);
    group.forEach((host, place) => {
      const row = Math.floor(place / columns);
      const inRow = Math.min(columns, group.length - row * columns);
      places[host] = { x: places[at].x + ((place % columns) - (inRow - 1) / 2) * BLOCK, y: area.top + area.height - (rows - 1 - row) * BLOCK };
    });
  }
}
