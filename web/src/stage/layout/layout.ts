/** Where nodes stand, and how large they are: by level where data go up and down, as in a fat tree; in a grid, as in a torus; in the
 * direction of the data where there is one; and else as far apart as they are in the network. */

import type { Description } from "../../run/types.ts";
import { type Area, type Point, areaOf, leastGap } from "./geometry.ts";
import { inLayers, layersOf } from "./layers.ts";
import { inLevels, levelsOf } from "./levels.ts";
import { inMesh, isMesh } from "./mesh.ts";
import { gridOf, inTorus, stubOf, wrapOf } from "./torus.ts";

export interface Layout {
  /** By node. */
  places: Point[];
  /** Half of the width of its mark, by node. */
  sizes: number[];
  /** Half of the width of a switch. */
  half: number;
  /** By how much a link leaves the picture that goes around it, on its way from one node to another; undefined for links that do not. */
  wrapped?: (from: number, to: number) => Point | undefined;
}

/** Half of the width of a switch, at most and at least. */
export const SWITCH = 15;
const LEAST_SWITCH = 3;
/** The radius of a host, at most and at least. */
const HOST = 7;
const LEAST_HOST = 1.3;
/** Of more hosts than these none has space, and to find that out takes time. */
const MOST_MEASURED = 1000;

/** `longest` is the space that the longest name beside a host takes. */
export function layOut(description: Description, [width, height]: [number, number], longest = 0): Layout {
  const area = areaOf(width, height, longest);
  const places = placesOf(description, area);
  const half = halfOf(description, places);
  return { places, half, sizes: sizesOf(description, places, half), wrapped: wrappedIn(description, area, half) };
}

function placesOf(description: Description, area: Area): Point[] {
  const levels = levelsOf(description);
  if (levels) return inLevels(description, levels, area);
  const grid = gridOf(description);
  if (grid) return inTorus(description, grid, area);
  const layers = layersOf(description);
  return isMesh(description, layers) ? inMesh(description, area) : inLayers(description, layers, area);
}

/** Whether a network has more above each other than one line of switches: it needs a higher picture. */
export function isHigh(description: Description): boolean {
  return levelsOf(description) !== undefined || gridOf(description) !== undefined || isMesh(description, layersOf(description));
}

function wrappedIn(description: Description, area: Area, half: number): Layout["wrapped"] {
  const grid = gridOf(description);
  if (!grid) return undefined;
  const { nodes } = description;
  const place = new Map(nodes.flatMap(({ host }, node) => (host ? [] : [node])).map((node, place) => [node, place]));
  const stub = half + stubOf(grid, area, half);
  return (from, to) => {
    const wrap = nodes[from].host || nodes[to].host ? undefined : wrapOf(grid, place.get(from)!, place.get(to)!);
    return wrap && { x: wrap.x * stub, y: wrap.y * stub };
  };
}

/** Half of the width of switches that touch neither each other nor hosts. */
function halfOf({ nodes }: Description, places: Point[]): number {
  const [switches, hosts] = [false, true].map((host) => places.filter((_, node) => nodes[node].host === host));
  const toSwitch = Math.min(...switches.map((one, place) => leastGap(one, switches.slice(place + 1))));
  const toHost = Math.min(...switches.map((one) => leastGap(one, hosts)));
  return Math.max(LEAST_SWITCH, Math.min(SWITCH, 0.35 * toSwitch, 0.6 * toHost));
}

/** Hosts are smaller where they stand close together: they would look like a bar if nothing were between them. */
function sizesOf({ nodes }: Description, places: Point[], half: number): number[] {
  const hosts = places.filter((_, node) => nodes[node].host);
  return places.map((place, node) => {
    if (!nodes[node].host) return half;
    if (hosts.length > MOST_MEASURED) return LEAST_HOST;
    const gap = leastGap(place, hosts.filter((other) => other !== place));
    return Math.max(LEAST_HOST, Math.min(HOST, 0.42 * gap, 0.7 * half));
  });
}
