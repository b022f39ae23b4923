/** The buffer of the port: a glass with what waits in it, the first to leave at the bottom. */

import { FONT } from "../canvas.ts";
import { Densities, type Scene, heldUnit, isBack, slotOf, styleOf } from "../scene.ts";
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
}

/** The most cells of a buffer that are drawn one by one. */
const MOST_CELLS = 5000;

/** With `densities`, the shares of VCs where cells are too fast; else one by one. */
export function drawGlass(picture: Picture, densities: Densities | undefined): void {
  const { context, scene, frame } = picture;
  const { theme } = scene;
  const width = frame.right - frame.left;
  context.fillStyle = theme.raised;
  context.fillRect(frame.left, frame.top, width, frame.bottom - frame.top);
  for (const held of densities ? shares(scene, densities) : heldIn(scene)) drawHeld(picture, held, densities === undefined);
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

function drawHeld({ context, scene, frame }: Picture, { vc, flags, from, units }: Held, single: boolean): void {
  const { theme } = scene;
  const unit = (frame.bottom - frame.top) / frame.capacity;
  const width = frame.right - frame.left;
  const gap = unit >= 3 && single ? 0.75 : 0;
  const y = frame.bottom - (from + units) * unit;
  const height = (from + units - Math.max(0, from)) * unit - gap;
  if (height <= 0) return;
  const style = styleOf(scene, vc, flags);
  context.globalAlpha = style.faint ? 0.25 : isBack(vc) ? 0.6 : 1;
  context.fillStyle = style.broken ? mix(style.colour, theme.raised, 0.78) : style.colour;
  context.fillRect(frame.left + 2, y, width - 4, height);
  if (style.broken && height > 2.5) {
    context.strokeStyle = style.colour;
    context.lineWidth = 1;
    context.strokeRect(frame.left + 2.5, y + 0.5, width - 5, height - 1);
  }
  context.globalAlpha = 1;
}

/** How much waits, in numbers. */
function drawCount({ context, scene, frame }: Picture): void {
  const link = scene.run.description.links[scene.port];
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "top";
  context.fillStyle = scene.theme.ink;
  const limit = frame.limited ? ` of ${frame.capacity}` : "";
  context.fillText(`${occupancyOf(scene)}${limit} ${heldUnit(link)}`, (frame.left + frame.right) / 2, frame.bottom + 9);
}

/** What is in the buffer, from the bottom up. */
export function heldIn(scene: Scene): Held[] {
  const { rows } = scene.run.view;
  const link = scene.run.description.links[scene.port];
  const slot = slotOf(link);
  const held: Held[] = [];
  const stored: Held[] = [];
  for (let index = 0; index < rows.length && held.length < MOST_CELLS; index++) {
    const place = rows.get(index, Row.place);
    if (rows.get(index, Row.link) !== scene.port || (place !== Place.Buffer && place !== Place.Stored)) continue;
    const [vc, flags] = [rows.get(index, Row.vc), rows.get(index, Row.flags)];
    const [after, step, count] = [rows.get(index, Row.after), rows.get(index, Row.step), rows.get(index, Row.count)];
    for (let cell = 0; cell < count; cell++) {
      if (place === Place.Stored) stored.push({ vc, flags, from: 0, units: 1 });
      else held.push({ vc, flags, from: (after + cell * step) / slot - 1, units: 1 });
    }
  }
  // Packets take different times, and what the scheduler has not chosen has none yet: they lie on each other.
  if (link.packets) {
    held.sort((a, b) => a.from - b.from);
    held.forEach((one, place) => (one.from = place));
  }
  const top = held.reduce((most, one) => Math.max(most, one.from + one.units), 0);
  stored.forEach((one, place) => (one.from = top + place));
  return held.concat(stored);
}

function shares(scene: Scene, densities: Densities): Held[] {
  let from = 0;
  const byVc = [...(densities.buffers.get(scene.port) ?? [])].sort((a, b) => a[0] - b[0]);
  return byVc.map(([vc, units]) => {
    const held = { vc, flags: 0, from, units };
    from += units;
    return held;
  });
}
