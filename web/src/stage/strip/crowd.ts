/** Curves that are too many to be told apart, drawn pixel by pixel: thousands of strokes with soft edges take seconds, and look no better. */

import type { Curve } from "./panels.ts";
import { samplesIn, type Window } from "./window.ts";

/** Up to so many curves are drawn as strokes. */
export const MOST_STROKES = 300;

/** Pixels from the left, or from the top down. */
export interface Sheet {
  width: number;
  height: number;
  x: (time: number) => number;
  y: (value: number) => number;
}

/** By pixel, the place of the curve that is seen there, from 1 on, as the last one is on top; zero where there is none. */
export function placesOf(curves: Curve[], times: number[], window: Window, sheet: Sheet): Uint32Array {
  const pixels = new Uint32Array(sheet.width * sheet.height);
  const columns = Float64Array.from(times, sheet.x);
  curves.forEach((curve, place) => drawCurve(pixels, curve, [columns, ...samplesIn(times, window, Math.min(times.length, curve.values.length))], sheet, place + 1));
  return pixels;
}

/** Crowds by name. Thousands of curves take long to be drawn: when nothing but their colours is another, it is only those that are changed. */
export class Crowds {
  private readonly known = new Map<string, { from: unknown[]; places: Uint32Array }>();

  /** The pixels of a crowd; `palette` gives colours by place. `places` is called only when a value in `from` has changed. */
  draw(name: string, from: unknown[], places: () => Uint32Array, palette: Uint32Array): Uint32Array {
    let crowd = this.known.get(name);
    if (!crowd || from.some((value, at) => value !== crowd!.from[at])) this.known.set(name, (crowd = { from, places: places() }));
    return crowd.places.map((place) => palette[place]);
  }
}

function drawCurve(pixels: Uint32Array, { values, known }: Curve, [columns, first, last]: [Float64Array, number, number], sheet: Sheet, place: number): void {
  let [x, y] = [Number.NaN, 0];
  for (let index = first; index <= last; index++) {
    if (known && !known(values[index])) continue;
    const [toX, toY] = [columns[index], sheet.y(values[index])];
    if (!Number.isNaN(x)) drawLine(pixels, sheet, [x, y, toX, toY], place);
    [x, y] = [toX, toY];
  }
}

/** A line to the right, as one upright stroke in each column of pixels that it crosses. */
function drawLine(pixels: Uint32Array, { width, height }: Sheet, [x, y, toX, toY]: [number, number, number, number], place: number): void {
  const slope = toX > x ? (toY - y) / (toX - x) : 0;
  const at = (column: number) => (toX > x ? y + (Math.max(x, Math.min(toX, column)) - x) * slope : toY);
  for (let column = Math.max(0, Math.floor(x)); column <= Math.min(width - 1, Math.floor(toX)); column++) {
    const [one, other] = toX > x ? [at(column), at(column + 1)] : [y, toY];
    const [top, bottom] = [Math.max(0, Math.floor(Math.min(one, other))), Math.min(height - 1, Math.floor(Math.max(one, other)))];
    for (let row = top; row <= bottom; row++) pixels[row * width + column] = place;
  }
}
