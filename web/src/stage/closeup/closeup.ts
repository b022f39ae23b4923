/** One port close up: cells that come, the buffer as a glass, thresholds that can be dragged, cells that go.
 *
 *   frame.ts   where things are
 *   lanes.ts   what comes and what goes
 *   glass.ts   what waits
 *   levels.ts  thresholds
 *   losses.ts  what has just been lost
 */

import { Surface } from "../canvas.ts";
import { Densities, type Scene, Sparks, pausesIn } from "../scene.ts";
import type { LevelInfo } from "../../run/types.ts";
import { inputsOf, levelsOf, slotOf } from "../../run/network.ts";
import { type Drag, heightOf, frameOf, type Picture } from "./frame.ts";
import { drawGlass } from "./glass.ts";
import { drawCellsOnLanes, drawGates, drawLanes, drawPauseSigns, drawPlates, drawSharesOnLanes } from "./lanes.ts";
import { drawLevels } from "./levels.ts";
import { drawLosses } from "./losses.ts";

export class CloseUp {
  private readonly surface: Surface;
  private inputs = new Map<number, Set<number>>();
  private lanes: number[] = [];
  private places = new Map<number, number>();
  private prepared: unknown;
  private preparedPort = -1;
  /** The threshold that is being dragged. */
  drag: Drag | undefined;

  constructor(
    readonly canvas: HTMLCanvasElement,
    redraw: () => void,
  ) {
    this.surface = new Surface(canvas, redraw);
  }

  /** The screen has another resolution. */
  rescale(): void {
    this.surface.fit();
  }

  /** Whether single cells can be followed at this speed. */
  static showsCells(scene: Scene): boolean {
    return scene.speed / 60 < slotOf(scene.run.description.links[scene.port]) * 8;
  }

  /** The threshold near a height on the canvas. */
  levelAt(scene: Scene, left: number, top: number, reach: number): LevelInfo | undefined {
    const [x, y] = this.surface.at(left, top);
    const frame = this.frame(scene);
    if (x < frame.left - 24 || x > frame.right + 130) return undefined;
    const levels = levelsOf(scene.run.description.links[scene.port]);
    const distance = (level: LevelInfo) => Math.abs(heightOf(frame, level.units) - y);
    return levels.filter((level) => distance(level) < reach).sort((a, b) => distance(a) - distance(b))[0];
  }

  /** What a height on the canvas means in units of the buffer. */
  unitsAt(scene: Scene, top: number): number {
    const [, y] = this.surface.at(0, top);
    const frame = this.frame(scene);
    const share = (frame.bottom - y) / (frame.bottom - frame.top);
    return Math.max(1, Math.min(frame.capacity, Math.round(share * frame.capacity)));
  }

  draw(scene: Scene, sparks: Sparks, densities: Densities, now: number): void {
    this.prepare(scene);
    const { inputs, lanes, places } = this;
    const picture: Picture = { context: this.surface.begin(), width: this.surface.width, scene, frame: this.frame(scene), inputs, lanes, places };
    const cells = CloseUp.showsCells(scene);
    const pauses = pausesIn(scene, cells ? undefined : densities);
    drawLanes(picture, pauses);
    drawGates(picture);
    if (cells) drawCellsOnLanes(picture);
    else drawSharesOnLanes(picture, densities);
    drawPlates(picture);
    drawPauseSigns(picture, pauses);
    drawGlass(picture, cells ? undefined : densities);
    drawLevels(picture, this.drag);
    drawLosses(picture, sparks, now);
  }

  private frame(scene: Scene) {
    return frameOf(scene, this.surface.width, this.surface.height);
  }

  private prepare(scene: Scene): void {
    const { description } = scene.run;
    if (this.prepared === description && this.preparedPort === scene.port) return;
    [this.prepared, this.preparedPort] = [description, scene.port];
    this.inputs = inputsOf(description, scene.port);
    this.lanes = [...new Set([...this.inputs.values()].flatMap((links) => [...links]))];
    this.places = new Map(this.lanes.map((link, place) => [link, place]));
  }
}
