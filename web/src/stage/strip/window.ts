/** The part of a run that is seen, and the samples in it. */

/** In picoseconds. */
export interface Window {
  from: number;
  to: number;
}

/** The window from one time to another, moved and widened so that it lies within the run and is not too short. */
export function windowOf(from: number, to: number, duration: number): Window {
  const width = Math.min(duration, Math.max(to - from, duration / 4000));
  const first = Math.max(0, Math.min(from, duration - width));
  return { from: first, to: first + width };
}

/** The first and the last of so many samples that have a share in what is seen: one outside on each side. */
export function samplesIn(times: number[], { from, to }: Window, count: number): [number, number] {
  return [Math.max(0, search(times, from) - 1), Math.min(count - 1, search(times, to))];
}

/** The largest value in what is seen. */
export function largest(times: number[], values: ArrayLike<number>, window: Window): number {
  const [first, last] = samplesIn(times, window, values.length);
  let most = 0;
  for (let index = first; index <= last; index++) most = Math.max(most, values[index]);
  return most;
}

/** The first sample at or after a time. */
function search(times: number[], time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
