/** A network without a direction, such as a ring or a random graph: switches stand as far apart as they are in the network, by
 * stress majorization (E. R. Gansner, Y. Koren and S. North, "Graph drawing by stress majorization", 2004), then so that none touches
 * another or stands on a link of others. Hosts stand around their switch, where its links leave most space. Nothing is drawn at random. */

import type { Description } from "../../run/types.ts";
import { type Cluster, type Shape, clustersOf, push, radiusOf, shapeOf, stepsOf, withHosts } from "./clusters.ts";
import { type Area, type Point, distance } from "./geometry.ts";
import { cablesOf, trunksOf } from "./layers.ts";

/** The share of the area that switches with their hosts may take. */
const FULL = 0.45;
/** The angle that hosts take at most. */
const ARC = 2;

/** Whether there is no direction that all data follow: the same hosts send and receive, or data go around a loop, or to and fro where
 * there are several paths. */
export function isMesh(description: Description, layers: number[]): boolean {
  const { nodes, links, flows } = description;
  const [trunks, cables] = [trunksOf(description), cablesOf(description)];
  const sends = new Set(flows.map(({ from }) => from));
  if (nodes.some(({ host }) => !host) && flows.some(({ to }) => sends.has(to))) return true;
  if (cables.some((link) => layers[links[link].to] <= layers[links[link].from])) return true;
  if (trunks.length === cables.length) return false;
  const group = nodes.map((_, node) => node);
  const root = (node: number): number => (group[node] === node ? node : root(group[node]));
  return cables.some((link) => {
    const [from, to] = [root(links[link].from), root(links[link].to)];
    group[from] = to;
    return from === to;
  });
}

export function inMesh(description: Description, area: Area): Point[] {
  const clusters = clustersOf(description);
  const taken = (shape: Shape) => clusters.reduce((sum, { hosts }) => sum + Math.PI * radiusOf(hosts.length, shape) ** 2, 0);
  const shape = shapeOf(ARC, (shape) => taken(shape) < FULL * area.width * area.height);
  const radii = clusters.map(({ hosts }) => radiusOf(hosts.length, shape));
  const centres = separated(fitted(stressed(clusters), radii, area), clusters, radii, shape, area);
  const angles = clusters.map(({ neighbours }, place) => neighbours.map((other) => Math.atan2(centres[other].y - centres[place].y, centres[other].x - centres[place].x)));
  return withHosts(description, clusters, centres, angles, shape, area);
}

/** Places whose distances are as those in the network, in no particular size. */
function stressed(clusters: Cluster[]): Point[] {
  const hops = clusters.map((_, from) => hopsFrom(from, clusters));
  // On a circle in the order in which one comes to them: what is next to each other in a ring is so from the start.
  const order = walk(clusters);
  const places = clusters.map((_, place) => {
    const angle = (2 * Math.PI * order.indexOf(place)) / clusters.length + Math.PI;
    return { x: (Math.cos(angle) * clusters.length) / 6, y: (Math.sin(angle) * clusters.length) / 6 };
  });
  for (let step = 0; step < stepsOf(clusters.length ** 2); step++) {
    clusters.forEach((_, here) => {
      let [x, y, weights] = [0, 0, 0];
      clusters.forEach((_, there) => {
        if (there === here) return;
        const wanted = hops[here][there];
        const apart = Math.max(1e-6, distance(places[here], places[there]));
        const weight = 1 / wanted ** 2;
        x += weight * (places[there].x + (wanted * (places[here].x - places[there].x)) / apart);
        y += weight * (places[there].y + (wanted * (places[here].y - places[there].y)) / apart);
        weights += weight;
      });
      if (weights > 0) places[here] = { x: x / weights, y: y / weights };
    });
  }
  return places;
}

function hopsFrom(from: number, clusters: Cluster[]): number[] {
  const hops = clusters.map(() => Number.POSITIVE_INFINITY);
  hops[from] = 0;
  const queue = [from];
  for (const here of queue) {
    for (const there of clusters[here].neighbours) {
      if (hops[there] !== Number.POSITIVE_INFINITY) continue;
      hops[there] = hops[here] + 1;
      queue.push(there);
    }
  }
  const most = Math.max(...hops.filter(Number.isFinite));
  return hops.map((count) => (Number.isFinite(count) ? count : most + 1));
}

