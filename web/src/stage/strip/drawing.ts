/** A panel of the strip on the canvas: its frame, its curves, dots and marks, and the axis below all of them. */

import { SMALL, drawPixels, drawStripes } from "../canvas.ts";
import { tick } from "../../text/format.ts";
import { type Theme, mix, pixelOf } from "../../theme.ts";
import { type Crowds, MOST_STROKES, placesOf } from "./crowd.ts";
import type { Curve, Dot, Mark, Panel, Stretch } from "./panels.ts";
import { type Window, samplesIn } from "./window.ts";

/** Space for names and values at the left of all panels, and for nothing at their right. */
export const LABELS = 78;
export const RIGHT = 8;
/** The sample of a hatching beside its meaning, and how strong a hatching is below curves. */
const SWATCH = 16;
const HATCHED = 0.45;
/** The height of the axis. */
export const AXIS = 20;

/** What is drawn on: its size, the part of the run that is seen, and where a time is. */
export interface Sheet {
  context: CanvasRenderingContext2D;
  theme: Theme;
  width: number;
  height: number;
  window: Window;
  x: (time: number) => number;
  /** What is known of curves that are many. */
  crowds: Crowds;
}

export function drawPanel(sheet: Sheet, panel: Panel, times: number[], y: number, height: number): void {
  const { context, theme, width } = sheet;
  const bottom = y + height;
  const share = ({ top, bottom: least }: Panel, value: number) => (least ? Math.log(value / least) / Math.log(top / least) : value / top);
  const level = (value: number) => bottom - share(panel, value) * (height - 4);
  context.font = SMALL;
  context.textAlign = "left";
  context.fillStyle = theme.ink;
  context.textBaseline = "top";
  context.fillText(panel.title, 0, y);
  context.fillStyle = theme.muted;
  context.fillText(panel.unit(panel.top), 0, y + 15);
  context.textBaseline = "bottom";
  context.fillText(panel.bottom ? panel.unit(panel.bottom) : "0", 0, bottom + 1);
  if (panel.hatched) {
    drawStripes(context, [0, y + 33, SWATCH, 8], theme.accent, 1);
    context.textBaseline = "middle";
    context.fillText(panel.hatched, SWATCH + 4, y + 37.5);
  }
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(LABELS, bottom + 0.5);
  context.lineTo(width - RIGHT, bottom + 0.5);
  context.stroke();
  context.save();
  context.beginPath();
  context.rect(LABELS, y - 2, width - LABELS - 6, height + 4);
  context.clip();
  for (const [from, to] of merged(panel.stretches ?? [], sheet)) {
    drawStripes(context, [from, y, to - from, height], theme.accent, HATCHED);
    // Short ones are seen here.
    context.fillStyle = theme.accent;
    context.fillRect(from, bottom - 3, to - from, 3);
  }
  for (const units of panel.levels) drawLevel(sheet, level(units));
  const { curves } = panel;
  const isCrowd = curves.length > MOST_STROKES;
  if (isCrowd) drawCrowd(sheet, times, panel, [y - 2, height + 4], level);
  // What stands out is a stroke in any crowd.
  const clear = curves.filter(({ faint }) => !faint);
  const strokes = isCrowd ? (clear.length > MOST_STROKES ? [] : clear) : [...curves.filter(({ faint }) => faint), ...clear];
  for (const curve of strokes) drawCurve(sheet, curve.times ?? times, curve, level);
  drawDots(sheet, panel.dots ?? [], level);
  drawMarks(sheet, panel.marks, y);
  context.restore();
}

/** Where on the sheet stretches are: those that no pixel tells apart are one, and none is narrower than a pixel. */
export function merged(stretches: Stretch[], { window: { from, to }, x }: Pick<Sheet, "window" | "x">): [number, number][] {
  const parts: [number, number][] = [];
  for (const { at, until } of stretches) {
    if (until < from || at > to) continue;
    const left = x(Math.max(at, from));
    const right = Math.max(x(Math.min(until, to)), left + 1);
    const last = parts.at(-1);
    if (last && left - last[1] < 1) last[1] = Math.max(last[1], right);
    else parts.push([left, right]);
  }
  return parts;
}

