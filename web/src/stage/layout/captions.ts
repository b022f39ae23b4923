/** What rows of nodes are called where not each of them has space for its name: `edge1–32` beside the row. */

import { type Label, type Named, boxOf, boxOfMark, isFree } from "./labels.ts";

/** A row is no higher than this, as hosts may stand in several lines. */
const HIGH = 40;
/** The lengths that the stem of the names is shortened to. */
const LENGTHS = [Number.POSITIVE_INFINITY, 8, 5, 3, 2, 1];
/** Where nearly every other name stands in the picture, nobody has to guess those between. */
const ENOUGH = 0.4;
/** From a row to its caption. */
const AWAY = 6;

interface Row {
  stem: string;
  numbers: number[];
  nodes: number[];
}

/** The captions of rows in which many nodes have no label. */
export function placeCaptions(nodes: Named[], labels: (Label | undefined)[], size: [number, number], measure: (text: string) => number): Label[] {
  const taken = [...nodes.map(boxOfMark), ...labels.filter((label) => label !== undefined).map((label) => boxOf(label, measure(label.text)))];
  return rowsOf(nodes).flatMap((row) => {
    if (row.nodes.filter((node) => labels[node]).length > ENOUGH * row.nodes.length) return [];
    const members = row.nodes.map((node) => nodes[node]);
    const x = Math.min(...members.map(({ x, radius }) => x - radius)) - AWAY;
    const y = (Math.min(...members.map(({ y }) => y)) + Math.max(...members.map(({ y }) => y))) / 2;
    for (const length of LENGTHS) {
      const stem = row.stem.length > length ? `${row.stem.slice(0, length)}…` : row.stem;
      const label: Label = { text: `${stem}${row.numbers[0]}–${row.numbers.at(-1)}`, x, y, align: "right" };
      const box = boxOf(label, measure(label.text));
      if (!isFree(box, taken, size)) continue;
      taken.push(box);
      return [label];
    }
    return [];
  });
}

/** Nodes whose names differ in their number alone, and that stand beside each other in its order. */
function rowsOf(nodes: Named[]): Row[] {
  const rows = new Map<string, Row>();
  nodes.forEach(({ name }, node) => {
    const [, stem, number] = /^(.*?)(\d+)$/.exec(name) ?? [];
    if (!stem) return;
    const row = rows.get(stem) ?? { stem, numbers: [], nodes: [] };
    rows.set(stem, row);
    row.numbers.push(Number(number));
    row.nodes.push(node);
  });
  return [...rows.values()].filter(({ numbers, nodes: members }) => {
    const places = members.map((node) => nodes[node]);
    const high = Math.max(...places.map(({ y }) => y)) - Math.min(...places.map(({ y }) => y));
    // In several lines those of one block go to and fro, but no block lies before the one before.
    const inOrder = members.every((_, place) => place === 0 || numbers[place] === numbers[place - 1] + 1) && places.at(-1)!.x > places[0].x;
    const wide = Math.max(...places.map(({ x }) => x)) - Math.min(...places.map(({ x }) => x));
    return members.length > 2 && inOrder && high < HIGH && wide > 2 * high;
  });
}
