/** Switches with the hosts that hang on them, where those stand around their switch: as in a mesh and in a torus. */

import type { Description } from "../../run/types.ts";
import { type Area, type Point, distance } from "./geometry.ts";

/** A switch and the hosts that hang on it: places are those of the graph of switches. */
export interface Cluster {
  node: number;
  hosts: number[];
  neighbours: number[];
}

/** Sizes of what stands in the area. */
export interface Shape {
  /** Half of the width of a switch. */
  half: number;
  /** From the middle of a switch to its hosts, and from one host to the next. */
  away: number;
  pitch: number;
  /** The largest angle that hosts take. */
  arc: number;
}

/** Half of the width of a switch, at most and at least. */
const [MOST_HALF, LEAST_HALF] = [11, 3];
/** The least distance of two hosts. */
const LEAST_PITCH = 3.6;
/** Rounds in which hosts are moved apart, at most. */
const ROUNDS = 40;

export function clustersOf({ nodes, links }: Description): Cluster[] {
  const switches = nodes.map((_, node) => node).filter((node) => !nodes[node].host);
  const place = new Map(switches.map((node, index) => [node, index]));
  const clusters: Cluster[] = switches.map((node) => ({ node, hosts: [], neighbours: [] }));
  const hung = new Set<number>();
  for (const { from, to } of links) {
    const cluster = clusters[place.get(to) ?? -1];
    if (!cluster) continue;
    if (nodes[from].host && !hung.has(from)) cluster.hosts.push(from);
    if (nodes[from].host) hung.add(from);
    else if (!cluster.neighbours.includes(place.get(from)!)) cluster.neighbours.push(place.get(from)!);
  }
  return clusters;
}

/** The largest sizes at which everything fits. */
export function shapeOf(arc: number, fits: (shape: Shape) => boolean): Shape {
  for (let half = MOST_HALF; ; half *= 0.92) {
    const shape = { half, away: half + 4 + 0.9 * half, pitch: Math.max(LEAST_PITCH, 0.9 * half), arc };
    if (fits(shape) || half < LEAST_HALF) return shape;
  }
}

/** How many hosts stand in each arc, one outside the other. */
function arcsOf(hosts: number, { away, pitch, arc }: Shape): number[] {
  const arcs: number[] = [];
  for (let left = hosts; left > 0; ) {
    const fit = Math.max(1, Math.floor((arc * (away + arcs.length * pitch)) / pitch) + 1);
    arcs.push(Math.min(left, fit));
    left -= fit;
  }
  return arcs;
}

/** Of a switch with its hosts. */
export function radiusOf(hosts: number, shape: Shape): number {
  const arcs = arcsOf(hosts, shape).length;
  return arcs === 0 ? shape.half + 6 : shape.away + (arcs - 0.5) * shape.pitch;
}

/** Places of all nodes, by those of the switches. `angles` are those at which links leave each switch. */
export function withHosts({ nodes }: Description, clusters: Cluster[], centres: Point[], angles: number[][], shape: Shape, area: Area): Point[] {
  const places: Point[] = nodes.map(() => ({ x: area.left + area.width / 2, y: area.top + area.height / 2 }));
  clusters.forEach(({ node, hosts }, place) => {
    places[node] = centres[place];
    const spots = around(hosts.length, centres[place], angles[place], shape);
    hosts.forEach((host, index) => (places[host] = spots[index]));
  });
  moveApart(clusters.flatMap(({ hosts }) => hosts.map((host) => places[host])), centres, shape);
  return places;
}

/** Places of the hosts of a switch: in the middle of the largest angle between two of its links. */
function around(hosts: number, here: Point, links: number[], shape: Shape): Point[] {
  const angles = [...links].sort((a, b) => a - b);
  let [middle, widest] = [-Math.PI / 2, 0];
  angles.forEach((angle, index) => {
    const next = index + 1 < angles.length ? angles[index + 1] : angles[0] + 2 * Math.PI;
    if (next - angle > widest + 1e-6) [middle, widest] = [(angle + next) / 2, next - angle];
  });
  return arcsOf(hosts, shape).flatMap((count, arc) => {
    const away = shape.away + arc * shape.pitch;
    const step = Math.min(shape.pitch * 1.6, (shape.arc * away) / Math.max(1, count - 1)) / away;
    return Array.from({ length: count }, (_, index) => {
      const angle = middle + (index - (count - 1) / 2) * Math.max(step, shape.pitch / away);
      return { x: here.x + Math.cos(angle) * away, y: here.y + Math.sin(angle) * away };
    });
  });
}

/** Hosts of two switches that stand close together, and those that stand on the switch of others: a switch stays where it is. */
function moveApart(hosts: Point[], switches: Point[], { half, pitch }: Shape): void {
  const least = half * Math.SQRT2 + pitch / 2;
  for (let step = 0; step < Math.min(ROUNDS, stepsOf(hosts.length ** 2)); step++) {
    hosts.forEach((a, one) => {
      hosts.slice(one + 1).forEach((b) => push(a, b, LEAST_PITCH, one));
      for (const other of switches) {
        if (Math.abs(other.x - a.x) < least && Math.abs(other.y - a.y) < least) push(a, { ...other }, least, one, 1);
      }
    });
  }
}

/** Steps of a relaxation: fewer where each takes long. */
const WORK = 4e6;
const MOST_STEPS = 300;
export const stepsOf = (work: number) => Math.max(12, Math.min(MOST_STEPS, Math.floor(WORK / Math.max(1, work))));

/** Moves two points apart, each by half of what is missing, or the first by another share of it. */
export function push(a: Point, b: Point, least: number, seed: number, share = 0.5): void {
  const apart = distance(a, b);
  if (apart >= least) return;
  // Two points at one place have no direction: each pair has another one then.
  const [x, y] = apart > 1e-6 ? [(a.x - b.x) / apart, (a.y - b.y) / apart] : [Math.cos(2.4 * seed), Math.sin(2.4 * seed)];
  const missing = least - apart;
  [a.x, a.y] = [a.x + x * missing * share, a.y + y * missing * share];
  [b.x, b.y] = [b.x - x * missing * (1 - share), b.y - y * missing * (1 - share)];
}