/** All switches, each after one of its neighbours where that is possible. */
function walk(clusters: Cluster[]): number[] {
  const seen = new Set<number>();
  const visit = (start: number) => {
    const stack = [start];
    while (stack.length > 0) {
      const here = stack.pop()!;
      if (seen.has(here)) continue;
      seen.add(here);
      stack.push(...clusters[here].neighbours.filter((there) => !seen.has(there)).reverse());
    }
  };
  clusters.forEach((_, place) => visit(place));
  return [...seen];
}

/** The same places, the longest way across the picture and the first switch at the left, stretched to the area. */
function fitted(places: Point[], radii: number[], area: Area): Point[] {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const middle = { x: mean(places.map(({ x }) => x)), y: mean(places.map(({ y }) => y)) };
  const [xx, yy, xy] = [mean(places.map(({ x }) => (x - middle.x) ** 2)), mean(places.map(({ y }) => (y - middle.y) ** 2)), mean(places.map(({ x, y }) => (x - middle.x) * (y - middle.y)))];
  // A ring has no longest way: it is not turned.
  const round = Math.hypot(xx - yy, 2 * xy) < 1e-3 * (xx + yy);
  const angle = round ? 0 : Math.atan2(2 * xy, xx - yy) / 2;
  const turned = places.map(({ x, y }) => ({ x: (x - middle.x) * Math.cos(angle) + (y - middle.y) * Math.sin(angle), y: (y - middle.y) * Math.cos(angle) - (x - middle.x) * Math.sin(angle) }));
  const mirror = turned[0].x > 0 ? -1 : 1;
  const margin = Math.max(...radii);
  const stretch = (values: number[], from: number, size: number) => {
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return values.map((value) => (most - least < 1e-9 ? from + size / 2 : from + margin + ((value - least) / (most - least)) * Math.max(0, size - 2 * margin)));
  };
  const xs = stretch(turned.map(({ x }) => x * mirror), area.left, area.width);
  const ys = stretch(turned.map(({ y }) => y), area.top, area.height);
  return xs.map((x, place) => ({ x, y: ys[place] }));
}

/** Places near these at which switches with their hosts do not lie on each other, and no switch on a link of others. */
function separated(wanted: Point[], clusters: Cluster[], radii: number[], { half }: Shape, area: Area): Point[] {
  const places = wanted.map((point) => ({ ...point }));
  const cables = clusters.flatMap(({ neighbours }, from) => neighbours.filter((to) => to > from).map((to) => [from, to]));
  const steps = stepsOf((clusters.length * (clusters.length + 2 * cables.length)) / 2);
  for (let step = 0; step < steps; step++) {
    places.forEach((a, one) => {
      for (let other = one + 1; other < places.length; other++) push(a, places[other], radii[one] + radii[other], one + other);
    });
    for (const [from, to] of cables) clearWay(places, from, to, half + 5);
    places.forEach((place, index) => {
      place.x = Math.min(area.left + area.width - radii[index], Math.max(area.left + radii[index], place.x));
      place.y = Math.min(area.top + area.height - radii[index], Math.max(area.top + radii[index], place.y));
    });
  }
  return places;
}

/** Moves what stands on the line between two points to its side, and the line to the other. */
function clearWay(places: Point[], from: number, to: number, least: number): void {
  const [a, b] = [places[from], places[to]];
  const length = distance(a, b);
  if (length < 1e-6) return;
  const [x, y] = [(b.x - a.x) / length, (b.y - a.y) / length];
  places.forEach((place, index) => {
    if (index === from || index === to) return;
    const along = (place.x - a.x) * x + (place.y - a.y) * y;
    const aside = (place.y - a.y) * x - (place.x - a.x) * y;
    if (along <= 0 || along >= length || Math.abs(aside) >= least) return;
    const move = 0.5 * (least - Math.abs(aside)) * (aside < 0 ? -1 : 1);
    [place.x, place.y] = [place.x - y * move, place.y + x * move];
    // The link gives way too, most at the end that is nearer.
    for (const [end, share] of [[a, 1 - along / length], [b, along / length]] as [Point, number][]) [end.x, end.y] = [end.x + y * move * share, end.y - x * move * share];
  });
}
