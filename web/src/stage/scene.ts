/** What both pictures of the stage share: the run, colours, sparks, and whether cells can be followed at this speed. */

import type { CellStyle } from "./canvas.ts";
import { reasonText } from "../text/format.ts";
import type { DiscardEvent, Run } from "../run/run.ts";
import { colourOf, type Theme } from "../theme.ts";
import { Flag, Place } from "../run/types.ts";
import { goesTo } from "../run/network.ts";
import { Paused, Row } from "../run/view.ts";

export interface Scene {
  run: Run;
  theme: Theme;
  /** Simulated picoseconds per second on the wall; zero while paused. */
  speed: number;
  /** The link whose port is shown close up. */
  port: number;
  /** The flow that stands out; none if negative. */
  focus: number;
  reducedMotion: boolean;
}

/** How many seconds a spark is seen. */
const LIFE = 1.6;
const LIFE_REDUCED = 2.4;
/** A share that is no longer seen. */
const NOTHING = 1e-3;
/** A share of pauses that is no longer seen. */
const LEAST_PAUSE = 0.02;
/** The most sparks at a time. */
const MOST_SPARKS = 40;

export interface Spark {
  link: number;
  vc: number;
  /** Whether it was lost on the link, and not at the port in front of it. */
  underway: boolean;
  text: string;
  count: number;
  frames: Set<string>;
  born: number;
}

/** Discards that have just happened, gathered by port, VC and reason. */
export class Sparks {
  readonly all: Spark[] = [];

  add(discards: DiscardEvent[], reasons: string[], now: number): void {
    for (const discard of discards) {
      const reason = reasons[discard.reason] ?? "";
      const text = reasonText(reason);
      const same = this.all.find((spark) => spark.link === discard.link && spark.vc === discard.vc && spark.text === text && now - spark.born < 0.7);
      const frame = `${discard.vc} ${discard.frame}`;
      if (same) {
        same.count += discard.count;
        same.frames.add(frame);
      } else if (this.all.length < MOST_SPARKS) {
        this.all.push({ link: discard.link, vc: discard.vc, underway: reason.startsWith("lost_"), text, count: discard.count, frames: new Set([frame]), born: now });
      }
    }
  }

  /** Forgets what has faded; returns whether anything is left to be drawn. */
  age(now: number, reducedMotion: boolean): boolean {
    const life = reducedMotion ? LIFE_REDUCED : LIFE;
    for (let index = this.all.length - 1; index >= 0; index--) {
      if (now - this.all[index].born > life) this.all.splice(index, 1);
    }
    return this.all.length > 0;
  }

  clear(): void {
    this.all.length = 0;
  }

  /** From 0 when it begins to 1 when it is gone. */
  static progress(spark: Spark, now: number, reducedMotion: boolean): number {
    return Math.min(1, (now - spark.born) / (reducedMotion ? LIFE_REDUCED : LIFE));
  }
}

export const flowOf = (vc: number) => vc >> 1;
export const isBack = (vc: number) => (vc & 1) === 1;

/** How the cells of a row of the view are drawn. */
export function styleOfRow(scene: Scene, row: number): CellStyle {
  const get = (column: number) => scene.run.view.rows.get(row, column);
  const ends = get(Row.position) + get(Row.count) === get(Row.length) && get(Row.length) > 1;
  return { ...styleOf(scene, get(Row.vc), get(Row.flags)), ends };
}

export function styleOf(scene: Scene, vc: number, flags: number): CellStyle {
  const flow = flowOf(vc);
  const { theme } = scene;
  return {
    colour: flags & Flag.Management ? theme.muted : colourOf(flow, theme),
    paper: theme.paper,
    broken: (flags & Flag.Broken) !== 0,
    faint: scene.focus >= 0 && scene.focus !== flow,
    ends: false,
  };
}

