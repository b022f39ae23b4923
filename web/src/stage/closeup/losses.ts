/** What the port has just discarded: a cross where it came from, and the reason above the glass. */

import { FONT } from "../canvas.ts";
import { unitOf } from "../../run/network.ts";
import { type Spark, Sparks, flowOf } from "../scene.ts";
import { colourOf } from "../../theme.ts";
import { GAP, type Picture, endOut, laneIn, laneOut } from "./frame.ts";

/** The most reasons above each other. */
const MOST = 3;

export function drawLosses(picture: Picture, sparks: Sparks, now: number): void {
  const { context, scene } = picture;
  const mine = sparks.all.filter((spark) => spark.link === scene.port).slice(-MOST);
  mine.reverse().forEach((spark, place) => {
    const progress = Sparks.progress(spark, now, scene.reducedMotion);
    context.globalAlpha = Math.min(1, 2 * (1 - progress));
    drawCross(picture, spark, progress);
    drawReason(picture, spark, place);
    context.globalAlpha = 1;
  });
}

/** Where it was lost: the place, the middle of it from the top down. At the end of the port's own link; else at that of the VC's lane, or at
 * the rim where its packets are sprayed, as it is not known on which lane this one came. */
function placeOf(picture: Picture, { vc, underway }: Spark): [number, number] | undefined {
  const { frame, inputs, places } = picture;
  const mine = [...(inputs.get(vc) ?? [])];
  if (mine.length === 0) return undefined;
  const [top, height] = underway ? laneOut(picture) : mine.length === 1 ? laneIn(picture, places.get(mine[0])!) : [frame.top, 0];
  return [underway ? endOut(picture) - GAP : frame.left - GAP, top + height / 2];
}

function drawCross(picture: Picture, spark: Spark, progress: number): void {
  const { context, scene } = picture;
  const place = placeOf(picture, spark);
  if (!place) return;
  const [x, middle] = place;
  const y = middle + (scene.reducedMotion ? 10 : 4 + 26 * progress * progress);
  context.strokeStyle = scene.theme.accent;
  context.lineWidth = 2;
  context.strokeRect(x - 4, y - 4, 8, 8);
  context.beginPath();
  context.moveTo(x - 7, y - 7);
  context.lineTo(x + 7, y + 7);
  context.moveTo(x + 7, y - 7);
  context.lineTo(x - 7, y + 7);
  context.stroke();
}

function drawReason({ context, scene, frame }: Picture, spark: Spark, place: number): void {
  const centre = (frame.left + frame.right) / 2;
  const y = 40 - place * 16;
  const link = scene.run.description.links[scene.port];
  const unit = unitOf(link);
  // On a packet-framed link a frame is the packet itself.
  const reason = link.packets ? spark.text.replace("frame ", "") : spark.text;
  const text = `${spark.count} ${unit}${spark.count === 1 ? "" : "s"}: ${reason}`;
  context.font = place === 0 ? `600 ${FONT}` : FONT;
  const width = context.measureText(text).width;
  context.textAlign = "left";
  context.textBaseline = "middle";
  context.fillStyle = scene.theme.accent;
  context.fillText(text, centre - width / 2 + 8, y);
  context.fillStyle = colourOf(flowOf(spark.vc), scene.theme);
  context.beginPath();
  context.arc(centre - width / 2, y, 4.5, 0, 7);
  context.fill();
}
