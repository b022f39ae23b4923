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

/** The pixels of some curves, the last one on top: their colours as `colourOf` gives them, zero where there is none. */
export function pixelsOf(curves: Curve[], times: number[], window: Window, sheet: Sheet, colourOf: (curve: Curve) => number): Uint32Array {
  const pixels = new Uint32Array(sheet.width * sheet.height);
  const columns = Float64Array.from(times, sheet.x);
  for (const curve of curves) drawCurve(pixels, curve, [columns, ...samplesIn(times, window, Math.min(times.length, curve.values.length))], sheet, colourOf(curve));
  return pixels;
}

function drawCurve(pixels: Uint32Array, { values, known }: Curve, [columns, first, last]: [Float64Array, number, number], sheet: Sheet, colour: number): void {
  let [x, y] = [Number.NaN, 0];
  for (let index = first; index <= last; index++) {
    if (known && !known(values[index])) continue;
    const [toX, toY] = [columns[index], sheet.y(values[index])];
    if (!Number.isNaN(x)) drawLine(pixels, sheet, [x, y, toX, toY], colour);
    [x, y] = [toX, toY];
  }
}

/** A line to the right, as one upright stroke in each column of pixels that it crosses. */
function drawLine(pixels: Uint32Array, { width, height }: Sheet, [x, y, toX, toY]: [number, number, number, number], colour: number): void {
  const slope = toX > x ? (toY - y) / (toX - x) : 0;
  const at = (column: number) => (toX > x ? y + (Math.max(x, Math.min(toX, column)) - x) * slope : toY);
  for (let column = Math.max(0, Math.floor(x)); column <= Math.min(width - 1, Math.floor(toX)); column++) {
    const [one, other] = toX > x ? [at(column), at(column + 1)] : [y, toY];
    const [top, bottom] = [Math.max(0, Math.floor(Math.min(one, other))), Math.min(height - 1, Math.floor(Math.max(one, other)))];
    for (let row = top; row <= bottom; row++) pixels[row * width + column] = colour;
  }
}
