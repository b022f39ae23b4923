/** What of a network is used. */

import type { Description } from "./types.ts";

/** Links that carry something: those of all routes. Of packets that are sprayed over all shortest ways the engine names one way only:
 * any link between switches may be on another. */
export function usedLinks({ nodes, links, flows, scenario }: Description): Set<number> {
  const used = new Set(flows.flatMap(({ route, back }) => [...route, ...back]));
  if (scenario.routing?.multipath === "packet") {
    links.forEach(({ from, to }, link) => {
      if (!nodes[from].host && !nodes[to].host) used.add(link);
    });
  }
  return used;
}