/** A threshold. */
function drawLevel({ context, theme, width }: Sheet, y: number): void {
  context.strokeStyle = theme.accent;
  context.globalAlpha = 0.5;
  context.setLineDash([3, 3]);
  context.beginPath();
  context.moveTo(LABELS, y);
  context.lineTo(width - RIGHT, y);
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** One vertical stroke a pixel, from the least to the most value in it: as exact as the screen, however many samples there are. */
function drawCurve({ context, window, x: xOf }: Sheet, times: number[], curve: Curve, level: (value: number) => number): void {
  const { values } = curve;
  const count = Math.min(times.length, values.length);
  if (count === 0) return;
  const [first, last] = samplesIn(times, window, count);
  context.strokeStyle = curve.colour;
  context.lineWidth = curve.faint ? 1 : 1.5;
  context.globalAlpha = curve.faint ? 0.35 : 1;
  if (curve.dashed) context.setLineDash([4, 3]);
  context.beginPath();
  let column = Number.NaN;
  let [least, most, latest] = [0, 0, 0];
  const flush = () => {
    if (Number.isNaN(column)) return;
    context.lineTo(column, level(most));
    if (least !== most) context.lineTo(column, level(least));
    context.lineTo(column, level(latest));
  };
  for (let index = first; index <= last; index++) {
    const x = Math.round(xOf(times[index]) * 2) / 2;
    const value = values[index];
    if (curve.known && !curve.known(value)) continue;
    if (x !== column) {
      flush();
      [column, least, most] = [x, value, value];
    }
    least = Math.min(least, value);
    most = Math.max(most, value);
    latest = value;
  }
  flush();
  context.stroke();
  context.setLineDash([]);
  context.globalAlpha = 1;
}

/** Many curves, at the screen's own resolution, between two heights. Which of them is seen where does not change with what is chosen. */
function drawCrowd({ context, crowds, theme, width, window, x: xOf }: Sheet, times: number[], { title, top: most, curves }: Panel, [top, height]: [number, number], level: (value: number) => number): void {
  const scale = context.getTransform().a;
  const [wide, high] = [Math.ceil((width - LABELS) * scale), Math.ceil(height * scale)];
  if (wide < 1 || high < 1) return;
  const grid = { width: wide, height: high, x: (time: number) => (xOf(time) - LABELS) * scale, y: (value: number) => (level(value) - top) * scale };
  const drawnFrom = [curves[0].values, curves.length, times.length, window.from, window.to, wide, high, most];
  drawPixels(context, crowds.draw(title, drawnFrom, () => placesOf(curves, times, window, grid), palette(curves, theme)), wide, high, [LABELS, top]);
}

/** By the place of a curve, from 1 on: its colour as a pixel. */
function palette(curves: Curve[], { paper }: Theme): Uint32Array {
  const known = new Map<string, number>();
  const colours = new Uint32Array(curves.length + 1);
  curves.forEach(({ colour, faint }, place) => {
    const key = `${colour}${faint}`;
    if (!known.has(key)) known.set(key, pixelOf(faint ? mix(colour, paper, 0.65) : colour));
    colours[place + 1] = known.get(key)!;
  });
  return colours;
}

function drawDots({ context, window, x: xOf }: Sheet, dots: Dot[], level: (value: number) => number): void {
  let last = "";
  for (const { at, value, colour, faint } of dots) {
    if (at < window.from || at > window.to) continue;
    const [x, y] = [Math.round(xOf(at)), Math.round(level(value))];
    const place = `${x} ${y} ${colour}`;
    if (place === last) continue;
    last = place;
    context.fillStyle = colour;
    context.globalAlpha = faint ? 0.25 : 0.8;
    context.fillRect(x - 1, y - 1, 2.5, 2.5);
  }
  context.globalAlpha = 1;
}

function drawMarks({ context, window, x: xOf }: Sheet, marks: Mark[], y: number): void {
  let last = "";
  for (const { at, colour } of marks) {
    if (at < window.from || at > window.to) continue;
    const x = Math.round(xOf(at));
    const place = `${x} ${colour}`;
    if (place === last) continue;
    last = place;
    context.fillStyle = colour;
    context.fillRect(x - 0.75, y - 1, 1.5, 6);
  }
}

export function drawAxis({ context, theme, width, height, window: { from, to }, x: xOf }: Sheet): void {
  context.font = SMALL;
  context.fillStyle = theme.muted;
  context.textBaseline = "top";
  const step = niceStep((to - from) / Math.max(2, width / 130));
  for (let time = Math.ceil(from / step) * step; time <= to; time += step) {
    const x = xOf(time);
    context.textAlign = x > width - 40 ? "right" : "center";
    context.fillText(tick(time, step), x, height - AXIS + 4);
  }
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least)!;
}
