/** The thresholds of the port's discard policy: dashed lines across the glass, each with a handle. */

import { SMALL } from "../canvas.ts";
import { firstThatFits } from "../layout/labels.ts";
import { levelsOf } from "../../run/network.ts";
import { count } from "../../text/format.ts";
import { type Drag, type Picture, heightOf } from "./frame.ts";

export function drawLevels({ context, width, scene, frame }: Picture, drag: Drag | undefined): void {
  const { theme } = scene;
  context.font = SMALL;
  context.textBaseline = "middle";
  context.textAlign = "left";
  const placed: number[] = [];
  for (const level of levelsOf(scene.run.description.links[scene.port])) {
    const dragged = drag?.level.key === level.key ? drag : undefined;
    const units = dragged ? dragged.value : level.units;
    const y = heightOf(frame, units);
    context.strokeStyle = theme.accent;
    context.lineWidth = dragged ? 2 : 1.5;
    context.setLineDash([5, 3]);
    context.beginPath();
    context.moveTo(frame.left - 6, y);
    context.lineTo(frame.right + 12, y);
    context.stroke();
    context.setLineDash([]);
    context.fillStyle = theme.accent;
    context.beginPath();
    context.arc(frame.right + 16, y, dragged ? 7 : 5.5, 0, 7);
    context.fill();
    context.strokeStyle = theme.paper;
    context.stroke();
    const at = freeHeight(placed, y, frame.bottom - 24);
    placed.push(at);
    const share = Math.round((1000 * units) / frame.capacity) / 10;
    const text = firstThatFits([`${level.key} ${count(units)} (${share} %)`, `${level.key} ${count(units)}`, count(units)], width - frame.right - 27, (one) => context.measureText(one).width);
    context.fillStyle = theme.paper;
    context.fillRect(frame.right + 24, at - 7, context.measureText(text).width + 6, 14);
    context.fillStyle = theme.accent;
    context.fillText(text, frame.right + 27, at);
  }
}

/** The height nearest to `y`, above `lowest`, at which no other label stands. */
function freeHeight(placed: number[], y: number, lowest: number): number {
  const free = (at: number) => at <= lowest && placed.every((other) => Math.abs(other - at) >= 14);
  for (let away = 0; away < 300; away++) {
    if (free(y + away)) return y + away;
    if (free(y - away)) return y - away;
  }
  return y;
}
