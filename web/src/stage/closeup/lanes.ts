/** The lanes on both sides of the buffer, where they come from and lead to, and what is on them. */

import { type CellStyle, SMALL, drawCells, drawPauseSign, drawPixels, drawStripes } from "../canvas.ts";
import { fitted } from "../layout/labels.ts";
import { Densities, flowOf, styleOfRow } from "../scene.ts";
import { colourOf, mix, pixelOf } from "../../theme.ts";
import { goesTo, slotOf } from "../../run/network.ts";
import { Place } from "../../run/types.ts";
import { Row } from "../../run/view.ts";
import { GAP, type Picture, endOut, isCrowded, laneIn, laneOut } from "./frame.ts";

/** Of more lanes than these no name has space, and of fewer already no gate has one. */
const [MOST_NAMED, MOST_CAPTIONED] = [10, 8];
/** The height of a line of a name, and of its plate. */
const [LINE, PLATE] = [12, 16];

/** `pauses`: how strongly links are drawn as paused. */
export function drawLanes(picture: Picture, pauses: Map<number, number>): void {
  const { context, scene, frame, lanes } = picture;
  context.fillStyle = scene.theme.line;
  if (isCrowded(picture)) {
    const [top, , height] = crowdIn(picture);
    context.fillRect(0, top, frame.left - GAP, height);
  } else {
    lanes.forEach((_, place) => {
      const [y, height] = laneIn(picture, place);
      context.fillRect(0, y, frame.left - GAP, height);
    });
  }
  const [y, height] = laneOut(picture);
  context.fillRect(frame.right + GAP, y, endOut(picture) - frame.right - GAP, height);
  const { accent } = scene.theme;
  const out = pauses.get(scene.port) ?? 0;
  if (out > 0) drawStripes(context, [frame.right + GAP, y, endOut(picture) - frame.right - GAP, height], accent, out);
  if (isCrowded(picture)) return;
  lanes.forEach((link, place) => {
    const strength = pauses.get(link) ?? 0;
    const [top, high] = laneIn(picture, place);
    if (strength > 0) drawStripes(context, [0, top, frame.left - GAP, high], accent, strength);
  });
}

/** Two bars in front of what may not go on: at the buffer, and where the lanes of links that are paused come in. */
export function drawPauseSigns(picture: Picture, pauses: Map<number, number>): void {
  const { context, scene, frame, lanes } = picture;
  const { accent, paper } = scene.theme;
  const out = pauses.get(scene.port) ?? 0;
  if (out > 0) {
    const [y, height] = laneOut(picture);
    drawPauseSign(context, frame.right + GAP + 1, y + height / 2, height + 6, { ink: accent, paper }, out);
    context.font = SMALL;
    [context.textAlign, context.textBaseline, context.fillStyle, context.globalAlpha] = ["left", "bottom", accent, out];
    context.fillText("paused", frame.right + GAP + 1, y - 5);
    context.globalAlpha = 1;
  }
  if (lanes.length > MOST_NAMED) return;
  lanes.forEach((link, place) => {
    const strength = pauses.get(link) ?? 0;
    const [y, height] = laneIn(picture, place);
    // Behind the name of where it comes from, which takes half of the way at the most.
    if (strength > 0) drawPauseSign(context, frame.left / 2 + 8, y + height / 2, height + 4, { ink: accent, paper }, strength);
  });
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
  const pitch = lanes.length > 1 ? laneIn(picture, 1)[0] - laneIn(picture, 0)[0] : PLATE;
  // Where plates would lie on each other, names stand on one of their own, as many as have space.
  if (pitch < PLATE) drawColumn(picture, lanes.map((link) => short(links[link].from)), Math.ceil(LINE / pitch));
  else {
    lanes.forEach((link, place) => {
      const [y, height] = laneIn(picture, place);
      plate(short(links[link].from), 0, y + height / 2, false);
    });
  }
}

/** Names of lanes that are close together: the first, and every so many. */
function drawColumn(picture: Picture, names: string[], every: number): void {
  const { context, scene } = picture;
  const middle = (place: number) => {
    const [y, height] = laneIn(picture, place);
    return y + height / 2;
  };
  const width = Math.max(...names.map((name) => context.measureText(name).width)) + 8;
  context.fillStyle = scene.theme.paper;
  context.fillRect(0, middle(0) - PLATE / 2, width, middle(names.length - 1) - middle(0) + PLATE);
  context.fillStyle = scene.theme.muted;
  context.textAlign = "left";
  names.forEach((name, place) => place % every === 0 && context.fillText(name, 1, middle(place) + 0.5));
}

