/** The buffer of the port: a glass with what waits in it, the first to leave at the bottom. */

import { type CellStyle, FONT } from "../canvas.ts";
import { amount, count } from "../../text/format.ts";
import { heldUnit, slotOf } from "../../run/network.ts";
import { Densities, type Scene, isBack, styleOf } from "../scene.ts";
import { mix } from "../../theme.ts";
import { Place } from "../../run/types.ts";
import { Row } from "../../run/view.ts";
import { type Picture, occupancyOf } from "./frame.ts";

/** A run of units in the buffer. */
export interface Held {
  vc: number;
  flags: number;
  /** Where it begins, and how many units it is high. */
  from: number;
  units: number;
  /** How many of these follow each other, each the `step` above the one before. */
  count: number;
  step: number;
}

/** Between two units that are drawn one by one. */
const GAP = 0.75;
/** The most trains of a buffer that are looked at: to go through more takes longer than one picture may. */
const MOST_TRAINS = 100_000;
/** Pixels of the picture that a unit needs to be drawn as one. */
const LEAST_UNIT = 3;

/** With `densities`, the shares of VCs where cells are too fast; else one by one. */
export function drawGlass(picture: Picture, densities: Densities | undefined): void {
  const { context, scene, frame } = picture;
  const { theme } = scene;
  const width = frame.right - frame.left;
  context.fillStyle = theme.raised;
  context.fillRect(frame.left, frame.top, width, frame.bottom - frame.top);
  if (densities) for (const held of shares(scene, densities)) drawHeld(picture, held, 0);
  else if (unitHeight(picture) >= LEAST_UNIT) for (const held of heldIn(scene)) drawHeld(picture, held, GAP);
  else drawLines(picture);
  context.lineWidth = 2;
  context.strokeStyle = theme.ink;
  const rim = frame.limited ? frame.top : frame.top - 8;
  context.beginPath();
  context.moveTo(frame.left, rim);
  context.lineTo(frame.left, frame.bottom + 1);
  context.lineTo(frame.right, frame.bottom + 1);
  context.lineTo(frame.right, rim);
  context.stroke();
  drawCount(picture);
}

/** The height of a unit. */
const unitHeight = ({ frame }: Picture) => (frame.bottom - frame.top) / frame.capacity;

function drawHeld(picture: Picture, { count, step, from, ...unit }: Held, gap: number): void {
  for (let place = 0; place < count; place++) drawUnit(picture, { ...unit, from: from + place * step }, gap);
}

function drawUnit(picture: Picture, { vc, flags, from, units }: Omit<Held, "count" | "step">, gap: number): void {
  const { context, scene, frame } = picture;
  const unit = unitHeight(picture);
  const width = frame.right - frame.left;
  const y = frame.bottom - (from + units) * unit;
  const height = (from + units - Math.max(0, from)) * unit - gap;
  if (height <= 0) return;
  const style = styleOf(scene, vc, flags);
  [context.globalAlpha, context.fillStyle] = filling(scene, vc, style);
  context.fillRect(frame.left + 2, y, width - 4, height);
  if (style.broken && height > 2.5) {
    context.strokeStyle = style.colour;
    context.lineWidth = 1;
    context.strokeRect(frame.left + 2.5, y + 0.5, width - 5, height - 1);
  }
  context.globalAlpha = 1;
}

/** How strong a unit is drawn, and in which colour. */
function filling({ theme }: Scene, vc: number, { faint, broken, colour }: CellStyle): [number, string] {
  return [faint ? 0.25 : isBack(vc) ? 0.6 : 1, broken ? mix(colour, theme.raised, 0.78) : colour];
}

/** Units that are too low to be told apart: each line of pixels has the colour of what lies there. Thousands of rectangles that are lower
 * than a pixel would add up to next to nothing. */
function drawLines({ context, scene, frame }: Picture): void {
  const scale = context.getTransform().d;
  const bottom = Math.round(frame.bottom * scale);
  const lines = linesOf(heldIn(scene), frame.capacity, bottom - Math.round(frame.top * scale));
  for (let first = 0, end = 0; first < lines.length; first = end) {
    const held = lines[first];
    for (end = first + 1; end < lines.length && lines[end]?.vc === held?.vc && lines[end]?.flags === held?.flags; ) end++;
    if (!held) continue;
    [context.globalAlpha, context.fillStyle] = filling(scene, held.vc, styleOf(scene, held.vc, held.flags));
    context.fillRect(frame.left + 2, (bottom - end) / scale, frame.right - frame.left - 4, (end - first) / scale);
  }
  context.globalAlpha = 1;
}

/** What lies on the middle of each of so many lines, from the bottom up; something that is lower than one has the lowest. */
export function linesOf(held: Held[], capacity: number, height: number): (Held | undefined)[] {
  const lines: (Held | undefined)[] = Array.from({ length: height });
  const lineAt = (units: number) => Math.max(0, Math.min(height, Math.ceil((units / capacity) * height - 0.5)));
  for (const one of held) {
    for (let place = 0; place < one.count; place++) {
      const from = one.from + place * one.step;
      const end = lineAt(from + one.units);
      for (let line = lineAt(from); line < end; line++) lines[line] = one;
    }
  }
  if (height > 0) lines[0] ??= held[0];
  return lines;
}

/** How much waits, in numbers. */
function drawCount({ context, scene, frame }: Picture): void {
  const link = scene.run.description.links[scene.port];
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillStyle = scene.theme.ink;
  const held = occupancyOf(scene);
  const text = frame.limited ? `${count(held)} of ${amount(frame.capacity, heldUnit(link))}` : amount(held, heldUnit(link));
  context.fillText(text, (frame.left + frame.right) / 2, frame.bottom + 9);
}

/** What is in the buffer, from the bottom up. */
export function heldIn(scene: Scene): Held[] {
  const { rows } = scene.run.view;
  const link = scene.run.description.links[scene.port];
  const slot = slotOf(link);
  const held: Held[] = [];
  const stored: Held[] = [];
  for (let index = 0; index < rows.length && held.length < MOST_TRAINS; index++) {
    const place = rows.get(index, Row.place);
    if (rows.get(index, Row.link) !== scene.port || (place !== Place.Buffer && place !== Place.Stored)) continue;
    const [vc, flags] = [rows.get(index, Row.vc), rows.get(index, Row.flags)];
    const [after, step, count] = [rows.get(index, Row.after), rows.get(index, Row.step), rows.get(index, Row.count)];
    if (place === Place.Stored) stored.push({ vc, flags, from: 0, units: 1, count, step: 1 });
    else held.push({ vc, flags, from: after / slot - 1, units: 1, count, step: step / slot });
  }
  // Packets take different times, and what the scheduler has not chosen has none yet: they lie on each other.
  if (link.packets) pile(held.sort((a, b) => a.from - b.from), 0);
  pile(stored, held.reduce((most, { from, count, step, units }) => Math.max(most, from + (count - 1) * step + units), 0));
  return held.concat(stored);
}

/** Puts units on each other, from a height on. */
function pile(held: Held[], from: number): void {
  for (const one of held) {
    [one.from, one.step] = [from, one.units];
    from += one.count * one.units;
  }
}

function shares(scene: Scene, densities: Densities): Held[] {
  let from = 0;
  const byVc = [...(densities.buffers.get(scene.port) ?? [])].sort((a, b) => a[0] - b[0]);
  return byVc.map(([vc, units]) => {
    const held = { vc, flags: 0, from, units, count: 1, step: 0 };
    from += units;
    return held;
  });
}
