/** Places in a picture, in pixels. */

export interface Point {
  x: number;
  y: number;
}

/** The part of the picture that nodes may stand in: what is around it is left for names. */
export interface Area {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Space for a name beside a host: as much as the longest one takes, within bounds. */
const [LEAST_SIDE, MOST_SIDE, SHARE] = [46, 100, 0.18];

export function areaOf(width: number, height: number, longest = 0): Area {
  const side = Math.max(LEAST_SIDE, Math.min(longest, MOST_SIDE, SHARE * width));
  const [top, bottom] = [20, 28];
  return { left: side, top, width: Math.max(1, width - 2 * side), height: Math.max(1, height - top - bottom) };
}

/** The place of a point of the unit square. */
export function inside({ left, top, width, height }: Area, { x, y }: Point): Point {
  return { x: left + x * width, y: top + y * height };
}

export const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

/** How far a point is from the nearest of others, as squares that stand on them see it. */
export function leastGap(point: Point, others: Point[]): number {
  return others.reduce((least, { x, y }) => Math.min(least, Math.max(Math.abs(x - point.x), Math.abs(y - point.y))), Number.POSITIVE_INFINITY);
}
