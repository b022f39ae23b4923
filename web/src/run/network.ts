/** What of a network is used, and what its links carry. */

import type { Description, FlowInfo, LinkInfo } from "./types.ts";
import { Row, type View } from "./view.ts";

/** The routes of a flow's data, and those of what goes back: one each, or as many as packets are sprayed over. */
export function routesOf({ route, back, sprayed }: FlowInfo): [number[][], number[][]] {
  const [there, home] = sprayed;
  return [there.length > 0 ? there : [route], home.length > 0 ? home : [back]];
}

/** Links that carry something: those of all routes. */
export function usedLinks({ flows }: Description): Set<number> {
  return new Set(flows.flatMap((flow) => routesOf(flow).flat(2)));
}

/** The links on which each VC comes to a port, by VC: several where its packets are sprayed. */
export function inputsOf({ flows }: Description, port: number): Map<number, Set<number>> {
  const inputs = new Map<number, Set<number>>();
  flows.forEach((flow, index) => {
    if (flow.circuit !== index) return;
    routesOf(flow).forEach((routes, back) => {
      const links = routes.flatMap((route) => route.slice(0, -1).filter((_, hop) => route[hop + 1] === port));
      if (links.length > 0) inputs.set(2 * index + back, new Set(links));
    });
  });
  return inputs;
}

/** The ports that can be shown close up, by their links: those of switches that carry something, or where there are none those of hosts. */
export function portsOf(description: Description): number[] {
  const { links, nodes } = description;
  const used = [...usedLinks(description)].sort((a, b) => a - b);
  const ofSwitches = used.filter((link) => !nodes[links[link].from].host);
  return ofSwitches.length > 0 ? ofSwitches : used;
}

/** The port with a name, by its link; undefined where a network has none. */
export function portNamed(description: Description, name: string): number | undefined {
  return portsOf(description).find((link) => description.links[link].name === name);
}

/** Whether the cells of a row go to a port, or may go there: the path of packets that are still to be sprayed is not chosen yet. */
export function goesTo({ description: { links }, view: { rows } }: { description: Description; view: View }, row: number, port: number): boolean {
  const next = rows.get(row, Row.next);
  return next === port || (next < 0 && links[rows.get(row, Row.link)].to === links[port].from);
}

/** The time that a cell takes on a link; that of a packet of 1500 bytes where packets travel. */
export const slotOf = (link: LinkInfo) => ((link.packets ? 1500 : 53) * 8 * 1e12) / link.rate;

/** What travels on a link. */
export const unitOf = (link: LinkInfo) => (link.packets ? "packet" : "cell");

/** What a port's buffer holds, however its size is given. */
export const heldUnit = (link: LinkInfo) => `${unitOf(link)}s`;

/** The most that a port's buffer holds, in cells or packets; null if there is no such number: packets take different parts of a size in bytes. */
export const limitOf = ({ capacity, unit }: LinkInfo) => (unit === "bytes" ? null : capacity);

/** The thresholds that are numbers of cells or packets. */
export const levelsOf = ({ levels, unit }: LinkInfo) => (unit === "bytes" ? [] : levels);

/** What the effort of a run is counted in: hops of cells, of packets, or of both, after what its links carry. */
export function hopsOf(description: Description): string {
  const used = [...usedLinks(description)].map((link) => description.links[link]);
  const units = (["cell", "packet"] as const).filter((unit) => used.some((link) => unitOf(link) === unit));
  return units.map((unit) => `${unit}-hops`).join(" and ") || "cell-hops";
}
