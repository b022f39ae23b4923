/** Ways from one thing in a picture to the next, for those who have a keyboard: nodes, and the links that carry something. */

import type { Description } from "../../run/types.ts";
import type { Point } from "./geometry.ts";
import type { Lane } from "./lanes.ts";

export interface Stop extends Point {
  kind: "node" | "link";
  /** The number of the node or of the link. */
  index: number;
  /** The nodes at the ends of a link. */
  ends: number[];
}

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

const VECTORS: Record<Direction, Point> = { ArrowLeft: { x: -1, y: 0 }, ArrowRight: { x: 1, y: 0 }, ArrowUp: { x: 0, y: -1 }, ArrowDown: { x: 0, y: 1 } };
/** What is more aside than this times as far ahead is in another direction. */
const ASIDE = 2;
/** By how many pixels a link that begins at a node is preferred to the one beside it that ends there. */
const OWN = 3;

/** Everything that can be reached, each node before the links that begin there. */
export function stopsOf({ nodes, links }: Description, places: Point[], lanes: (Lane | undefined)[]): Stop[] {
  const leaving = nodes.map(() => [] as Stop[]);
  links.forEach(({ from, to }, index) => {
    const [first] = lanes[index]?.segments ?? [];
    if (first) leaving[from].push({ kind: "link", index, ends: [from, to], x: (first.from.x + first.to.x) / 2, y: (first.from.y + first.to.y) / 2 });
  });
  return nodes.flatMap((_, index) => [{ kind: "node", index, ends: [], ...places[index] } satisfies Stop, ...leaving[index]]);
}

export const isSame = (one: Stop, other: Stop) => one.kind === other.kind && one.index === other.index;

/** The nearest in a direction: of a node all others and its own links, of a link its ends and the other links there. */
export function nearest(stops: Stop[], from: Stop, direction: Direction): Stop | undefined {
  const { x: right, y: down } = VECTORS[direction];
  let best: Stop | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const stop of stops) {
    if (isSame(stop, from) || !isNext(from, stop)) continue;
    const [x, y] = [stop.x - from.x, stop.y - from.y];
    const [ahead, aside] = [x * right + y * down, Math.abs(x * down - y * right)];
    if (ahead < 0.5 || aside > ASIDE * ahead) continue;
    const far = ahead + 2 * aside + (from.kind === "node" && stop.ends[1] === from.index ? OWN : 0);
    if (far < least) [best, least] = [stop, far];
  }
  return best;
}

/** Whether one gets from one to the other in one step. */
function isNext(from: Stop, to: Stop): boolean {
  if (from.kind === "node") return to.kind === "node" || to.ends.includes(from.index);
  return to.kind === "node" ? from.ends.includes(to.index) : to.ends.some((end) => from.ends.includes(end));
}

/** The next in order, or the one before: of everything, or of nodes or links alone. The last is followed by the first. */
export function following(stops: Stop[], from: Stop, by: 1 | -1, alike = false): Stop {
  const among = alike ? stops.filter(({ kind }) => kind === from.kind) : stops;
  const place = among.findIndex((stop) => isSame(stop, from));
  return among[(place + by + among.length) % among.length];
}