/** A VC that the policy holds back finds its gate closed. */
export function drawGates(picture: Picture): void {
  const { context, scene, frame, inputs, lanes, places } = picture;
  const { captured } = scene.run.view;
  for (let row = 0; row < captured.length; row++) {
    if (captured.get(row, 0) !== scene.port) continue;
    for (const input of inputs.get(captured.get(row, 1)) ?? []) {
      const [y, height] = laneIn(picture, places.get(input)!);
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

/** A train on a lane, the first cell in front. */
interface Train {
  row: number;
  /** The place of the lane; undefined for the one that leads away. */
  place: number | undefined;
  /** Of the first cell, in pixels of the picture, as are the width of each and the way from one to the next. */
  x: number;
  width: number;
  step: number;
  count: number;
}

/** What is on the lanes, as fast as the port's own link in both directions. */
function* trainsOf({ scene, frame, inputs, places }: Picture): Generator<Train> {
  const { rows } = scene.run.view;
  const { links } = scene.run.description;
  const scale = frame.cell / slotOf(links[scene.port]);
  for (let row = 0; row < rows.length; row++) {
    const link = rows.get(row, Row.link);
    const place = rows.get(row, Row.place);
    const after = rows.get(row, Row.after);
    if (place === Place.Stored || place === Place.Shaper) continue;
    const width = ((rows.get(row, Row.octets) * 8e12) / links[link].rate) * scale;
    const step = rows.get(row, Row.step) * scale;
    const count = rows.get(row, Row.count);
    if (link === scene.port) {
      if (place === Place.Buffer && after * scale >= width) continue;
      const gone = place === Place.Buffer ? -after : links[link].delay - after;
      yield { row, place: undefined, x: frame.right + GAP + gone * scale, width, step, count: place === Place.Buffer ? 1 : count };
    } else if (inputs.get(rows.get(row, Row.vc))?.has(link) && goesTo(scene.run, row, scene.port)) {
      // In the port before, cells line up behind its link.
      const away = place === Place.Buffer ? after + links[link].delay : after;
      yield { row, place: places.get(link), x: frame.left - GAP - away * scale, width, step, count };
    }
  }
}

/** Single cells. */
export function drawCellsOnLanes(picture: Picture): void {
  const { context, scene, frame } = picture;
  const [start, end] = [frame.right + GAP, endOut(picture)];
  const crowd = isCrowded(picture) ? new Crowd(picture) : undefined;
  for (const { row, place, x, width, step, count } of trainsOf(picture)) {
    const style = styleOfRow(scene, row);
    if (place === undefined) {
      const [y, height] = laneOut(picture);
      drawCells(context, [x, y, width, height], count, step, [start, end], style);
    } else if (crowd) crowd.add(laneIn(picture, place)[0], [x, width], count, step, style);
    else {
      const [y, height] = laneIn(picture, place);
      drawCells(context, [x, y, width, height], count, step, [0, frame.left - GAP], style);
    }
  }
  crowd?.draw();
}

/** Where lanes that lie on each other are: their top, the height of each, and that of all. */
function crowdIn(picture: Picture): [number, number, number] {
  const [top, height] = laneIn(picture, 0);
  return [top, height, laneIn(picture, picture.lanes.length - 1)[0] + height - top];
}

/** Cells on lanes that lie on each other, pixel by pixel: a rectangle for each takes longer than one picture may. */
class Crowd {
  private readonly scale: number;
  private readonly top: number;
  private readonly lane: number;
  private readonly width: number;
  private readonly height: number;
  private readonly pixels: Uint32Array;
  /** What is seen where nothing stands out. */
  private readonly faint: Uint32Array;
  private readonly colours = new Map<string, number>();

  constructor(private readonly picture: Picture) {
    const { context, frame } = picture;
    const [top, lane, height] = crowdIn(picture);
    this.scale = context.getTransform().a;
    [this.top, this.lane] = [top, Math.ceil(lane * this.scale)];
    [this.width, this.height] = [frame.left - GAP, height].map((side) => Math.ceil(side * this.scale));
    this.pixels = new Uint32Array(this.width * this.height);
    this.faint = new Uint32Array(this.width * this.height);
  }

  /** Cells on the lane that begins at `y`, the first one from `x` on; those that are too narrow to be told apart are one bar. */
  add(y: number, [x, width]: [number, number], count: number, step: number, { colour, faint }: CellStyle): void {
    const pixel = this.pixelOf(colour, faint);
    const pixels = faint ? this.faint : this.pixels;
    const row = Math.floor((y - this.top) * this.scale);
    if (width < 2.5 || step < 1.5) return this.fill(pixels, row, [x - step * (count - 1), Math.max(x + width, x + 0.75)], pixel);
    const last = Math.min(count - 1, Math.ceil((x + width) / step));
    for (let cell = 0; cell <= last; cell++) this.fill(pixels, row, [x - step * cell, x - step * cell + width - 0.5], pixel);
  }

  draw(): void {
    this.faint.forEach((pixel, place) => {
      if (this.pixels[place] === 0) this.pixels[place] = pixel;
    });
    drawPixels(this.picture.context, this.pixels, this.width, this.height, [0, this.top]);
  }

  private fill(pixels: Uint32Array, row: number, [from, to]: [number, number], pixel: number): void {
    const [left, right] = [Math.max(0, Math.round(from * this.scale)), Math.min(this.width, Math.round(to * this.scale))];
    if (left >= right) return;
    for (let y = row; y < Math.min(this.height, row + this.lane); y++) pixels.fill(pixel, y * this.width + left, y * this.width + right);
  }

  private pixelOf(colour: string, faint: boolean): number {
    const key = `${colour}${faint}`;
    if (!this.colours.has(key)) this.colours.set(key, pixelOf(faint ? mix(colour, this.picture.scene.theme.line, 0.75) : colour));
    return this.colours.get(key)!;
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
