/** The goodput of flows, from what has been delivered by each sample. */

import type { Run } from "../../run/run.ts";
import { S } from "../../run/types.ts";

/** What was computed of a run, as long as it has not grown. */
const known = new WeakMap<Run, { length: number; series: Float64Array[] }>();

/** Bits per second of every flow, over a fiftieth of the run. */
export function ratesOf(run: Run): Float64Array[] {
  const { times, delivered } = run.samples;
  const before = known.get(run);
  if (before && before.length === times.length) return before.series;
  const back = Math.round(run.sampleCount / 50);
  const series = delivered.map((values) =>
    Float64Array.from(times, (time, index) => {
      const first = Math.max(0, index - back);
      const elapsed = time - (index < back ? 0 : times[first]);
      return elapsed > 0 ? ((values[index] - (index < back ? 0 : values[first])) * 8 * S) / elapsed : 0;
    }),
  );
  known.set(run, { length: times.length, series });
  return series;
}
