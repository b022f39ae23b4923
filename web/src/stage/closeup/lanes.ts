/** The lanes on both sides of the buffer, where they come from and lead to, and what is on them. */

import { SMALL, drawCells } from "../canvas.ts";
import { fitted } from "../layout/labels.ts";
import { Densities, flowOf, slotOf, styleOfRow } from "../scene.ts";
import { colourOf } from "../../theme.ts";
import { goesTo } from "../../run/network.ts";
import { Place } from "../../run/types.ts";
import { Row } from "../../run/view.ts";
import { GAP, type Picture, endOut, laneIn, laneOut } from "./frame.ts";

/** Of more lanes than these no name has space, and of fewer already no gate has one. */
const [MOST_NAMED, MOST_CAPTIONED] = [10, 8];

export function drawLanes(picture: Picture): void {
  const { context, scene, frame, lanes } = picture;
  context.fillStyle = scene.theme.line;
  lanes.forEach((_, place) => {
    const [y, height] = laneIn(picture, place);
    context.fillRect(0, y, frame.left - GAP, height);
  });
  const [y, height] = laneOut(picture);
  context.fillRect(frame.right + GAP, y, endOut(picture) - frame.right - GAP, height);
}

/** Where lanes come from and lead to: small plates at their far ends. */
export function drawPlates(picture: Picture): void {
  const { context, scene, frame, lanes, width: wide } = picture;
  const { nodes, links } = scene.run.description;
  const { theme } = scene;
  context.font = SMALL;
  context.textBaseline = "middle";
  const measure = (text: string) => context.measureText(text).width;
  // A name takes no more than half of the way to the buffer.
  const short = (node: number) => fitted(nodes[node].name, frame.left / 2, measure);
  const plate = (text: string, x: number, y: number, right: boolean) => {
    const width = measure(text) + 8;
    const left = right ? x - width : x;
    context.fillStyle = theme.paper;
    context.fillRect(left, y - 8, width, 16);
    context.fillStyle = theme.muted;
    context.textAlign = "left";
    context.fillText(text, right ? left + 6 : left + 1, y + 0.5);
  };
  const to = short(links[scene.port].to);
  const end = endOut(picture);
  const beyond = end + measure(to) + 10 < wide;
  plate(to, beyond ? end + 2 : wide, frame.bottom - 8.5, !beyond);
  if (lanes.length > MOST_NAMED) return;
  lanes.forEach((link, place) => {
    const [y, height] = laneIn(picture, place);
    plate(short(links[link].from), 0, y + height / 2, false);
  });
}

/** A VC that the policy holds back finds its gate closed. */
export function drawGates(picture: Picture): void {
  const { context, scene, frame, inputs, lanes } = picture;
  const { captured } = scene.run.view;
  for (let row = 0; row < captured.length; row++) {
    if (captured.get(row, 0) !== scene.port) continue;
    for (const input of inputs.get(captured.get(row, 1)) ?? []) {
      const [y, height] = laneIn(picture, lanes.indexOf(input));
      context.fillStyle = scene.theme.accent;
      context.fillRect(frame.left - 12, y - 3, 4, height + 6);
      if (lanes.length > MOST_CAPTIONED) continue;
      context.font = SMALL;
      context.textAlign = "right";
      context.textBaseline = "bottom";
      context.fillText("captured", frame.left - 16, y - 1);
    }
  }
}

/** Single cells, as fast as the port's own link in both directions. */
export function drawCellsOnLanes(picture: Picture): void {
  const { context, scene, frame, inputs, lanes } = picture;
  const { rows } = scene.run.view;
  const { links } = scene.run.description;
  const scale = frame.cell / slotOf(links[scene.port]);
  const [out, outHeight] = laneOut(picture);
  for (let index = 0; index < rows.length; index++) {
    const link = rows.get(index, Row.link);
    const place = rows.get(index, Row.place);
    const after = rows.get(index, Row.after);
    if (place === Place.Stored || place === Place.Shaper) continue;
    const width = ((rows.get(index, Row.octets) * 8e12) / links[link].rate) * scale;
    const step = rows.get(index, Row.step) * scale;
    const style = styleOfRow(scene, index);
    if (link === scene.port) {
      if (place === Place.Buffer && after * scale >= width) continue;
      const gone = place === Place.Buffer ? -after : links[link].delay - after;
      const count = place === Place.Buffer ? 1 : rows.get(index, Row.count);
      const start = frame.right + GAP;
      drawCells(context, [start + gone * scale, out, width, outHeight], count, step, [start, endOut(picture)], style);
    } else if (inputs.get(rows.get(index, Row.vc))?.has(link) && goesTo(scene.run, index, scene.port)) {
      const [y, height] = laneIn(picture, lanes.indexOf(link));
      const end = frame.left - GAP;
      // In the port before, cells line up behind its link.
      const away = place === Place.Buffer ? after + links[link].delay : after;
      drawCells(context, [end - away * scale, y, width, height], rows.get(index, Row.count), step, [0, end], style);
    }
  }
}

/** Lanes as bands where cells are too fast: the share of each VC. */
export function drawSharesOnLanes(picture: Picture, densities: Densities): void {
  const { context, scene, frame, inputs, lanes } = picture;
  const band = (on: Map<number, number> | undefined, x: number, y: number, width: number, height: number, mine: (vc: number) => boolean) => {
    const shares = [...(on ?? [])].filter(([vc]) => mine(vc)).sort((a, b) => a[0] - b[0]);
    const sum = Math.max(1, shares.reduce((total, [, share]) => total + share, 0));
    for (const [vc, share] of shares) {
      const part = (share / sum) * height;
      context.globalAlpha = scene.focus >= 0 && scene.focus !== flowOf(vc) ? 0.25 : 0.9;
      context.fillStyle = colourOf(flowOf(vc), scene.theme);
      context.fillRect(x, y, width, part);
      y += part;
    }
    context.globalAlpha = 1;
  };
  lanes.forEach((link, place) => {
    const [y, height] = laneIn(picture, place);
    band(densities.towards.get(link), 0, y, frame.left - GAP, height, (vc) => inputs.get(vc)?.has(link) ?? false);
  });
  const [y, height] = laneOut(picture);
  band(densities.links.get(scene.port), frame.right + GAP, y, endOut(picture) - frame.right - GAP, height, () => true);
}