/** Shares of what each link carries and each buffer holds, by VC, smoothed over the last moments: what is drawn when cells are too fast. */
export class Densities {
  /** By link: the share of its time that each VC takes. */
  readonly links = new Map<number, Map<number, number>>();
  /** By link: units of each VC in the buffer. */
  readonly buffers = new Map<number, Map<number, number>>();
  /** By link, as above: of what goes to the port that is shown. */
  readonly towards = new Map<number, Map<number, number>>();
  /** By link: the share of the last moments for which its port was paused. */
  readonly pauses = new Map<number, number>();
  private port = -1;
  /** When it was looked last, and how long each port had been paused by then. */
  private seen = Number.POSITIVE_INFINITY;
  private readonly pausedFor = new Map<number, number>();

  update(scene: Scene, weight: number): void {
    if (scene.port !== this.port) this.towards.clear();
    this.port = scene.port;
    const { rows } = scene.run.view;
    const links = scene.run.description.links;
    const seen = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
    for (let index = 0; index < rows.length; index++) {
      const place = rows.get(index, Row.place);
      if (place === Place.Shaper) continue;
      const link = rows.get(index, Row.link);
      const key = `${link} ${rows.get(index, Row.vc)}`;
      const count = rows.get(index, Row.count);
      const share = (count * rows.get(index, Row.octets) * 8e12) / links[link].rate / Math.max(1, links[link].delay);
      const [map, amount] = place === Place.Link ? [seen[0], share] : [seen[1], count];
      map.set(key, (map.get(key) ?? 0) + amount);
      if (place === Place.Link && goesTo(scene.run, index, scene.port)) seen[2].set(key, (seen[2].get(key) ?? 0) + amount);
    }
    blend(this.links, seen[0], weight);
    blend(this.buffers, seen[1], weight);
    blend(this.towards, seen[2], weight);
    this.updatePauses(scene, weight);
  }

  private updatePauses(scene: Scene, weight: number): void {
    const { paused, now } = scene.run.view;
    const passed = now - this.seen;
    // Between two answers of the engine nothing is known.
    if (passed === 0 && scene.speed > 0) return;
    this.seen = now;
    for (let row = 0; row < paused.length; row++) {
      const get = (column: number) => paused.get(row, column);
      const [link, time] = [get(Paused.link), get(Paused.time)];
      const share = passed > 0 ? Math.min(1, Math.max(0, time - (this.pausedFor.get(link) ?? 0)) / passed) : Number(get(Paused.since) >= 0);
      this.pausedFor.set(link, time);
      this.pauses.set(link, (this.pauses.get(link) ?? 0) * (1 - weight) + share * weight);
    }
  }

  clear(): void {
    this.pauses.clear();
    this.pausedFor.clear();
    this.seen = Number.POSITIVE_INFINITY;
    this.links.clear();
    this.buffers.clear();
    this.towards.clear();
  }
}

/** How strongly a link is drawn as paused: wholly or not at all, and where cells are too fast for as much of the time as it is. */
export function pausesIn(scene: Scene, densities: Densities | undefined): Map<number, number> {
  if (densities) return new Map([...densities.pauses].filter(([, share]) => share > LEAST_PAUSE));
  const { paused } = scene.run.view;
  const rows = Array.from({ length: paused.length }, (_, row) => row).filter((row) => paused.get(row, Paused.since) >= 0);
  return new Map(rows.map((row) => [paused.get(row, Paused.link), 1]));
}

function blend(into: Map<number, Map<number, number>>, seen: Map<string, number>, weight: number): void {
  for (const [link, shares] of into) {
    for (const [vc, share] of shares) {
      if (share * (1 - weight) > NOTHING) shares.set(vc, share * (1 - weight));
      else shares.delete(vc);
    }
    if (shares.size === 0) into.delete(link);
  }
  for (const [key, amount] of seen) {
    const [link, vc] = key.split(" ").map(Number);
    const shares = into.get(link) ?? new Map<number, number>();
    into.set(link, shares);
    shares.set(vc, (shares.get(vc) ?? 0) + amount * weight);
  }
}
