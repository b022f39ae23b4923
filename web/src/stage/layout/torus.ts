/** A torus: a grid of switches. What joins its opposite edges would cross all of it: such a link leaves the picture at one edge and comes
 * back at the other. */

import type { Description } from "../../run/types.ts";
import { type Cluster, clustersOf, radiusOf, shapeOf, withHosts } from "./clusters.ts";
import type { Area, Point } from "./geometry.ts";

interface Grid {
  /** In the order of the switches: the longer side of the torus lies along the picture. */
  cells: { row: number; column: number }[];
  rows: number;
  columns: number;
}

/** How long the ends of a link are that goes around, at most: it may not reach the names of hosts. */
const STUB = 26;
/** The angle that hosts take at most: between two links that leave at right angles. */
const ARC = 1.1;

/** The grid of a torus of more than one row and column; undefined for other networks, and for a ring, which is drawn as one. */
export function gridOf({ scenario, nodes }: Description): Grid | undefined {
  const { kind, rows, columns } = scenario.topology ?? {};
  if (kind !== "torus" || rows < 2 || columns < 2) return undefined;
  const switches = nodes.filter(({ host }) => !host);
  const lying = columns >= rows;
  const cells = switches.map((_, place) => {
    const [row, column] = [Math.floor(place / columns), place % columns];
    return lying ? { row, column } : { row: column, column: row };
  });
  return { cells, rows: lying ? rows : columns, columns: lying ? columns : rows };
}

export function inTorus(description: Description, grid: Grid, area: Area): Point[] {
  const clusters = clustersOf(description);
  const { rows, columns, cells } = grid;
  const [wide, high] = [area.width / columns, area.height / rows];
  const most = Math.max(0, ...clusters.map(({ hosts }) => hosts.length));
  // Hosts stand at 45 degrees, beside the link that goes across and below the next switch.
  const shape = shapeOf(ARC, (shape) => 0.8 * radiusOf(most, shape) + shape.half + 3 < Math.min(wide, high));
  const centres = cells.map(({ row, column }) => ({ x: area.left + (column + 0.5) * wide, y: area.top + (row + 0.5) * high }));
  return withHosts(description, clusters, centres, clusters.map((cluster, place) => anglesAt(grid, cluster, place)), shape, area);
}

/** Whether a link between two switches of the grid goes around, and by how much it leaves the grid: to the right or down, or back. */
export function wrapOf({ cells, rows, columns }: Grid, from: number, to: number): { x: number; y: number } | undefined {
  const [x, y] = [cells[to].column - cells[from].column, cells[to].row - cells[from].row];
  if (columns > 2 && Math.abs(x) === columns - 1) return { x: -Math.sign(x), y: 0 };
  if (rows > 2 && Math.abs(y) === rows - 1) return { x: 0, y: -Math.sign(y) };
  return undefined;
}

/** The length of the ends of links that go around. */
export function stubOf({ rows, columns }: Grid, area: Area, half: number): number {
  return Math.min(STUB, Math.max(half + 4, 0.5 * Math.min(area.width / columns, area.height / rows) - half));
}

/** The directions in which links leave a switch. */
function anglesAt(grid: Grid, { neighbours }: Cluster, place: number): number[] {
  const { cells } = grid;
  return neighbours.map((other) => {
    const wrap = wrapOf(grid, place, other);
    const [x, y] = wrap ? [wrap.x, wrap.y] : [cells[other].column - cells[place].column, cells[other].row - cells[place].row];
    return Math.atan2(y, x);
  });
}
