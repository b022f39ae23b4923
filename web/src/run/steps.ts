/** Where a run has something to show: the next frame, the next moment, the port at which things happen. */

import type { Run } from "./run.ts";
import { goesTo, routesOf, slotOf } from "./network.ts";
import { Place } from "./types.ts";
import { Row } from "./view.ts";

/** The first moment after a time: a picosecond later, or where numbers are further apart, from 2^53 on, the next number. */
export function justAfter(time: number): number {
  let step = 1;
  while (time + step === time) step *= 2;
  return time + step;
}

/** Just after the end of the next frame that leaves a port, or comes to it; one link further if there is none. */
export function afterFrame(run: Run, port: number): number {
  const { rows, now } = run.view;
  const { links } = run.description;
  let next = Number.POSITIVE_INFINITY;
  for (let index = 0; index < rows.length; index++) {
    const get = (column: number) => rows.get(index, column);
    const ends = get(Row.position) + get(Row.count) === get(Row.length);
    const leaves = get(Row.link) === port && get(Row.place) === Place.Buffer;
    const comes = get(Row.place) === Place.Link && goesTo(run, index, port);
    if (ends && (leaves || comes)) next = Math.min(next, now + get(Row.after) + get(Row.step) * (get(Row.count) - 1));
  }
  return Number.isFinite(next) ? justAfter(next) : now + Math.max(links[port].delay, 12 * slotOf(links[port]));
}

/** The port where a story most probably happens: of a switch if there is one, limited, crossed by many flows, slow. */
export function mainPort(run: Run): number {
  const { links, nodes, flows } = run.description;
  const crossing = links.map(() => 0);
  for (const flow of flows) for (const link of new Set(routesOf(flow)[0].flat())) crossing[link]++;
  const worth = links.map(({ from, capacity, rate }, link) => {
    if (crossing[link] === 0) return -1;
    return (nodes[from].host ? 0 : 4e9) + (capacity !== null ? 1e9 : 0) + crossing[link] * 100 - rate / 1e10;
  });
  return worth.indexOf(worth.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY));
}
