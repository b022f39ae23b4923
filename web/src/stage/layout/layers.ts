/** Switches in the direction of the data, and hosts beside the switch that they hang on. */

import { routesOf } from "../../run/network.ts";
import type { Description } from "../../run/types.ts";
import { type Area, type Point, inside } from "./geometry.ts";

/** The least distance of two hosts in a column; where more of them would be closer there are several columns. */
const PITCH = 4;

/** Links between switches that data go over, those in the other direction as well. */
export function trunksOf({ nodes, links, flows }: Description): number[] {
  const used = new Set(flows.flatMap((flow) => routesOf(flow)[0].flat()));
  return [...used].filter((link) => !nodes[links[link].from].host && !nodes[links[link].to].host);
}

/** Each cable once, in the direction seen first. */
export function cablesOf(description: Description): number[] {
  const { links } = description;
  const seen = new Set<string>();
  return trunksOf(description).filter((link) => {
    const { from, to } = links[link];
    if (seen.has(`${to} ${from}`)) return false;
    seen.add(`${from} ${to}`);
    return true;
  });
}

/** Switches from 1 on: each behind those from which data come, as far as there are no loops. */
export function layersOf(description: Description): number[] {
  const { nodes, links } = description;
  const layers: number[] = nodes.map((node) => (node.host ? 0 : 1));
  const cables = cablesOf(description);
  const most = nodes.filter((node) => !node.host).length;
  for (let round = 0; round < most; round++) {
    let moved = false;
    for (const link of cables) {
      const { from, to } = links[link];
      if (layers[to] < layers[from] + 1 && layers[from] < most) [layers[to], moved] = [layers[from] + 1, true];
    }
    if (!moved) break;
  }
  return layers;
}

export function inLayers({ nodes, links, flows }: Description, layers: number[], area: Area): Point[] {
  const depth = Math.max(1, ...layers);
  const places: Point[] = nodes.map(() => inside(area, { x: 0.5, y: 0.5 }));
  const sends = new Set(flows.map((flow) => flow.from));
  const used = new Set(flows.flatMap(({ from, to }) => [from, to]));
  const columns = new Map<number, number[]>();
  nodes.forEach((node, index) => {
    if (!node.host) columns.set(layers[index], [...(columns.get(layers[index]) ?? []), index]);
  });
  const width = depth + 1;
  columns.forEach((switches, layer) => {
    switches.forEach((index, place) => {
      const [top, height] = [place / switches.length, 1 / switches.length];
      places[index] = inside(area, { x: layer / width, y: top + height / 2 });
      placeHosts(index, layer, top, height);
    });
  });
  // A network without switches.
  if (columns.size === 0) nodes.forEach((_, index) => (places[index] = inside(area, { x: sends.has(index) ? 0 : 1, y: 0.5 })));
  return places;

  function placeHosts(at: number, layer: number, top: number, height: number): void {
    const hosts = [...new Set(links.filter((link) => link.to === at && nodes[link.from].host).map((link) => link.from))];
    const uses = hosts.filter((host) => used.has(host));
    const [senders, receivers] = [uses.filter((host) => sends.has(host)), uses.filter((host) => !sends.has(host))];
    const leads = (there: boolean) =>
      flows.some((flow) =>
        flow.route.some((link) => (there ? links[link].from === at && !nodes[links[link].to].host : links[link].to === at && !nodes[links[link].from].host)),
      );
    spread(senders, leads(false) ? layer - 0.5 : layer - 1, leads(false) ? [top, top + height * 0.3] : [top, top + height]);
    spread(receivers, leads(true) ? layer + 0.5 : layer + 1, leads(true) ? [top + height * 0.7, top + height] : [top, top + height]);
  }

  function spread(hosts: number[], layer: number, [top, bottom]: [number, number]): void {
    const columns = Math.max(1, Math.ceil((hosts.length * PITCH) / ((bottom - top) * area.height)));
    const rows = Math.ceil(hosts.length / columns);
    hosts.forEach((host, place) => {
      const { x, y } = inside(area, { x: layer / width, y: top + (((place % rows) + 0.5) / rows) * (bottom - top) });
      places[host] = { x: x + (Math.floor(place / rows) - (columns - 1) / 2) * PITCH, y };
    });
  }
}
