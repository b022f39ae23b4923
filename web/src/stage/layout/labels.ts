/** Where the names of nodes stand, so that none lies on another: shortened where that helps, left out where nothing does. */

import type { Point } from "./geometry.ts";

export interface Named {
  name: string;
  x: number;
  y: number;
  /** Half of the height and width of its mark. */
  radius: number;
  host: boolean;
  /** Where its name may stand, the best first. */
  sides: Side[];
}

export type Side = "left" | "right" | "below" | "above";

export interface Label {
  text: string;
  x: number;
  y: number;
  align: "left" | "right" | "center";
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Half of the height of a line. */
const LINE = 6;
/** The lengths that a name is shortened to, one after the other, until there is room for it. */
const LENGTHS = [Number.POSITIVE_INFINITY, 16, 10, 7, 5];
/** The most hosts that are named: their names would not fit, and to find that out takes time. */
const MOST_HOSTS = 120;

/** A name of at most so many characters: its beginning and its number, as names often differ in that alone. */
export function shortened(name: string, length: number): string {
  const characters = [...name];
  if (characters.length <= length) return name;
  const tail = Math.min(/\d*$/.exec(name)![0].length || 1, length - 2);
  return `${characters.slice(0, length - 1 - tail).join("")}…${characters.slice(characters.length - tail).join("")}`;
}

/** The longest form of a name that is no wider than `width`. */
export function fitted(name: string, width: number, measure: (text: string) => number): string {
  let length = [...name].length;
  while (length > 3 && measure(shortened(name, length)) > width) length--;
  return shortened(name, length);
}

/** The first of some texts that is no wider than `width`; the last if none is. */
export function firstThatFits(texts: string[], width: number, measure: (text: string) => number): string {
  return texts.find((text) => measure(text) <= width) ?? texts.at(-1)!;
}

/** Labels in a picture of this size, by node. Switches come first: there are fewer of them, and they tell where one is. */
export function placeLabels(nodes: Named[], size: [number, number], measure: (text: string) => number): (Label | undefined)[] {
  const taken = nodes.map(boxOfMark);
  const labels: (Label | undefined)[] = nodes.map(() => undefined);
  const hosts = nodes.filter(({ host }) => host).length;
  const order = nodes.map((_, index) => index).sort((a, b) => Number(nodes[a].host) - Number(nodes[b].host) || a - b);
  for (const index of order) {
    if (nodes[index].host && hosts > MOST_HOSTS) continue;
    labels[index] = place(nodes[index]);
  }
  return labels;

  function place(node: Named): Label | undefined {
    for (const length of LENGTHS) {
      const text = shortened(node.name, length);
      const wide = measure(text);
      for (const label of candidates(node, text)) {
        const box = boxOf(label, wide);
        if (!isFree(box, taken, size)) continue;
        taken.push(box);
        return label;
      }
    }
    return undefined;
  }
}

function candidates({ x, y, radius, sides }: Named, text: string): Label[] {
  const labels: Record<Side, Label> = {
    below: { text, x, y: y + radius + 9, align: "center" },
    above: { text, x, y: y - radius - 9, align: "center" },
    left: { text, x: x - radius - 4, y, align: "right" },
    right: { text, x: x + radius + 4, y, align: "left" },
  };
  return sides.map((side) => labels[side]);
}

/** Those of a switch. */
export const SIDES: Side[] = ["below", "above", "right", "left"];

/** The sides of a place, that away from another one first, and the one towards it not at all: there is what joins the two. */
export function sidesAway(from: Point, place: Point): Side[] {
  const [x, y] = [place.x - from.x, place.y - from.y];
  const across: Side[] = x < 0 ? ["left", "right"] : ["right", "left"];
  const along: Side[] = y < 0 ? ["above", "below"] : ["below", "above"];
  return Math.abs(x) > Math.abs(y) ? [across[0], ...along] : [along[0], ...across];
}

export function boxOfMark({ x, y, radius }: Named): Box {
  return { left: x - radius, right: x + radius, top: y - radius, bottom: y + radius };
}

export function boxOf({ x, y, align }: Label, wide: number): Box {
  const left = align === "left" ? x : align === "right" ? x - wide : x - wide / 2;
  return { left, right: left + wide, top: y - LINE, bottom: y + LINE };
}

/** Whether a box lies in the picture and on no other. */
export function isFree(box: Box, taken: Box[], [width, height]: [number, number]): boolean {
  return box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= height && !taken.some((other) => overlap(box, other));
}

function overlap(a: Box, b: Box): boolean {
  // A little space between two names keeps them apart.
  return a.left < b.right + 2 && b.left < a.right + 2 && a.top < b.bottom && b.top < a.bottom;
}
