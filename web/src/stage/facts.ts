/** What there is to say of a node or a link at the moment that a run shows. */

import type { Run } from "../run/run.ts";
import type { LinkInfo } from "../run/types.ts";
import { Flow, Paused, Port } from "../run/view.ts";
import { amount, bytes, count, moment, rate, span } from "../text/format.ts";
import { heldUnit, limitOf } from "../run/network.ts";

/** The name first, then one fact per line. */
export type Facts = [string, ...string[]];

/** What is shown of a run: the description and the view of the moment. */
type Seen = Pick<Run, "description" | "view">;

/** The most flows of a host that are told of one by one. */
const MOST_FLOWS = 3;

/** All of it in one sentence, with what kind of thing it is. */
export function sentenceOf(run: Seen, { kind, index }: { kind: "node" | "link"; index: number }): string {
  const [what, facts] = kind === "link" ? ["Link", factsOfLink(run, index)] : [run.description.nodes[index].host ? "Host" : "Switch", factsOfNode(run, index)];
  return `${what} ${facts.join(", ").replace(" > ", " to ")}`;
}

export function factsOfLink(run: Seen, link: number): Facts {
  const { name, rate: speed, delay, policy } = run.description.links[link];
  const facts: Facts = [name, `${rate(speed)}, ${span(delay)}`, ...pausesOf(run, link)];
  const [row] = rowsOf(run, (one) => one === run.description.links[link]);
  if (row === undefined || run.view.ports.get(row, Port.inSwitch) === 0) return facts;
  const lost = run.view.ports.get(row, Port.discarded);
  return [...facts, `${policy}: ${held(run, [row])}, ${lost === 0 ? "none" : count(lost)} discarded`];
}

/** The links whose ports are paused. */
export function pausedLinks({ view: { paused } }: Pick<Seen, "view">): number[] {
  const rows = Array.from({ length: paused.length }, (_, row) => row).filter((row) => paused.get(row, Paused.since) >= 0);
  return rows.map((row) => paused.get(row, Paused.link));
}

/** What there is to say of the pauses of a link, if it has had any: `paused by edge1 since 0.123 ms`, `3 pauses, 45.6 µs in all`. */
function pausesOf({ description, view: { paused } }: Seen, link: number): string[] {
  const row = Array.from({ length: paused.length }, (_, row) => row).find((row) => paused.get(row, Paused.link) === link);
  if (row === undefined) return [];
  const get = (column: number) => paused.get(row, column);
  const since = get(Paused.since);
  const now = since < 0 ? [] : [`paused by ${description.nodes[description.links[link].to].name} since ${moment(since, description.duration)}`];
  return [...now, `${amount(get(Paused.count), "pauses")}, ${span(get(Paused.time))} in all`];
}

export function factsOfNode(run: Seen, node: number): Facts {
  const { nodes } = run.description;
  const { name, host } = nodes[node];
  if (host) return [name, ...flowsOf(run, node), ...(pausedLinks(run).some((link) => run.description.links[link].from === node) ? ["its interface is paused"] : [])];
  const rows = rowsOf(run, ({ from }) => from === node);
  const facts: Facts = [name, `${rows.length} ${rows.length === 1 ? "port" : "ports"}: ${rows.length === 0 ? "not used" : held(run, rows)}`];
  const links = pausedLinks(run).map((link) => run.description.links[link]);
  const [obeys, pauses] = [links.filter(({ from }) => from === node), links.filter(({ to }) => to === node)].map(({ length }) => length);
  if (obeys > 0) facts.push(`${count(obeys)} of its ports ${obeys === 1 ? "is" : "are"} paused`);
  if (pauses > 0) facts.push(`pauses ${amount(pauses, "links")}`);
  return facts;
}

function flowsOf({ description, view }: Seen, host: number): string[] {
  const { nodes, flows } = description;
  const mine = flows.map((_, flow) => flow).filter((flow) => flows[flow].from === host || flows[flow].to === host);
  const texts = mine.slice(0, MOST_FLOWS).map((flow) => {
    const { from, to, tcp, pool } = flows[flow];
    const get = (column: number) => view.flows.get(flow, column);
    const window = tcp && !pool && from === host ? `, window ${bytes(get(Flow.cwnd))}` : "";
    return `${from === host ? `to ${nodes[to].name}` : `from ${nodes[from].name}`}: ${bytes(get(Flow.delivered))} delivered${window}`;
  });
  if (mine.length > MOST_FLOWS) texts.push(`and ${mine.length - MOST_FLOWS} more`);
  return texts.length > 0 ? texts : ["without a flow"];
}

/** The rows of some ports in the view: a switch may have thousands, so that they are looked through once. */
function rowsOf({ description, view: { ports } }: Seen, has: (link: LinkInfo) => boolean): number[] {
  return Array.from({ length: ports.length }, (_, row) => row).filter((row) => has(description.links[ports.get(row, Port.link)]));
}

/** What waits in some ports of one node: `12 of 100 packets wait`. */
function held({ description, view }: Seen, rows: number[]): string {
  const sum = rows.reduce((total, row) => total + view.ports.get(row, Port.occupancy), 0);
  const link = description.links[view.ports.get(rows[0], Port.link)];
  const most = rows.length > 1 ? null : limitOf(link);
  const what = most === null ? amount(sum, heldUnit(link)) : `${count(sum)} of ${amount(most, heldUnit(link))}`;
  return `${what} ${sum === 1 ? "waits" : "wait"}`;
}
