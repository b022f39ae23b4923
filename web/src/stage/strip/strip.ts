/** The strip: queues, windows, goodput, delays and completion times of the whole run over time, with the moment that the stage shows.
 *
 *   window.ts   the part of the run that is seen
 *   panels.ts   what each panel shows
 *   rates.ts    goodput from what was delivered
 *   drawing.ts  how a panel is drawn
 *   crowd.ts    curves that are too many to be told apart
 */

import { Surface } from "../canvas.ts";
import { h } from "../../dom.ts";
import type { Run } from "../../run/run.ts";
import type { Scene } from "../scene.ts";
import { Crowds } from "./crowd.ts";
import { AXIS, LABELS, RIGHT, type Sheet, drawAxis, drawPanel } from "./drawing.ts";
import { panels, panelsOf } from "./panels.ts";
import { type Window, windowOf } from "./window.ts";

/** Panels that the style sheet's height is for, and the height of one more, in units of the page's text. */
const USUAL = 3;
const MORE = 5.2;
/** The run ahead grows a hundred times; one picture for so many samples is enough to see it grow. */
const GROWTH = 600;

export class Strip {
  private readonly surface: Surface;
  private window: Window = { from: 0, to: 1 };
  /** The moment that the stage shows: an element of its own, so that the curves need not be drawn again to move it. */
  private readonly cursor: HTMLElement;
  private drawn: unknown[] = [];
  private readonly crowds = new Crowds();

  constructor(
    readonly canvas: HTMLCanvasElement,
    redraw: () => void,
  ) {
    this.surface = new Surface(canvas, () => {
      this.drawn = [];
      redraw();
    });
    this.cursor = h("div", { class: "cursor", "aria-hidden": "true" });
    canvas.after(this.cursor);
  }

  /** The screen has another resolution. */
  rescale(): void {
    this.surface.fit();
  }

  /** What is seen of the run, in picoseconds. */
  get from(): number {
    return this.window.from;
  }

  get to(): number {
    return this.window.to;
  }

  /** Makes room for as many panels as a run has. */
  fit(run: Run): void {
    this.canvas.style.setProperty("--more", `${Math.max(0, panelsOf(run) - USUAL) * MORE}rem`);
  }

  show(from: number, to: number, duration: number): void {
    this.window = windowOf(from, to, duration);
  }

  /** Zooms by `factor` around a place on the canvas. */
  zoom(x: number, factor: number, duration: number): void {
    const centre = this.timeAt(x);
    this.show(centre - (centre - this.from) * factor, centre + (this.to - centre) * factor, duration);
  }

  timeAt(left: number): number {
    const [x] = this.surface.at(left, 0);
    const share = (x - LABELS) / Math.max(1, this.surface.width - LABELS - RIGHT);
    return this.from + Math.max(0, Math.min(1, share)) * (this.to - this.from);
  }

  private x(time: number): number {
    return LABELS + ((time - this.from) / (this.to - this.from)) * (this.surface.width - LABELS - RIGHT);
  }

  /** `ghost` is the run before the last change, or the one beside it, which is drawn dashed. */
  draw(scene: Scene, ghost: Run | undefined): void {
    const x = this.x(scene.run.now);
    this.cursor.style.transform = `translateX(${x * this.surface.zoom}px)`;
    this.cursor.hidden = x < LABELS - 1 || x > this.surface.width - 6;
    const { run, theme, port, focus } = scene;
    const grown = (one: Run | undefined) => (one?.outcome ? one.samples.times.length : Math.floor((one?.samples.times.length ?? 0) / GROWTH));
    const shown = [run, grown(run), ghost, grown(ghost), theme, port, focus, this.from, this.to];
    if (shown.every((value, place) => value === this.drawn[place])) return;
    this.drawn = shown;
    this.drawAll(scene, ghost);
  }

  private drawAll(scene: Scene, ghost: Run | undefined): void {
    const { window } = this;
    const { width, height } = this.surface;
    const sheet: Sheet = { context: this.surface.begin(), theme: scene.theme, width, height, window, x: (time) => this.x(time), crowds: this.crowds };
    const all = panels({ scene, ghost, window });
    const high = (height - AXIS) / all.length;
    all.forEach((panel, place) => drawPanel(sheet, panel, scene.run.samples.times, place * high, high - 8));
    drawAxis(sheet);
  }
}
