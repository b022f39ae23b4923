/** Numbers and times for people. */

import { MS, S, US } from "../run/types.ts";

/** Decimals of a number, at most; smaller ones have an exponent. */
const MOST_DECIMALS = 9;
/** The significant digits of a measure, and of numbers that need not be as exact. */
const MEASURED = 4;
const GLANCED = 3;
/** Relative difference of values that are the same but for floating point. */
const ROUNDING = 1e-8;

const PREFIXES: [number, string][] = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""]];
const PREFIXED = ["bit/s", "B/s", "packet/s", "cell/s", "B"];
const TIMES: [number, string][] = [[S, "s"], [MS, "ms"], [US, "µs"], [1e3, "ns"]];

/** A number with so many significant digits, larger ones whole: the rule of the command line's tables and of the report. */
export function significant(value: number, digits: number): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  // The power of ten of the rounded value: 0.99996 with four digits is 1.000.
  const power = Number(value.toExponential(digits - 1).split("e")[1]);
  const decimals = Math.max(0, digits - 1 - power);
  if (decimals > MOST_DECIMALS) return value.toExponential(2);
  return grouped(value, decimals);
}

/** The same without zeros that tell nothing. */
function short(value: number, digits: number): string {
  return significant(value, digits).replace(/(\.\d*?)0+($|e)/, "$1$2").replace(/\.($|e)/, "$1");
}

function grouped(value: number, decimals: number): string {
  return value.toLocaleString("en-GB", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** A value in the largest unit of which it holds at least one. */
function scaled(value: number, units: [number, string][]): [number, string] {
  if (value === 0) return [0, units === TIMES ? "s" : ""];
  const [factor, name] = units.find(([factor]) => Math.abs(value) >= factor) ?? units.at(-1)!;
  return [value / factor, name];
}

/** So many units, as scenario files have them: `1 cell`, `2000 cells`. */
export function setting(value: number | string, unit: string): string {
  return `${value} ${counted(Number(value), unit)}`;
}

/** So many units for people: `1 cell`, `2,000 cells`. */
export function amount(value: number, unit: string): string {
  return `${count(value)} ${counted(value, unit)}`;
}

/** A unit after its number: one of several is no plural. */
function counted(value: number, unit: string): string {
  return value === 1 ? unit.replace(/^([a-z]{2,})s$/, "$1") : unit;
}

/** A length of time in the unit that suits it: `320 µs`. */
export function span(ps: number, digits = GLANCED): string {
  const [value, unit] = scaled(ps, TIMES);
  return `${short(value, digits)} ${unit}`;
}

/** A mark of a time axis whose marks are `step` apart: as many digits as tell them apart. */
export function tick(ps: number, step: number): string {
  if (ps === 0) return "0";
  const [unit, name] = ps >= S ? [S, "s"] : ps >= MS ? [MS, "ms"] : [US, "µs"];
  return `${(ps / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)))} ${name}`;
}

/** A moment of a run, always as many digits: `39.442 ms`, or `0.770 µs` in a run so short that milliseconds would not tell its moments apart. */
export function moment(ps: number, duration = Number.POSITIVE_INFINITY): string {
  if (duration < MS) return `${(Math.floor(ps / 1e3) / 1e3).toFixed(3)} µs`;
  const us = Math.floor(ps / US);
  const ms = Math.floor(us / 1000);
  const rest = (value: number) => String(value % 1000).padStart(3, "0");
  if (ms < 1000) return `${ms}.${rest(us)} ms`;
  return `${Math.floor(ms / 1000)}.${rest(ms)} ${rest(us)} s`;
}

/** Reads `39.4 ms`, `250us`, `1.5 s` as picoseconds. */
export function readTime(text: string): number {
  const match = /^\s*([0-9.]+)\s*(ps|ns|us|µs|ms|s)\s*$/.exec(text);
  if (!match) throw new Error(`expected a time such as "39.4 ms", found "${text}"`);
  const units: Record<string, number> = { ps: 1, ns: 1e3, us: US, µs: US, ms: MS, s: S };
  return Math.round(Number(match[1]) * units[match[2]]);
}

export function rate(bits: number): string {
  const [value, prefix] = scaled(bits, PREFIXES);
  return `${short(value, MEASURED)} ${prefix}bit/s`;
}

export function count(value: number): string {
  return grouped(Math.round(value), 0);
}

export function bytes(value: number): string {
  const [number, prefix] = scaled(value, PREFIXES);
  return `${short(number, MEASURED)} ${prefix}B`;
}

/** Bytes that grow while somebody looks at them: as many digits at every moment. */
export function growing(value: number): string {
  const [number, prefix] = scaled(value, PREFIXES);
  return `${prefix === "" ? count(number) : significant(number, MEASURED)} ${prefix}B`;
}

export function metric(value: number | null, unit: string, digits = MEASURED): string {
  if (value === null) return "–";
  const [number, name] = unit === "s" ? scaled(value * S, TIMES) : PREFIXED.includes(unit) ? scaled(value, PREFIXES) : [value, ""];
  const text = Number.isInteger(number) ? grouped(number, 0) : significant(number, digits);
  return `${text} ${unit === "s" ? name : name + counted(number, unit)}`.trim();
}

/** A measure of two runs: with as many digits as tell different values apart. */
export function metrics(before: number | null, now: number | null, unit: string): [string, string] {
  const texts = (digits: number): [string, string] => [metric(before, unit, digits), metric(now, unit, digits)];
  if (before === null || now === null || isSame(before, now)) return texts(MEASURED);
  for (let digits = MEASURED; digits < 10; digits++) {
    const [one, other] = texts(digits);
    if (one !== other) return [one, other];
  }
  return texts(10);
}

/** By how much a measure differs, in per cent. */
export function change(before: number | null, now: number | null): string {
  if (before === null || now === null) return "";
  if (isSame(before, now)) return "=";
  if (before === 0) return "new";
  const share = (100 * (now - before)) / Math.abs(before);
  return `${share > 0 ? "+" : "−"}${shareText(Math.abs(share), share < 0 && now !== 0)} %`;
}

/** A share in per cent; with as many digits as tell it from the whole if something is left. */
function shareText(share: number, left: boolean): string {
  const texts = [2, 3, 4, 5, 6, 7, 8, 9, 10].map((digits) => significant(share, digits));
  return (left && texts.find((text) => Number(text) !== 100)) || texts[0];
}

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= ROUNDING * Math.max(Math.abs(one), Math.abs(other));
}

/** What the reason of a discard is called on the stage. */
export function reasonText(column: string): string {
  const texts: Record<string, string> = {
    discarded_buffer_full: "buffer full",
    discarded_frame_refused: "frame refused",
    discarded_frame_broken: "frame already broken",
    discarded_vc_captured: "VC captured",
    discarded_pushed_out: "pushed out",
    discarded_non_conforming: "beyond its contract",
    discarded_at_head: "dropped at the head",
    lost_random: "lost by chance",
    lost_scripted: "lost on purpose",
    lost_burst: "lost in a burst",
    lost_dark: "lost in the dark",
  };
  return texts[column] ?? column.replaceAll("_", " ");
}
