/** Numbers and times for people. */

import { MS, S, US } from "./types.ts";

function digits(value: number, most: number): string {
  return value.toLocaleString("en-GB", { maximumFractionDigits: most, minimumFractionDigits: 0, useGrouping: false });
}

/** A length of time in the unit that suits it: `320 us`. */
export function span(ps: number): string {
  if (ps < US) return `${digits(ps / 1e3, 0)} ns`;
  if (ps < MS) return `${digits(ps / US, ps < 10 * US ? 1 : 0)} µs`;
  if (ps < S) return `${digits(ps / MS, ps < 10 * MS ? 1 : 0)} ms`;
  return `${digits(ps / S, ps < 10 * S ? 1 : 0)} s`;
}

/** A mark of a time axis whose marks are `step` apart: as many digits as tell them apart. */
export function tick(ps: number, step: number): string {
  if (ps === 0) return "0";
  const [unit, name] = ps >= S ? [S, "s"] : ps >= MS ? [MS, "ms"] : [US, "µs"];
  return `${(ps / unit).toFixed(Math.max(0, Math.ceil(-Math.log10(step / unit) - 1e-9)))} ${name}`;
}

/** A moment, always as many digits: `39.442 328 ms`. */
export function moment(ps: number): string {
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
  if (bits >= 1e9) return `${digits(bits / 1e9, 2)} Gbit/s`;
  if (bits >= 1e6) return `${digits(bits / 1e6, 2)} Mbit/s`;
  return `${digits(bits / 1e3, 1)} kbit/s`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-GB").replaceAll(",", "\u202f");
}

export function bytes(value: number): string {
  if (value >= 1e6) return `${digits(value / 1e6, 1)} MB`;
  if (value >= 1e3) return `${digits(value / 1e3, 1)} kB`;
  return `${digits(value, 0)} B`;
}

export function metric(value: number | null, unit: string): string {
  if (value === null) return "–";
  if (unit === "bit/s") return rate(value);
  if (unit === "s") return span(value * S);
  if (Number.isInteger(value)) return `${count(value)} ${unit}`.trim();
  return `${digits(value, Math.abs(value) < 10 ? 3 : 1)} ${unit}`.trim();
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
    lost_random: "lost by chance",
    lost_scripted: "lost on purpose",
  };
  return texts[column] ?? column.replace(/^(discarded|lost)_/, "").replaceAll("_", " ");
}
