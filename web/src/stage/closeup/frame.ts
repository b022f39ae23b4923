/** Where things are in the picture of a port, and what all of its parts share. */

import { limitOf, slotOf } from "../../run/network.ts";
import { type Scene } from "../scene.ts";
import type { LevelInfo } from "../../run/types.ts";
import { Port } from "../../run/view.ts";

export interface Frame {
  /** Of the glass. */
  left: number;
  right: number;
  top: number;
  bottom: number;
  /** Width of a cell of the port's own link. */
  cell: number;
  /** Units that the glass holds to its rim. */
  capacity: number;
  limited: boolean;
}

export interface Drag {
  level: LevelInfo;
  /** In units of the buffer. */
  value: number;
}

/** What is drawn, and on what. */
export interface Picture {
  context: CanvasRenderingContext2D;
  /** Of the canvas, in pixels of the picture. */
  width: number;
  scene: Scene;
  frame: Frame;
  /** The links on which each VC comes to the port, by VC. */
  inputs: Map<number, Set<number>>;
  /** The links that have a lane, from the top down, and the place of each. */
  lanes: number[];
  places: Map<number, number>;
}

const LANE_GAP = 3;
/** A lane is at least so high. */
const LEAST_LANE = 2;
/** Space above the glass, for what has just been lost. */
const HEAD = 58;
/** From the glass to the lanes on both sides of it. */
export const GAP = 10;

export function frameOf(scene: Scene, width: number, height: number): Frame {
  const limit = limitOf(scene.run.description.links[scene.port]);
  const glass = Math.max(64, Math.min(120, width * 0.12));
  const left = width * 0.5 - glass / 2;
  const seen = Math.max(50, occupancyOf(scene) * 1.2);
  return {
    left, right: left + glass, top: HEAD, bottom: height - 30,
    cell: Math.max(7, Math.min(15, width / 60)),
    capacity: limit ?? 100 * Math.ceil(seen / 100), limited: limit !== null,
  };
}

/** What the port holds at the moment that is shown. */
export function occupancyOf(scene: Scene): number {
  const { ports } = scene.run.view;
  for (let row = 0; row < ports.length; row++) {
    if (ports.get(row, Port.link) === scene.port) return ports.get(row, Port.occupancy);
  }
  return 0;
}

/** The height at which so many units fill the glass. */
export function heightOf(frame: Frame, units: number): number {
  return frame.bottom - (units / frame.capacity) * (frame.bottom - frame.top);
}

/** From one lane to the next. */
function pitchOf({ frame, lanes }: Picture): number {
  return Math.min(30, (frame.bottom - frame.top - 20) / Math.max(1, lanes.length));
}

/** Whether the lanes on which cells come lie on each other; they do not on a canvas that has no size yet. */
export function isCrowded(picture: Picture): boolean {
  const pitch = pitchOf(picture);
  return pitch > 0 && pitch < LEAST_LANE && picture.frame.left > GAP;
}

/** The lane that cells of an input come on: its top and its height. */
export function laneIn(picture: Picture, place: number): [number, number] {
  const { frame } = picture;
  const pitch = pitchOf(picture);
  const height = Math.max(LEAST_LANE, Math.min(13, pitch - LANE_GAP));
  return [frame.top + 12 + place * pitch + (pitch - height) / 2, height];
}

/** The lane that cells leave on: its top and its height. */
export function laneOut({ frame }: Picture): [number, number] {
  return [frame.bottom - 15, 13];
}

/** Where the outgoing lane ends: a short link is shorter than the canvas, and what it carries does not vanish half-way. */
export function endOut({ scene, frame, width }: Picture): number {
  const link = scene.run.description.links[scene.port];
  const length = link.delay * (frame.cell / slotOf(link));
  return Math.min(width, frame.right + GAP + Math.max(60, length));
}
