/** Lanes of links between the nodes of a picture: one for each direction, on the right of the line between its ends. */

import { usedLinks } from "../../run/network.ts";
import type { Description } from "../../run/types.ts";
import { type Point, distance } from "./geometry.ts";
import { type Layout, SWITCH } from "./layout.ts";

/** A straight part of a lane. */
export interface Segment {
  from: Point;
  to: Point;
  angle: number;
  /** Where on the lane it begins, and how long it is. */
  start: number;
  length: number;
}

/** What a link carries goes along its segments: one, or two where the lane leaves the picture at one edge and comes back at another. */
export interface Lane {
  segments: Segment[];
  length: number;
  thickness: number;
}

/** By link; none for those that carry nothing. */
export function lanesOf(description: Description, layout: Layout): (Lane | undefined)[] {
  const used = usedLinks(description);
  return description.links.map(({ from, to }, link) => (used.has(link) ? laneBetween(layout, from, to) : undefined));
}

/** Cables between switches that carry nothing in either direction: they are no lanes, but show what the network is. Those of one direction
 * alone are cables too. */
export function idleIn({ nodes, links }: Description, layout: Layout, lanes: (Lane | undefined)[]): Segment[] {
  const pair = (link: number) => [links[link].from, links[link].to].sort((a, b) => a - b).join(" ");
  const seen = new Set(lanes.flatMap((lane, link) => (lane ? [pair(link)] : [])));
  return links.flatMap(({ from, to }, link) => {
    if (nodes[from].host || nodes[to].host || seen.has(pair(link))) return [];
    seen.add(pair(link));
    return laneBetween(layout, from, to, 0).segments;
  });
}

function laneBetween(layout: Layout, fromNode: number, toNode: number, thickness = thicknessOf(layout, fromNode, toNode)): Lane {
  const { places, sizes, half, wrapped } = layout;
  const [from, to] = [places[fromNode], places[toNode]];
  const trim = (node: number) => sizes[node] + (sizes[node] === half ? 0 : 2);
  const around = wrapped?.(fromNode, toNode);
  const parts: [Point, Point][] = around
    ? [[from, { x: from.x + around.x, y: from.y + around.y }], [{ x: to.x - around.x, y: to.y - around.y }, to]]
    : [[from, to]];
  const ends = [[trim(fromNode), around ? 0 : trim(toNode)], [0, trim(toNode)]];
  const segments: Segment[] = [];
  for (const [place, [first, last]] of parts.entries()) segments.push(segment(first, last, ends[place], thickness, segments[0]?.length ?? 0));
  return { segments, length: segments.reduce((sum, { length }) => sum + length, 0), thickness };
}

function thicknessOf({ sizes, half }: Layout, from: number, to: number): number {
  const least = Math.min(sizes[from], sizes[to]);
  const trunk = Math.max(2.5, (9 * half) / SWITCH);
  return least === half ? trunk : Math.min(trunk, Math.max(1.5, 2 * least - 3.5));
}

/** The part between two points, so much shorter at its ends, and aside of the line. */
function segment(from: Point, to: Point, [before, behind]: number[], thickness: number, start: number): Segment {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const aside = thickness === 0 ? 0 : thickness * 0.5 + (thickness > 2 ? 1.5 : 0.5);
  const shift = (point: Point, ahead: number) => ({
    x: point.x - Math.sin(angle) * aside + Math.cos(angle) * ahead,
    y: point.y + Math.cos(angle) * aside + Math.sin(angle) * ahead,
  });
  const length = Math.max(1, distance(from, to) - before - behind);
  return { from: shift(from, before), to: shift(to, -behind), angle, start, length };
}

/** How far a place is from a lane, or from so much of it as stands at its beginning. */
export function awayFrom({ segments, length }: Lane, share: number, place: Point): number {
  const most = share * length;
  return Math.min(...segments.filter(({ start }) => start < most).map(({ from, to, angle, start, length: own }) => {
    const along = ((place.x - from.x) * Math.cos(angle) + (place.y - from.y) * Math.sin(angle)) / own;
    const at = Math.max(0, Math.min((most - start) / own, 1, along));
    return distance({ x: from.x + (to.x - from.x) * at, y: from.y + (to.y - from.y) * at }, place);
  }));
}
