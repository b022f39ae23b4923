/** What rows of nodes are called where not each of them has space for its name: `edge1–32` beside the row. */

import { type Box, type Label, type Named, boxOf, boxOfMark, isFree, placeLabels } from "./labels.ts";

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

/** A caption and the nodes that it names, whose own labels it takes the place of. */
export interface Caption extends Label {
  nodes: number[];
}

/** The names of nodes, and one for all in rows in which few have space: no name stands there twice. */
export function labelsWithCaptions(nodes: Named[], size: [number, number], measure: (text: string) => number): { labels: (Label | undefined)[]; captions: Caption[] } {
  const labels = placeLabels(nodes, size, measure);
  const captions = placeCaptions(nodes, labels, size, measure);
  const captioned = new Set(captions.flatMap((caption) => caption.nodes));
  return { labels: labels.map((label, node) => (captioned.has(node) ? undefined : label)), captions };
}

/** The captions of rows in which many nodes have no label. */
export function placeCaptions(nodes: Named[], labels: (Label | undefined)[], size: [number, number], measure: (text: string) => number): Caption[] {
  const marks = nodes.map(boxOfMark);
  const boxes = labels.map((label) => label && boxOf(label, measure(label.text)));
  const captions: Caption[] = [];
  for (const row of rowsOf(nodes)) {
    if (row.nodes.filter((node) => labels[node]).length > ENOUGH * row.nodes.length) continue;
    const mine = new Set([...captions.flatMap(({ nodes }) => nodes), ...row.nodes]);
    const others = boxes.filter((box, node) => box && !mine.has(node)) as Box[];
    const taken = [...marks, ...others, ...captions.map((caption) => boxOf(caption, measure(caption.text)))];
    const caption = captionOf(row, nodes, taken, size, measure);
    if (caption) captions.push(caption);
  }
  return captions;
}

/** The longest caption of a row that has space beside it. */
function captionOf(row: Row, nodes: Named[], taken: Box[], size: [number, number], measure: (text: string) => number): Caption | undefined {
  const members = row.nodes.map((node) => nodes[node]);
  const x = Math.min(...members.map(({ x, radius }) => x - radius)) - AWAY;
  const y = (Math.min(...members.map(({ y }) => y)) + Math.max(...members.map(({ y }) => y))) / 2;
  for (const length of LENGTHS) {
    const stem = row.stem.length > length ? `${row.stem.slice(0, length)}…` : row.stem;
    const caption: Caption = { text: `${stem}${row.numbers[0]}–${row.numbers.at(-1)}`, x, y, align: "right", nodes: row.nodes };
    if (isFree(boxOf(caption, measure(caption.text)), taken, size)) return caption;
  }
  return undefined;
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
