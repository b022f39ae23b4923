/** What the strip shows of a run: queue, windows, goodput, delays and completion times, one panel each. */

import { amount, bytes, rate, span } from "../../text/format.ts";
import type { Run } from "../../run/run.ts";
import { heldUnit, levelsOf, limitOf } from "../../run/network.ts";
import { type Scene } from "../scene.ts";
import { colourOf } from "../../theme.ts";
import { MS } from "../../run/types.ts";
import { ratesOf } from "./rates.ts";
import { type Window, largest } from "./window.ts";

/** A curve: values at the samples' times. */
export interface Curve {
  values: ArrayLike<number>;
  /** The times of its samples, if they are not those of the run that is shown. */
  times?: number[];
  colour: string;
  faint: boolean;
  dashed: boolean;
  /** Whether a value says anything; every one does if not given. */
  known?: (value: number) => boolean;
}

/** Something that happened: a stroke at the top of a panel. */
export interface Mark {
  at: number;
  colour: string;
}

/** A time for which something lasted: a hatched part of a panel. */
export interface Stretch {
  at: number;
  until: number;
}

/** Something with a value of its own: a dot. */
export interface Dot {
  at: number;
  value: number;
  colour: string;
  faint: boolean;
}

export interface Panel {
  title: string;
  curves: Curve[];
  dots?: Dot[];
  /** What is hatched, in the order of time, and what that means. */
  stretches?: Stretch[];
  hatched?: string;
  /** The lowest value; zero if not given, and logarithmic above it if it is. */
  bottom?: number;
  top: number;
  unit: (value: number) => string;
  marks: Mark[];
  levels: number[];
}

/** What is shown: a run, the one before the last change or beside it, which is dashed, and the part of them that is seen. */
interface Shown {
  scene: Scene;
  ghost: Run | undefined;
  window: Window;
}

/** Of more flows than these the other run is not shown: nobody could tell one from the other. */
const MOST_DASHED = 4;

/** How many panels a run has. */
export function panelsOf(run: Run): number {
  return 1 + Number(hasQueues(run)) + 2 * Number(hasConnections(run)) + Number(hasBareCells(run)) + Number(hasShortFlows(run));
}

/** From the top down. */
export function panels(shown: Shown): Panel[] {
  const { run } = shown.scene;
  return [
    ...(hasQueues(run) ? [queue(shown)] : []),
    ...(hasConnections(run) ? [windows(shown)] : []),
    rates(shown),
    ...(hasConnections(run) ? [delays("Round trip", isConnection, shown)] : []),
    ...(hasBareCells(run) ? [delays("Delay", isBareCells, shown)] : []),
    ...(hasShortFlows(run) ? [completions(shown.scene)] : []),
  ];
}

function queue({ scene, ghost, window }: Shown): Panel {
  const { run, theme } = scene;
  const link = run.description.links[scene.port];
  const curves: Curve[] = [];
  const of = (one: Run) => one.samples.occupancy[one.samples.ports.findIndex((port) => one.description.links[port].name === link.name)] ?? [];
  if (ghost) curves.push({ values: of(ghost), times: ghost.samples.times, colour: theme.muted, faint: true, dashed: true });
  curves.push({ values: of(run), colour: theme.ink, faint: false, dashed: false });
  const marks = run.discards.filter((discard) => discard.link === scene.port).map(({ at }) => ({ at, colour: theme.accent }));
  const most = topOf(curves, 10, scene, window);
  const limit = limitOf(link);
  const stretches = run.pauses.filter((pause) => pause.link === scene.port);
  return {
    title: "Queue", curves, marks, ...(stretches.length > 0 && { stretches, hatched: "paused" }), top: limit !== null && limit < 4 * most ? limit : most,
    unit: (value) => amount(value, heldUnit(link)),
    levels: levelsOf(link).map((level) => level.units),
  };
}

/** Congestion windows; short flows have no common one. */
function windows({ scene, ghost, window }: Shown): Panel {
  const curves = curvesOf(scene, ghost, (run) => run.samples.cwnd, isConnection);
  const marks = scene.run.timeouts.map(({ at, flow }) => ({ at, colour: colourOf(flow, scene.theme) }));
  return { title: "Windows", curves, top: topOf(curves, 1000, scene, window), unit: bytes, marks, levels: [] };
}

function rates({ scene, ghost, window }: Shown): Panel {
  const curves = curvesOf(scene, ghost, ratesOf, () => true);
  return { title: "Goodput", curves, top: topOf(curves, 1000, scene, window), unit: rate, marks: [], levels: [] };
}

/** The delays of some flows, where they are known: round trips as senders measure them, or mean transfer delays of the frames of bare cells. */
function delays(title: string, has: (run: Run, flow: number) => boolean, { scene, ghost, window }: Shown): Panel {
  const curves = curvesOf(scene, ghost, (run) => run.samples.delay, has).map((curve) => ({ ...curve, known: (value: number) => value > 0 }));
  // Before anything is known of them a millisecond is as good as any.
  return { title, curves, top: topOf(curves, 0, scene, window) || MS, unit: span, marks: [], levels: [] };
}

/** Short flows, where they end, with the time that they took. */
function completions({ run, theme, focus }: Scene): Panel {
  const dots = run.completions.map(({ at, flow, time }) => ({ at, value: time, colour: colourOf(flow, theme), faint: focus >= 0 && focus !== flow }));
  const [least, most] = dots.reduce(([least, most], { value }) => [Math.min(least, value), Math.max(most, value)], [Number.POSITIVE_INFINITY, 0]);
  const bottom = Number.isFinite(least) ? 10 ** Math.floor(Math.log10(least)) : MS;
  return { title: "Completion", curves: [], dots, bottom, top: Math.max(10 * bottom, most), unit: span, marks: [], levels: [] };
}

/** One curve for each flow that has such values, those of the other run below them. */
function curvesOf(scene: Scene, ghost: Run | undefined, values: (run: Run) => ArrayLike<number>[], has: (run: Run, flow: number) => boolean): Curve[] {
  const of = (run: Run, dashed: boolean) =>
    values(run).flatMap((values, flow) => {
      const faint = dashed || (scene.focus >= 0 && scene.focus !== flow);
      return has(run, flow) ? [{ values, times: dashed ? run.samples.times : undefined, colour: colourOf(flow, scene.theme), faint, dashed }] : [];
    });
  const dashed = ghost && ghost.samples.cwnd.length <= MOST_DASHED ? of(ghost, true) : [];
  return [...dashed, ...of(scene.run, false)];
}

/** The largest value that is seen, and at least so much. */
function topOf(curves: Curve[], least: number, { run }: Scene, window: Window): number {
  return Math.max(least, ...curves.map(({ values, times }) => largest(times ?? run.samples.times, values, window)));
}

/** Whether a flow is one TCP connection, with a window and round trips of its own. */
const isConnection = ({ description }: Run, flow: number) => description.flows[flow]?.tcp && !description.flows[flow].pool;
const isBareCells = ({ description }: Run, flow: number) => !description.flows[flow]?.tcp;
/** Queues of switches are sampled, and those of hosts are not. */
const hasQueues = ({ samples }: Run) => samples.ports.length > 0;
const hasBareCells = (run: Run) => run.description.flows.some((_, flow) => isBareCells(run, flow));
const hasConnections = (run: Run) => run.description.flows.some((_, flow) => isConnection(run, flow));
const hasShortFlows = (run: Run) => run.description.flows.some(({ pool }) => pool);
